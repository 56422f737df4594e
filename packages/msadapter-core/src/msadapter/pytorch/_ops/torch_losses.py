"""The losses that torch shows beside torch.nn.functional: the same, the reduction a number (0 none, 1 mean, 2 sum)."""

from msadapter.pytorch._ops import losses
from msadapter.pytorch._ops.registry import op

_REDUCTIONS = ("none", "mean", "sum")


def _named(reduction):
    if reduction not in (0, 1, 2):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def _of_torch(body):
    """Register the body under its own name; what it does is said where the functional form is."""
    body.__doc__ = (
        f"`torch.nn.functional.{body.__name__}` with the reduction as a number: 0 none, 1 mean, 2 sum."
    )
    return op(body, method=False, out=False)


@_of_torch
def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    return losses.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_named(reduction), pos_weight=pos_weight
    )


@_of_torch
def kl_div(input, target, reduction=1, *, log_target=False):
    # Without the warning of the functional form, which asks for "mean" to be spelt out.
    result = losses.kl_div(input, target, reduction="none", log_target=log_target)
    return losses.reduced(result, _named(reduction))


@_of_torch
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_named(reduction))


@_of_torch
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    return losses.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


@_of_torch
def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    return losses.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


@_of_torch
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    return losses.cosine_embedding_loss(input1, input2, target, margin, reduction=_named(reduction))


@_of_torch
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction=1):
    return losses.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_named(reduction)
    )
