"""Indexing with brackets: the whole grammar, read and write, with gradients.

An index is taken in two steps, as PyTorch does: ints, slices, None and Ellipsis make a view, and what tensors, lists
and masks are left then pick from that view. (NumPy would treat an int beside an index array as an array itself.)
"""

import warnings

import numpy as np

from msadapter.pytorch import _dtype, overrides
from msadapter.pytorch._engine import inplace, native, storage, strided, views
from msadapter.pytorch._engine.native import (
    LOCK,
    MsTensor,
    requires_grad,
    set_recording,
    shape_of,
    storage_offset,
    strides_of,
)
from msadapter.pytorch._kernels.selections import Masked, Points, Slices
from msadapter.pytorch._ops import casting
from msadapter.pytorch._ops.arrays import as_bits
from msadapter.pytorch._ops.registry import PLAIN, op, retag
from msadapter.pytorch._ops.selecting import accumulated, read, written
from msadapter.pytorch._ops.shapes import broadcast
from msadapter.pytorch._tensor import Tensor

_SIMPLE = frozenset((int, slice, type(None), type(Ellipsis)))
_WHOLE = Points(())
_INDEX_DTYPES = (_dtype.int64, _dtype.int32)
_NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices"
)
_WRONG_DTYPE = "tensors used as indices must be long, int, byte or bool tensors"


def getitem(self, index):
    """`self[index]`: a view for ints, slices, None and Ellipsis, a copy where tensors, lists or bools take part."""
    kind = type(index)
    basic = kind in _SIMPLE or (kind is tuple and _all_simple(index))
    if type(self) not in PLAIN and not overrides.is_disabled() and overrides.overriding((self,)):
        return overrides.handle_torch_function(getitem, (self,), self, index)
    with LOCK:
        set_recording(True)
        if basic:
            return _view_of(self, index)
        source, selection = _select(self, index)
        if selection is None:
            return source
        result = retag(read(source, selection))
    if requires_grad(result):
        result.__dict__["_operator"] = "IndexBackward0"
    return result


def setitem(self, index, value):
    """`self[index] = value`, into the memory and the graph of `self`."""
    if type(self) not in PLAIN and not overrides.is_disabled() and overrides.overriding((self, value)):
        overrides.handle_torch_function(setitem, (self, value), self, index, value)
        return
    with LOCK:
        set_recording(True)
        if type(index) in _SIMPLE or (type(index) is tuple and _all_simple(index)):
            _assign(_view_of(self, index), _as_value(value, self.dtype))
            return
        source, selection = _select(self, index)
        if selection is None:
            _assign(source, _as_value(value, self.dtype))
            return
        _check_same_dtype(source, value)
        _put(source, selection, _as_value(value, self.dtype))


# --- ints, slices, None and Ellipsis --------------------------------------------------------------------------------


def _all_simple(items):
    for item in items:
        if type(item) not in _SIMPLE:
            return False
    return True


def _view_of(tensor, index):
    """The view that a basic index describes."""
    view = views.track(tensor, _basic_view(tensor, index), _basic_view, (index,))
    if requires_grad(view):
        view.__dict__["_operator"] = _node_name(index)
    return view


def _basic_view(input, index):
    """The native view of a basic index, made in one step."""
    shape, strides = shape_of(input), strides_of(input)
    if type(index) is int and shape:
        size = shape[0]
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {size}")
        shape, offset = shape[1:], index % size * strides[0]
        strides = strides[1:]
    else:
        shape, strides, offset = _place_of(index if type(index) is tuple else (index,), shape, strides)
    if not storage.ON_CPU:
        return native.getitem(input, index)
    return strided.strided_view(input, shape, strides, storage_offset(input) + offset)


def _place_of(items, shape, strides):
    """The geometry of a basic index, its offset counted from the tensor's own."""
    missing = len(shape) - sum(1 for item in items if item is not None and item is not Ellipsis)
    if missing < 0:
        raise _too_many(items, shape)
    sizes, steps, offset, dim = [], [], 0, 0
    for item in items:
        if type(item) is slice:
            start, length, step = _bounds(item, shape[dim])
            sizes.append(length)
            steps.append(strides[dim] * step)
            offset += start * strides[dim]
            dim += 1
        elif item is None:
            sizes.append(1)
            steps.append(shape[dim] * strides[dim] if dim < len(shape) else 1)
        elif item is Ellipsis:
            sizes += shape[dim : dim + missing]
            steps += strides[dim : dim + missing]
            dim, missing = dim + missing, 0
        else:
            size = shape[dim]
            if not -size <= item < size:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {size}")
            offset += item % size * strides[dim]
            dim += 1
    return (*sizes, *shape[dim:]), (*steps, *strides[dim:]), offset


