"""Reading, adding and writing at selected elements, each the other's gradient, and the indices that select them."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._kernels.selections import Along
from msadapter.pytorch._ops.arrays import as_bits, wide
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.shapes import to_int, wrap_dim

_LONG, _INT = _dtype.NATIVE[_dtype.int64], _dtype.NATIVE[_dtype.int32]


@kernel(reason="MindSpore takes 60 us to 10 ms for an index array, and accepts or drops indices out of range")
def read(input, selection):
    return selection.read(as_bits(input)).view(input.dtype)


@read.gradient
def _(ctx, grad):
    return added(grad, ctx.args[1], ctx.shapes[0])


@kernel(reason="MindSpore has no scatter-add for most selections and dtypes")
def added(values, selection, shape):
    return selection.added(values, shape)


@added.gradient
def _(ctx, grad):
    return read(grad, ctx.args[1])


@kernel(reason="MindSpore's scatters drop indices out of range and miss bool, complex and bfloat16")
def accumulated(input, values, selection):
    return np.add(input, selection.added(values, input.shape))


@accumulated.gradient
def _(ctx, grad):
    return grad, read(grad, ctx.args[2]) if ctx.needs[1] else None


@kernel(reason="MindSpore's indexed writes rebind the storage, so that views go stale")
def written(input, values, selection):
    result = np.array(input, order="C")
    selection.write(as_bits(result), as_bits(values))
    return result


@written.gradient
def _(ctx, grad):
    selection = ctx.args[2]
    return zeroed(grad, selection), read(grad, selection) if ctx.needs[1] else None


@kernel(reason="the gradient of an indexed write")
def zeroed(grad, selection):
    result = np.array(grad, order="C")
    selection.write(result, grad.dtype.type(0))
    return result


@zeroed.gradient
def _(ctx, grad):
    return zeroed(grad, ctx.args[1])


def index_values(index):
    """The indices as an int64 array of their own, which a later write into the index tensor does not reach."""
    return storage.read_only_use(index).astype(np.int64)


def check_range(values, dim, size, error=RuntimeError):
    """Raise PyTorch's error where an index is negative or not below `size`."""
    if values.size:
        low, high = int(values.min()), int(values.max())
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            raise error(f"index {bad} is out of bounds for dimension {dim} with size {size}")


def along(name, input, dim, index, source=None):
    """The selection of gather and scatter, checked against the shapes of `input` and of the scattered `source`."""
    shape, own = shape_of(input), shape_of(index)
    dim = wrap_dim(to_int(dim), len(shape))
    values = index_values(index)
    if values.size:
        if dtype_of(index) is not _LONG and dtype_of(index) is not _INT:
            raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index. Received: {index.dtype}")
        if max(len(shape), 1) != max(len(own), 1):
            raise RuntimeError(
                f"Index tensor must have the same number of dimensions as {'input' if name == 'gather' else 'self'} tensor"
            )
        _check_extent(name, dim, shape, own, None if source is None else shape_of(source))
        check_range(values, dim, shape[dim] if shape else 1)
    elif len(own) != len(shape):
        values = values.reshape((0,) * len(shape)) if name != "gather" else values
    return Along(values, dim)


def _check_extent(name, dim, shape, own, source):
    if source is not None and len(source) != len(own):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for axis in range(len(shape)):
        too_large = axis != dim and own[axis] > shape[axis]
        if too_large and name == "gather":
            raise RuntimeError(
                f"Size does not match at dimension {axis} expected index {list(own)} to be no larger than self "
                f"{list(shape)} apart from dimension {dim}"
            )
        if too_large or (source is not None and own[axis] > source[axis]):
            tail = "" if source is None else f" and to be no larger size than src {list(source)}"
            raise RuntimeError(
                f"Expected index {list(own)} to be no larger than self {list(shape)} apart from dimension {dim}{tail}"
            )


def pick_one(input, dim, keepdim, choose):
    """(values, indices) of a reduction over `dim` that picks one element of each row.

    `choose(array, axis)` gives the indices, the axis kept as 1; it sees halves as float32.
    """
    shape = shape_of(input)
    array = wide(storage.read_only_use(input))
    if not shape:
        return read(input, Along(np.zeros((), np.int64), 0)), from_array(np.zeros((), np.int64))
    indices = choose(array, dim).astype(np.int64, copy=False)
    reduced = shape[:dim] + (1,) * keepdim + shape[dim + 1 :]
    return read(input, Along(indices, dim, reduced)), from_array(indices.reshape(reduced))
