"""Sums, products and logical reductions over dimensions."""

import functools
import math

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import requires_grad, shape_of
from msadapter.pytorch._ops.arrays import axes_of, converted, is_floating, total, wide
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast, to_int, to_size


@kernel(
    reason="MindSpore's sum takes 2 to 15 times NumPy's time, sums zero elements to junk and int64 in float64"
)
def _sum(input, dim, keepdim, dtype):
    return converted(total(converted(input, dtype), axes_of(dim, input.ndim), keepdim), dtype)


@_sum.gradient
def _(ctx, grad):
    _, dim, keepdim, _ = ctx.args
    return spread(grad, dim, keepdim, ctx.shapes[0])


@kernel(reason="an expanded gradient has several elements in one place, which nobody could write to")
def _spread(grad, dim, keepdim, shape):
    if not keepdim:
        grad = np.expand_dims(grad, axes_of(dim, len(shape)))
    return np.broadcast_to(grad, shape).copy()


@_spread.gradient
def _(ctx, grad):
    _, dim, keepdim, _ = ctx.args
    return sum(grad, dim, keepdim)


def labelled(tensor, node):
    """The tensor, with PyTorch's name of the graph node that made it, where that depends on the arguments."""
    if requires_grad(tensor):
        tensor.__dict__["_operator"] = node
    return tensor


def _numbered(body):
    """PyTorch has two nodes for a reduction: number 0 over all elements, number 1 over dimensions."""
    nodes = [f"{body.__name__.capitalize()}Backward{number}" for number in (0, 1)]

    @functools.wraps(body)
    def run(input, dim=None, keepdim=False, *, dtype=None):
        options = {} if dtype is None else {"dtype": dtype}
        return labelled(body(input, dim, keepdim, **options), nodes[dim is not None])

    return run


def spread(tensor, dim, keepdim, shape):
    """What a reduction over `dim` made of `shape`, repeated back to that shape."""
    return _spread(tensor, dim, keepdim, shape)


def restored(tensor, dim, keepdim, rank):
    """A reduced tensor with its dimensions back as 1."""
    if keepdim or not rank:
        return tensor
    axes = axes_of(dim, rank)
    sizes = iter(shape_of(tensor))
    return tensor.reshape(tuple(1 if i in axes else next(sizes) for i in range(rank)))


def conjugate(tensor):
    """The complex conjugate; a real tensor as it is."""
    return tensor.conj() if tensor.dtype.is_complex else tensor


@op
@_numbered
@on_cpu(_sum)
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum over `dim` (one, several, or all), in `dtype`; integers and bool sum to int64."""
    return mint.sum(input, dim, keepdim, dtype=dtype)


@kernel(reason="MindSpore's mean takes 2 to 15 times NumPy's time, and is -inf for zero elements")
def _mean(input, dim, keepdim, dtype):
    input = converted(input, dtype)
    if input.dtype.kind in "iub":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {_dtype.SCALAR_NAMES[_dtype.of_numpy(input.dtype)]}"
        )
    axes = axes_of(dim, input.ndim)
    count = math.prod(input.shape[a] for a in axes)
    result = total(wide(input), axes, keepdim)
    return (result / result.dtype.type(count)).astype(input.dtype)


@_mean.gradient
def _(ctx, grad):
    _, dim, keepdim, _ = ctx.args
    (shape,) = ctx.shapes
    count = math.prod(shape[a] for a in axes_of(dim, len(shape)))
    return spread(grad / count, dim, keepdim, shape)


@op
@_numbered
@on_cpu(_mean)
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean over `dim`. Raises RuntimeError for integers, unless `dtype` is a float dtype."""
    return mint.mean(input, dim, keepdim, dtype=dtype)


@kernel(
    reason="MindSpore's prod of zero elements is not 1, and its gradient is wrong", saves=("input", "out")
)
def _prod(input, dim, keepdim, dtype):
    input = converted(input, dtype)
    kind = wide(input).dtype if is_floating(input) else np.dtype(np.int64)
    result = np.multiply.reduce(wide(input), axes_of(dim, input.ndim), dtype=kind, keepdims=keepdim)
    return converted(result, dtype) if kind == np.int64 else result.astype(input.dtype)


@_prod.gradient
def _(ctx, grad):
    _, dim, keepdim, _ = ctx.args
    (shape,) = ctx.shapes
    input, out = ctx.saved
    if not shape:
        return grad
    has_zero = not native.asnumpy(input).astype(np.bool_).all()
    others = _products_of_others(input, dim) if has_zero else spread(out, dim, keepdim, shape) / input
    return spread(grad, dim, keepdim, shape) * conjugate(others)


def _products_of_others(input, dim):
    """For each element the product of all others along `dim`, without a division."""
    return _products_before(input, dim) * _products_before(input.flip((dim,)), dim).flip((dim,))


