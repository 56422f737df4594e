"""Negative log-likelihood and cross-entropy of classes."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, dtype_of, requires_grad, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.losses import chosen_reduction, reduced
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.softmax import log_softmax, shifted, softmax

_REASON = "MindSpore's computes float64 in float32, has no bfloat16 and passes over targets out of range"


class _Targets:
    """The class of each place [N, M] of an input [N, C, M], and how much the place counts (0 where it is ignored)."""

    def __init__(self, target, shape, weight, reduction, ignore_index, dtype):
        classes = shape[0] if len(shape) == 1 else shape[1]
        rows = 1 if len(shape) == 1 else shape[0]
        self.shape = rows, classes, math.prod(shape[2:])
        index = target.astype(np.int64, copy=False)
        kept = index != ignore_index
        wrong = kept & ((index < 0) | (index >= classes))
        if wrong.any():
            raise IndexError(f"Target {index[wrong][0]} is out of bounds.")
        index = np.where(kept, index, 0).reshape(rows, 1, self.shape[2])
        self.any = bool(classes)
        self.index, self.kept, self.reduction = index, kept.reshape(index.shape), reduction
        self.result_shape = target.shape
        self.weights = self.kept.astype(dtype)
        if weight is not None and self.any:
            self.weights *= weight[index]

    def of(self, values):
        """The element of `values` [N, C, M] at each place's class, [N, 1, M]."""
        if not self.any:
            return np.zeros(self.index.shape, values.dtype)
        return np.take_along_axis(values, self.index, 1)

    def reduced(self, losses):
        losses = np.where(self.kept, losses * self.weights, losses.dtype.type(0))
        if self.reduction == "none":
            return losses.reshape(self.result_shape)
        total = losses.sum()
        return total / self.weights.sum() if self.reduction == "mean" else total

    def shares(self, grad):
        """What each place's loss has of the gradient `grad` of the reduced one."""
        grad = grad.reshape(self.index.shape if self.reduction == "none" else (1, 1, 1)) * self.weights
        if self.reduction == "mean":
            grad = grad / self.weights.sum()
        return np.where(self.kept, grad, grad.dtype.type(0))

    def add(self, values, amounts):
        """Add `amounts` [N, 1, M] to `values` [N, C, M] at each place's class."""
        if self.any:
            np.put_along_axis(values, self.index, self.of(values) + amounts, 1)


@kernel(reason=_REASON, saves=("target", "weight"))
@in_float32
def _nll(input, target, weight, reduction, ignore_index):
    targets = _Targets(target, input.shape, weight, reduction, ignore_index, input.dtype)
    return targets.reduced(-targets.of(input.reshape(targets.shape)))


@kernel(reason="the gradient of nll_loss", saves=("target", "weight"))
@in_float32
def _nll_gradient(grad, target, weight, shape, reduction, ignore_index):
    targets = _Targets(target, shape, weight, reduction, ignore_index, grad.dtype)
    result = np.zeros(targets.shape, grad.dtype)
    targets.add(result, -targets.shares(grad))
    return result.reshape(shape)


@_nll.gradient
def _(ctx, grad):
    target, weight = ctx.saved
    return _padded(ctx, _nll_gradient(grad, target, weight, ctx.shapes[0], *ctx.args[3:]))


@_nll_gradient.gradient
def _(ctx, second):
    target, weight = ctx.saved
    return _padded(ctx, _nll(second, target, weight, *ctx.args[4:]))


@kernel(reason=_REASON + "; one pass over the classes instead of three", saves=("input", "target", "weight"))
@in_float32
def _cross_entropy(input, target, weight, reduction, ignore_index):
    targets = _Targets(target, input.shape, weight, reduction, ignore_index, input.dtype)
    scores = shifted(input.reshape(targets.shape), 1)
    own = targets.of(scores)
    return targets.reduced(np.log(np.exp(scores, out=scores).sum(1, keepdims=True)) - own)