def _bounds(item, size):
    """(start, length, step) of a slice. Raises ValueError for a step below 1."""
    start, stop, step = item.indices(size)
    if step < 1:
        raise ValueError(f"step must be greater than zero. Received: {step}")
    return start, max(0, -(-(stop - start) // step)), step


def _too_many(items, shape):
    if shape:
        return IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if any(type(item) is slice for item in items):
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
        "tensor to a number"
    )


def _node_name(index):
    if type(index) is slice:
        return "SliceBackward0"
    for item in reversed(index if type(index) is tuple else (index,)):
        if type(item) is int:
            return "SelectBackward0"
        if item is None:
            return "UnsqueezeBackward0"
        if type(item) is slice and item != slice(None):
            return "SliceBackward0"
    return "AliasBackward0"


# --- tensors, lists, arrays and bools -------------------------------------------------------------------------------


def _select(self, index):
    """(a view, what an index picks from it, or None where the view is all)."""
    items = [_item(i) for i in _items(index)]
    if all(type(item) in _SIMPLE for item in items):
        items = tuple(items)
        return _view_of(self, items), None
    basic, picks = _split(items, shape_of(self))
    source = self if all(type(i) is slice and i == slice(None) for i in basic) else _view_of(self, basic)
    return source, _selection(picks, shape_of(source))


def _items(index):
    """The items of an index: those of a tuple, and of a list that PyTorch reads as one."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < 32:
        if any(isinstance(i, (slice, type(None), type(Ellipsis), MsTensor, list, tuple, str)) for i in index):
            warnings.warn(
                "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of x[seq]",
                UserWarning,
                stacklevel=5,
            )
            return index
    return (index,)


def _item(item):
    """An int, bool, slice, None or Ellipsis as it is; else an array of int64 or bool."""
    if type(item) in _SIMPLE or type(item) is bool:
        return item
    if isinstance(item, MsTensor):
        return _of_tensor(item)
    if isinstance(item, (list, tuple, range)):
        return _of_sequence(item)
    if isinstance(item, np.ndarray) and item.ndim:
        return item if item.dtype == np.bool_ else item.astype(np.int64)
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError(f"new(): invalid data type 'str'. Received: {item!r} as an index")
    raise IndexError(f"{_NOT_AN_INDEX} (got {type(item).__name__})")


def _of_tensor(tensor):
    dtype = _dtype.of_native(native.dtype_of(tensor))
    array = storage.read_only_use(tensor)
    if dtype == _dtype.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
            stacklevel=7,
        )
    if dtype in (_dtype.bool, _dtype.uint8):
        return array.astype(np.bool_) if array.ndim else bool(array)
    if dtype not in _INDEX_DTYPES and (array.ndim or not _dtype.is_integral(dtype)):
        raise IndexError(f"{_WRONG_DTYPE}. Received: {tensor.dtype}")
    return array.astype(np.int64) if array.ndim else int(array)


def _of_sequence(sequence):
    """The array of nested sequences of numbers, bools and tensors."""
    plain = [i.tolist() if isinstance(i, (MsTensor, np.ndarray)) else i for i in sequence]
    array = np.asarray(plain)
    if array.dtype.kind not in "iubf":
        bad = next((i for i in plain if not isinstance(i, (int, float, list, tuple))), plain)
        raise TypeError(
            f"new(): invalid data type '{type(bad).__name__}'. Received: {sequence!r} as an index"
        )
    return array if array.dtype == np.bool_ else array.astype(np.int64)


def _split(items, shape):
    """A basic index, and picks: for the view it makes, (dimension, array of int64 or bool) per index array.

    Raises IndexError for too many indices, masks of another shape, and indices out of bounds.
    """
    rank, basic, picks, dim = len(shape), [], [], 0
    missing = rank - sum(_dims_of(item) for item in items)
    if missing < 0:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    for item in items:
        if item is Ellipsis:
            basic += [slice(None)] * missing
            dim, missing = dim + missing, 0
        elif type(item) is bool:
            picks.append((_rank_of(basic), np.zeros(1 if item else 0, np.int64)))
            basic.append(None)
        elif isinstance(item, np.ndarray):
            count = _dims_of(item)
            picks.append((_rank_of(basic), _checked(item, shape, dim)))
            basic += [slice(None)] * count
            dim += count
        else:
            basic.append(item)
            dim += item is not None
    return tuple(basic), picks


def _dims_of(item):
    """How many dimensions of the tensor an item stands for."""
    if item is None or item is Ellipsis or type(item) is bool:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1


def _rank_of(basic):
    """How many dimensions the view of a basic index has so far."""
    return sum(1 for item in basic if type(item) is not int)


def _checked(array, shape, dim):
    """A mask that fits, or indices counted from the front."""
    if array.dtype == np.bool_:
        for i, size in enumerate(array.shape):
            if size != shape[dim + i]:
                raise IndexError(
                    f"The shape of the mask {list(array.shape)} at index {i} does not match the shape of the indexed tensor "
                    f"{list(shape)} at index {dim + i}"
                )
        return array
    if not array.size:
        return array
    size, low, high = shape[dim], array.min(), array.max()
    if low < -size or high >= size:
        bad = int(low if low < -size else high)
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {size}")
    return np.where(array < 0, array + size, array) if low < 0 else array


def _selection(picks, shape):
    """The selection of index arrays and masks from a tensor of `shape`."""
    if len(picks) == 1:
        ((dim, array),) = picks
        return Masked(array, dim) if array.dtype == np.bool_ else Slices(array, dim)
    arrays = [None] * len(shape)
    for dim, array in picks:
        for i, part in enumerate(np.nonzero(array) if array.dtype == np.bool_ else (array,)):
            arrays[dim + i] = part
    while arrays[-1] is None:
        arrays.pop()
    try:
        np.broadcast_shapes(*(a.shape for a in arrays if a is not None))
    except ValueError:
        shapes = ", ".join(str(list(a.shape)) for a in arrays if a is not None)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    return Points(arrays)


# --- writing --------------------------------------------------------------------------------------------------------


def _as_value(value, dtype):
    """What is assigned, as a tensor of `dtype`."""
    if isinstance(value, MsTensor):
        return casting.cast(value, dtype)
    if isinstance(value, (int, float, complex, np.number, np.bool_)):
        return retag(casting.checked_constant(value, dtype))
    raise TypeError(f"can't assign a {_type_name(value)} to a torch.{_dtype.SCALAR_NAMES[dtype]}Tensor")


def _type_name(value):
    return "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__


def _check_same_dtype(target, value):
    if isinstance(value, MsTensor) and native.dtype_of(value) is not native.dtype_of(target):
        names = _dtype.SCALAR_NAMES
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {names[target.dtype]} for the destination and "
            f"{names[_dtype.of_native(native.dtype_of(value))]} for the source."
        )


def _assign(target, value):
    """Write `value`, broadcast, into all of `target`."""
    wanted, own = shape_of(target), shape_of(value)
    if len(own) > len(wanted):
        value = _without_leading_ones(value, len(wanted))
    if own and own != wanted and not _fits(value, wanted):
        own = list(shape_of(value))
        if len(own) > len(wanted):
            raise RuntimeError(
                f"expand(torch.{_dtype.SCALAR_NAMES[target.dtype]}Tensor{{{own}}}, size={list(wanted)}): the number of sizes "
                f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({len(own)})"
            )
        value.expand(wanted)  # raises PyTorch's error
    if _is_plain_write(target, value):
        _write_plainly(target, _WHOLE, value)
    else:
        inplace.write(target, value if shape_of(value) == wanted else value.expand(wanted))


def _put(target, selection, value):
    """Write `value`, broadcast, at a selection of `target`."""
    value = _fitted(value, _picked_shape(target, selection))
    if _is_plain_write(target, value):
        _write_plainly(target, selection, value)
    else:
        inplace.write(target, written(target, value, selection))


def _picked_shape(target, selection):
    return selection.read(np.broadcast_to(np.False_, shape_of(target))).shape


def _fitted(value, wanted):
    """`value` without leading ones, where it broadcasts to the shape of what is picked; RuntimeError otherwise."""
    fitting = _without_leading_ones(value, len(wanted))
    if not _fits(fitting, wanted):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(shape_of(value))} cannot be broadcast to indexing result of shape "
            f"{list(wanted)}"
        )
    return fitting


def _without_leading_ones(value, rank):
    own = shape_of(value)
    if len(own) <= rank:
        return value
    while len(own) > rank and own[0] == 1:
        own = own[1:]
    return value.reshape(own)


def _fits(value, wanted):
    try:
        return broadcast(shape_of(value), wanted) == tuple(wanted)
    except RuntimeError:
        return False


def _is_plain_write(target, value):
    return storage.ON_CPU and not inplace.needs_graph(target, value)


def _write_plainly(target, selection, value):
    """Write into the memory of `target`, where no graph has to know of it."""
    storage.check_no_overlap(target)
    array, values = as_bits(storage.array_over(target)), as_bits(storage.read_only_use(value))
    selection.write(array, values.copy() if np.may_share_memory(array, values) else values)
    storage.advance_version(target)
    root = views.base_of(target)
    if requires_grad(root):
        views.regenerate(root)


@op(inplace=True, linear=True)
def index_put(input, indices, values, accumulate=False):
    """`input` with `input[indices] = values`, or `+= values`, repeated indices included (`accumulate`).

    `indices` is a tuple of tensors. Raises RuntimeError where the dtype of `values` is another.
    """
    if isinstance(indices, MsTensor):
        raise TypeError("index_put(): argument 'indices' (position 2) must be tuple of Tensors, not Tensor")
    _check_same_dtype(input, values)
    basic, picks = _split([_as_array(i) for i in indices], shape_of(input))
    if len(basic) > len(shape_of(input)):
        raise NotImplementedError(
            "torch.index_put with a 0-d bool index is not implemented: write input[indices] = values. "
            f"Received: {len(indices)} indices"
        )
    selection = _selection(picks, shape_of(input))
    values = _fitted(values, _picked_shape(input, selection))
    if accumulate:
        return accumulated(input, values.expand(_picked_shape(input, selection)), selection)
    return written(input, values, selection)


def _as_array(index):
    """An index tensor as an array, None as a whole dimension."""
    if index is None:
        return slice(None)
    if not isinstance(index, MsTensor):
        raise TypeError(f"expected Tensor as element 0 in argument 1, but got {type(index).__name__}")
    item = _of_tensor(index)
    return np.asarray(item) if type(item) is int else item


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem
