"""Places in sorted sequences, membership, and distinct elements."""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import MsTensor, numel_of, shape_of
from msadapter.pytorch._ops.arrays import has_nan, refuse, wide
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import in_dtype
from msadapter.pytorch._ops.shapes import wrap_dim

# --- sorted sequences -----------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's searchsorted confuses shapes between calls, and its bucketize takes Python lists")
def _search(boundaries, values, right, as_int32):
    refuse(boundaries, "c", "searchsorted_out_cpu")
    refuse(values, "c", "searchsorted_out_cpu")
    boundaries, values = wide(boundaries), wide(values)
    missing = has_nan(boundaries)
    if missing is not None and missing.any():
        found = _halving(boundaries, values, right)
    elif boundaries.ndim == 1:
        found = np.searchsorted(boundaries, values, "right" if right else "left")
    else:
        found = np.empty(values.shape, np.int64)
        for row in np.ndindex(values.shape[:-1]):
            found[row] = np.searchsorted(boundaries[row], values[row], "right" if right else "left")
    return np.asarray(found, np.int32 if as_int32 else np.int64)


def _halving(boundaries, values, right):
    """Binary search that goes right at NaN, as PyTorch's does."""
    size = boundaries.shape[-1]
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, size)
    for _ in range(size.bit_length()):
        middle = np.minimum((low + high) // 2, size - 1)
        at = boundaries[middle] if boundaries.ndim == 1 else np.take_along_axis(boundaries, middle, -1)
        goes_right = ~(at > values if right else at >= values) & (low < high)
        low, high = (
            np.where(goes_right, middle + 1, low),
            np.where(goes_right, high, np.minimum(middle, high)),
        )
    return low


@op(method=False)
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Where to insert `input` (a tensor or number) into `sorted_sequence` so that it stays sorted, in int64.

    The sequence is a vector, or has the leading dimensions of `input`. `right` (or `side` "right"): behind equal
    elements. `sorter`: the indices that sort the sequence. Raises RuntimeError for shapes that do not match.
    """
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    own = shape_of(sorted_sequence)
    if not own:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    values = _values(input, sorted_sequence)
    if len(own) > 1 and own[:-1] != shape_of(values)[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {list(own)} and input value tensor "
            f"{list(shape_of(values))}"
        )
    if sorter is not None:
        sorted_sequence = sorted_sequence.detach().gather(-1, _checked_sorter(sorter, own))
    return _search(sorted_sequence, values, bool(right or side == "right"), out_int32)


def _values(input, boundaries):
    return input if isinstance(input, MsTensor) else in_dtype(input, result_type(input, boundaries))


def _checked_sorter(sorter, own):
    if shape_of(sorter) != own:
        raise RuntimeError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(own)}"
            f"and got sorter tensor {list(shape_of(sorter))}"
        )
    if sorter.dtype != _dtype.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {_dtype.SCALAR_NAMES[sorter.dtype]}"
        )
    places = storage.read_only_use(sorter)
    if places.size and not (0 <= places.min() and places.max() < own[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return sorter


@op(method=False)
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """The bucket of each element of `input` between the sorted vector `boundaries`, in int64.

    Bucket i holds boundaries[i-1] < x <= boundaries[i]; with `right`, boundaries[i-1] <= x < boundaries[i].
    """
    if len(shape_of(boundaries)) != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({len(shape_of(boundaries))})")
    return _search(boundaries, _values(input, boundaries), bool(right), out_int32)


@kernel(reason="MindSpore has no operator for it")
def _isin(elements, test_elements, invert):
    return np.isin(elements, test_elements, invert=invert)


@op(method=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each of `elements` is among `test_elements` (is not, with `invert`); either may be a number.

    Raises RuntimeError for bool and complex.
    """
    if not (isinstance(elements, MsTensor) or isinstance(test_elements, MsTensor)):
        raise TypeError(
            "isin() received an invalid combination of arguments - got two numbers, but one must be a Tensor"
        )
    for operand in (elements, test_elements):
        if isinstance(operand, MsTensor) and (operand.dtype.is_complex or operand.dtype == _dtype.bool):
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {_dtype.SCALAR_NAMES[operand.dtype]}"
            )
    dtype = result_type(elements, test_elements)
    if dtype in (_dtype.float16, _dtype.bfloat16):
        dtype = _dtype.float32
    return _isin(in_dtype(elements, dtype), in_dtype(test_elements, dtype), invert)


# --- distinct elements ----------------------------------------------------------------------------------------------


@kernel(
    reason="MindSpore's unique is unsorted, wrong for float16 and for no elements, and knows no dimension"
)
def _distinct(input, dim, in_order):
    """The distinct slices of `dim` (elements, for None), where each input went, and how many went there.

    `in_order`: only neighbours are compared, and nothing is sorted.
    """
    refuse(input, "c", "unique")
    rows = input.reshape(-1, 1) if dim is None else np.moveaxis(input, dim, 0)
    keys = wide(rows.reshape(len(rows), math.prod(rows.shape[1:])))
    if in_order:
        order = np.arange(len(rows))
    elif keys.shape[1] == 1:
        order = np.argsort(keys[:, 0], kind="stable")
    else:
        order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (keys[1:] != keys[:-1]).any(1)
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    counts = np.diff(np.append(first, len(rows)))
    found = rows[order[first]]
    if dim is None:
        return found.reshape(-1), inverse.reshape(input.shape), counts
    return np.moveaxis(found, 0, dim), inverse, counts


def _unique(input, dim, in_order, return_inverse, return_counts):
    shape = shape_of(input)
    if dim is not None:
        dim = wrap_dim(dim, len(shape))
        if not shape:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if not numel_of(input) and (shape[dim] or shape.count(0) > 1):
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied. "
                f"Received: shape {list(shape)}, dim {dim}"
            )
    found, inverse, counts = _distinct(input, dim, in_order)
    if not (return_inverse or return_counts):
        return found
    return (found, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))


@op(out=False, node="Unique2Backward0")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements (or slices of `dim`), sorted; on request with where each input went, and counts.

    NaN are distinct from each other. Raises NotImplementedError for complex.
    """
    return _unique(input, dim, False, return_inverse, return_counts)


@op(out=False)
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices of `dim`) that differ from the one before; on request with where each input went, and
    counts.
    """
    return _unique(input, dim, True, return_inverse, return_counts)
