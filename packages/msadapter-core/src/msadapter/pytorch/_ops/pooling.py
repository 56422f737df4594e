"""Pooling over windows of 1 to 3 dimensions: maxima, means, norms, and maxima put back in their places."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._kernels import pooling as arrays
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.registry import RECORDS, op
from msadapter.pytorch._ops.sliding import ints, with_batch

_REASON = "MindSpore's pooling drops NaN, computes float64 in float32, refuses zero-size batches, and differentiates once"
_COUNTS = {1: "one int", 2: "two ints", 3: "three ints"}
_FUNCTIONAL = {"namespace": "torch.nn.functional", "method": False, "out": False}

# --- kernels, the gradient of each written in another ----------------------------------------------------------------
# Sizes of windows are tuples with an int per spatial dimension.


@kernel(reason=_REASON, saves=("out1",))
@in_float32
def _max_pool(input, size, stride, padding, dilation, ceil_mode):
    return arrays.max_pool(input, size, stride, padding, dilation, ceil_mode)


@kernel(reason="the gradient of max_pool", saves=("winner",))
@in_float32
def _max_pool_gradient(grad, winner, spatial, size, stride, padding, dilation):
    return arrays.max_pool_gradient(grad, winner, spatial, size, stride, padding, dilation)


@kernel(reason="the second derivative of max_pool", saves=("winner",))
@in_float32
def _max_pool_pick(input, winner, size, stride, padding, dilation):
    return arrays.max_pool_pick(input, winner, size, stride, padding, dilation)


@_max_pool.gradient
def _(ctx, grad, _):
    return _max_pool_gradient(grad, ctx.saved[0], ctx.shapes[0][2:], *ctx.args[1:5])


@_max_pool_gradient.gradient
def _(ctx, grad):
    return _max_pool_pick(grad, ctx.saved[0], *ctx.args[3:]), None


@_max_pool_pick.gradient
def _(ctx, grad):
    return _max_pool_gradient(grad, ctx.saved[0], ctx.shapes[0][2:], *ctx.args[2:]), None


@kernel(reason="turns the winners of max_pool into PyTorch's indices")
def _flat_places(winner, spatial, size, stride, padding, dilation):
    return arrays.flat_places(winner, spatial, size, stride, padding, dilation)


@kernel(reason=_REASON)
@in_float32
def _avg_pool(input, size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return arrays.avg_pool(input, size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@kernel(reason="the gradient of avg_pool")
@in_float32
def _avg_pool_gradient(grad, spatial, size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return arrays.avg_pool_gradient(grad, spatial, size, stride, padding, count_include_pad, divisor_override)


@_avg_pool.gradient
def _(ctx, grad):
    return _avg_pool_gradient(grad, ctx.shapes[0][2:], *ctx.args[1:])


@_avg_pool_gradient.gradient
def _(ctx, grad):
    return _avg_pool(grad, *ctx.args[2:])


@kernel(reason=_REASON)
@in_float32
def _adaptive_avg_pool(input, out):
    return arrays.adaptive_avg_pool(input, out)


@kernel(reason="the gradient of adaptive_avg_pool")
@in_float32
def _adaptive_avg_pool_gradient(grad, spatial):
    return arrays.adaptive_avg_pool_gradient(grad, spatial)


@_adaptive_avg_pool.gradient
def _(ctx, grad):
    return _adaptive_avg_pool_gradient(grad, ctx.shapes[0][2:])


@_adaptive_avg_pool_gradient.gradient
def _(ctx, grad):
    return _adaptive_avg_pool(grad, ctx.shapes[0][2:])


@kernel(reason=_REASON, saves=("out1",))
@in_float32
def _adaptive_max_pool(input, out):
    return arrays.adaptive_max_pool(input, out)


@kernel(reason="picks elements in spatial dimensions taken as one", saves=("places",))
def _picked(input, places):
    return arrays.gather_windows(input, places)


@kernel(reason="the gradient of picking", saves=("places",))
@in_float32
def _added_at(grad, places, spatial):
    return arrays.scatter_windows(grad, places, spatial)


@_adaptive_max_pool.gradient
def _(ctx, grad, _):
    return _added_at(grad, ctx.saved[0], ctx.shapes[0][2:])


@_picked.gradient
def _(ctx, grad):
    return _added_at(grad, ctx.saved[0], ctx.shapes[0][2:]), None


@_added_at.gradient
def _(ctx, grad):
    return _picked(grad, ctx.saved[0]), None


@kernel(reason="MindSpore's max_unpool takes no float64 and no zero-size batch", saves=("places",))
def _unpool(input, places, spatial):
    volume = math.prod(spatial)
    if places.size and not 0 <= places.min() <= places.max() < volume:
        wrong = places[(places < 0) | (places >= volume)][0]
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, spatial))})"
        )
    result = np.zeros((*input.shape[:2], volume), input.dtype)
    flat = (*input.shape[:2], math.prod(input.shape[2:]))
    np.put_along_axis(result, places.reshape(flat), input.reshape(flat), 2)
    return result.reshape((*input.shape[:2], *spatial))


@_unpool.gradient
def _(ctx, grad):
    return _picked(grad, ctx.saved[0]), None


# --- elsewhere than on the CPU ---------------------------------------------------------------------------------------


def _as_image(call, input, *sizes):
    """A line pooled as an image of one row; `sizes` are (one-dimensional, what stands for the row)."""
    result = call(input.unsqueeze(2), *((row, *size) for size, row in sizes))
    return tuple(r.squeeze(2) for r in result) if isinstance(result, tuple) else result.squeeze(2)


@on_cpu(_max_pool)
def _maxima(input, size, stride, padding, dilation, ceil_mode):
    """(maxima, where they are: flat indices, or on the CPU numbers in the window)."""

    def pool(input, *windows):
        function = ms.ops.max_pool3d if len(size) == 3 else ms.mint.nn.functional.max_pool2d
        return function(input, *windows, ceil_mode=ceil_mode, return_indices=True)

    if len(size) == 1:
        return _as_image(pool, input, (size, 1), (stride, 1), (padding, 0), (dilation, 1))
    return pool(input, size, stride, padding, dilation)


@on_cpu(_flat_places)
def _indices(places, spatial, size, stride, padding, dilation):
    return places


@on_cpu(_avg_pool)
def _means(input, size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    if len(size) == 1:
        return ms.mint.nn.functional.avg_pool1d(input, size, stride, padding, ceil_mode, count_include_pad)
    functions = {2: ms.mint.nn.functional.avg_pool2d, 3: ms.mint.nn.functional.avg_pool3d}
    return functions[len(size)](input, size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@on_cpu(_adaptive_avg_pool)
def _adaptive_means(input, out):
    if len(out) == 1:
        return ms.mint.nn.functional.adaptive_avg_pool1d(input, out[0])
    functions = {2: ms.mint.nn.functional.adaptive_avg_pool2d, 3: ms.mint.nn.functional.adaptive_avg_pool3d}
    return functions[len(out)](input, out)


@on_cpu(_adaptive_max_pool)
def _adaptive_maxima(input, out):
    def pool(input, out):
        function = ms.ops.adaptive_max_pool3d if len(out) == 3 else ms.mint.nn.functional.adaptive_max_pool2d
        return function(input, out, True)

    return _as_image(pool, input, (out, 1)) if len(out) == 1 else pool(input, out)


@on_cpu(_unpool)
def _unpooled(input, places, spatial):
    flat = ms.mint.zeros((*input.shape[:2], math.prod(spatial)), dtype=input.dtype)
    result = flat.scatter(2, places.reshape((*places.shape[:2], -1)), input.reshape((*input.shape[:2], -1)))
    return result.reshape((*input.shape[:2], *spatial))


# --- arguments -------------------------------------------------------------------------------------------------------


def _per_dimension(function, argument, value, rank):
    values = ints(function, argument, value)
    if len(values) not in (1, rank):
        raise RuntimeError(
            f"{function}: {argument} must either be a single int, or a tuple of {_COUNTS[rank]}. Received: {value}"
        )
    return values if len(values) == rank else values * rank


def _windows(function, rank, kernel_size, stride, padding, dilation=1):
    """The four as tuples. Raises PyTorch's RuntimeError where a value makes no sense."""
    size = _per_dimension(function, "kernel_size", kernel_size, rank)
    omitted = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    stride = size if omitted else _per_dimension(function, "stride", stride, rank)
    padding = _per_dimension(function, "padding", padding, rank)
    dilation = _per_dimension(function, "dilation", dilation, rank)
    if min(stride) < 1:
        raise RuntimeError(f"stride should not be zero. Received: {stride}")
    if min(size) < 1:
        raise RuntimeError(f"kernel size should be greater than zero, but got {size}")
    if min(dilation) < 1:
        raise RuntimeError(f"dilation should be greater than zero, but got {dilation}")
    for pad, k, d in zip(padding, size, dilation, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, kernel_size={k} and dilation={d}"
            )
    return size, stride, padding, dilation


