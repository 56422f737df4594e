"""Counts of elements by value."""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import MsTensor, numel_of, shape_of
from msadapter.pytorch._ops.arrays import wide
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.shapes import to_int

_histogram_result = named_result("histogram", "hist bin_edges")
_histogramdd_result = named_result("histogramdd", "hist bin_edges")


@kernel(reason="MindSpore's bincount gives float32 and takes 25 ms")
def _bincount(input, weights, minlength):
    if weights is None:
        return np.bincount(input.astype(np.int64), minlength=minlength)
    counted = np.bincount(input.astype(np.int64), wide(weights), minlength)
    return counted.astype(np.float32 if weights.dtype == np.float32 else np.float64)


@op(out=False)
def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, ... occurs in a vector of integers, or the sum of their `weights`.

    Raises RuntimeError for negative integers and other shapes, NotImplementedError for other dtypes.
    """
    if not _dtype.is_integral(input.dtype):
        raise NotImplementedError(
            f"\"bincount_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'"
        )
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0. Received: {minlength}")
    if len(shape_of(input)) != 1 or (storage.read_only_use(input) < 0).any():
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs. "
            f"Received: {input.dtype}, shape {list(shape_of(input))}"
        )
    if weights is not None and shape_of(weights) != shape_of(input):
        raise RuntimeError(
            "weights should be 1-d and have the same length as input. "
            f"Received: {list(shape_of(weights))} and {list(shape_of(input))}"
        )
    return _bincount(input, weights, to_int(minlength))


def _check_floating(name, input):
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")


def _check_bins(bins, dimension=0):
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dimension}")


@kernel(reason="MindSpore's histc has no float64, and counts zero elements as junk")
def _histc(input, bins, low, high):
    values = input.reshape(-1)
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    # In the precision of the input, halves included, as PyTorch does.
    start, end, count = (np.asarray(v).astype(input.dtype) for v in (low, high, bins))
    values = values[np.flatnonzero((values >= start) & (values <= end))]
    places = ((values - start) * count / (end - start)).astype(np.int64)
    return np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(input.dtype)


_bincount.differentiable = _histc.differentiable = False  # counts have no gradient


@op
def histc(input, bins=100, min=0, max=0):
    """How many elements lie in each of `bins` equal intervals from `min` to `max` (of the data, where both are equal).

    Elements outside count nowhere. Raises RuntimeError for a range that is not finite or in the wrong order.
    """
    _check_floating("histogram_cpu", input)
    bins, low, high = to_int(bins), float(min), float(max)
    _check_bins(bins)
    if low > high:
        raise RuntimeError(f"torch.histc: max must be larger than min. Received: {low} and {high}")
    return _histc(input, bins, low, high)


@op
def histogram(input, bins, *, range=None, weight=None, density=False):
    """Counts (or sums of `weight`) of elements per bin, and the edges of the bins, as `hist bin_edges`.

    `bins`: how many equal ones over `range` (by default of the data), or their edges, a sorted vector. The last bin
    includes its right edge. `density`: normalised to an integral of 1.
    """
    _check_floating("histogramdd", input)
    hist, edges = _histogram(input.reshape(-1, 1), [bins], range, weight, density)
    return _histogram_result(hist, edges[0])


@op(method=False, out=False)
def histogramdd(input, bins, range=None, weight=None, density=False):
    """`histogram` of points [..., D]: `bins` is one number, one number per dimension, or the edges per dimension."""
    _check_floating("histogramdd", input)
    shape = shape_of(input)
    if len(shape) < 2:
        raise RuntimeError(
            f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {len(shape)}"
        )
    bins = [bins] * shape[-1] if isinstance(bins, int) else list(bins)
    if len(bins) != shape[-1]:
        raise RuntimeError(
            f"torch.histogramdd: expected {shape[-1]} sequences of bin edges or bin counts for a {shape[-1]}-dimensional "
            f"histogram but got {len(bins)}"
        )
    return _histogramdd_result(*_histogram(input.reshape(-1, shape[-1]), bins, range, weight, density))


def _histogram(points, bins, bounds, weight, density):
    """(counts, edges per dimension) of `points` [count, D]."""
    if weight is not None and (numel_of(weight) != shape_of(points)[0] or weight.dtype != points.dtype):
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, it should have the same shape as the input tensor excluding "
            f"its innermost dimension, and its dtype. Received: {list(shape_of(weight))} of {weight.dtype}"
        )
    if bounds is not None and len(bounds) != 2 * len(bins):
        raise RuntimeError(
            f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, but "
            f"got {len(bounds)}"
        )
    array = wide(storage.read_only_use(points))
    edges = [
        _edges(array[:, d], b, None if bounds is None else bounds[2 * d : 2 * d + 2], d)
        for d, b in enumerate(bins)
    ]
    weights = None if weight is None else wide(storage.read_only_use(weight)).reshape(-1)
    hist = _counts(array, edges, weights)
    if density:
        with np.errstate(invalid="ignore"):  # no points: NaN
            hist = hist / hist.sum()
        for axis, own in enumerate(edges):
            hist = hist / np.diff(own).reshape(-1, *(1,) * (len(edges) - 1 - axis))
    return from_array(hist, points.dtype), tuple(from_array(own, points.dtype) for own in edges)


def _edges(values, bins, bounds, dimension):
    """The edges of the bins of one dimension."""
    if isinstance(bins, MsTensor):
        return np.array(wide(storage.read_only_use(bins)))
    bins = to_int(bins)
    _check_bins(bins, dimension)
    if bounds is not None:
        low, high = map(float, bounds)
    else:
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(
            f"torch.histogramdd: dimension {dimension}'s range [{low:g}, {high:g}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dimension}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1, dtype=values.dtype)


def _counts(points, edges, weights):
    """The counts per cell of points [count, D]; a point on the last edge belongs to the last bin."""
    sizes = [len(own) - 1 for own in edges]
    inside = np.ones(len(points), np.bool_)
    cells = np.zeros(len(points), np.int64)
    for d, own in enumerate(edges):
        values = points[:, d]
        inside &= (values >= own[0]) & (values <= own[-1])
        cells = cells * sizes[d] + np.clip(np.searchsorted(own, values, "right") - 1, 0, sizes[d] - 1)
    weights = None if weights is None else weights[inside]
    return np.bincount(cells[inside], weights, math.prod(sizes)).reshape(sizes).astype(np.float64)
