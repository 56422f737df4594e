"""Stochastic gradient descent."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_implementation,
    check_learning_rate,
    check_number,
    number,
)

__all__ = ["SGD"]


class SGD(PerParameterOptimizer):
    """Stochastic gradient descent, with momentum (also Nesterov's), dampening and weight decay.

    Raises ValueError for a negative lr, momentum or weight decay, and for nesterov without momentum.
    """

    _later_options = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_learning_rate(lr)
        check_number("momentum value", momentum, momentum >= 0.0)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)

    def _step_one(self, group, param, grad):
        # PyTorch's layout: no state without momentum, and the first step makes the buffer.
        if group["momentum"] == 0:
            self._update(group, param, -grad if group["maximize"] else grad, None)
        else:
            super()._step_one(group, param, grad)

    def _update(self, group, param, grad, state):
        settings = {
            "lr": number(group["lr"]),
            "weight_decay": number(group["weight_decay"]),
            "momentum": group["momentum"],
            "nesterov": group["nesterov"],
        }
        if state is None:
            _updates.run(_plain, param, grad, lr=settings["lr"], weight_decay=settings["weight_decay"])
            return
        buffer = state.get("momentum_buffer")
        first = buffer is None
        if first:
            buffer = state["momentum_buffer"] = grad.detach().clone()
        _updates.run(
            _with_momentum, param, grad, buffer, first=first, dampening=group["dampening"], **settings
        )


def _plain(param, grad, *, lr, weight_decay):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    param.add_(grad, alpha=-lr)


def _with_momentum(param, grad, buffer, *, lr, weight_decay, momentum, nesterov, dampening, first):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    if first:
        buffer.copy_(grad)
    else:
        buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
    param.add_(grad.add(buffer, alpha=momentum) if nesterov else buffer, alpha=-lr)
