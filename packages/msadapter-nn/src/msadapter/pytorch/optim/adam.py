"""Adam."""

import math

from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_betas,
    check_implementation,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Adam"]


class Adam(PerParameterOptimizer):
    """Adam: steps scaled by running averages of the gradient and of its square.

    Args:
        lr: learning rate, a number or a tensor of one element.
        betas: how much of the two averages is kept each step.
        eps: added to the denominator.
        weight_decay: L2 penalty, or a shrinking of the weights themselves with `decoupled_weight_decay`.
        amsgrad: use the largest average of the squares so far.

    Raises ValueError for a value outside its range.
    """

    _later_options = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
            _check_tensor_option(name, value, foreach and not capturable)
        check_learning_rate(lr)
        check_number("epsilon value", eps, eps >= 0.0)
        check_betas(betas)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        if {type(betas[0]), type(betas[1])} != {float} and not all(isinstance(b, Tensor) for b in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr,
            "betas": tuple(map(number, betas)),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def _init_state(self, group, param):
        state = {"step": state_scalar(), "exp_avg": zeros_of(param), "exp_avg_sq": zeros_of(param)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_of(param)
        return state

    def _update(self, group, param, grad, state):
        beta1, beta2 = group["betas"]
        step = _updates.advance(state["step"])
        averages = [state["exp_avg"], state["exp_avg_sq"]]
        if group["amsgrad"]:
            averages.append(state["max_exp_avg_sq"])
        _updates.run(
            _adam,
            param,
            grad,
            *averages,
            lr=number(group["lr"]),
            beta1=beta1,
            beta2=beta2,
            step_size=number(group["lr"]) / (1 - beta1**step),
            scale=math.sqrt(1 - beta2**step),
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
        )


def _adam(
    param,
    grad,
    average,
    square_average,
    largest=None,
    *,
    lr,
    beta1,
    beta2,
    step_size,
    scale,
    eps,
    weight_decay,
    decoupled,
):
    if weight_decay != 0:
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        else:
            grad = grad.add(param, alpha=weight_decay)
    average.lerp_(grad, 1 - beta1)
    square_average.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    if largest is not None:
        _updates.maximum_into(largest, square_average)
        square_average = largest
    param.addcdiv_(average, square_average.sqrt().div_(scale).add_(eps), value=-step_size)


def _check_tensor_option(name, value, unsupported):
    if not isinstance(value, Tensor):
        return
    if unsupported:
        raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
    if value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")
