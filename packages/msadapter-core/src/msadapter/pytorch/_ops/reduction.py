"""Sums and other reductions over dimensions."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import dtype_of, numel_of, requires_grad, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast, to_size, wrap_dims

_FLOATS = frozenset(map(_dtype.NATIVE.get, (_dtype.float32, _dtype.float64)))


@kernel(reason="MindSpore sums zero elements to junk, int64 in float64, and halves in their own precision")
def _sum_arrays(input, dims, keepdim, shape):
    half = input.dtype.itemsize == 2 and input.dtype.kind in "fV"
    return input.sum(dims, dtype=np.float32 if half else input.dtype, keepdims=keepdim).astype(input.dtype)


@_sum_arrays.gradient
def _(ctx, grad):
    _, dims, keepdim, shape = ctx.args
    return _spread(grad, dims, keepdim, shape)


def _spread(grad, dims, keepdim, shape):
    """A reduced gradient, broadcast back over the reduced dimensions."""
    if not keepdim:
        grad = grad.reshape(tuple(1 if i in dims else s for i, s in enumerate(shape)))
    return grad.expand(shape)


@op
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum over `dim` (one, several, or all), in `dtype`; integers and bool sum to int64."""
    if dtype is None and not (input.dtype.is_floating_point or input.dtype.is_complex):
        dtype = _dtype.int64
    if dtype is not None:
        input = cast(input, dtype)
    shape = shape_of(input)
    dims = wrap_dims(dim, len(shape))
    if storage.ON_CPU and (dtype_of(input) not in _FLOATS or not numel_of(input)):
        return _sum_arrays(input, dims, keepdim, shape)
    if not dims:
        return input * 1
    if keepdim or not requires_grad(input):
        return ms.ops.sum(input, dims, keepdim)
    # The gradient of a sum that drops dimensions loses its own graph in the engine; that of a reshape does not.
    kept = ms.ops.sum(input, dims, True)
    return native.view(kept, tuple(s for i, s in enumerate(shape) if i not in dims))


@op
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean over `dim`. Raises RuntimeError for integers, unless `dtype` is a float dtype."""
    if dtype is not None:
        input = cast(input, dtype)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {_dtype.SCALAR_NAMES[input.dtype]}"
        )
    shape = shape_of(input)
    dims = wrap_dims(dim, len(shape))
    count = math.prod(shape[d] for d in dims)
    return sum(input, dim, keepdim) / count


def sum_to_shape(tensor, shape):
    """Undo a broadcast: `tensor` summed over the dimensions that `shape` lacks or has as 1."""
    own = shape_of(tensor)
    if own == shape:
        return tensor
    lead = len(own) - len(shape)
    dims = tuple(range(lead)) + tuple(i + lead for i, s in enumerate(shape) if s == 1 and own[i + lead] != 1)
    return sum(tensor, dims, True).reshape(shape) if dims else tensor.reshape(shape)


@op(function=False)
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
    return sum_to_shape(input, size)
