"""Convolutions and transposed convolutions of 1 to 3 dimensions."""

import math

import mindspore as ms

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._kernels import conv as arrays
from msadapter.pytorch._ops.casting import CPP_NAMES
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.sliding import ints, with_batch

_INT64 = _dtype.NATIVE[_dtype.int64]
_REASON = "MindSpore's convolution is 50 to 90 times slower than PyTorch's, and has no float64, bfloat16 or integers"

_FACTS = {
    "namespace": "torch.nn.functional",
    "also": ("torch",),
    "method": False,
    "out": False,
    "node": "ConvolutionBackward0",
}

# --- three faces of one trilinear form, the gradient of each written in the other two --------------------------------
# A plan is (stride, padding, dilation, groups) with a number per dimension, and for the padding a pair (before, after).


@kernel(reason=_REASON, saves=("input", "weight"))
@in_float32
def _forward(input, weight, bias, stride, padding, dilation, groups):
    return arrays.conv(input, weight, bias, stride, padding, dilation, groups)


@_forward.gradient
def _(ctx, grad):
    input, weight = ctx.saved
    plan, sizes = ctx.args[3:], ctx.shapes
    found = [
        _input_grad(grad, _conj(weight), None, sizes[0][2:], *plan) if ctx.needs[0] else None,
        _weight_grad(grad, _conj(input), sizes[1][2:], *plan) if ctx.needs[1] else None,
    ]
    if len(sizes) == 3:
        found.append(_sum_per_channel(grad) if ctx.needs[2] else None)
    return tuple(found)


@kernel(reason=_REASON, saves=("output", "weight"))
@in_float32
def _input_grad(output, weight, bias, size, stride, padding, dilation, groups):
    result = arrays.conv_input_grad(output, weight, size, stride, padding, dilation, groups)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(size))
    return result


@_input_grad.gradient
def _(ctx, grad):
    output, weight = ctx.saved
    plan = ctx.args[4:]
    found = [
        _forward(grad, _conj(weight), None, *plan) if ctx.needs[0] else None,
        _weight_grad(_conj(output), grad, ctx.shapes[1][2:], *plan) if ctx.needs[1] else None,
    ]
    if len(ctx.shapes) == 3:
        found.append(_sum_per_channel(grad) if ctx.needs[2] else None)
    return tuple(found)


@kernel(reason=_REASON, saves=("output", "input"))
@in_float32
def _weight_grad(output, input, size, stride, padding, dilation, groups):
    return arrays.conv_weight_grad(output, input, size, stride, padding, dilation, groups)


@_weight_grad.gradient
def _(ctx, grad):
    output, input = ctx.saved
    plan = ctx.args[3:]
    return (
        _forward(_conj(input), grad, None, *plan) if ctx.needs[0] else None,
        _input_grad(_conj(output), grad, None, ctx.shapes[1][2:], *plan) if ctx.needs[1] else None,
    )


def _conj(tensor):
    return tensor.conj() if tensor.dtype.is_complex else tensor


def _sum_per_channel(grad):
    return grad.sum((0, *range(2, len(shape_of(grad)))))


# --- elsewhere than on the CPU ---------------------------------------------------------------------------------------

_CONV = {1: ms.mint.nn.functional.conv1d, 2: ms.mint.nn.functional.conv2d, 3: ms.mint.nn.functional.conv3d}


@on_cpu(_forward)
def _convolution(input, weight, bias, stride, padding, dilation, groups):
    low = tuple(before for before, _ in padding)
    if any(before != after for before, after in padding):
        sides = [side for pair in reversed(padding) for side in pair]
        input, low = ms.mint.nn.functional.pad(input, sides), (0,) * len(low)
    return _CONV[len(low)](input, weight, bias, stride, low, dilation, groups)


@on_cpu(_input_grad)
def _transposed(output, weight, bias, size, stride, padding, dilation, groups):
    rank, shape = len(size), tuple(weight.shape[2:])
    low = tuple(before for before, _ in padding)
    sides = zip(size, output.shape[2:], stride, low, dilation, shape, strict=True)
    extra = tuple(n - (y - 1) * s + 2 * p - d * (k - 1) - 1 for n, y, s, p, d, k in sides)
    if rank == 3:
        pads = tuple(p for p in low for _ in range(2))
        result = ms.ops.Conv3DTranspose(
            weight.shape[0], weight.shape[1] * groups, shape, pad_mode="pad", pad=pads, stride=stride,
            dilation=dilation, group=groups, output_padding=extra,
        )(output, weight)  # fmt: skip
        return result if bias is None else result + bias.reshape(-1, 1, 1, 1)
    if rank == 1:
        output, weight = output.unsqueeze(2), weight.unsqueeze(2)
        stride, low, extra, dilation = (1, *stride), (0, *low), (0, *extra), (1, *dilation)
    result = ms.mint.nn.functional.conv_transpose2d(
        output, weight, bias, stride, low, extra, groups, dilation
    )
    return result.squeeze(2) if rank == 1 else result


