"""Functions of two operands beyond arithmetic."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch._engine.elementwise import elementwise
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.powers import pow
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.rules import (
    floats_and_complex,
    floats_only,
    integers_only,
    no_complex,
    promoting,
    refuse,
)

_LN2 = math.log(2)


@op(inplace=True)
@promoting(floating=True, refuses=no_complex("copysign_cpu"))
@on_cpu(
    elementwise(
        np.copysign,
        reason="MindSpore's ignores the sign of -0 and of NaN",
        input=lambda m, grad, input, out: m.where(input == 0, m.zeros_like(grad), grad * (out / input)),
        other=lambda m, grad: m.zeros_like(grad),
    )
)
def copysign(input, other):
    """The magnitude of `input` with the sign of `other`, that of zeros and NaN included."""
    return ms.ops.copysign(input, other)


def _over_square(m, value, input, other):
    """`value` over the squared distance of the point from the origin, and 0 in it."""
    square = input * input + other * other
    return m.where(square == 0, m.zeros_like(square), value / square)


@op(inplace=True, aliases=("arctan2",))
@promoting(floating=True, numbers=False, refuses=no_complex("atan2_cpu"))
@on_cpu(
    elementwise(
        np.arctan2,
        reason="MindSpore's takes 20 times as long",
        input=lambda m, grad, input, other: grad * _over_square(m, other, input, other),
        other=lambda m, grad, input, other: grad * _over_square(m, -input, input, other),
    )
)
def atan2(input, other):
    """The angle of the point (`other`, `input`) to the positive axis, in radians."""
    return ms.mint.atan2(input, other)


@op(inplace=True)
@promoting(numbers=False, refuses=floats_only("hypot_cpu"))
@on_cpu(
    elementwise(
        np.hypot,
        reason="MindSpore's has no float16 and no bfloat16",
        input=lambda m, grad, input, out: grad * (input / out),
        other=lambda m, grad, other, out: grad * (other / out),
    )
)
def hypot(input, other):
    """`sqrt(input**2 + other**2)`, without overflow in between."""
    return ms.ops.hypot(input, other)


def _neighbour(input, other):
    if input.dtype.itemsize != 2:
        return np.nextafter(input, other)
    # Halves, bfloat16 included: the bits without the sign count up from zero.
    wide, target = input.astype(np.float32), other.astype(np.float32)
    bits = input.view(np.int16).astype(np.int32)
    order = np.where(bits < 0, -(bits & 0x7FFF), bits) + np.sign(target - wide).astype(np.int32)
    order = np.where(order < 0, -order | 0x8000, order).astype(np.uint16)
    moved = np.where(wide == target, other.view(np.uint16), order).view(input.dtype)
    return np.where(np.isnan(wide) | np.isnan(target), (wide + target).astype(input.dtype), moved)


@on_cpu(
    elementwise(
        _neighbour,
        reason="MindSpore's is wrong at infinity",
        input=lambda m, grad, input, other: m.where(input == other, m.zeros_like(grad), grad),
        other=lambda m, grad: m.zeros_like(grad),
    )
)
def _nextafter(input, other):
    return ms.ops.nextafter(input, other)


@op(inplace=True)
def nextafter(input, other):
    """The next number of the dtype after `input` on the way to `other`."""
    dtype_of(other)  # names the argument where it is no tensor
    dtype = result_type(input, other)
    refuse(floats_only("nextafter_cpu"), dtype)
    return _nextafter(cast(input, dtype), cast(other, dtype))


def _logaddexp(input, other):
    if input.dtype.kind != "c":
        return np.logaddexp(input, other)
    larger = np.where(input.real >= other.real, input, other)
    smaller = np.where(input.real >= other.real, other, input)
    return larger + np.log1p(np.exp(smaller - larger))


@op
@promoting(numbers=False, refuses=floats_and_complex("logaddexp_cpu"))
@on_cpu(
    elementwise(
        _logaddexp,
        reason="MindSpore's is NaN for two negative infinities",
        input=lambda m, grad, input, other: grad * m.conj(_share(m, input, other)),
        other=lambda m, grad, input, other: grad * m.conj(_share(m, other, input)),
    )
)
def logaddexp(input, other):
    """`log(exp(input) + exp(other))`, without overflow in between."""
    return ms.mint.logaddexp(input, other)


def _share(m, input, other):
    """exp(input) / (exp(input) + exp(other))."""
    return 1 / (1 + m.exp(other - input))


@op
@promoting(numbers=False, refuses=floats_only("logaddexp2_cpu"))
@on_cpu(
    elementwise(
        np.logaddexp2,
        reason="MindSpore's is NaN for two negative infinities",
        input=lambda m, grad, input, other: grad * _share(m, input * _LN2, other * _LN2),
        other=lambda m, grad, input, other: grad * _share(m, other * _LN2, input * _LN2),
    )
)
def logaddexp2(input, other):
    """`log2(2**input + 2**other)`, without overflow in between."""
    return ms.mint.logaddexp2(input, other)


def _xlogy(input, other):
    return formula.where((input == 0) & ~np.isnan(other), 0, input * np.log(other))


@op(inplace=True, also=("torch.special",))
@promoting(floating=True, refuses=no_complex("xlogy_cpu"))
@on_cpu(
    elementwise(
        _xlogy,
        reason="MindSpore's is NaN at 0 * log(0)",
        input=lambda m, grad, input, other: m.where(
            (input == 0) & (other <= 0), m.zeros_like(grad), grad * m.log(other)
        ),
        other=lambda m, grad, input, other: grad * (input / other),
    )
)
def xlogy(input, other):
    """`input * log(other)`, and 0 where `input` is 0 and `other` is not NaN."""
    return ms.mint.xlogy(input, other)


@op(inplace=True)
@promoting(integers=np.gcd, numbers=False, refuses=integers_only("gcd_cpu", "bool"))
def gcd(input, other):
    """The greatest common divisor, not negative. Raises RuntimeError for all but integers."""
    return ms.ops.gcd(input, other)


@op(inplace=True)
@promoting(integers=np.lcm, numbers=False, refuses=integers_only("lcm_cpu", "bool"))
def lcm(input, other):
    """The least common multiple, not negative. Raises RuntimeError for all but integers."""
    return ms.ops.lcm(input, other)


_Frexp = named_result("frexp", "mantissa exponent")


@kernel(reason="MindSpore has none", saves=("input",))
def _frexp(input):
    mantissa, exponent = np.frexp(input.astype(np.float32) if input.dtype.itemsize == 2 else input)
    return mantissa.astype(input.dtype), exponent.astype(np.int32)


@_frexp.gradient
def _(ctx, grad, _):
    return grad / pow(2.0, _frexp(ctx.saved[0])[1])


@op
def frexp(input):
    """(mantissa, exponent) with `input == mantissa * 2**exponent` and `|mantissa|` in [0.5, 1). RuntimeError for integers."""
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes. Received: {input.dtype}")
    return _Frexp(*_frexp(input))
