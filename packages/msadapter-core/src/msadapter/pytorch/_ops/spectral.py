"""torch.fft: Fourier transforms, their frequencies and shifts."""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.factories import factory
from msadapter.pytorch._ops.padding import pad
from msadapter.pytorch._ops.rearranging import roll
from msadapter.pytorch._ops.reduction import conjugate, labelled
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim

_REASON = "MindSpore's FFT takes 1 ms for 8 elements and has no second derivative"
_COMPLEX = {_dtype.float32: _dtype.complex64, _dtype.float64: _dtype.complex128}

# --- kernels: each one's gradient is written in the others ----------------------------------------------------------


def _scaled(array, scale):
    return array if scale == 1 else array * array.real.dtype.type(scale)


@kernel(reason=_REASON)
def _complex_to_complex(input, dims, forward, scale):
    from scipy import fft  # not above: it takes as long to import as all of ours

    if not input.size:
        return input.copy()
    transform, unscaled = (fft.fftn, "backward") if forward else (fft.ifftn, "forward")
    return _scaled(transform(input, axes=dims, norm=unscaled), scale)


@_complex_to_complex.gradient
def _(ctx, grad):
    _, dims, forward, scale = ctx.args
    return _complex_to_complex(grad, dims, not forward, scale)


@kernel(reason=_REASON)
def _real_to_half(input, dims, scale):
    from scipy import fft

    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return np.zeros(shape, np.result_type(input, np.complex64))
    return _scaled(fft.rfftn(input, axes=dims), scale)


@_real_to_half.gradient
def _(ctx, grad):
    _, dims, scale = ctx.args
    whole = _resized(grad, dims[-1:], (ctx.shapes[0][dims[-1]],))
    return cast(_complex_to_complex(whole, dims, False, scale), grad.dtype.to_real())


@kernel(reason=_REASON)
def _half_to_real(input, dims, size, scale):
    from scipy import fft

    sizes = [input.shape[d] for d in dims[:-1]] + [size]
    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = size
        return np.zeros(shape, input.real.dtype)
    return _scaled(fft.irfftn(input, sizes, dims, norm="forward"), scale)


@_half_to_real.gradient
def _(ctx, grad):
    _, dims, size, scale = ctx.args
    # Each but the first and the middle element of the half stands for two of the whole.
    counts = np.full(size // 2 + 1, 2.0)
    counts[0] = 1
    if size % 2 == 0:
        counts[-1] = 1
    behind = (1,) * (len(ctx.shapes[0]) - 1 - dims[-1])
    return _real_to_half(grad, dims, scale) * grad.new_tensor(counts.reshape(-1, *behind))


# --- arguments ------------------------------------------------------------------------------------------------------


def _one(input, n, dim):
    """The size and dimension of a transform along one dimension, as lists."""
    rank = len(shape_of(input))
    if not rank:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return [None if n is None else to_int(n)], [wrap_dim(to_int(dim), rank)]


def _many(input, s, dim):
    """The sizes (None: the input's) and dimensions of a transform along several dimensions."""
    rank = len(shape_of(input))
    sizes = None if s is None else [to_int(n) for n in (s if isinstance(s, (tuple, list)) else (s,))]
    if dim is None:
        if sizes is not None and len(sizes) > rank:
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {rank} dimensions."
            )
        dims = list(range(rank - (rank if sizes is None else len(sizes)), rank))
    else:
        given = dim if isinstance(dim, (tuple, list)) else (dim,)
        if given and not rank:
            raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
        dims = [wrap_dim(to_int(d), rank) for d in given]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"FFT dims must be unique. Received: {dim}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                f"When given, dim and shape arguments must have the same length. Received: {dim} and {s}"
            )
    return [None if n == -1 else n for n in sizes or [-1] * len(dims)], dims


def _resized(input, dims, sizes):
    """`input` cut or filled up with zeros at the end of `dims`."""
    shape = shape_of(input)
    widths = [0] * (2 * len(shape))
    for dim, size in zip(dims, sizes, strict=True):
        widths[2 * (len(shape) - 1 - dim) + 1] = size - shape[dim]
    return pad(input, widths) if any(widths) else input


def _floating(input):
    if input.dtype in (_dtype.float16, _dtype.bfloat16):
        raise RuntimeError(f"Unsupported dtype {_dtype.SCALAR_NAMES[input.dtype]}")
    is_exact = not (input.dtype.is_floating_point or input.dtype.is_complex)
    return cast(input, _dtype.get_default_dtype()) if is_exact else input


def _checked(sizes):
    for size in sizes:
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return sizes


def _scale(norm, forward, sizes):
    """What a transform of `sizes` is multiplied by."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    count = math.prod(sizes)
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if forward == (norm == "forward") else 1.0


# --- the three kinds of transform -----------------------------------------------------------------------------------


def _whole(_, input, sizes, dims, norm, forward):
    """Complex (or real) to complex."""
    input = _floating(input)
    node = "FftC2CBackward0" if input.dtype.is_complex else "FftR2CBackward0"
    input = cast(input, _COMPLEX.get(input.dtype, input.dtype))
    sizes = _checked([shape_of(input)[d] if n is None else n for n, d in zip(sizes, dims, strict=True)])
    scale = _scale(norm, forward, sizes)
    return labelled(
        _complex_to_complex(_resized(input, dims, sizes), tuple(dims), forward, scale),
        node,
    )


def _to_half(name, input, sizes, dims, norm, forward):
    """Real to the half of a Hermitian spectrum."""
    if input.dtype.is_complex:
        kind = "real input" if name in ("rfft", "ihfft") else "real-valued input"
        raise RuntimeError(f"{name} expects a {kind} tensor, but got {_dtype.SCALAR_NAMES[input.dtype]}")
    input = _floating(input)
    if not dims:
        raise RuntimeError(f"{name.replace('2', 'n')} must transform at least one axis")
    sizes = _checked([shape_of(input)[d] if n is None else n for n, d in zip(sizes, dims, strict=True)])
    scale = _scale(norm, forward, sizes)
    half = labelled(_real_to_half(_resized(input, dims, sizes), tuple(dims), scale), "FftR2CBackward0")
    return half if forward else conjugate(half)


def _to_real(name, input, sizes, dims, norm, forward):
    """The half of a Hermitian spectrum to real."""
    input = _floating(input)
    input = cast(input, _COMPLEX.get(input.dtype, input.dtype))
    if not dims:
        raise RuntimeError(f"{name.replace('2', 'n')} must transform at least one axis")
    shape = shape_of(input)
    last = 2 * (shape[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
    sizes = [shape[d] if n is None else n for n, d in zip(sizes[:-1], dims[:-1], strict=True)]
    _checked([*sizes, last])
    scale = _scale(norm, forward, [*sizes, last])
    half = _resized(input, dims, [*sizes, last // 2 + 1])
    result = _half_to_real(conjugate(half) if forward else half, tuple(dims), last, scale)
    return labelled(result, "FftC2RBackward0")


def _register(name, transform, forward, what):
    """Register the transform along two dimensions, along several, and along one, which is returned."""

    def single(input, n=None, dim=-1, norm=None):
        return transform(name, input, *_one(input, n, dim), norm, forward)

    def double(input, s=None, dim=(-2, -1), norm=None):
        return transform(name + "2", input, *_many(input, s, dim), norm, forward)

    def several(input, s=None, dim=None, norm=None):
        return transform(name + "n", input, *_many(input, s, dim), norm, forward)

    forms = (
        (double, "2", "two dimensions, cut or filled up with zeros to the sizes `s`"),
        (several, "n", "all dimensions or those in `dim`, cut or filled up with zeros to the sizes `s`"),
        (single, "", "one dimension, cut or filled up with zeros to `n` points"),
    )
    for body, suffix, where in forms:
        body.__doc__ = (
            f'{what} along {where}.\n\n    `norm`: which way is divided by the number of points, "forward" or '
            '"backward" (the default), or both by its root, "ortho".\n    Raises RuntimeError for float16 and bfloat16.\n    '
        )
        public = op(body, name=name + suffix, namespace="torch.fft", method=False)
    return public


fft = _register("fft", _whole, True, "The discrete Fourier transform")
ifft = _register("ifft", _whole, False, "The inverse Fourier transform")
rfft = _register(
    "rfft", _to_half, True, "The half of the Fourier transform that determines that of real `input`,"
)
irfft = _register(
    "irfft", _to_real, False, "The inverse of `rfft`: real, of 2 * (size - 1) points by default,"
)
_register(
    "hfft", _to_real, True, "The Fourier transform of a Hermitian signal, given as its half, which is real,"
)
ihfft = _register("ihfft", _to_half, False, "The inverse of `hfft`, the half of a Hermitian signal,")


# --- frequencies and shifts -----------------------------------------------------------------------------------------


def _frequencies(name, n, d, dtype, positions):
    dtype = _dtype.get_default_dtype() if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype. Received: {dtype}")
    if dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    with np.errstate(all="ignore"):
        return (positions * np.divide(1.0, n * d)).astype(_dtype.NUMPY[dtype])


@factory(namespace="torch.fft", method=False)
def fftfreq(n, d=1.0, *, dtype=None):
    """The frequencies of an FFT of `n` points that are `d` apart: 0, the positive ones, the negative ones."""
    half = (n + 1) // 2
    positions = np.concatenate([np.arange(half), np.arange(-(n // 2), 0)])
    return _frequencies("fftfreq", n, d, dtype, positions)


@factory(namespace="torch.fft", method=False)
def rfftfreq(n, d=1.0, *, dtype=None):
    """The frequencies of `rfft` of `n` points that are `d` apart."""
    return _frequencies("rfftfreq", n, d, dtype, np.arange(max(n // 2 + 1, 0)))


def _shifted(input, dim, shift_of):
    shape = shape_of(input)
    if dim is None:
        dims = list(range(len(shape)))
    else:
        dims = [wrap_dim(to_int(d), len(shape)) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    if not dims:
        raise RuntimeError(f"`shifts` required. Received: a tensor of shape {list(shape)}, dim={dim}")
    return labelled(roll(input, [shift_of(shape[d]) for d in dims], dims), "RollBackward0")


@op(namespace="torch.fft", method=False, out=False)
def fftshift(input, dim=None):
    """Frequency 0 moved from the start to the middle of `dim` (all by default)."""
    return _shifted(input, dim, lambda size: size // 2)


@op(namespace="torch.fft", method=False, out=False)
def ifftshift(input, dim=None):
    """The inverse of `fftshift`."""
    return _shifted(input, dim, lambda size: (size + 1) // 2)