# --- arguments -------------------------------------------------------------------------------------------------------


def _per_dimension(function, argument, value, rank):
    values = ints(function, argument, value)
    if len(values) not in (1, rank):
        raise RuntimeError(
            f"expected {argument} to be a single integer value or a list of {rank} values to match the convolution "
            f"dimensions, but got {argument}={list(values)}"
        )
    return values if len(values) == rank else values * rank


def _check_positive(**arguments):
    for name, (values, least) in arguments.items():
        if min(values, default=least) < least:
            raise RuntimeError(
                f"{'non-positive' if least else 'negative'} {name} is not supported. Received: {values}"
            )


def _check_dtypes(input, weight, bias):
    own = dtype_of(input)
    if bias is not None and dtype_of(bias) is not own:
        names = [CPP_NAMES[_dtype.name_of(t.dtype)] for t in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")
    if dtype_of(weight) is not own:
        names = [f"torch.{_dtype.SCALAR_NAMES[t.dtype]}Tensor" for t in (input, weight)]
        raise RuntimeError(f"Input type ({names[0]}) and weight type ({names[1]}) should be the same")


def _check_kernel(input, kernel_name, integers):
    dtype = input.dtype
    if not (dtype.is_floating_point or dtype.is_complex) and (dtype == _dtype.bool or not integers):
        raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")


def _check_shapes(input, weight, bias, groups, transposed):
    """`input` has its batch dimension; `groups` is positive."""
    x, w = shape_of(input), shape_of(weight)
    given = (
        f"Given transposed=1, weight of size {list(w)}"
        if transposed
        else f"Given groups={groups}, weight of size {list(w)}"
    )
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {list(w)} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size [{list(w)}] instead"
        )
    channels = w[0] if transposed else w[1] * groups
    if x[1] != channels:
        raise RuntimeError(
            f"{given}, expected input{list(x)} to have {channels} channels, but got {x[1]} channels instead"
        )
    results = w[1] * groups if transposed else w[0]
    if bias is not None and shape_of(bias) != (results,):
        raise RuntimeError(
            f"{given}, expected bias to be 1-dimensional with {results} elements, but got bias of size {list(shape_of(bias))} instead"
        )


def _check_ranks(function, input, weight, rank):
    """Whether `input` has a batch dimension."""
    own = len(shape_of(input))
    if own not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {function}, but got input of size: {list(shape_of(input))}"
        )
    if len(shape_of(weight)) != rank + 2:
        raise RuntimeError(
            f"{function}: expected a weight of {rank + 2} dimensions, but got one of size {list(shape_of(weight))}"
        )
    return own == rank + 2