@kernel(reason="the gradient of cross_entropy", saves=("grad", "input", "target", "weight"))
@in_float32
def _cross_entropy_gradient(grad, input, target, weight, reduction, ignore_index):
    targets = _Targets(target, input.shape, weight, reduction, ignore_index, input.dtype)
    shares = targets.shares(grad)
    result = shifted(input.reshape(targets.shape), 1)
    np.exp(result, out=result)
    result *= shares / result.sum(1, keepdims=True)
    targets.add(result, -shares)
    return result.reshape(input.shape)


@_cross_entropy.gradient
def _(ctx, grad):
    input, target, weight = ctx.saved
    return _padded(ctx, _cross_entropy_gradient(grad, input, target, weight, *ctx.args[3:]))


@_cross_entropy_gradient.gradient
def _(ctx, second):
    grad, input, target, weight = ctx.saved
    how, dim = ctx.args[4:], 0 if len(ctx.shapes[1]) == 1 else 1
    likelihoods = softmax(input, dim)
    centred = second - (second * likelihoods).sum(dim, True)
    counted = _nll_gradient(grad, target, weight, ctx.shapes[1], *how).sum(dim, True)
    return _padded(ctx, _nll(centred, target, weight, *how), -counted * likelihoods * centred)


def _padded(ctx, *gradients):
    """No gradient for the targets and weights that follow."""
    return (*gradients, *(None,) * (len(ctx.shapes) - len(gradients)))


@on_cpu(_nll)
def _nll_on_device(input, target, weight, reduction, ignore_index):
    return ms.mint.nn.functional.nll_loss(input, target, weight, ignore_index, reduction)


@on_cpu(_cross_entropy)
def _cross_entropy_on_device(input, target, weight, reduction, ignore_index):
    scores = ms.mint.nn.functional.log_softmax(input, 0 if input.ndim == 1 else 1)
    return ms.mint.nn.functional.nll_loss(scores, target, weight, ignore_index, reduction)


def _check_target(input, target):
    """The two as they are; raises PyTorch's errors where the shapes or the target's dtype do not fit."""
    x, y = shape_of(input), shape_of(target)
    if not x:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(x) == 1 and y not in ((), (1,)):
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {math.prod(y)}")
    if len(x) > 1 and (not y or x[0] != y[0]):
        raise ValueError(
            f"Expected input batch_size ({x[0]}) to match target batch_size ({y[0] if y else 0})."
        )
    if len(x) == 2 and len(y) != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if len(x) > 2 and len(y) != len(x) - 1:
        raise RuntimeError(
            f"only batches of spatial targets supported ({len(x) - 1}D tensors) but got targets of dimension: {len(y)}"
        )
    if len(x) > 2 and x[2:] != y[1:]:
        raise RuntimeError(f"size mismatch (got input: {list(x)} , target: {list(y)})")
    if target.dtype not in (_dtype.int64, _dtype.uint8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {_dtype.SCALAR_NAMES[target.dtype]}"
        )


