"""RMSprop."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["RMSprop"]


class RMSprop(PerParameterOptimizer):
    """RMSprop: steps scaled by the root of a running average of squared gradients, `centered` by that of gradients."""

    _later_options = {
        "momentum": 0,
        "centered": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
    }

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_learning_rate(lr)
        check_number("epsilon value", eps, eps >= 0.0)
        check_number("momentum value", momentum, momentum >= 0.0)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        check_number("alpha value", alpha, alpha >= 0.0)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        state = {"step": state_scalar(), "square_avg": zeros_of(param)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_of(param)
        if group["centered"]:
            state["grad_avg"] = zeros_of(param)
        return state

    def _update(self, group, param, grad, state):
        _updates.advance(state["step"])
        momentum, centered = group["momentum"] > 0, group["centered"]
        buffers = [state["momentum_buffer"]] if momentum else []
        buffers += [state["grad_avg"]] if centered else []
        settings = {key: group[key] for key in ("alpha", "eps", "weight_decay", "momentum")}
        _updates.run(
            _rmsprop,
            param,
            grad,
            state["square_avg"],
            *buffers,
            lr=number(group["lr"]),
            centered=centered,
            **settings,
        )


def _rmsprop(param, grad, square_average, *buffers, lr, alpha, eps, weight_decay, momentum, centered):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    square_average.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
    variance = square_average.clone()
    if centered:
        average = buffers[-1].lerp_(grad, 1 - alpha)
        variance.addcmul_(average, average, value=-1)
    deviation = variance.sqrt_().add_(eps)
    if momentum > 0:
        param.add_(buffers[0].mul_(momentum).addcdiv_(grad, deviation), alpha=-lr)
    else:
        param.addcdiv_(grad, deviation, value=-lr)
