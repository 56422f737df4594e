"""Indexing with brackets: the whole grammar, read and write, with gradients.

An index is taken in two steps, as PyTorch does: ints, slices, None and Ellipsis make a view, and what tensors, lists
and masks are left then pick from that view. (NumPy would treat an int beside an index array as an array itself.)
"""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import inplace, native, strided
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import LOCK, MsTensor, set_recording, shape_of
from msadapter.pytorch._ops import casting
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast
from msadapter.pytorch._tensor import Tensor

_MASKS = (_dtype.NATIVE[_dtype.bool], _dtype.NATIVE[_dtype.uint8])
_SIMPLE = frozenset((int, slice, type(None), type(Ellipsis)))


def _is_basic(index):
    if type(index) is tuple:
        return all(type(i) in _SIMPLE for i in index)
    return type(index) in _SIMPLE


def _basic_view(input, index):
    """`input[index]` for ints, slices, None and Ellipsis: MindSpore views, one per dimension touched."""
    items = index if type(index) is tuple else (index,)
    consumed = sum(1 for i in items if i is not None and i is not Ellipsis)
    shape = shape_of(input)
    if consumed > len(shape):
        if not shape:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    result, dim = input, 0
    for item in items:
        if item is None:
            result = mint.unsqueeze(result, dim)
            dim += 1
        elif item is Ellipsis:
            dim += len(shape) - consumed
        elif type(item) is slice:
            result = _slice(result, dim, item)
            dim += 1
        else:
            result = _pick(result, dim, item)
    return native.view(result, shape) if result is input and native.is_contiguous(input) else result


