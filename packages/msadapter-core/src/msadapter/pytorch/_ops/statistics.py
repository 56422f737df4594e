"""Variances, medians, quantiles and modes."""

import math
import warnings

import mindspore as ms
import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, numel_of, shape_of
from msadapter.pytorch._kernels.selections import Along
from msadapter.pytorch._ops.arrays import axes_of, check_not_empty, has_nan, is_floating, refuse, total, wide
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.extremes import equal_shares
from msadapter.pytorch._ops.reduction import conjugate, labelled, mean, spread
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.selecting import pick_one, read
from msadapter.pytorch._ops.shapes import to_int, wrap_dim
from msadapter.pytorch._ops.sorting import order_of, place_of_kth

# --- variance and standard deviation --------------------------------------------------------------------------------


def _spread_of(name, root):
    """The kernel of var, or of std (`root`)."""

    @kernel(
        reason="MindSpore's std and var compute float64 in float32, and overflow at 1e30",
        saves=("input", "out"),
    )
    def deviation(input, dim, keepdim, correction):
        if not is_floating(input):
            raise RuntimeError("std and var only support floating point and complex dtypes")
        axes = axes_of(dim, input.ndim)
        values = wide(input).astype(np.complex128 if input.dtype.kind == "c" else np.float64)
        count = math.prod(input.shape[a] for a in axes)
        if count <= correction:
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                "(input numel divided by output numel).",
                UserWarning,
                stacklevel=5,
            )
        off = values - total(values, axes, True) / np.float64(count)
        squares = total(off.real**2 + off.imag**2 if off.dtype.kind == "c" else off * off, axes, keepdim)
        result = squares / np.float64(max(count - correction, 0))
        return (np.sqrt(result) if root else result).astype(_real(input.dtype))

    @deviation.gradient
    def _(ctx, grad):
        _, dim, keepdim, correction = ctx.args
        input, out = ctx.saved
        (shape,) = ctx.shapes
        if root:
            grad = (grad / (out * 2)).masked_fill(out == 0, 0)
        degrees = math.prod(shape[a] for a in axes_of(dim, len(shape))) - correction
        scale = 2 / degrees if degrees > 0 else math.inf
        return spread(grad * scale, dim, keepdim, shape) * (input - mean(input, dim, True))

    return deviation


def _real(dtype):
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype


_std_kernel, _var_kernel = _spread_of("std", True), _spread_of("var", False)


@on_cpu(_std_kernel)
def _std(input, dim, keepdim, correction):
    return mint.std(input, dim, correction=correction, keepdim=keepdim)


@on_cpu(_var_kernel)
def _var(input, dim, keepdim, correction):
    return mint.var(input, dim, correction=correction, keepdim=keepdim)