def _products_before(input, dim):
    first = input.narrow(dim, 0, 1)
    return cat([first * 0 + 1, input.narrow(dim, 0, shape_of(input)[dim] - 1)], dim).cumprod(dim)


@on_cpu(_prod)
def _product(input, dim, keepdim, dtype):
    return mint.prod(input, dim, keepdim, dtype=dtype)


@op
@_numbered
def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product over one dimension, or of all elements; integers and bool multiply in int64."""
    if dim is None:
        return _product(input.reshape(-1), 0, False, dtype)
    return _product(input, to_int(dim), keepdim, dtype)


@kernel(reason="MindSpore has no operator for it", saves=("mask",))
def _without_nan(input, mask):
    return np.where(np.isnan(wide(mask)), input.dtype.type(0), input)


@_without_nan.gradient
def _(ctx, grad):
    return _without_nan(grad, ctx.saved[0]), None


@op(node="NansumBackward0")
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum over `dim`, in which NaN counts as zero. Raises RuntimeError for complex."""
    if input.dtype.is_complex:
        raise RuntimeError(f"nansum on CPU does not support complex inputs. Received: {input.dtype}")
    if input.dtype.is_floating_point:
        input = _without_nan(input, input)
    return sum(input, dim, keepdim, dtype=dtype)


@op
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean over `dim` of the elements that are not NaN. Raises RuntimeError for integers and complex."""
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point dtype but got {_dtype.SCALAR_NAMES[input.dtype]}"
        )
    count = sum(input == input, dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / count


@kernel(reason="MindSpore has no CPU kernel for count_nonzero")
def _count_nonzero(input, dim):
    return np.count_nonzero(input.astype(np.bool_), axes_of(dim, input.ndim))


@op(out=False)
@on_cpu(_count_nonzero)
def count_nonzero(input, dim=None):
    """How many elements are not zero, over `dim` (all by default), as int64."""
    return mint.count_nonzero(input, dim)


@kernel(reason="MindSpore's logsumexp of a row of -inf is NaN", saves=("input", "out"))
def _logsumexp(input, dim, keepdim):
    values = wide(input)
    axes = axes_of(dim, input.ndim)
    peak = np.max(values.real, axes, keepdims=True, initial=-np.inf)
    peak = np.where(np.isfinite(peak), peak, 0).astype(values.real.dtype)
    result = np.log(total(np.exp(values - peak), axes, True)) + peak
    return (result if keepdim else result.squeeze(axes)).astype(input.dtype)


@_logsumexp.gradient
def _(ctx, grad):
    _, dim, keepdim = ctx.args
    input, out = ctx.saved
    (shape,) = ctx.shapes
    weights = (input - spread(out, dim, keepdim, shape)).exp()
    return spread(grad, dim, keepdim, shape) * conjugate(weights)


@on_cpu(_logsumexp)
def _log_of_sum(input, dim, keepdim):
    return mint.logsumexp(input, dim, keepdim)


@op(also=("torch.special",))
def logsumexp(input, dim, keepdim=False):
    """The logarithm of the sum of exponentials over `dim`, safe from overflow; integers compute in the default dtype."""
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = cast(input, _dtype.get_default_dtype())
    return _log_of_sum(input, dim, keepdim)


def _logical(name, function, native_op, reason):
    @kernel(reason=reason)
    def over_arrays(input, dim, keepdim):
        axes = () if dim == () else axes_of(dim, input.ndim)
        result = function(input.astype(np.bool_), axes, keepdims=keepdim)
        return np.asarray(result, np.uint8 if input.dtype == np.uint8 else np.bool_)

    @op(name=name)
    @on_cpu(over_arrays)
    def reduce(input, dim=None, keepdim=False):
        return native_op(input, dim, keepdim)

    reduce.__doc__ = reduce.record.body.__doc__ = (
        f"Whether {name} of the elements over `dim` (all dimensions by default) are not zero; uint8 for uint8."
    )
    return reduce


all = _logical("all", np.all, mint.all, "MindSpore's all of uint8 is bool")
any = _logical(
    "any", np.any, mint.any, "MindSpore's any reads wider elements as bytes, and is True of nothing"
)


def sum_to_shape(tensor, shape):
    """Undo a broadcast: `tensor` summed over the dimensions that `shape` lacks or has as 1."""
    own = shape_of(tensor)
    if own == shape:
        return tensor
    lead = len(own) - len(shape)
    dims = tuple(range(lead)) + tuple(i + lead for i, s in enumerate(shape) if s == 1 and own[i + lead] != 1)
    return sum(tensor, dims, True).reshape(shape) if dims else tensor.reshape(shape)


@op(function=False, out=False)
def sum_to_size(input, *size):
    """`input` summed down to `size`, which must broadcast to its shape; RuntimeError otherwise."""

    size = to_size(size)
    own = shape_of(input)
    try:
        fits = broadcast(own, size) == own
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(own)}}}.")
    return sum_to_shape(input, size) if size else sum(input)
