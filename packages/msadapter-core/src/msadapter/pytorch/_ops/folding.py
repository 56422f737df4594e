"""Images taken apart into sliding blocks (unfold), and put together from them (fold)."""

import itertools
import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.sliding import ints, with_batch

_REASON = "MindSpore's takes no zero-size batch, bool or complex, and differentiates once"


def _counts(spatial, size, dilation, padding, stride):
    """How many blocks lie along each of the two dimensions."""
    sides = zip(spatial, size, dilation, padding, stride, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in sides)


def _taps(counts, size, dilation, stride):
    """For each place in a block: its number, and the slices of the padded image that all blocks have there."""
    for number, offsets in enumerate(itertools.product(*map(range, size))):
        starts = [o * d for o, d in zip(offsets, dilation, strict=True)]
        yield (
            number,
            (
                ...,
                *(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, counts, stride, strict=True)),
            ),
        )


def _interior(spatial, padding):
    return (..., *(slice(p, p + n) for n, p in zip(spatial, padding, strict=True)))


@kernel(reason=_REASON)
def _unfold(input, size, dilation, padding, stride):
    rows, channels, *spatial = input.shape
    counts = _counts(spatial, size, dilation, padding, stride)
    padded = np.zeros(
        (rows, channels, *(n + 2 * p for n, p in zip(spatial, padding, strict=True))), input.dtype
    )
    padded[_interior(spatial, padding)] = input
    result = np.empty((rows, channels, math.prod(size), *counts), input.dtype)
    for number, place in _taps(counts, size, dilation, stride):
        result[:, :, number] = padded[place]
    return result.reshape(rows, channels * math.prod(size), math.prod(counts))


@kernel(reason=_REASON)
@in_float32
def _fold(input, spatial, size, dilation, padding, stride):
    counts = _counts(spatial, size, dilation, padding, stride)
    channels = input.shape[1] // math.prod(size)
    blocks = input.reshape(len(input), channels, math.prod(size), *counts)
    padded = np.zeros(
        (len(input), channels, *(n + 2 * p for n, p in zip(spatial, padding, strict=True))), input.dtype
    )
    for number, place in _taps(counts, size, dilation, stride):
        padded[place] += blocks[:, :, number]
    return padded[_interior(spatial, padding)].copy()


@_unfold.gradient
def _(ctx, grad):
    return _fold(grad, ctx.shapes[0][2:], *ctx.args[1:])


@_fold.gradient
def _(ctx, grad):
    return _unfold(grad, *ctx.args[2:])


@on_cpu(_unfold)
def _blocks(input, size, dilation, padding, stride):
    return ms.mint.nn.functional.unfold(input, size, dilation, padding, stride)


@on_cpu(_fold)
def _image(input, spatial, size, dilation, padding, stride):
    return ms.mint.nn.functional.fold(input, spatial, size, dilation, padding, stride)


def _pair(function, argument, value):
    values = ints(function, argument, value)
    if len(values) == 1 and not isinstance(value, (tuple, list)):
        return values * 2
    if len(values) != 2:
        raise RuntimeError(f"It is expected {argument} equals to 2, but got size {len(values)}")
    return values


def _blocks_arguments(function, kernel_size, dilation, padding, stride):
    """The four as pairs. Raises RuntimeError where a value makes no sense."""
    size = _pair(function, "kernel_size", kernel_size)
    dilation, padding, stride = (
        _pair(function, name, value)
        for name, value in (("dilation", dilation), ("padding", padding), ("stride", stride))
    )
    for name, values in (("kernel size", size), ("stride", stride), ("dilation", dilation)):
        if min(values) < 1:
            raise RuntimeError(f"{name} should be greater than zero, but got {values}")
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {padding}")
    return size, dilation, padding, stride


def _check_dtype(input, what):
    dtype = input.dtype
    if not (dtype.is_floating_point or dtype.is_complex or dtype == _dtype.bool):
        raise NotImplementedError(f"\"{what}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")


def _called(size, dilation, padding):
    return f"kernel_size={size}, dilation={dilation}, padding={padding}"


@op(namespace="torch.nn.functional", method=False, out=False, node="Im2ColBackward0", kernel=_unfold)
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The sliding blocks of images [N, C, H, W] (or without N) as columns: [N, C * block, number of blocks].

    Raises RuntimeError where sizes do not fit.
    """
    arguments = _blocks_arguments("unfold", kernel_size, dilation, padding, stride)
    shape = shape_of(input)
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(shape)}"
        )
    _check_dtype(input, "im2col_out_cpu")
    counts = _counts(shape[-2:], *arguments)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {shape[-2:]}, {_called(*arguments[:3])}, calculated shape of the array of sliding "
            f"blocks as {counts}, but its components must be at least one."
        )
    return _blocks(input, *arguments) if len(shape) == 4 else with_batch(_blocks, input, *arguments)


@op(namespace="torch.nn.functional", method=False, out=False, node="Col2ImBackward0", kernel=_fold)
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Images [N, C, *output_size] in which blocks [N, C * block, number of blocks] are added up: undoes `unfold`.

    Raises RuntimeError where sizes do not fit.
    """
    spatial = _pair("fold", "output_size", output_size)
    size, dilation, padding, stride = arguments = _blocks_arguments(
        "fold", kernel_size, dilation, padding, stride
    )
    shape = shape_of(input)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    if shape[-2] % math.prod(size):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
            f"{shape[-2]} and kernel_size={size}."
        )
    counts = _counts(spatial, *arguments)
    if math.prod(counts) != shape[-1] or min(counts) < 1:
        raise RuntimeError(
            f"Given output_size={spatial}, {_called(*arguments[:3])}, stride={stride}, expected size of input's dimension 2 to "
            f"match the calculated number of sliding blocks {counts[0]} * {counts[1]} = {math.prod(counts)}, but got "
            f"input.size(2)={shape[-1]}."
        )
    _check_dtype(input, "col2im_out_cpu")
    return (
        _image(input, spatial, *arguments)
        if len(shape) == 3
        else with_batch(_image, input, spatial, *arguments)
    )