def _check_weight(input, weight):
    x = shape_of(input)
    classes = x[0] if len(x) == 1 else x[1]
    if shape_of(weight) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(shape_of(weight))}"
        )
    if dtype_of(weight) is not dtype_of(input):
        names = [_dtype.SCALAR_NAMES[t.dtype] for t in (input, weight)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
    if requires_grad(weight):
        raise RuntimeError(
            "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. This input cannot "
            "have requires_grad True."
        )


def _check_classes(input, target, weight, what):
    _check_target(input, target)
    if weight is not None:
        _check_weight(input, weight)
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{what}\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")


@op(namespace="torch.nn.functional", method=False, out=False, node="NllLossBackward0", kernel=_nll)
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """The negative log-likelihood of the classes `target` [N, ...] under log-probabilities `input` [N, C, ...].

    `weight` [C] counts a class more or less, targets equal to `ignore_index` count nothing.
    Raises IndexError for a target that is no class, ValueError or RuntimeError where shapes and dtypes do not fit.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    _check_classes(input, target, weight, "nll_loss_out_frame")
    return _nll_on_device(input, target, weight, reduction, ignore_index)


@op(namespace="torch.nn.functional", method=False, out=False, node="NllLossBackward0", kernel=_cross_entropy)
def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """The cross-entropy of scores `input` [N, C, ...] with classes `target` [N, ...], or probabilities of its own shape.

    `weight` [C] counts a class more or less; classes equal to `ignore_index` count nothing; `label_smoothing` mixes the
    targets with the uniform distribution.
    Raises IndexError for a target that is no class, ValueError or RuntimeError where shapes and dtypes do not fit.
    """
    reduction = chosen_reduction(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if not isinstance(target, MsTensor):
        raise TypeError(
            f"cross_entropy_loss(): argument 'target' (position 2) must be Tensor, not {type(target).__name__}"
        )
    if shape_of(target) == shape_of(input):
        return _with_probabilities(input, target, weight, reduction, label_smoothing)
    _check_classes(input, target, weight, "log_softmax_lastdim_kernel_impl")
    plain = _cross_entropy_on_device(input, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return plain
    smooth = _smooth_part(input, target, weight, reduction, ignore_index)
    classes = shape_of(input)[_class_dim(input)]
    return plain * (1 - label_smoothing) + smooth * (label_smoothing / classes)


def _class_dim(input):
    return 0 if len(shape_of(input)) == 1 else 1


def _along_classes(weight, input):
    """`weight` [C] in a shape that broadcasts to `input`."""
    return weight.reshape((-1, *(1,) * (len(shape_of(input)) - 1 - _class_dim(input))))


def _with_probabilities(input, target, weight, reduction, label_smoothing):
    if not target.dtype.is_floating_point:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {_dtype.SCALAR_NAMES[target.dtype]}"
        )
    dim = _class_dim(input)
    classes = shape_of(input)[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    weighted = log_softmax(input, dim) * target
    if weight is not None:
        _check_weight(input, weight)
        weighted = weighted * _along_classes(weight, input)
    if reduction == "mean":
        return -weighted.sum() / (math.prod(shape_of(input)) / classes if classes else 0)
    return -(weighted.sum(dim) if reduction == "none" else weighted.sum())


def _smooth_part(input, target, weight, reduction, ignore_index):
    """The loss against the sum of all classes, over the places that are not ignored."""
    dim = _class_dim(input)
    scores = log_softmax(input, dim)
    if weight is not None:
        scores = scores * _along_classes(weight, input)
    ignored = target == ignore_index
    losses = (-scores.sum(dim).reshape(shape_of(target))).masked_fill(ignored, 0.0)
    if reduction != "mean":
        return reduced(losses, reduction)
    counted = cast(~ignored, input.dtype)
    if weight is not None:
        counted = counted * weight[target.long().masked_fill(ignored, 0)]
    return losses.sum() / counted.sum()


@op(namespace="torch.nn.functional", method=False, out=False)
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
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`: [N, F] (or [F]) with [C, ..., F].

    `options` of chunking save memory in PyTorch and are not needed for the value: taken, and passed over.
    Raises RuntimeError where shapes do not fit.
    """
    x, w = shape_of(input), shape_of(linear_weight)
    if len(x) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(x)}")
    if len(w) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(w)}")
    if x[-1] != w[-1]:
        raise RuntimeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {x[-1]} and {w[-1]}, respectively"
        )
    if linear_bias is not None and shape_of(linear_bias) != w[:-1]:
        raise RuntimeError(f"expected linear_bias shape {w[:-1]}, got {shape_of(linear_bias)}")
    if len(w) > 2 and len(x) == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {w} requires batched input, (N, {x[-1]}), got unbatched input "
            f"with shape {x}"
        )
    scores = (input @ linear_weight.reshape((-1, w[-1])).t()).reshape((*x[:-1], *w[:-1]))
    if linear_bias is not None:
        scores = scores + linear_bias
    if ignore_index is not None and shape_of(target) == shape_of(scores):
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    return cross_entropy(
        scores,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
