"""Losses between an input and a target of its shape, or between several inputs."""

import warnings

from msadapter.pytorch._engine.native import shape_of


def chosen_reduction(reduction, size_average=None, reduce=None):
    """ "none", "mean" or "sum", from the argument of that name or the two it replaced. Raises ValueError for any other."""
    if size_average is not None or reduce is not None:
        mean = "mean" if size_average is None or size_average else "sum"
        reduction = mean if reduce is None or reduce else "none"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=5,
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(losses, reduction):
    """The losses as they are ("none"), their mean or their sum."""
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def _warn_of_size(name, input, target):
    if shape_of(input) != shape_of(target):
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
            "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=5,
        )
