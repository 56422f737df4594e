"""Adamax."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_betas,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Adamax"]


class Adamax(PerParameterOptimizer):
    """Adam with the largest recent gradient in place of the average of squares."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_learning_rate(lr)
        check_number("epsilon value", eps, eps >= 0.0)
        check_betas(betas)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        return {"step": state_scalar(), "exp_avg": zeros_of(param), "exp_inf": zeros_of(param)}

    def _update(self, group, param, grad, state):
        beta1, beta2 = group["betas"]
        step = _updates.advance(state["step"])
        _updates.run(
            _adamax,
            param,
            grad,
            state["exp_avg"],
            state["exp_inf"],
            step_size=number(group["lr"]) / (1 - beta1**step),
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
        )


def _adamax(param, grad, average, largest, *, step_size, beta1, beta2, eps, weight_decay):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    average.lerp_(grad, 1 - beta1)
    _updates.maximum_into(largest.mul_(beta2), grad.abs().add_(eps))
    param.addcdiv_(average, largest, value=-step_size)
