"""Strided views: any geometry over the memory of a tensor, with its gradient.

MindSpore's own as_strided has a zero gradient on the CPU, and its other views refuse a later write, cost more or copy
without saying so. A geometry is (shape, strides, offset), counted in elements from the start of the storage.
"""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._memory_format import memory_order


def geometry(tensor):
    """(shape, strides, offset) of a tensor."""
    return native.shape_of(tensor), tuple(native.strides_of(tensor)), native.storage_offset(tensor)


def dense_strides(shape):
    """The strides of a contiguous tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def strided_view(tensor, shape, strides, offset):
    """The native view of that geometry; its gradient adds up where elements share a place."""
    if native.is_grad_enabled() and native.requires_grad(tensor):
        return _StridedView.apply(tensor, tuple(shape), tuple(strides), offset)
    return native.as_strided(tensor, tuple(shape), tuple(strides), offset)


def reinterpreted(tensor, dtype, place):
    """The memory of `tensor` read as another dtype by the geometry `place`, which counts in elements of it; no graph."""
    size, own = _dtype.NUMPY[dtype].itemsize, storage.itemsize_of(tensor)
    held = native.storage_bytes(tensor)
    memory = native.as_strided(tensor, (held // size * size // own,), (1,), 0)
    if held != own or not storage.ON_CPU:
        return native.as_strided(native.view(memory, _dtype.NATIVE[dtype]), *place)
    # MindSpore crashes where the memory was made for a 0-d tensor.
    memory = native.from_numpy(storage.array_over(memory))
    result = native.as_strided(native.view(memory, _dtype.NATIVE[dtype]), *place)
    storage.share_version(result, tensor)
    return result


def slice_view(tensor, dim, start, stop, step=1):
    """The native view `start:stop:step` of dimension `dim`; `start` and `stop` lie within it."""
    if not storage.ON_CPU:
        # narrow keeps its input and takes any later write into it for an error; the indexing operator does not.
        return native.getitem(tensor, (slice(None),) * dim + (slice(start, stop, step),))
    shape, strides, offset = geometry(tensor)
    length = max(0, -(-(stop - start) // step))
    return strided_view(
        tensor,
        (*shape[:dim], length, *shape[dim + 1 :]),
        (*strides[:dim], strides[dim] * step, *strides[dim + 1 :]),
        offset + start * strides[dim],
    )


def select_view(tensor, dim, index):
    """The native view of element `index` of dimension `dim`, without that dimension."""
    if not storage.ON_CPU:
        return native.getitem(tensor, (slice(None),) * dim + (index,))
    shape, strides, offset = geometry(tensor)
    return strided_view(
        tensor,
        (*shape[:dim], *shape[dim + 1 :]),
        (*strides[:dim], *strides[dim + 1 :]),
        offset + index * strides[dim],
    )


class _StridedView(native.GradFunction):
    """The view and, backward, its adjoint."""

    @staticmethod
    def forward(ctx, tensor, shape, strides, offset):
        ctx.source, ctx.view = geometry(tensor), (shape, strides, offset)
        return native.as_strided(tensor, shape, strides, offset)

    @staticmethod
    def backward(ctx, grad):
        shared = ctx.source if overlaps(*ctx.source[:2]) else None
        return _restride(grad, ctx.view, ctx.source, shared), None, None, None


def strided_views(tensor, places):
    """A tuple of native views, one per geometry; no two share an element. One node, one gradient of the whole."""
    if native.is_grad_enabled() and native.requires_grad(tensor) and not overlaps(*geometry(tensor)[:2]):
        return _StridedViews.apply(tensor, tuple(places))
    return tuple(strided_view(tensor, *place) for place in places)


class _StridedViews(native.GradFunction):
    """Disjoint views and, backward, the whole put together from their gradients."""

    @staticmethod
    def forward(ctx, tensor, places):
        ctx.source, ctx.views = geometry(tensor), places
        return tuple(native.as_strided(tensor, *place) for place in places)

    @staticmethod
    def backward(ctx, *grads):
        return _assemble(ctx.source, ctx.views, *grads), None


@kernel(reason="MindSpore has no operator for it")
def _assemble(read, places, *values):
    """Zeros with each of `values` set in its place, read by the geometry `read`, which has no shared place."""
    spans = [span(place) for place in (read, *places)]
    start = min(first for first, _ in spans)
    memory = np.zeros(max(last for _, last in spans) - start, values[0].dtype)
    for place, value in zip(places, values, strict=True):
        _over(memory, place, start)[...] = value
    return np.array(_over(memory, read, start), order="C")


@_assemble.gradient
def _(ctx, grad):
    read, places = ctx.args[:2]
    return tuple(_restride(grad, read, place, None) for place in places)


@kernel(reason="MindSpore's gradient of as_strided is zero on the CPU")
def _restride(values, placed, read, shared):
    """Zeros, with `values` added in the places of one geometry, read by another.

    Each place is divided by the number of elements of the geometry `shared` that lie there (None: one each).
    """
    spans = [span(place) for place in (placed, read)]
    start = min(first for first, _ in spans)
    half = values.dtype.itemsize == 2 and values.dtype.kind in "fV"
    memory = np.zeros(max(last for _, last in spans) - start, np.float32 if half else values.dtype)
    _add(_over(memory, placed, start), values)
    if shared is not None:
        counts = np.zeros(memory.shape, np.int64)
        _add(_over(counts, shared, start), np.ones(shared[0], np.int64))
        memory /= np.maximum(counts, 1)
    return np.array(_over(memory, read, start), values.dtype, order="C")


@_restride.gradient
def _(ctx, grad):
    _, placed, read, shared = ctx.args
    return _restride(grad, read, placed, shared)


def span(place):
    """The first place of a geometry and the one behind the last."""
    shape, strides, offset = place
    if 0 in shape:
        return offset, offset
    return offset, offset + 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))


def _over(memory, place, start):
    shape, strides, offset = place
    if 0 in shape:
        return np.empty(shape, memory.dtype)
    item = memory.itemsize
    return np.ndarray(shape, memory.dtype, memory, (offset - start) * item, [step * item for step in strides])


def overlaps(shape, strides):
    """Whether elements may share a place."""
    reach = 0
    for step, size in sorted((step, size) for step, size in zip(strides, shape, strict=True) if size > 1):
        if step <= reach:
            return True
        reach += step * (size - 1)
    return False


def _add(target, values):
    """`target += values`, also where elements of `target` share a place."""
    if not overlaps(target.shape, target.strides):
        target += values
        return
    repeated = tuple(
        i for i, (s, step) in enumerate(zip(target.shape, target.strides, strict=True)) if s > 1 and not step
    )
    if repeated:
        first = tuple(slice(0, 1) if i in repeated else slice(None) for i in range(target.ndim))
        _add(target[first], values.sum(repeated, keepdims=True, dtype=target.dtype))
        return
    dim = min((i for i, size in enumerate(target.shape) if size > 1), key=target.shape.__getitem__)
    for i in range(target.shape[dim]):
        part = (slice(None),) * dim + (i,)
        _add(target[part], values[part])


def copy_in_place(tensor, place):
    """A copy of `tensor` in a memory of its own that lies there by the geometry `place`; the gradient passes through."""
    shape, strides, offset = place
    if strides == dense_strides(shape) and not offset:
        return copy_of(tensor)
    first, last = span(place)
    flat = _restride(tensor, place, ((last,), (1,), 0), place if overlaps(shape, strides) else None)
    return strided_view(flat, *place)


class _OwnMemory(native.GradFunction):
    """A view passed off as a tensor of its own: the engine must not see a view where it is written as a whole."""

    @staticmethod
    def forward(ctx, tensor):
        return native.raw_data(tensor)

    @staticmethod
    def backward(ctx, grad):
        return grad


def as_root(view):
    """The same memory and history as `view`, no view to the engine."""
    if native.is_grad_enabled() and native.requires_grad(view):
        return _OwnMemory.apply(view)
    return native.raw_data(view)


def empty_strided(shape, strides, dtype):
    """A native tensor of a NumPy dtype with uninitialised memory of those strides."""
    _, last = span((shape, strides, 0))
    flat = native.from_numpy(np.empty(last, dtype))
    return native.raw_data(native.as_strided(flat, shape, strides, 0))


def is_dense(shape, strides):
    """Whether the elements fill a stretch of memory without gap or overlap."""
    expected = 1
    for step, size in sorted((step, size) for step, size in zip(strides, shape, strict=True) if size != 1):
        if step != expected:
            return False
        expected *= size
    return True


def kept_strides(shape, strides):
    """The strides of a copy that keeps the order of the dimensions in memory: those given, where they are dense."""
    if 0 in shape or is_dense(shape, strides):
        return tuple(strides)
    step, kept = 1, [0] * len(shape)
    for dim in reversed(memory_order(shape, strides)):
        kept[dim] = step
        step *= max(shape[dim], 1)
    return tuple(kept)
