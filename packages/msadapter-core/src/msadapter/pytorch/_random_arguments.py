"""Around a random draw: dtypes, PyTorch's checks of the arguments, and the order a tensor is filled in."""

import warnings
from typing import NamedTuple

import numpy as np

from msadapter.pytorch._memory_format import memory_order


class Kind(NamedTuple):
    """What a dtype is called in PyTorch's messages, what holds its values, and its significand in bits."""

    scalar: str
    ctype: str
    store: type
    digits: int = 0


KINDS = {
    "float32": Kind("Float", "float", np.float32, 24),
    "float64": Kind("Double", "double", np.float64, 53),
    "float16": Kind("Half", "c10::Half", np.float16, 11),
    "bfloat16": Kind("BFloat16", "c10::BFloat16", np.float32, 8),
    "complex64": Kind("ComplexFloat", "c10::complex<float>", np.complex64),
    "complex128": Kind("ComplexDouble", "c10::complex<double>", np.complex128),
    "bool": Kind("Bool", "bool", np.bool_),
    "uint8": Kind("Byte", "unsigned char", np.uint8),
    "int8": Kind("Char", "signed char", np.int8),
    "int16": Kind("Short", "short int", np.int16),
    "int32": Kind("Int", "int", np.int32),
    "int64": Kind("Long", "long int", np.int64),
    "uint16": Kind("UInt16", "short unsigned int", np.uint16),
    "uint32": Kind("UInt32", "unsigned int", np.uint32),
    "uint64": Kind("UInt64", "long unsigned int", np.uint64),
}
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("uint8", "int8", "int16", "int32", "int64")
COMPLEX = {"complex64": "float32", "complex128": "float64"}


def cast(values, dtype):
    """Numbers as C++ converts them to `dtype`; bfloat16 values are held in float32."""
    store = KINDS[dtype].store
    if values.dtype == store and dtype != "bfloat16":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype in ("float16", "bfloat16"):
            values = values.astype(np.float32, copy=False)  # from float64 too: two roundings
        elif np.issubdtype(store, np.integer):
            values = values.astype(np.int64, copy=False)  # wraps where a direct conversion might saturate
        return _round_bfloat16(values) if dtype == "bfloat16" else values.astype(store, copy=False)


def _round_bfloat16(values):
    """float32 values to the nearest bfloat16, ties to even; a NaN stays one."""
    bits = values.view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    bits &= np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, bits.view(np.float32))


def largest_float(dtype):
    """The largest finite value of a floating dtype."""
    return 255 * 2.0**120 if dtype == "bfloat16" else float(np.finfo(KINDS[dtype].store).max)


def whole_range(dtype):
    """The smallest and the largest value of bool or an integer dtype."""
    if dtype == "bool":
        return 0, 1
    limits = np.iinfo(KINDS[dtype].store)
    return int(limits.min), int(limits.max)


# --- checks: PyTorch's error classes and wording ---


def check_dtype(dtype, names, kernel):
    """NotImplementedError if PyTorch's `kernel` has no such dtype."""
    if dtype not in names:
        scalar = KINDS[dtype].scalar if dtype in KINDS else dtype
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar}'")


def check_continuous(dtype, name, received):
    """RuntimeError unless the dtype is floating; `received` is what PyTorch calls it."""
    if dtype not in FLOATS:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {received}"
        )


def check_each(values, good, message):
    """RuntimeError with the first of `values` that isn't `good`."""
    if not np.all(good):
        raise RuntimeError(f"{message}, got {values[~np.asarray(good)][0]:g}")


def check_uniform_bounds(low, high, dtype):
    """RuntimeError for bounds beyond the dtype's range, out of order, or too far apart."""
    kind, largest = KINDS[dtype], largest_float(dtype)
    for name, value in (("from", low), ("to", high)):
        if not -largest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {kind.ctype}, got {value:g}")
    if not low <= high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if not high - low <= largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{kind.scalar}>::max(), but found to={high:g} "
            f"and from={low:g} which result in to-from to exceed the limit"
        )