def _check_input(function, rank, input, kinds):
    """Whether `input` has a batch dimension. `kinds`: the dtypes PyTorch has the operator for, as a test."""
    shape = shape_of(input)
    if len(shape) not in (rank + 1, rank + 2) or 0 in shape[-rank - 1 :]:
        raise RuntimeError(
            f"{function}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with optional 0 dim batch size for input, "
            f"but got:{list(shape)}"
        )
    dtype = input.dtype
    if dtype.is_complex or not (dtype.is_floating_point or kinds(dtype)):
        raise NotImplementedError(f"\"{function}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")
    return len(shape) == rank + 2


def _check_fits(input, size, stride, padding, dilation, ceil_mode):
    shape = shape_of(input)
    sides = zip(shape[2:], size, stride, padding, dilation, strict=True)
    out = [arrays.pooled_size(*side, ceil_mode) for side in sides]
    if min(out) < 1:
        own, result = ("x".join(map(str, (shape[1], *sizes))) for sizes in (shape[2:], out))
        raise RuntimeError(
            f"Given input size: ({own}). Calculated output size: ({result}). Output size is too small"
        )


def _out_sizes(function, rank, input, output_size):
    """`output_size` with its None (keep the input's) filled in."""
    shape = shape_of(input)
    if isinstance(output_size, (tuple, list)):
        if len(output_size) != rank:
            raise RuntimeError(f"{function}: output_size must be {rank}. Received: {output_size}")
        output_size = [
            own if given is None else given for given, own in zip(output_size, shape[-rank:], strict=True)
        ]
    out = _per_dimension(function, "output_size", output_size, rank)
    if min(out) < 0:
        raise RuntimeError(
            f"{function}: elements of output_size must be greater than or equal to 0 but received {out}"
        )
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{function}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(shape)}")
    for i, n in enumerate(shape[-rank - 1 :], len(shape) - rank - 1):
        if not n:
            raise RuntimeError(
                f"{function}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {i} being empty"
            )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{function}\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    return out