def _deviation(name, of_dims, with_mean):
    """The operator of one of std, var, std_mean, var_mean."""

    node = name.title().replace("_", "") + "Backward0"

    @op(name=name, method=not with_mean, out=not with_mean, node=node)
    def reduce(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        result = of_dims(input, dim, keepdim, correction)
        return (result, mean(input, dim, keepdim)) if with_mean else result

    what = "standard deviation" if name.startswith("std") else "variance"
    reduce.__doc__ = reduce.record.body.__doc__ = (
        f"The {what}{' and the mean' if with_mean else ''} over `dim` (all by default), with the sum of squares divided by "
        "count - `correction`; `unbiased` stands for a correction of 1 or 0. Raises RuntimeError for integers."
    )
    return reduce


std, var = _deviation("std", _std, False), _deviation("var", _var, False)
std_mean, var_mean = _deviation("std_mean", _std, True), _deviation("var_mean", _var, True)


# --- covariance -----------------------------------------------------------------------------------------------------


@op
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of the variables in the rows of `input` [variables, observations].

    `fweights` (integers) say how often each observation counts, `aweights` how much. Raises RuntimeError for bool and
    for weights that do not fit.
    """
    if len(shape_of(input)) > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {len(shape_of(input))} dimensions"
        )
    if input.dtype == _dtype.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = cast(input, _dtype.get_default_dtype())
    rows = input if len(shape_of(input)) == 2 else input.reshape(1, -1)
    count = shape_of(rows)[1]
    weights = _checked_weights(fweights, aweights, count)
    if weights is None:
        off, weighted, freedom = rows - rows.mean(1, keepdim=True), None, count - correction
    else:
        total_weight = weights.sum()
        off = rows - (rows * weights).sum(1, keepdim=True) / total_weight
        weighted = off * weights
        lost = correction if aweights is None else correction * (weights * aweights).sum() / total_weight
        freedom = total_weight - lost
    if freedom <= 0:
        warnings.warn("cov(): degrees of freedom is <= 0", UserWarning, stacklevel=4)
        freedom = 0
    moments = off @ conjugate(off if weighted is None else weighted).t()
    return (moments / freedom).squeeze()


def _checked_weights(fweights, aweights, count):
    """The product of the weights that are given, or None."""
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        own = shape_of(given)
        if len(own) > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with {len(own)} dimensions"
            )
        fits = _dtype.is_integral(given.dtype) if name == "fweights" else given.dtype.is_floating_point
        if not fits:
            kind = "integral" if name == "fweights" else "floating point"
            raise RuntimeError(
                f"cov(): expected {name} to have {kind} dtype but got {name} with {_dtype.SCALAR_NAMES[given.dtype]} dtype"
            )
        if numel_of(given) != count:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                f"{numel_of(given)} != {count}"
            )
        if (storage.read_only_use(given) < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
        weights = given if weights is None else weights * given
    return weights


@op
def corrcoef(input):
    """The correlation coefficients of the variables in the rows of `input` [variables, observations]."""
    if len(shape_of(input)) > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{len(shape_of(input))} dimensions"
        )
    covariance = cov.record.body(input)
    if not shape_of(covariance):
        return covariance / covariance
    deviation = covariance.diagonal()
    deviation = (deviation.real if deviation.dtype.is_complex else deviation).sqrt()
    result = covariance / deviation.reshape(-1, 1) / deviation.reshape(1, -1)
    return result.clamp(-1, 1) if not result.dtype.is_complex else result


# --- medians and modes ----------------------------------------------------------------------------------------------


def _place_of_median(ignore_nan):
    """A choice for `pick_one`: the lower median; a NaN where there is one, or only where there is nothing else."""

    def place(array, axis):
        if not array.shape[axis]:
            return np.zeros((*array.shape[:axis], 1, *array.shape[axis + 1 :]), np.int64)
        missing = has_nan(array)
        count = array.shape[axis]
        if missing is None or not missing.any():
            return place_of_kth(array, (count - 1) // 2, axis)
        if ignore_nan:
            rank = np.maximum(count - missing.sum(axis, keepdims=True) - 1, 0) // 2
            return np.take_along_axis(order_of(array, axis), rank, axis)
        first = missing.argmax(axis, keepdims=True)
        found = place_of_kth(array, (count - 1) // 2, axis)
        return np.where(missing.any(axis, keepdims=True), first, found)

    return place


def _median(name, choose, native_op):
    result, node_of_dim = named_result(name, "values indices"), f"{name.capitalize()}Backward1"

    @kernel(reason="MindSpore's median has no halves and no uint8", saves=("input", "out"))
    def of_all(input):
        refuse(input, "cb", "median_cpu")
        if not input.size:
            return np.asarray(np.nan if is_floating(input) else np.iinfo(input.dtype).min, input.dtype)
        flat = wide(input).reshape(-1)
        return flat[choose(flat, 0)].reshape(()).astype(input.dtype)

    @of_all.gradient
    def _(ctx, grad):
        input, out = ctx.saved
        chosen = input == out if bool(out == out) else input != input
        return equal_shares(grad, chosen, None, False, ctx.shapes[0])

    @on_cpu(of_all)
    def reduce_all(input):
        return native_op(input)

    @op(name=name)
    def reduce(input, dim=None, keepdim=False):
        if dim is None:
            return reduce_all(input)
        if input.dtype.is_complex or input.dtype == _dtype.bool:
            raise NotImplementedError(
                f"\"median_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'"
            )
        shape = shape_of(input)
        dim = wrap_dim(to_int(dim), len(shape))
        check_not_empty("median", shape, (dim,) if shape else (), False)
        if not storage.ON_CPU:
            return result(*native_op(input, dim, keepdim))
        values, indices = pick_one(input, dim, keepdim, choose)
        return result(labelled(values, node_of_dim), indices)

    skipped = " of those that are not NaN" if name == "nanmedian" else ""
    reduce.__doc__ = reduce.record.body.__doc__ = (
        f"The median (the lower of two){skipped}: of all elements, or along `dim` with its index, as a named tuple "
        "`values indices`."
    )
    return reduce


median = _median("median", _place_of_median(False), mint.median)
nanmedian = _median("nanmedian", _place_of_median(True), ms.ops.nanmedian)

_mode_result = named_result("mode", "values indices")


def _place_of_mode(array, axis):
    """The last index of the most frequent element, of the smallest such."""
    order = order_of(array, axis)
    rows = np.moveaxis(np.take_along_axis(array, order, axis), axis, -1)
    count = rows.shape[-1]
    last = np.ones(rows.shape, np.bool_)
    last[..., :-1] = rows[..., 1:] != rows[..., :-1]
    positions = np.arange(count)
    start = np.zeros(rows.shape, np.int64)
    start[..., 1:] = np.maximum.accumulate(np.where(last[..., :-1], positions[1:], 0), -1)
    length = np.where(last, positions - start + 1, 0)
    best = np.moveaxis(length.argmax(-1, keepdims=True), -1, axis)
    return np.take_along_axis(order, best, axis)


@op
def mode(input, dim=-1, keepdim=False):
    """The most frequent element along `dim` (the smallest of several) and an index of it, as `values indices`."""
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    shape = shape_of(input)
    dim = wrap_dim(to_int(dim), len(shape))
    check_not_empty("mode", shape, (dim,) if shape else (), False)
    return _mode_result(*pick_one(input, dim, keepdim, _place_of_mode))


# --- quantiles ------------------------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(name, ignore_nan):
    @op(name=name)
    def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
        levels, has_levels = _checked_levels(name, input, q, interpolation)
        shape = shape_of(input)
        rank = len(shape)
        rows = (
            input.reshape(-1) if dim is None or not rank else input.movedim(wrap_dim(to_int(dim), rank), -1)
        )
        if not numel_of(rows):
            raise RuntimeError(f"{name}() input tensor must be non-empty")
        found = _of_rows(rows, levels, ignore_nan, interpolation)
        if keepdim and rank:
            found = (
                found.reshape((len(levels),) + (1,) * rank)
                if dim is None
                else found.unsqueeze(wrap_dim(dim, rank) + 1)
            )
        return found if has_levels else found.squeeze(0)

    quantile.__doc__ = quantile.record.body.__doc__ = (
        f"The quantiles `q` (a number, or a vector whose dimension comes first) over `dim` (all by default), "
        f"{'NaN left out' if ignore_nan else 'NaN where there is one'}; `interpolation` between neighbours is "
        "linear, lower, higher, midpoint or nearest. Raises RuntimeError for other dtypes than float32 and float64."
    )
    return quantile


def _checked_levels(name, input, q, interpolation):
    """The quantiles as a vector in the dtype of the input, and whether they were a vector."""
    if input.dtype not in (_dtype.float32, _dtype.float64):
        raise RuntimeError(
            f"{name}() input tensor must be either float or double dtype. Received: {input.dtype}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not isinstance(q, MsTensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return from_array(np.asarray([q]), input.dtype), False
    if len(shape_of(q)) > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor. Received: shape {list(shape_of(q))}")
    if q.dtype != input.dtype:
        raise RuntimeError(
            f"{name}() q tensor must be same dtype as the input tensor. Received: {q.dtype} and {input.dtype}"
        )
    levels = storage.read_only_use(q)
    if not ((levels >= 0) & (levels <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q.reshape(-1), bool(shape_of(q))


def _of_rows(rows, levels, ignore_nan, interpolation):
    """The quantiles [levels, *] of the last dimension of `rows` [*, count]."""
    array = storage.read_only_use(rows)
    order = order_of(array, array.ndim - 1)
    position = _positions(array, levels, ignore_nan)
    exact = storage.read_only_use(position)
    if interpolation == "nearest":
        return _ranked(rows, order, np.rint(exact))
    if interpolation == "higher":
        return _ranked(rows, order, np.ceil(exact))
    low = _ranked(rows, order, np.floor(exact))
    if interpolation == "lower":
        return low
    weight = 0.5 if interpolation == "midpoint" else position - from_array(np.asarray(np.floor(exact)))
    return low + (_ranked(rows, order, np.ceil(exact)) - low) * weight


def _positions(array, levels, ignore_nan):
    """Where the quantiles stand among the sorted elements of each row; at its end where a row has a NaN."""
    missing, last = np.isnan(array), array.shape[-1] - 1
    if ignore_nan:
        scale, offset = np.maximum(last - missing.sum(-1), 0), np.zeros(array.shape[:-1])
    else:
        spoiled = missing.any(-1)
        scale, offset = np.where(spoiled, 0, last), np.where(spoiled, last, 0)
    levels = levels.reshape((-1,) + (1,) * (array.ndim - 1))
    return levels * from_array(np.asarray(scale), levels.dtype) + from_array(np.asarray(offset), levels.dtype)


def _ranked(rows, order, ranks):
    """The elements of rank `ranks` [levels, *], as a tensor of that shape."""
    ranks = np.moveaxis(ranks.astype(np.int64), 0, -1)
    return read(rows, Along(np.take_along_axis(order, ranks, -1), rows.ndim - 1)).movedim(-1, 0)


quantile, nanquantile = _quantile("quantile", False), _quantile("nanquantile", True)
