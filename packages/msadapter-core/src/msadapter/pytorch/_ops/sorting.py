"""Sorting, and the elements that sorting would find: NaN is the largest, equal elements keep their order."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._kernels.selections import Along
from msadapter.pytorch._ops.arrays import check_not_empty, wide
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.selecting import pick_one, read
from msadapter.pytorch._ops.shapes import to_int, wrap_dim

_sort_result = named_result("sort", "values indices")
_topk_result = named_result("topk", "values indices")
_kthvalue_result = named_result("kthvalue", "values indices")


def order_of(array, axis, descending=False):
    """The stable order of the elements along `axis`; halves are compared as float32."""
    array = wide(array)
    if not array.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(array, axis, kind="stable")
    # Sorting backwards and reading the order from its end keeps equal elements in place.
    order = np.flip(np.argsort(np.flip(array, axis), axis, kind="stable"), axis)
    return array.shape[axis] - 1 - order


def _picked(input, order, dim):
    """(values, indices) of the elements that `order` names along `dim`."""
    return read(input, Along(order, dim)), from_array(order.copy())


@op
def sort(input, dim=-1, descending=False, *, stable=None):
    """The elements along `dim` in order, and where they were, as a named tuple `values indices`.

    NaN is the largest; equal elements keep their order, with `stable` or without. Raises RuntimeError for complex.
    """
    if input.dtype.is_complex:
        raise RuntimeError(f"Sort does not support complex dtypes on CPU. Received: {input.dtype}")
    dim = wrap_dim(to_int(dim), len(shape_of(input)))
    if not storage.ON_CPU:
        return _sort_result(*mint.sort(input, dim, descending, stable=bool(stable)))
    return _sort_result(*_picked(input, order_of(storage.read_only_use(input), dim, descending), dim))


@kernel(reason="MindSpore's sort leaves NaN anywhere, compares float64 as float32 and gives int32 indices")
def _argsort(input, dim, descending, stable):
    if input.dtype.kind == "c":
        raise RuntimeError(f"Sort does not support complex dtypes on CPU. Received: {input.dtype}")
    return order_of(input, wrap_dim(to_int(dim), input.ndim), descending)


@op(out=False)
@on_cpu(_argsort)
def argsort(input, dim=-1, descending=False, stable=False):
    """The indices that sort `input` along `dim`, in int64."""
    return mint.argsort(input, dim, descending, stable)


@op(node="SortBackward0")
def msort(input):
    """`input` sorted along its first dimension."""
    return sort.record.body(input, 0)[0]


@op
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The `k` largest (or smallest) elements along `dim`, in order, and where they are, as `values indices`.

    Raises RuntimeError where `k` is negative or more than there are, and for bool and complex.
    """
    shape, k = shape_of(input), to_int(k)
    if input.dtype.is_complex or input.dtype == _dtype.bool:
        kind = "complex" if input.dtype.is_complex else "bool"
        raise RuntimeError(f"topk does not support {kind} dtypes on CPU")
    dim = wrap_dim(to_int(dim), len(shape))
    size = shape[dim] if shape else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"selected index k out of range. Received: {k} for size {size}")
    if not storage.ON_CPU:
        return _topk_result(*mint.topk(input, k, dim, largest, sorted))
    return _topk_result(*_picked(input, _order_of_first(storage.read_only_use(input), k, dim, largest), dim))


def _order_of_first(array, k, axis, descending):
    """The first `k` of `order_of`; for few out of many, without sorting the others."""
    array = wide(array)
    if not array.ndim or k * 8 > array.shape[axis] or not k:
        order = order_of(array, axis, descending)
        return order if not array.ndim else np.take(order, np.arange(k), axis)
    count = array.shape[axis]
    if descending:
        candidates = np.argpartition(array, count - k, axis).take(np.arange(count - k, count), axis)
    else:
        candidates = np.argpartition(array, k - 1, axis).take(np.arange(k), axis)
    candidates.sort(axis)
    order = order_of(np.take_along_axis(array, candidates, axis), axis, descending)
    return np.take_along_axis(candidates, order, axis)


@op
def kthvalue(input, k, dim=-1, keepdim=False):
    """The `k`-th smallest element along `dim`, counted from 1, and its index, as a named tuple `values indices`."""
    if input.dtype.is_complex or input.dtype == _dtype.bool:
        raise NotImplementedError(
            f"\"kthvalue_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'"
        )
    shape, k = shape_of(input), to_int(k)
    dim = wrap_dim(to_int(dim), len(shape))
    check_not_empty("kthvalue", shape, (dim,) if shape else (), False)
    size = shape[dim] if shape else 1
    if not 1 <= k <= size:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {dim}. Received: {k} for size {size}"
        )
    if not storage.ON_CPU:
        return _kthvalue_result(*mint.kthvalue(input, k, dim, keepdim))
    return _kthvalue_result(
        *pick_one(input, dim, keepdim, lambda array, axis: place_of_kth(array, k - 1, axis))
    )


def place_of_kth(array, k, axis):
    """The index of the element that sorting puts at `k` (an int), the axis kept as 1."""
    return np.argpartition(array, k, axis).take([k], axis)
