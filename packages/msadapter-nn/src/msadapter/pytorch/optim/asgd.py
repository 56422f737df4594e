"""Averaged stochastic gradient descent."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["ASGD"]


class ASGD(PerParameterOptimizer):
    """Stochastic gradient descent that also keeps the average of the parameters (state "ax"), from step `t0` on."""

    _scalar_state = ("step", "eta", "mu")

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_learning_rate(lr)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        return {
            "step": state_scalar(),
            "eta": state_scalar(number(group["lr"])),
            "mu": state_scalar(1.0),
            "ax": zeros_of(param),
        }

    def _update(self, group, param, grad, state):
        lr, lambd = number(group["lr"]), group["lambd"]
        step = _updates.advance(state["step"])
        _updates.run(
            _asgd,
            param,
            grad,
            state["ax"],
            eta=_updates.scalar(state["eta"]),
            mu=_updates.scalar(state["mu"]),
            lambd=lambd,
            weight_decay=group["weight_decay"],
        )
        _updates.set_scalar(state["eta"], lr / ((1 + lambd * lr * step) ** group["alpha"]))
        _updates.set_scalar(state["mu"], 1 / max(1, step - group["t0"]))


def _asgd(param, grad, average, *, eta, mu, lambd, weight_decay):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    param.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
    if mu == 1:
        average.copy_(param)
    else:
        average.add_(param.sub(average).mul_(mu))
