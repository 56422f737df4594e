"""Padding, and pixels and channels in other orders."""

import math

import numpy as np

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.casting import checked_constant
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, to_size


@kernel(
    reason="MindSpore's pad takes 150 to 200 us, loses int64 above 2**40 and refuses tensors without elements"
)
def _pad_array(input, before, after, value):
    """`value` around the elements; a negative width cuts them off."""
    inner = input[
        tuple(slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(before, after, input.shape, strict=True))
    ]
    result = np.full(
        [b + n + a for b, a, n in zip(before, after, input.shape, strict=True)], value, input.dtype
    )
    place = tuple(slice(max(b, 0), max(b, 0) + n) for b, n in zip(before, inner.shape, strict=True))
    result[place] = inner
    return result


@_pad_array.gradient
def _(ctx, grad):
    _, before, after, _ = ctx.args
    return _pad_array(grad, tuple(-b for b in before), tuple(-a for a in after), 0)


@kernel(
    reason="MindSpore's reflecting, replicating and circular padding takes 150 us and refuses bfloat16 and float64"
)
def _take_at(input, indices, shape):
    """The elements at index arrays, one per dimension (None: all of them)."""
    for dim, index in enumerate(indices):
        if index is not None:
            input = input.take(index, dim)
    return input


@_take_at.gradient
def _(ctx, grad):
    _, indices, shape = ctx.args
    return _add_at(grad, indices, shape)


@kernel(reason="the gradient of padding with elements of the tensor itself")
def _add_at(input, indices, shape):
    half = input.dtype.itemsize == 2
    values = input.astype(np.float32) if half else input
    for dim, index in enumerate(indices):
        if index is not None:
            sums = np.zeros((*values.shape[:dim], shape[dim], *values.shape[dim + 1 :]), values.dtype)
            target, source = np.moveaxis(sums, dim, 0), np.moveaxis(values, dim, 0)
            for i, place in enumerate(index):
                target[place] += source[i]
            values = sums
    return values.astype(input.dtype)


@_add_at.gradient
def _(ctx, grad):
    _, indices, shape = ctx.args
    return _take_at(grad, indices, shape)


def _widths(input, pad):
    """(before, after) per dimension, of PyTorch's list of widths: pairs, the last dimension first."""
    pad, rank = to_size((pad,)), len(shape_of(input))
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2. Received: {list(pad)}")
    if len(pad) > 2 * rank:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {rank}"
        )
    rest = (0,) * (rank - len(pad) // 2)
    return rest + pad[-2::-2], rest + pad[:0:-2]


def _pad_constant(input, pad, value):
    before, after = _widths(input, pad)
    for b, a, n in zip(before, after, shape_of(input), strict=True):
        if b + n + a < 0 or max(-b, 0) > n or max(-a, 0) > n:
            raise RuntimeError(
                f"narrow(): length must be non-negative. Received: padding {b} and {a} of a dimension of size {n}"
            )
    value = native.asnumpy(checked_constant(0 if value is None else value, input.dtype))
    return _pad_array(input, before, after, value)


def _reflected(n, b, a):
    middle = np.arange(-b, n + a)
    return np.where(middle < 0, -middle, np.where(middle >= n, 2 * (n - 1) - middle, middle))


def _wrapped(n, b, a):
    kept = np.arange(max(-b, 0), n - max(-a, 0))
    return kept[np.arange(-max(b, 0), len(kept) + max(a, 0)) % max(len(kept), 1)]


_INDICES = {
    "reflect": _reflected,
    "replicate": lambda n, b, a: np.clip(np.arange(-b, n + a), 0, n - 1),
    "circular": _wrapped,
}


def _check_width(mode, before, after, dim, shape):
    n = shape[dim]
    if mode == "reflect" and (before >= n or after >= n):
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {dim} of input {list(shape)}"
        )
    if mode == "circular" and (before > n or after > n):
        raise RuntimeError(
            f"Padding value causes wrapping around more than once. Received: ({before}, {after}) for size {n}"
        )
    if n + before + after < 0:
        raise RuntimeError(
            f"padding ({before}, {after}) at dimension {dim} of input {list(shape)} leaves a negative size"
        )


def _pad_with_itself(input, pad, mode):
    shape = shape_of(input)
    before, after = _widths(input, pad)
    spatial = len(to_size((pad,))) // 2
    if not spatial + 1 <= len(shape) <= spatial + 2 or spatial > 3:
        raise NotImplementedError(
            f"Padding size {2 * spatial} is not supported for {len(shape)}D input tensor."
        )
    start = len(shape) - spatial
    if 0 in shape[1 if start == 2 else 0 :]:
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    indices = [None] * start
    for dim in range(start, len(shape)):
        _check_width(mode, before[dim], after[dim], dim, shape)
        indices.append(_INDICES[mode](shape[dim], before[dim], after[dim]))
    return _take_at(input, tuple(indices), shape)


@op(namespace="torch.nn.functional", method=False, out=False)
def pad(input, pad, mode="constant", value=None):
    """`input` widened by the widths in `pad`: pairs (before, after), the last dimension first; negative ones cut.

    `mode`: "constant" (`value`, default 0), or the tensor itself, "reflect", "replicate" or "circular", over the last
    one to three dimensions.
    """
    if mode == "constant":
        return _pad_constant(input, pad, value)
    if mode not in _INDICES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument. Received: {value}')
    return _pad_with_itself(input, pad, mode)


@op(method=False)
def constant_pad_nd(input, pad, value=0):
    """`input` widened by `value`."""
    return _pad_constant(input, pad, value)


# --- pixels and channels --------------------------------------------------------------------------------------------


def _check_image(name, input, factor, what):
    rank = len(shape_of(input))
    if rank < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {rank} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


@op(method=False, out=False, also=("torch.nn.functional",))
def pixel_shuffle(input, upscale_factor):
    """Channels made pixels: (*, C * r**2, H, W) becomes (*, C, H * r, W * r)."""
    r = to_int(upscale_factor)
    _check_image("pixel_shuffle", input, r, "upscale_factor")
    *batch, channels, height, width = shape_of(input)
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    parts = input.reshape(math.prod(batch), channels // (r * r), r, r, height, width)
    return parts.permute(0, 1, 4, 2, 5, 3).reshape(*batch, channels // (r * r), height * r, width * r)


@op(method=False, out=False, also=("torch.nn.functional",))
def pixel_unshuffle(input, downscale_factor):
    """Pixels made channels: (*, C, H * r, W * r) becomes (*, C * r**2, H, W)."""
    r = to_int(downscale_factor)
    _check_image("pixel_unshuffle", input, r, "downscale_factor")
    *batch, channels, height, width = shape_of(input)
    for what, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({dim})={size} is not "
                f"divisible by {r}"
            )
    parts = input.reshape(math.prod(batch), channels, height // r, r, width // r, r)
    return parts.permute(0, 1, 3, 5, 2, 4).reshape(*batch, channels * r * r, height // r, width // r)


@op(method=False, out=False, also=("torch.nn.functional",), aliases=("native_channel_shuffle",))
def channel_shuffle(input, groups):
    """The channels, dimension 1, dealt out anew: `groups` rows read by columns."""
    shape, groups = shape_of(input), to_int(groups)
    if len(shape) <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    parts = input.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    return parts.transpose(1, 2).reshape(shape)