def _batched(rank, body, input, *args):
    """`body(input, *args)` with a batch dimension given and taken away where `input` has none."""
    if len(shape_of(input)) == rank + 2:
        return body(input, *args)
    return with_batch(body, input, *args)


# --- the operators ---------------------------------------------------------------------------------------------------


def _max_pool_of(rank, input, kernel_size, stride, padding, dilation, ceil_mode, with_indices):
    function = f"max_pool{rank}d"
    windows = _windows(function, rank, kernel_size, stride, padding, dilation)
    _check_input(function, rank, input, lambda dtype: dtype != _dtype.bool)

    def pool(input):
        _check_fits(input, *windows, ceil_mode)
        maxima, places = _maxima(input, *windows, bool(ceil_mode))
        return (maxima, _indices(places, shape_of(input)[2:], *windows)) if with_indices else maxima

    return _batched(rank, pool, input)


def _avg_pool_of(rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    function = f"avg_pool{rank}d"
    size, stride, padding, dilation = _windows(function, rank, kernel_size, stride, padding)
    _check_input(function, rank, input, lambda dtype: dtype == _dtype.int64)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")

    def pool(input):
        _check_fits(input, size, stride, padding, dilation, ceil_mode)
        return _means(
            input, size, stride, padding, bool(ceil_mode), bool(count_include_pad), divisor_override
        )

    return _batched(rank, pool, input)


def _unpool_of(rank, input, indices, kernel_size, stride, padding, output_size):
    function = f"max_unpool{rank}d"
    size = _per_dimension(function, "kernel_size", kernel_size, rank)
    stride = size if stride is None else _per_dimension(function, "stride", stride, rank)
    padding = _per_dimension(function, "padding", padding, rank)
    if dtype_of(indices) is not _dtype.NATIVE[_dtype.int64]:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {_dtype.SCALAR_NAMES[indices.dtype]}"
        )
    if shape_of(indices) != shape_of(input):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape_of(input))}) but got indices "
            f"tensor with shape: {list(shape_of(indices))}"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{function}\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    sides = zip(shape_of(input)[-rank:], size, stride, padding, strict=True)
    natural = tuple((n - 1) * s + k - 2 * p for n, k, s, p in sides)
    out = natural if output_size is None else _chosen_size(natural, stride, tuple(output_size))
    return (
        _unpooled(input, indices, out)
        if len(shape_of(input)) == rank + 2
        else _unpooled(input.unsqueeze(0), indices.unsqueeze(0), out).squeeze(0)
    )


def _chosen_size(natural, stride, given):
    """The user's size of an unpooled result. Raises ValueError where no pooling could have come from it."""
    rank = len(natural)
    out = given[2:] if len(given) == rank + 2 else given
    if len(out) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of '{len(out)}'"
        )
    for dim, (n, step, chosen) in enumerate(zip(natural, stride, out, strict=True)):
        if not n - step < chosen < n + step:
            raise ValueError(
                f'invalid output_size "{out}" (dim {dim} must be between {n - step} and {n + step})'
            )
    return out


