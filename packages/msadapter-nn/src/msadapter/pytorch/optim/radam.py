"""RAdam."""

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

__all__ = ["RAdam"]


class RAdam(PerParameterOptimizer):
    """Adam that scales by the average of squares only once its variance is known well enough."""

    _later_options = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        return {"step": state_scalar(), "exp_avg": zeros_of(param), "exp_avg_sq": zeros_of(param)}

    def _update(self, group, param, grad, state):
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        step = _updates.advance(state["step"])
        _updates.run(
            _radam,
            param,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            lr=lr,
            beta1=beta1,
            beta2=beta2,
            step_size=lr / (1 - beta1**step),
            rectified=_rectification(beta2, step),
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
        )


def _rectification(beta2, step):
    """The factor of the adaptive step; None while the variance of the average is not known."""
    correction = 1 - beta2**step
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * (beta2**step) / correction
    if length <= 5.0:
        return None
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return ratio**0.5 * correction**0.5


def _radam(
    param,
    grad,
    average,
    square_average,
    *,
    lr,
    beta1,
    beta2,
    step_size,
    rectified,
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
    if rectified is None:
        param.add_(average, alpha=-step_size)
    else:
        param.addcdiv_(average, square_average.sqrt().add_(eps), value=-step_size * rectified)
