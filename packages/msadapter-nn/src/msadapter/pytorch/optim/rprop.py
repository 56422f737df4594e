"""Rprop."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_learning_rate,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Rprop"]


class Rprop(PerParameterOptimizer):
    """Resilient backpropagation: a step size for each element, which grows while the gradient keeps its sign."""

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        lr = number(group["lr"])
        sizes = zeros_of(param).fill_(complex(lr, lr) if param.is_complex() else lr)
        return {"step": state_scalar(), "prev": zeros_of(param), "step_size": sizes}

    def _update(self, group, param, grad, state):
        _updates.advance(state["step"])
        _updates.run(
            _rprop,
            param,
            grad,
            state["prev"],
            state["step_size"],
            etas=group["etas"],
            bounds=group["step_sizes"],
        )


def _rprop(param, grad, previous, step_size, *, etas, bounds):
    factor = grad.mul(previous).sign()
    turned = factor.lt(0)
    factor.masked_fill_(factor.gt(0), etas[1]).masked_fill_(turned, etas[0]).masked_fill_(factor.eq(0), 1)
    step_size.mul_(factor).clamp_(*bounds)
    grad = grad.clone().masked_fill_(turned, 0)
    param.addcmul_(grad.sign(), step_size, value=-1)
    previous.copy_(grad)