def _lp_pool_of(rank, input, norm_type, kernel_size, stride, ceil_mode):
    size = _per_dimension(f"lp_pool{rank}d", "kernel_size", kernel_size, rank)
    if math.isinf(norm_type):
        sign = 1 if norm_type > 0 else -1
        return sign * _max_pool_of(rank, sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode, False)
    means = _avg_pool_of(rank, input.pow(norm_type), kernel_size, stride, 0, ceil_mode, True, None)
    return (means.sign() * means.abs().relu() * math.prod(size)).pow(1.0 / norm_type)


def _node(name):
    """PyTorch's name of the graph node of an operator on images or volumes; lines are views of images there."""
    if not name.removesuffix("_with_indices").endswith(("2d", "3d")) or name.startswith("lp_"):
        return None
    words = name.removesuffix("_with_indices").split("_")
    if words[0] == "max" and words[1].startswith("pool"):
        words += ["with", "indices"]
    return "".join(w.capitalize().replace("2d", "2D").replace("3d", "3D") for w in words) + "Backward0"


def _register(rank):
    also = ("torch",)
    dims = ", ".join("DHW"[3 - rank :])

    def max_pool(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        return _max_pool_of(rank, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

    def max_pool_with_indices(
        input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        return _max_pool_of(rank, input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def avg_pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        return _avg_pool_of(
            rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    def adaptive_avg_pool(input, output_size):
        out = _out_sizes(f"adaptive_avg_pool{rank}d", rank, input, output_size)
        return _batched(rank, _adaptive_means, input, out)

    def adaptive_max_pool(input, output_size, return_indices=False):
        out = _out_sizes(f"adaptive_max_pool{rank}d", rank, input, output_size)
        result = _batched(rank, _adaptive_maxima, input, out)
        return result if return_indices else result[0]

    def adaptive_max_pool_with_indices(input, output_size, return_indices=False):
        return adaptive_max_pool(input, output_size, True)

    def lp_pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        return _lp_pool_of(rank, input, norm_type, kernel_size, stride, ceil_mode)

    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        return _unpool_of(rank, input, indices, kernel_size, stride, padding, output_size)

    for name, body, stand_in, more, doc in (
        (f"max_pool{rank}d", max_pool, _max_pool, also, "The maximum of each window of [N, C, {}] (or without N), and with `return_indices` the flat place of each."),
        (f"max_pool{rank}d_with_indices", max_pool_with_indices, _max_pool, also if rank == 1 else (), "The maximum of each window of [N, C, {}], and the flat place of each."),
        (f"avg_pool{rank}d", avg_pool, _avg_pool, also if rank == 1 else (), "The mean of each window of [N, C, {}] (or without N); padding counts as zeros where `count_include_pad`."),
        (f"adaptive_avg_pool{rank}d", adaptive_avg_pool, _adaptive_avg_pool, also if rank == 1 else (), "The means of `output_size` windows that together cover [N, C, {}]; None keeps a size."),
        (f"adaptive_max_pool{rank}d", adaptive_max_pool, _adaptive_max_pool, (), "The maxima of `output_size` windows that together cover [N, C, {}]; None keeps a size."),
        (f"adaptive_max_pool{rank}d_with_indices", adaptive_max_pool_with_indices, _adaptive_max_pool, (), "The maxima of `output_size` windows that cover [N, C, {}], and the flat place of each."),
        (f"lp_pool{rank}d", lp_pool, _avg_pool, (), "The `norm_type`-norm of each window of [N, C, {}]."),
        (f"max_unpool{rank}d", max_unpool, _unpool, (), "Zeros of `output_size` with the maxima `input` at their flat places in [N, C, {}]: undoes max_pool."),
    ):  # fmt: skip
        body.__doc__ = (
            doc.format(dims) + "\n\n    Raises RuntimeError where shapes, dtypes or sizes do not fit."
        )
        op(body, name=name, also=more, node=_node(name), kernel=stand_in, **_FUNCTIONAL)


for _rank in (1, 2, 3):
    _register(_rank)
avg_pool2d = RECORDS["torch.nn.functional", "avg_pool2d"].public


@op(name="adaptive_max_pool1d", method=False, out=False, kernel=_adaptive_max_pool)
def _adaptive_max_pool1d(input, output_size):
    """`torch.nn.functional.adaptive_max_pool1d_with_indices`."""
    out = _out_sizes("adaptive_max_pool1d", 1, input, output_size)
    return _batched(1, _adaptive_maxima, input, out)
