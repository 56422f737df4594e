"""Adadelta."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Adadelta"]


class Adadelta(PerParameterOptimizer):
    """Adadelta: steps scaled by the ratio of running averages of squared steps and squared gradients."""

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check_learning_rate(lr)
        check_number("rho value", rho, 0.0 <= rho <= 1.0)
        check_number("epsilon value", eps, eps >= 0.0)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        return {"step": state_scalar(), "square_avg": zeros_of(param), "acc_delta": zeros_of(param)}

    def _update(self, group, param, grad, state):
        _updates.advance(state["step"])
        settings = {key: group[key] for key in ("rho", "eps", "weight_decay")}
        _updates.run(
            _adadelta,
            param,
            grad,
            state["square_avg"],
            state["acc_delta"],
            lr=number(group["lr"]),
            **settings,
        )


def _adadelta(param, grad, square_average, step_average, *, lr, rho, eps, weight_decay):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    square_average.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    delta = step_average.add(eps).sqrt_().div_(square_average.add(eps).sqrt_()).mul_(grad)
    step_average.mul_(rho).addcmul_(delta, delta, value=1 - rho)
    param.add_(delta, alpha=-lr)