def check_whole_range(low, high, dtype):
    """The range [low, high) of ints that `random_` draws from, once PyTorch has fitted it to the dtype.

    `high=None` is the end of the dtype's range; for floating dtypes that of the whole numbers without gaps.
    """
    kind, received = KINDS[dtype], (low, high)
    if high is not None and not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype in COMPLEX:
        raise RuntimeError(
            f"check_random_bounds handles only integral, floating-point and boolean types, got {kind.scalar}"
        )
    if kind.digits:
        low, high = _held_ends(low, high, dtype)
        smallest, largest = -largest_float(dtype), largest_float(dtype)
    else:
        smallest, largest = whole_range(dtype)
        high = largest + 1 if high is None else high
        largest = min(largest, 2**63 - 1)  # an end travels as int64
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not smallest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {kind.ctype}, got from and to {received}")
        if kind.digits and abs(value) > 2**kind.digits:
            warnings.warn(
                f"{name} is out of bounds [-(2^{kind.digits}), 2^{kind.digits}]. {kind.ctype} holds whole "
                f"numbers without gaps only within this range, got from and to {received}",
                stacklevel=4,
            )
    return low, high


def _held_ends(low, high, dtype):
    """Both ends moved inwards where converting a drawn number to `dtype` could round it out of the range."""
    digits = KINDS[dtype].digits
    above = _held(low + 1, dtype)
    if above < low:
        low = above + 2 ** (abs(low + 1).bit_length() - digits)
    if high is None:
        if not low < 2**digits:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
                f"dtype, but got from={low} > to_inc={2**digits}"
            )
        return low, 2**digits + 1
    below = _held(high - 1, dtype)
    if below >= high:
        high = below - 2 ** (abs(high - 1).bit_length() - digits)
    if not low < high:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
            f"but got from={low} >= to={high}"
        )
    return low, high


def _held(value, dtype):
    """A whole number as `dtype` holds it, in int64; what that can't hold becomes its smallest, as on x86."""
    value = float(cast(np.array([value], np.int64), dtype)[0])
    return int(value) if abs(value) < 2.0**63 else -(2**63)


def check_multinomial(prob, num_samples, replacement, dtype):
    """RuntimeError for shapes, counts and probabilities `torch.multinomial` refuses."""
    if prob.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {prob.ndim}")
    if dtype not in FLOATS:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {KINDS[dtype].scalar}"
        )
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    categories = prob.shape[-1]
    if not replacement and num_samples > categories:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement, "
            f"got {num_samples} of {categories}"
        )
    if categories > 2**24:
        raise RuntimeError(f"number of categories cannot exceed 2^24, got {categories}")
    check_each(
        prob,
        (prob >= 0) & (prob < np.inf),
        "probability tensor contains either `inf`, `nan` or element < 0",
    )
    totals = prob.sum(axis=-1, dtype=np.float64)
    check_each(totals, totals > 0, "invalid multinomial distribution (sum of probabilities <= 0)")


# --- layout ---


def is_contiguous(shape, strides):
    """Whether memory order is row-major order; strides count elements, None stands for a new tensor."""
    if strides is None or 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def laid_out(values, shape, strides):
    """Flat `values` as an array of `shape` in which they follow one another in the order of memory."""
    if is_contiguous(shape, strides):
        return values.reshape(shape)
    axes = memory_order(shape, strides)
    return values.reshape([shape[axis] for axis in axes]).transpose(np.argsort(axes))


def draw_complex(draw, shape, dtype, *args, strides):
    """A complex array, its real and imaginary parts drawn in the layout of `torch.view_as_real`."""
    if strides is not None:
        strides = (*(2 * stride for stride in strides), 1)
    pairs = draw((*shape, 2), COMPLEX[dtype], *args, strides=strides)
    return np.ascontiguousarray(pairs).view(KINDS[dtype].store)[..., 0]
