"""The cross entropy of a linear layer."""

import math

from msadapter.pytorch.nn import functional as F


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """The cross entropy of `input @ linear_weight.T + linear_bias`.

    Shapes: input (N, features) or (features,), linear_weight (classes, *, features), linear_bias (classes, *), target
    class indices (N, *) or class probabilities (N, classes, *). `options` says in PyTorch how to do it in chunks; it is
    accepted and changes nothing here. Raises RuntimeError for shapes that don't go together.
    """
    classes, *positions, features = _check(input, linear_weight, linear_bias)
    shape = (*input.shape[:-1], classes, *positions)
    if target.shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    rows = classes * math.prod(positions)
    bias = None if linear_bias is None else linear_bias.reshape(rows)
    logits = F.linear(input, linear_weight.reshape(rows, features), bias).reshape(shape)
    return F.cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


def _check(input, weight, bias):
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    return weight.shape
