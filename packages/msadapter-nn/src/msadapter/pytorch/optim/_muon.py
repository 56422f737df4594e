"""Muon."""

import math

from msadapter.pytorch import matmul
from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    number,
    zeros_of,
)

__all__ = ["Muon"]

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_RATE_RULES = (None, "original", "match_rms_adamw")


class Muon(PerParameterOptimizer):
    """Momentum whose update is made nearly orthogonal, by `ns_steps` Newton-Schulz iterations; for matrices only.

    Raises ValueError for a parameter that has not two dimensions.
    """

    _later_options = {}

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=_COEFFICIENTS,
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        if lr < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        check_learning_rate(lr)
        if momentum < 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in _RATE_RULES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}"
                    )

    def _init_state(self, group, param):
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        return {"momentum_buffer": zeros_of(param)}

    def _update(self, group, param, grad, state):
        lr, momentum = number(group["lr"]), group["momentum"]
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = _adjusted_rate(lr, group["adjust_lr_fn"], param.shape)
        _updates.run(
            _decay_and_add,
            param,
            update.to(param.dtype).contiguous(),
            keep=1 - lr * group["weight_decay"],
            rate=rate,
        )


def _decay_and_add(param, update, *, keep, rate):
    param.mul_(keep).add_(update, alpha=-rate)


def _orthogonalized(matrix, coefficients, steps, eps):
    """`matrix` with singular values near 1. Each result is rounded to bfloat16, as PyTorch does; products are float32."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    result = _rounded(matrix.t() if tall else matrix)
    result = _rounded(result / _rounded((result * result).sum().sqrt()).clamp(min=eps))
    for _ in range(steps):
        gram = _rounded(matmul(result, result.t()))
        update = _rounded(gram * b + matmul(gram, gram) * c)
        result = _rounded(result * a + matmul(update, result))
    return result.t() if tall else result


def _rounded(tensor):
    return tensor.bfloat16().float()


def _adjusted_rate(lr, rule, shape):
    rows, columns = shape
    if rule == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
