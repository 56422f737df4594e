"""Running sums, products and extremes along a dimension, and differences of neighbours."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._kernels.selections import Along
from msadapter.pytorch._ops.arrays import converted, is_floating, wide
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.reduction import conjugate
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.selecting import read
from msadapter.pytorch._ops.shapes import to_int, wrap_dim


def _accumulate(function, array, dim, dtype, reverse=False):
    """`function.accumulate` along `dim` as PyTorch does it: floats in double precision, integers and bool in int64."""
    array = converted(array, dtype)
    result_dtype = array.dtype if is_floating(array) or dtype is not None else np.dtype(np.int64)
    kind = array.dtype.kind
    working = np.complex128 if kind == "c" else np.float64 if is_floating(array) else np.int64
    axis = wrap_dim(to_int(dim), array.ndim)
    if not array.ndim:
        return array.astype(result_dtype)
    if reverse:
        array = np.flip(array, axis)
    result = function.accumulate(array.astype(working, copy=False), axis).astype(result_dtype, copy=False)
    return np.flip(result, axis) if reverse else result


# --- sums -----------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's cumsum keeps int32 and loses 1 % over a million float32 values")
def _cumsum(input, dim, dtype, reverse=False):
    return _accumulate(np.add, input, dim, dtype, reverse)


@_cumsum.gradient
def _(ctx, grad):
    _, dim, _, reverse = ctx.args
    return _cumsum(grad, dim, None, not reverse)


def reverse_cumsum(tensor, dim):
    """The running sum from the end."""
    return _cumsum(tensor, dim, None, True)


@on_cpu(_cumsum)
def _running_sum(input, dim, dtype, reverse=False):
    return mint.cumsum(input, dim, dtype=dtype)


@op(inplace=True, linear=True)
def cumsum(input, dim, *, dtype=None):
    """The running sum along `dim`, in `dtype`; integers and bool in int64."""
    return _running_sum(input, dim, dtype, False)


# --- products -------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's gradient of cumprod is NaN where an element is zero", saves=("input", "out"))
def _cumprod(input, dim, dtype):
    return _accumulate(np.multiply, input, dim, dtype)


@_cumprod.gradient
def _(ctx, grad):
    dim = ctx.args[1]
    input, out = ctx.saved
    if not shape_of(input):
        return grad
    if storage.read_only_use(input).astype(np.bool_).all():
        return reverse_cumsum(grad * conjugate(out), dim) / conjugate(input)
    if native.is_grad_enabled():
        return _gradient_by_element(
            grad, conjugate(input), conjugate(out), wrap_dim(dim, len(shape_of(input)))
        )
    return _gradient_with_zeros(grad, conjugate(input), dim)


def _gradient_by_element(grad, input, out, dim):
    """The gradient of cumprod that can itself be differentiated at zeros; it takes a pass for each element."""
    count = shape_of(input)[dim]
    one = grad.narrow(dim, 0, 1) * 0 + 1
    parts = []
    for i in range(count):
        before = out.narrow(dim, i - 1, 1) if i else one
        after = cat([one, input.narrow(dim, i + 1, count - i - 1)], dim).cumprod(dim)
        parts.append((grad.narrow(dim, i, count - i) * before * after).sum(dim, True))
    return cat(parts, dim)


@kernel(reason="the gradient of cumprod where an element is zero")
def _gradient_with_zeros(grad, input, dim):
    grad, input = wide(grad), wide(input)
    is_zero = input == 0
    first = is_zero & (np.cumsum(is_zero, dim) == 1)

    def from_the_end(values):
        return np.flip(np.cumsum(np.flip(values, dim), dim), dim)

    # Before the first zero all goes on as without it; at it, the product leaves it out; behind it every product is 0.
    before = from_the_end(grad * np.cumprod(input, dim)) / np.where(is_zero, 1, input)
    at = from_the_end(grad * np.cumprod(np.where(first, 1, input), dim))
    return np.where(first, at, before)


@on_cpu(_cumprod)
def _running_product(input, dim, dtype):
    return mint.cumprod(input, dim, dtype=dtype)


@op(inplace=True)
def cumprod(input, dim, *, dtype=None):
    """The running product along `dim`, in `dtype`; integers and bool in int64."""
    return _running_product(input, dim, dtype)


# --- logarithms of sums of exponentials -----------------------------------------------------------------------------


@kernel(reason="MindSpore has no CPU kernel for logcumsumexp", saves=("input", "out"))
def _logcumsumexp(input, dim, reverse):
    if not is_floating(input):
        name = _dtype.SCALAR_NAMES[_dtype.of_numpy(input.dtype)]
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{name}'")
    if input.dtype.kind != "c":
        return _accumulate(np.logaddexp, input, dim, None, reverse)
    axis = wrap_dim(to_int(dim), input.ndim)
    if not input.ndim:
        return input.copy()
    rows = np.moveaxis(np.flip(input, axis) if reverse else input, axis, 0)
    result = np.empty(rows.shape, np.complex128)
    for i in range(len(rows)):
        result[i] = rows[i] if not i else _complex_logaddexp(rows[i], result[i - 1])
    result = np.moveaxis(result, 0, axis).astype(input.dtype)
    return np.flip(result, axis) if reverse else result


def _complex_logaddexp(a, b):
    larger = np.where(a.real > b.real, a, b)
    smaller = np.where(a.real > b.real, b, a)
    return np.where(np.isneginf(smaller.real), larger, larger + np.log(1 + np.exp(smaller - larger)))


@_logcumsumexp.gradient
def _(ctx, grad):
    _, dim, reverse = ctx.args
    input, out = ctx.saved
    if not input.dtype.is_complex:
        return _weighted(grad, input, out, dim, reverse) - _weighted(-grad, input, out, dim, reverse)
    return _exponential(grad.log() - conjugate(out), conjugate(input), dim, reverse)


def _weighted(grad, input, out, dim, reverse):
    """The part of the gradient of logcumsumexp that comes from positive `grad`."""
    lowest = _dtype.finfo(grad.dtype).min
    positive = grad > 0
    logarithm = grad.masked_fill(~positive, 1).log().masked_fill(~positive, lowest)
    return _exponential(logarithm - out, input, dim, reverse)


def _exponential(weights, input, dim, reverse):
    return (_logcumsumexp(weights, dim, not reverse) + input).exp()


@op
def logcumsumexp(input, dim):
    """The logarithm of the running sum of exponentials along `dim`, safe from overflow."""
    return _logcumsumexp(input, dim, False)


# --- extremes -------------------------------------------------------------------------------------------------------


def _running_extreme(name, function, native_op):
    result = named_result(name, "values indices")

    @op(name=name)
    def accumulate(input, dim):
        shape = shape_of(input)
        dim = wrap_dim(to_int(dim), len(shape))
        if input.dtype.is_complex:
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'"
            )
        if not storage.ON_CPU:
            return result(*native_op(input, dim))
        indices = _places_of_extreme(function, wide(storage.read_only_use(input)), dim)
        return result(read(input, Along(indices, dim)), from_array(indices))

    accumulate.__doc__ = accumulate.record.body.__doc__ = (
        f"The {'largest' if name == 'cummax' else 'smallest'} element so far along `dim` and its last index, as a named "
        "tuple `values indices`; from the first NaN on, NaN."
    )
    return accumulate


def _places_of_extreme(function, array, dim):
    """For each element the index of the latest one that equals the running extreme."""
    if not array.ndim:
        return np.zeros((), np.int64)
    reached = array == function.accumulate(array, dim)
    if array.dtype.kind == "f":
        reached |= np.isnan(array)
    positions = np.arange(array.shape[dim]).reshape(-1, *(1,) * (array.ndim - 1 - dim))
    return np.maximum.accumulate(np.where(reached, positions, 0), dim)


cummax = _running_extreme("cummax", np.maximum, mint.cummax)
cummin = _running_extreme("cummin", np.minimum, mint.cummin)


# --- differences ----------------------------------------------------------------------------------------------------


@op
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The differences of neighbours along `dim`, taken `n` times; `prepend` and `append` are joined on first."""
    rank, n = len(shape_of(input)), to_int(n)
    if not rank:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for part in (prepend, append):
        if part is not None and len(shape_of(part)) != rank:
            raise RuntimeError(
                "diff expects prepend or append to be the same dimension as input. "
                f"Received: {len(shape_of(part))} and {rank}"
            )
    if not n:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    dim = wrap_dim(to_int(dim), rank)
    result = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, shape_of(result)[dim])):
        count = max(shape_of(result)[dim] - 1, 0)
        after, before = result.narrow(dim, min(1, shape_of(result)[dim]), count), result.narrow(dim, 0, count)
        result = after != before if result.dtype == _dtype.bool else after - before
    return result