def _slice(tensor, dim, item):
    size = shape_of(tensor)[dim]
    start, stop, step = (None if v is None else v.__index__() for v in (item.start, item.stop, item.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    start, stop, step = slice(start, stop, step).indices(size)
    length = max(0, -(-(stop - start) // step))
    if step == 1 and length == size:
        return tensor
    return strided.slice_view(
        tensor, dim, min(start, size), start + (length - 1) * step + 1 if length else min(start, size), step
    )


def _pick(tensor, dim, index):
    size = shape_of(tensor)[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return strided.select_view(tensor, dim, index % size)


@op(view=True, function=False, method=False, name="getitem")
def _take_view(input, index):
    """The view that a basic index describes."""
    return _basic_view(input, index)


def getitem(self, index):
    """`self[index]`."""
    if _is_basic(index):
        return _take_view(self, index)
    view_index, arrays = split_index(self, index)
    source = self if view_index is None else _take_view(self, view_index)
    return source if arrays is None else _gather(source, arrays)


def setitem(self, index, value):
    """`self[index] = value`, into the memory and the graph of `self`."""
    if _is_basic(index):
        target = _take_view(self, index)
        _assign(target, value)
        return
    view_index, arrays = split_index(self, index)
    source = self if view_index is None else _take_view(self, view_index)
    if arrays is None:
        _assign(source, value)
        return
    with LOCK:
        set_recording(True)
        value = _as_value(value, self.dtype)
        new = _put(source, value, arrays, False)
        inplace.write(source, new)


def _assign(target, value):
    with LOCK:
        set_recording(True)
        value = _as_value(value, target.dtype)
        if shape_of(value) != shape_of(target):
            value = _expand_value(value, target)
        inplace.write(target, value)


def _expand_value(value, target):
    own, wanted = shape_of(value), shape_of(target)
    while len(own) > len(wanted) and own[0] == 1:
        own = own[1:]
    try:
        fits = broadcast(own, wanted) == wanted
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"The expanded size of the tensor ({list(wanted)}) must match the existing size ({list(own)}): "
            "shape mismatch: value tensor cannot be broadcast to the indexing result"
        )
    return value.reshape(own).expand(wanted)


def _as_value(value, dtype):
    if not isinstance(value, MsTensor):
        if isinstance(value, np.ndarray):
            raise TypeError("can't assign a numpy.ndarray to a torch tensor: write torch.from_numpy(value)")
        if not isinstance(value, (int, float, complex, np.generic)):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a torch.{_dtype.SCALAR_NAMES[dtype]}Tensor"
            )
        value = casting.constant(value, dtype)
        value.__class__ = Tensor
        return value
    return casting.cast(value, dtype)


# --- index arrays ---------------------------------------------------------------------------------------------------


def split_index(self, index):
    """(basic index or None, arrays or None): `self[index]` is `self[basic]` picked by `arrays`.

    `arrays` is a tuple with one entry per dimension of that view: an int64 array, or None for a whole dimension.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    if isinstance(index, list) and _is_sequence_of_indices(index):
        items = list(index)
    items = [_normal(item) for item in items]
    rank = len(shape_of(self))
    consumed = sum(_dims_of(i) for i in items if i is not None and i is not Ellipsis)
    if consumed > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    basic, arrays, dim = [], [], 0
    if Ellipsis not in [i for i in items if i is Ellipsis]:
        items.append(Ellipsis)
    seen_ellipsis = False
    for item in items:
        if item is Ellipsis:
            count = 0 if seen_ellipsis else rank - consumed
            seen_ellipsis = True
            basic += [slice(None)] * count
            arrays += [None] * count
            dim += count
        elif item is None:
            basic.append(None)
            arrays.append(None)
        elif type(item) is slice:
            basic.append(item)
            arrays.append(None)
            dim += 1
        elif type(item) is int:
            basic.append(item)
            dim += 1
        elif type(item) is bool:
            basic.append(None)
            arrays.append(np.zeros(1 if item else 0, np.int64))
        else:
            parts = (
                _nonzero(item, shape_of(self), dim)
                if item.dtype == np.bool_
                else (_checked(item, shape_of(self), dim),)
            )
            basic += [slice(None)] * len(parts)
            arrays += parts
            dim += len(parts)
    while arrays and arrays[-1] is None:
        arrays.pop()
    return tuple(basic), (tuple(arrays) if any(a is not None for a in arrays) else None)


def _is_sequence_of_indices(index):
    """PyTorch reads a list that holds slices, tensors or lists as a tuple of indices."""
    return len(index) <= 32 and any(
        isinstance(i, (slice, type(None), type(Ellipsis), MsTensor, list, tuple)) for i in index
    )


def _normal(item):
    """An int, bool, slice, None, Ellipsis, or an array of int64 or bool."""
    if type(item) in _SIMPLE or type(item) is bool:
        return item
    if isinstance(item, (np.bool_,)):
        return bool(item)
    if isinstance(item, MsTensor):
        if native.dtype_of(item) in _MASKS:
            if not shape_of(item):
                return bool(native.asnumpy(item))
            return native.asnumpy(item).astype(np.bool_)
        if not _dtype.is_integral(_dtype.of_native(native.dtype_of(item))):
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors. Received: {item.dtype}"
            )
        array = native.asnumpy(item).astype(np.int64)
        return int(array) if not shape_of(item) and type(item) is MsTensor else array
    if isinstance(item, (list, tuple, np.ndarray, range)):
        array = np.asarray([_to_python(i) for i in item]) if not isinstance(item, np.ndarray) else item
        if not array.size:
            return array.astype(np.int64)
        if array.dtype == np.bool_:
            return array
        if array.dtype.kind not in "iu":
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors. Received: {array.dtype}"
            )
        return array.astype(np.int64)
    if hasattr(item, "__index__"):
        return item.__index__()
    raise TypeError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(item).__name__})"
    )


def _to_python(item):
    return item.tolist() if isinstance(item, (MsTensor, np.ndarray)) else item


def _dims_of(item):
    if type(item) is bool:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1


def _nonzero(mask, shape, dim):
    for i, size in enumerate(mask.shape):
        if size != shape[dim + i]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {i} does not match the shape of the indexed tensor {list(shape)} at index {dim + i}"
            )
    return tuple(np.nonzero(mask))


def _checked(array, shape, dim):
    size = shape[dim]
    if array.size:
        low, high = array.min(), array.max()
        if low < -size or high >= size:
            bad = int(low if low < -size else high)
            raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {size}")
        if low < 0:
            return np.where(array < 0, array + size, array)
    return array


def _selector(arrays):
    return tuple(slice(None) if a is None else a for a in arrays)


@kernel(reason="MindSpore takes 60 us to 10 ms for an index array, and drops or refuses indices NumPy takes")
def _gather_arrays(input, arrays, shape):
    return input[_selector(arrays)]


@_gather_arrays.gradient
def _(ctx, grad):
    return _scatter_add(grad, ctx.args[1], ctx.args[2])


@kernel(reason="MindSpore has no scatter-add over an index grammar")
def _scatter_add(values, arrays, shape):
    result = np.zeros(shape, values.dtype)
    np.add.at(result, _selector(arrays), values)
    return result


@_scatter_add.gradient
def _(ctx, grad):
    return _gather_arrays(grad, ctx.args[1], ctx.args[2])


@kernel(reason="MindSpore's indexed writes rebind the storage, so that views go stale")
def _put_arrays(input, values, arrays, accumulate):
    result = np.array(input, order="C")
    if accumulate:
        np.add.at(result, _selector(arrays), values)
    else:
        result[_selector(arrays)] = values
    return result


@_put_arrays.gradient
def _(ctx, grad):
    arrays, accumulate = ctx.args[2], ctx.args[3]
    needs_input, needs_values = ctx.needs
    for_input = grad if accumulate else _zero_at(grad, arrays)
    return for_input if needs_input else None, _gather_arrays(
        grad, arrays, shape_of(grad)
    ) if needs_values else None


@kernel(reason="the gradient of an indexed write")
def _zero_at(grad, arrays):
    result = np.array(grad, order="C")
    result[_selector(arrays)] = 0
    return result


@_zero_at.gradient
def _(ctx, grad):
    return _zero_at(grad, ctx.args[1])


def _gather(source, arrays):
    try:
        return _gather_arrays(source, arrays, shape_of(source))
    except IndexError as error:
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together: {error}"
        ) from None


def _put(source, values, arrays, accumulate):
    try:
        wanted = np.empty(shape_of(source), np.bool_)[_selector(arrays)].shape
    except IndexError as error:
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together: {error}"
        ) from None
    if shape_of(values) != wanted:
        own = shape_of(values)
        while len(own) > len(wanted) and own[0] == 1:
            own = own[1:]
        try:
            fits = broadcast(own, wanted) == wanted
        except RuntimeError:
            fits = False
        if not fits:
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(shape_of(values))} cannot be broadcast to indexing result of shape {list(wanted)}"
            )
        values = values.reshape(own).expand(wanted)
    return _put_arrays(source, values, arrays, accumulate)


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem
