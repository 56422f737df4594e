"""Losses between an input and a target of its shape, or between several inputs."""

import functools
import math
import warnings

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.elementwise import elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.distances import at_least, pairwise_distance
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import promoting

_loss = functools.partial(op, namespace="torch.nn.functional", method=False, out=False)


def chosen_reduction(reduction, size_average=None, reduce=None):
    """ "none", "mean" or "sum", from the argument of that name or the two it replaced. Raises ValueError for others."""
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


# --- differences between an input and a target -----------------------------------------------------------------------


def _check_sizes(input, target, weight):
    """Warn where the two broadcast; raise ValueError for a weight of another size than the input."""
    if shape_of(input) != shape_of(target):
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
            "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=5,
        )
    if weight is not None and shape_of(weight) != shape_of(input):
        raise ValueError(
            f"Weights and input must have the same size. Received: {weight.shape} and {input.shape}"
        )


def _difference(input, target, weight=None):
    _check_sizes(input, target, weight)
    return input - target


def _weighted(losses, weight, reduction):
    """The losses reduced; the mean is the weighted one."""
    if weight is None:
        return reduced(losses, reduction)
    losses = losses * weight
    return losses.sum() / weight.sum() if reduction == "mean" else reduced(losses, reduction)


@promoting
@on_cpu(
    elementwise(
        lambda input, target: np.square(input - target),
        reason="MindSpore's mse_loss computes float64 in float32",
        input=lambda m, grad, input, target: 2 * grad * (input - target),
        target=lambda m, grad, input, target: 2 * grad * (target - input),
    )
)
def _squared_difference(input, target):
    return (input - target) ** 2


@_loss(node="MseLossBackward0", kernel=_squared_difference)
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squared differences, each times `weight`, and their mean or sum."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    _check_sizes(input, target, weight)
    dtype = result_type(input, target)
    if weight is None and not (dtype.is_floating_point or dtype.is_complex):
        raise NotImplementedError(f"\"mse_cpu\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")
    return _weighted(_squared_difference(input, target), weight, reduction)


@_loss
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute differences, each times `weight`, and their mean or sum."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    return _weighted(_difference(input, target, weight).abs(), weight, reduction)


@_loss(node="SmoothL1LossBackward0")
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squared differences over `2 * beta` up to `beta`, absolute ones less `beta / 2` beyond, and their mean or sum."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta. Received: {beta}")
    difference = _difference(input, target)
    size = difference.abs()
    if beta:
        size = (difference * difference * (0.5 / beta)).where(size < beta, size - 0.5 * beta)
    return reduced(size, reduction)


@_loss(node="HuberLossBackward0")
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the squared differences up to `delta`, `delta` times (absolute ones less `delta / 2`) beyond."""
    reduction = chosen_reduction(reduction)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta. Received: {delta}")
    difference = _difference(input, target, weight)
    size = difference.abs()
    losses = (difference * difference * 0.5).where(size <= delta, (size - 0.5 * delta) * delta)
    return reduced(losses if weight is None else losses * weight, reduction)


# --- likelihoods -----------------------------------------------------------------------------------------------------


def _check_probabilities(input):
    if not ((input >= 0) & (input <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")


def _by_probabilities(input, target):
    _check_probabilities(input)
    return (target - 1) * np.maximum(np.log1p(-input), -100) - target * np.maximum(np.log(input), -100)


@promoting
@on_cpu(
    elementwise(
        _by_probabilities,
        reason="MindSpore's clamps at other values than PyTorch, has no float64 and doubles a single element",
        input=lambda m, grad, input, target: (
            grad * (input - target) / m.clip((1 - input) * input, 1e-12, None)
        ),
        target=lambda m, grad, input: grad * (m.log1p(-input) - m.log(input)),
    )
)
def _cross_entropy_of_two(input, target):
    _check_probabilities(input)
    return (target - 1) * (-input).log1p().clamp(min=-100) - target * input.log().clamp(min=-100)


@_loss(node="BinaryCrossEntropyBackward0", kernel=_cross_entropy_of_two)
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The cross-entropy of probabilities `input` with probabilities `target` of the same shape.

    Logarithms are cut at -100. Raises ValueError for shapes that differ, RuntimeError for values outside 0 to 1.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if shape_of(input) != shape_of(target):
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if input.dtype != target.dtype:
        names = [_dtype.SCALAR_NAMES[t.dtype] for t in (target, input)]
        raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")
    losses = _cross_entropy_of_two(input, target)
    return reduced(losses if weight is None else losses * weight, reduction)


def _softplus_of_minus(m, input):
    return m.log1p(m.exp(-m.abs(input))) - m.clip(input, None, 0)


def _by_logits(input, target, factor):
    """`(1 - target) * input + factor * softplus(-input)`; without factor, 1."""
    rest = _softplus_of_minus(np, input)
    return (1 - target) * input + (rest if factor is None else factor * rest)


def _slope_by_logits(m, grad, input, target, factor):
    rest = 1 / (1 + m.exp(input))
    return grad * (1 - target - (rest if factor is None else factor * rest))


@promoting
@on_cpu(
    elementwise(
        _by_logits,
        reason="MindSpore has no float64 for it, and no derivative for the target",
        input=_slope_by_logits,
        target=lambda m, grad, input: grad * -input,
        factor=lambda m, grad, input: grad * _softplus_of_minus(m, input),
    )
)
def _cross_entropy_of_logits(input, target, factor):
    rest = (-input.abs()).exp().log1p() + (-input).clamp(min=0)
    return (1 - target) * input + (rest if factor is None else factor * rest)


@_loss(node="BinaryCrossEntropyWithLogitsBackward0", kernel=_cross_entropy_of_logits)
def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """`binary_cross_entropy(sigmoid(input), target)`, exact for large inputs; `pos_weight` counts targets of 1 more."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if shape_of(input) != shape_of(target):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    factor = None if pos_weight is None else (pos_weight - 1) * target + 1
    losses = _cross_entropy_of_logits(input, target, factor)
    return reduced(losses if weight is None else losses * weight, reduction)


@_loss
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """The divergence of log-probabilities `input` from probabilities (or, `log_target`, log-probabilities) `target`.

    "batchmean" divides the sum by the first dimension; "mean" divides by the number of elements, with a warning.
    """
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only "
            "by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            stacklevel=4,
        )
    reduction = "sum" if by_batch else chosen_reduction(reduction, size_average, reduce)
    losses = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    result = reduced(losses, reduction)
    return result / shape_of(input)[0] if by_batch and shape_of(input) else result


@_loss
def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """The negative log-likelihood of counts `target` under Poisson rates `input` (their logarithms, if `log_input`).

    `full` adds Stirling's approximation of the factorial for targets above 1.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, reduction)


@_loss
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log-likelihood of `target` under normal distributions of mean `input` and variance `var`.

    `var` is at least `eps`; it has the input's shape, or that with the last dimension 1 or missing, or is one float.
    Raises ValueError for a negative variance or another shape.
    """
    if not isinstance(var, (MsTensor, float)):
        raise TypeError(
            f"gaussian_nll_loss(): argument 'var' must be Tensor or float, not {type(var).__name__}"
        )
    if isinstance(var, float):
        var = input.new_full(shape_of(input), var)
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    x, v = shape_of(input), shape_of(var)
    if v != x:
        if v == x[:-1]:
            var = var.unsqueeze(-1)
        elif len(v) != len(x) or sum(size for own, size in zip(x, v, strict=True) if own != size) != 1:
            raise ValueError(
                f"var is of incorrect size. Received: {var.shape} for an input of size {input.shape}"
            )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = at_least(var, eps)
    difference = input - target
    losses = 0.5 * (var.log() + difference * difference / var)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


# --- margins ---------------------------------------------------------------------------------------------------------


@_loss
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """How far `input1` is from ranking above (`target` 1) or below (-1) `input2` by `margin`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: {input1.shape}, "
            f"input2: {input2.shape}, target: {target.shape} "
        )
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


@_loss
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """The distance `input` where `target` is 1; where it is -1, how far it falls short of `margin`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    zero = input.new_zeros(())
    short = (margin - input).clamp(min=0).where(target != 1, zero)
    return reduced(short + input.where(target != -1, zero), reduction)


@_loss(node="SoftMarginLossBackward0")
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """`log(1 + exp(-target * input))` for targets of 1 and -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    return reduced((-target * input).exp().log1p(), reduction)


@_loss
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """`binary_cross_entropy_with_logits`, its mean over the last dimension; `weight` is one per class."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    losses = _cross_entropy_of_logits(input, target, None)
    return reduced((losses if weight is None else losses * weight).sum(-1) / shape_of(input)[-1], reduction)


@_loss
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 less the cosine of the angle between vectors where `target` is 1; where -1, how far it exceeds `margin`."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    rank = len(shape_of(target))
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.dim() == input2.dim() == rank + 1:
        raise RuntimeError(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    tiny = 1e-12
    product = ((input1 * input1).sum(-1) + tiny) * ((input2 * input2).sum(-1) + tiny)
    cosine = (input1 * input2).sum(-1) / product.sqrt()
    zero = cosine.new_zeros(())
    apart = (cosine - margin).clamp(min=0).where(target == -1, zero)
    return reduced((1 - cosine).where(target == 1, zero) + apart, reduction)


def _check_margin(margin, *tensors):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = [t.dim() for t in tensors]
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )


def _triplets(distance, anchor, positive, negative, margin, swap, reduction):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)


@_loss
def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):  # fmt: skip
    """How far the anchor falls short of being nearer to `positive` than to `negative` by `margin`, in the p-norm.

    `swap` takes the distance of positive and negative where that is smaller.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    _check_margin(margin, anchor, positive, negative)
    distance = functools.partial(pairwise_distance, p=p, eps=eps)
    return _triplets(distance, anchor, positive, negative, margin, swap, reduction)


@_loss
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """`triplet_margin_loss` with a distance of your own."""
    reduction = chosen_reduction(reduction)
    _check_margin(margin, anchor, positive, negative)
    return _triplets(
        distance_function or pairwise_distance, anchor, positive, negative, margin, swap, reduction
    )


def _as_batch(name, input, target, with_classes):
    """Input and target with a batch dimension. Raises RuntimeError where they do not fit."""
    x, y = shape_of(input) or (1,), shape_of(target)
    rows = x[0] if len(x) == 2 else 1
    fits = (
        len(x) in (1, 2)
        and x[-1]
        and (y == shape_of(input) if with_classes else y == (rows,) or (len(x) == 1 and not y))
    )
    if not fits:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(x)}"
            if len(x) not in (1, 2) or not x[-1]
            else f"inconsistent target size: {list(y)} for {name} of input of size: {list(x)}"
        )
    return input.reshape((rows, x[-1])), target.reshape((rows, -1))


@_loss(node="MultiMarginLossBackward0")
def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """How far each class of `input` [N, C] comes within `margin` of the class `target` [N], to the power `p` (1 or 2).

    Raises ValueError for other powers, RuntimeError for a target that is no class.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported. Received: {p}")
    if weight is not None and weight.dim() != 1:
        raise ValueError(f"weight must be one-dimensional. Received: {weight.shape}")
    unbatched = not shape_of(target)
    input, target = _as_batch("multi_margin_loss", input, target, with_classes=False)
    classes = shape_of(input)[1]
    _check_indices(target, 0, classes)
    short = (margin - input.gather(1, target) + input).relu()
    losses = short * short if p == 2 else short
    if weight is not None:
        losses = losses * weight[target]
    result = losses.scatter(1, target, 0).sum(1) / classes
    return reduced(result.reshape(()) if unbatched else result, reduction)


@_loss(node="MultilabelMarginLossBackward0")
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """How far classes of `input` [N, C] come within 1 of those in `target` [N, C], a list of classes ended by -1."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    unbatched = len(shape_of(input)) < 2
    input, target = _as_batch("multilabel_margin_loss", input, target, with_classes=True)
    classes = shape_of(input)[1]
    _check_indices(target, -1, classes)
    listed = (target < 0).long().cumsum(1) == 0
    index = target.masked_fill(~listed, 0)
    is_target = (
        (index.unsqueeze(2) == index.new_tensor(range(classes))).logical_and(listed.unsqueeze(2)).any(1)
    )
    short = (1 - input.gather(1, index).unsqueeze(2) + input.unsqueeze(1)).relu()
    ignored = (~listed).unsqueeze(2).logical_or(is_target.unsqueeze(1))
    result = short.masked_fill(ignored, 0).sum((1, 2)) / classes
    return reduced(result.reshape(()) if unbatched else result, reduction)


def _check_indices(target, lowest, classes):
    if (target < lowest).any() or (target >= classes).any():
        raise RuntimeError(
            f"target out of range: classes are {lowest} to {classes - 1}. Received: {target.tolist()}"
        )