def _padding(function, padding, size, stride, dilation):
    """A pair (before, after) per dimension, from ints, "valid" or "same"."""
    rank = len(size)
    if padding == "valid":
        return ((0, 0),) * rank
    if padding == "same":
        if any(s != 1 for s in stride):
            raise RuntimeError(
                f"padding='same' is not supported for strided convolutions. Received stride={stride}"
            )
        totals = [d * (k - 1) for d, k in zip(dilation, size, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    values = _per_dimension(function, "padding", padding, rank)
    _check_positive(padding=(values, 0))
    return tuple((p, p) for p in values)


def _by(sizes):
    return f"({' x '.join(map(str, sizes))})"


def _check_fits(input, size, padding, dilation):
    shape = shape_of(input)
    padded = [n + before + after for n, (before, after) in zip(shape[2:], padding, strict=True)]
    covered = [d * (k - 1) + 1 for d, k in zip(dilation, size, strict=True)]
    if any(c > p for c, p in zip(covered, padded, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {_by(padded)}. Kernel size: {_by(covered)}. Kernel size can't be "
            "greater than actual input size"
        )
    if not math.prod(shape[2:]):
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {list(shape)}"
        )


# --- the operators ---------------------------------------------------------------------------------------------------


def _convolve(rank, input, weight, bias, stride, padding, dilation, groups):
    function = f"conv{rank}d"
    if not _check_ranks(function, input, weight, rank):
        return with_batch(
            lambda x: _convolve(rank, x, weight, bias, stride, padding, dilation, groups), input
        )
    stride = _per_dimension(function, "stride", stride, rank)
    dilation = _per_dimension(function, "dilation", dilation, rank)
    _check_positive(stride=(stride, 1), dilation=(dilation, 1), groups=((groups,), 1))
    size = shape_of(weight)[2:]
    padding = _padding(function, padding, size, stride, dilation)
    _check_shapes(input, weight, bias, groups, transposed=False)
    _check_fits(input, size, padding, dilation)
    _check_dtypes(input, weight, bias)
    _check_kernel(input, f"slow_conv{max(rank, 2)}d_cpu", integers=True)
    return _convolution(input, weight, bias, stride, padding, dilation, groups)


def _convolve_transposed(rank, input, weight, bias, stride, padding, output_padding, groups, dilation):
    function = f"conv_transpose{rank}d"
    if not _check_ranks(function, input, weight, rank):
        args = bias, stride, padding, output_padding, groups, dilation
        return with_batch(lambda x: _convolve_transposed(rank, x, weight, *args), input)
    stride = _per_dimension(function, "stride", stride, rank)
    dilation = _per_dimension(function, "dilation", dilation, rank)
    padding = _per_dimension(function, "padding", padding, rank)
    extra = _per_dimension(function, "output_padding", output_padding, rank)
    _check_positive(
        padding=(padding, 0),
        output_padding=(extra, 0),
        stride=(stride, 1),
        dilation=(dilation, 1),
        groups=((groups,), 1),
    )
    _check_shapes(input, weight, bias, groups, transposed=True)
    _check_dtypes(input, weight, bias)
    _check_kernel(input, f"slow_conv_transpose{max(rank, 2)}d_out_cpu", integers=dtype_of(input) is _INT64)
    size = shape_of(weight)[2:]
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding={extra}, stride={stride}, dilation={dilation}"
        )
    input = _lengthened(input, [e // s for e, s in zip(extra, stride, strict=True)])
    extra = tuple(e % s for e, s in zip(extra, stride, strict=True))
    sides = zip(shape_of(input)[2:], stride, padding, dilation, size, extra, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, s, p, d, k, e in sides)
    if min(size) < 1:
        raise RuntimeError(
            f"Given input size per channel: {_by(shape_of(input)[2:])}. Calculated output size per channel: {_by(size)}. "
            "Output size is too small"
        )
    return _transposed(input, weight, bias, size, stride, tuple((p, p) for p in padding), dilation, groups)


def _lengthened(input, steps):
    """`input` with zeros behind it: an output padding of a whole stride is one more input."""
    for dim, more in enumerate(steps, 2):
        if more:
            shape = shape_of(input)
            input = cat([input, input.new_zeros((*shape[:dim], more, *shape[dim + 1 :]))], dim)
    return input


def _register(rank):
    dims = ", ".join("DHW"[3 - rank :])

    @op(name=f"conv{rank}d", kernel=_forward, **_FACTS)
    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return _convolve(rank, input, weight, bias, stride, padding, dilation, groups)

    @op(name=f"conv_transpose{rank}d", kernel=_input_grad, **_FACTS)
    def conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return _convolve_transposed(
            rank, input, weight, bias, stride, padding, output_padding, groups, dilation
        )

    conv.__doc__ = f"""The convolution of `input` [N, C, {dims}] (or without N) with `weight` [O, C / groups, {dims}], plus `bias` [O].

    `padding` is a number (per dimension), "valid", or "same" for a result of the input's size. All of one dtype.
    Raises RuntimeError where shapes, dtypes or arguments do not fit.
    """
    conv_transpose.__doc__ = f"""The transposed convolution of `input` [N, C, {dims}] (or without N) with `weight` [C, O / groups, {dims}].

    The gradient of `conv{rank}d` with respect to its input, plus `bias` [O]; `output_padding` adds to one side of the result.
    Raises RuntimeError where shapes, dtypes or arguments do not fit.
    """


for _rank in (1, 2, 3):
    _register(_rank)


@op(also=("torch.nn.functional",), method=False, out=False, kernel=_forward)
def conv_tbc(input, weight, bias, pad=0):
    """`conv1d` with other orders of dimensions: input [T, N, C], weight [K, C, O], bias [O], result [T', N, O]."""
    if len(shape_of(input)) != 3 or len(shape_of(weight)) != 3:
        raise RuntimeError(
            "Input must have 3 dims: time, batch, in_channel, and weight 3: kernel_width, in_channels, out_channels. "
            f"Received: {list(shape_of(input))} and {list(shape_of(weight))}"
        )
    result = _convolve(1, input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad, 1, 1)
    return result.permute(2, 0, 1)


@op(method=False, out=False, kernel=_forward, node="ConvolutionBackward0")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """The convolution, or the transposed one, of as many dimensions as `weight` has space for."""
    rank = len(shape_of(weight)) - 2
    if rank not in (1, 2, 3):
        raise RuntimeError(f"convolution: weight must have 3 to 5 dimensions, but has {rank + 2}")
    if transposed:
        return _convolve_transposed(
            rank, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return _convolve(rank, input, weight, bias, stride, padding, dilation, groups)
