"""Elements and slices picked by index or mask."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of, numel_of, shape_of
from msadapter.pytorch._engine.storage import ON_CPU
from msadapter.pytorch._kernels.selections import Slices
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.selecting import along, index_values, read
from msadapter.pytorch._ops.shapes import broadcast, to_int, wrap_dim

_LONG, _INT, _BOOL = (_dtype.NATIVE[t] for t in (_dtype.int64, _dtype.int32, _dtype.bool))


@op
def gather(input, dim, index, *, sparse_grad=False):
    """result[i][j] = input[index[i][j]][j] for `dim` 0, and so on: an element of `dim` for each index.

    Raises RuntimeError for indices out of range, of another rank, or larger than `input` in other dimensions.
    """
    return read(input, along("gather", input, dim, index)) if ON_CPU else mint.gather(input, dim, index)


@op(node="GatherBackward0")
def take_along_dim(input, indices, dim=None):
    """Elements of `dim` (of the flattened input by default) at `indices`, which broadcast with the other dimensions."""
    if dtype_of(indices) is not _LONG:
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {_dtype.SCALAR_NAMES[indices.dtype]}"
        )
    if dim is None:
        return gather.record.body(input.reshape(-1), 0, _from_the_front(indices.reshape(-1), numel_of(input)))
    shape, own = shape_of(input), shape_of(indices)
    if len(shape) != len(own):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(shape)} dimensions for input, and {len(own)} dimensions for indices"
        )
    dim = wrap_dim(to_int(dim), len(shape))
    if not shape:
        return gather.record.body(input, 0, indices)
    common = broadcast((*shape[:dim], 1, *shape[dim + 1 :]), (*own[:dim], 1, *own[dim + 1 :]))
    input = input.expand(*common[:dim], shape[dim], *common[dim + 1 :])
    indices = _from_the_front(indices.expand(*common[:dim], own[dim], *common[dim + 1 :]), shape[dim])
    return gather.record.body(input, dim, indices)


@kernel(reason="MindSpore has no operator for it")
def _from_the_front(index, size):
    return np.where(index < 0, index + size, index)


@op
def index_select(input, dim, index):
    """The slices of `dim` at `index`, a vector of int32 or int64; IndexError for an index out of range."""
    if dtype_of(index) is not _LONG and dtype_of(index) is not _INT:
        raise RuntimeError(
            f"index_select(): Expected dtype int32 or int64 for index. Received: {index.dtype}"
        )
    if len(shape_of(index)) > 1:
        raise IndexError(
            f"index_select(): Index is supposed to be a vector. Received: shape {list(shape_of(index))}"
        )
    shape = shape_of(input)
    dim = wrap_dim(to_int(dim), len(shape))
    if not shape and numel_of(index) != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {numel_of(index)} value(s)"
        )
    if not ON_CPU:
        return mint.index_select(input, dim, index)
    values = index_values(index).reshape(-1)
    size = shape[dim] if shape else 1
    if values.size and not (0 <= values.min() and values.max() < size):
        raise IndexError(f"index out of range in self. Received: {_beyond(values, size)} for size {size}")
    return read(input, Slices(values, dim)) if shape else input.clone()


def _beyond(values, size):
    """The first index below 0 or not below `size`."""
    return int(values[(values < 0) | (values >= size)][0])


def flat_index(name, input, index):
    """Indices into the flattened input as an int64 array, counted from the front; for take and put."""
    if dtype_of(index) is not _LONG:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {_dtype.SCALAR_NAMES[index.dtype]}"
        )
    values, count = index_values(index), numel_of(input)
    if values.size and not (-count <= values.min() and values.max() < count):
        bad = int(values[(values < -count) | (values >= count)][0])
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {count} elements.")
    return np.where(values < 0, values + count, values)


@op
def take(input, index):
    """The elements of the flattened input at `index`, in the shape of `index`; negative ones count from the end."""
    return read(input.reshape(-1), Slices(flat_index("take", input, index), 0))


@op
def masked_select(input, mask):
    """The elements where `mask` is True, as a vector; the two broadcast. Raises RuntimeError for another mask dtype."""
    if dtype_of(mask) is not _BOOL:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask. Received: {mask.dtype}")
    if not ON_CPU:
        return mint.masked_select(input, mask)
    shape = broadcast(shape_of(input), shape_of(mask))
    input = input if shape == shape_of(input) else input.expand(shape)
    return read(input.reshape(-1), Slices(places_of(mask, shape), 0))


def places_of(mask, shape):
    """Where a bool tensor, broadcast to `shape`, is True in the flattened tensor."""
    return np.flatnonzero(np.broadcast_to(index_mask(mask), shape))


def index_mask(mask):
    """The mask as an array."""
    return index_values(mask).astype(np.bool_)


@kernel(reason="MindSpore has no kernel of nonzero for bfloat16 and none as a tuple")
def _nonzero(input):
    return np.argwhere(input.astype(np.bool_))


@on_cpu(_nonzero)
def _places(input):
    return mint.nonzero(input)


@op
def nonzero(input, *, as_tuple=False):
    """The indices of the elements that are not zero, [count, ndim] in int64; `as_tuple`: one vector per dimension."""
    if not as_tuple:
        return _places(input)
    places = _places(input if shape_of(input) else input.reshape(1))
    return tuple(places[:, i].clone() for i in range(shape_of(places)[1]))


@op(out=False)
def argwhere(input):
    """The indices of the elements that are not zero, [count, ndim] in int64."""
    return _places(input)


@kernel(reason="MindSpore has no operator for it")
def _padded_places(input, size, fill_value):
    places = np.argwhere(input.astype(np.bool_))[:size]
    return np.concatenate([places, np.full((size - len(places), input.ndim), fill_value, np.int64)])


@op
def nonzero_static(input, *, size, fill_value=-1):
    """The first `size` indices of elements that are not zero; missing ones are `fill_value`."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer. Received: {size}")
    return _padded_places(input, to_int(size), to_int(fill_value))


@kernel(reason="MindSpore has no operator for it")
def _unraveled(indices, shape):
    # Unlike NumPy, PyTorch wraps an index that is out of range.
    return tuple(np.asarray(part) for part in np.unravel_index(indices % max(int(np.prod(shape)), 1), shape))


@op(method=False, out=False)
def unravel_index(indices, shape):
    """The coordinates in a tensor of `shape` of indices into the flattened tensor, one tensor per dimension."""
    if not _dtype.is_integral(indices.dtype):
        raise ValueError(f"expected 'indices' to be integer dtype, got {indices.dtype}")
    return _unraveled(indices, (shape,) if isinstance(shape, int) else tuple(map(to_int, shape)))
