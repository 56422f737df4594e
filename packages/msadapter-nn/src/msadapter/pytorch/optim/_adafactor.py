"""Adafactor."""

from msadapter.pytorch import finfo, matmul
from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Adafactor"]


class Adafactor(PerParameterOptimizer):
    """Adafactor: the average of squared gradients of a matrix is kept as a row and a column; steps relative to weights.

    `lr` bounds the relative step; `d` bounds the size of an update.
    """

    _later_options = {"foreach": None}

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        if lr < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        check_learning_rate(lr)
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and eps[0] < 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if eps[1] < 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if d < 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = {"step": state_scalar()}
        if param.dim() > 1:
            state["row_var"] = zeros_of(param.sum(-1, keepdim=True))
            state["col_var"] = zeros_of(param.sum(-2, keepdim=True))
        else:
            state["variance"] = zeros_of(param)
        return state

    def _update(self, group, param, grad, state):
        lr, (eps1, eps2) = number(group["lr"]), group["eps"]
        eps1 = finfo(param.dtype).eps if eps1 is None else eps1
        step = _updates.advance(state["step"])
        fresh = step ** group["beta2_decay"]
        size = max(eps2, _root_mean_square(param)) * min(lr, 1 / step**0.5)
        squares = grad * grad
        if param.dim() > 1:
            row = state["row_var"].lerp_(squares.mean(-1, keepdim=True), fresh)
            column = state["col_var"].lerp_(squares.mean(-2, keepdim=True), fresh)
            variance = matmul(row, column).div_(row.mean(-2, keepdim=True).clamp_(min=eps1))
        else:
            variance = state["variance"].lerp_(squares, fresh).clone()
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        size /= max(1.0, _root_mean_square(update) / group["d"])
        _updates.run(_decay_and_add, param, update, keep=1 - lr * group["weight_decay"], size=size)


def _root_mean_square(tensor):
    return (tensor * tensor).mean().item() ** 0.5


def _decay_and_add(param, update, *, keep, size):
    if keep != 1:
        param.mul_(keep)
    param.add_(update, alpha=-size)
