"""NAdam."""

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

__all__ = ["NAdam"]


class NAdam(PerParameterOptimizer):
    """Adam with Nesterov momentum."""

    _later_options = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
    }
    _scalar_state = ("step", "mu_product")

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
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
        check_number("momentum_decay value", momentum_decay, momentum_decay >= 0.0)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _init_state(self, group, param):
        return {
            "step": state_scalar(),
            "mu_product": state_scalar(1.0),
            "exp_avg": zeros_of(param),
            "exp_avg_sq": zeros_of(param),
        }

    def _update(self, group, param, grad, state):
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        step = _updates.advance(state["step"])
        mu, mu_next = (
            beta1 * (1.0 - 0.5 * (0.96 ** (s * group["momentum_decay"]))) for s in (step, step + 1)
        )
        mu_product = _updates.set_scalar(state["mu_product"], _updates.scalar(state["mu_product"]) * mu)
        _updates.run(
            _nadam,
            param,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            lr=lr,
            beta1=beta1,
            beta2=beta2,
            correction=1 - beta2**step,
            grad_step=lr * (1.0 - mu) / (1.0 - mu_product),
            average_step=lr * mu_next / (1.0 - mu_product * mu_next),
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            decoupled=group["decoupled_weight_decay"],
        )


def _nadam(
    param,
    grad,
    average,
    square_average,
    *,
    lr,
    beta1,
    beta2,
    correction,
    grad_step,
    average_step,
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
    denominator = square_average.div(correction).sqrt_().add_(eps)
    param.addcdiv_(grad, denominator, value=-grad_step)
    param.addcdiv_(average, denominator, value=-average_step)
