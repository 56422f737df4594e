"""Adagrad."""

from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim.optimizer import (
    PerParameterOptimizer,
    check_implementation,
    check_learning_rate,
    check_number,
    number,
    state_scalar,
    zeros_of,
)

__all__ = ["Adagrad"]


class Adagrad(PerParameterOptimizer):
    """Adagrad: steps scaled by the root of the sum of all squared gradients so far."""

    _later_options = {"maximize": False, "foreach": None, "differentiable": False, "fused": None}

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check_learning_rate(lr)
        check_number("lr_decay value", lr_decay, lr_decay >= 0.0)
        check_number("weight_decay value", weight_decay, weight_decay >= 0.0)
        check_number(
            "initial_accumulator_value value", initial_accumulator_value, initial_accumulator_value >= 0.0
        )
        check_number("epsilon value", eps, eps >= 0.0)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param].update(self._init_state(group, param))

    def _init_state(self, group, param):
        value = group["initial_accumulator_value"]
        total = zeros_of(param).fill_(complex(value, value) if param.is_complex() else value)
        return {"step": state_scalar(), "sum": total}

    def share_memory(self):
        """Nothing to do on the host."""

    def _update(self, group, param, grad, state):
        step = _updates.advance(state["step"])
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        _updates.run(
            _adagrad, param, grad, state["sum"], lr=rate, eps=group["eps"], weight_decay=group["weight_decay"]
        )


def _adagrad(param, grad, total, *, lr, eps, weight_decay):
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    total.addcmul_(grad, grad, value=1)
    param.addcdiv_(grad, total.sqrt().add_(eps), value=-lr)
