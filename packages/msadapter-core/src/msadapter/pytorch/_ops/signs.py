"""Signs, magnitudes and conjugates, and rounding to whole numbers."""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.elementwise import elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import dtype_of
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import floats_only, unary


def _constant(m, grad):
    return m.zeros_like(grad)


# --- signs ----------------------------------------------------------------------------------------------------------


@op(inplace=True, operators=("__abs__",), aliases=("absolute",))
@unary(integers=np.abs, refuses={"bool": "abs_cpu"})
@on_cpu(
    elementwise(
        np.abs,
        reason="MindSpore's gives complex results for complex input",
        input=lambda m, grad, input: grad * m.sgn(input),
    )
)
def abs(input):
    """The magnitude, real for complex input too. Raises RuntimeError for bool."""
    return ms.ops.abs(input)


def _integer_sign(input):
    return np.sign(input) if input.dtype != bool else np.array(input)


@op(inplace=True)
@unary(
    integers=_integer_sign,
    refuses={
        "complex": "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
    },
)
@on_cpu(elementwise(formula.sgn, reason="MindSpore's has no gradient", input=_constant))
def sign(input):
    """-1, 0 or 1; 0 for NaN. Raises RuntimeError for complex."""
    return ms.ops.sign(input)


def _sgn_gradient(m, grad, input):
    if not m.is_complex(input):
        return m.zeros_like(grad)
    size, direction = m.abs(input), m.sgn(input)
    slope = (grad - direction * m.real(m.conj(direction) * grad)) / size
    return m.where(size == 0, m.zeros_like(grad), slope)


@op(inplace=True)
@unary(integers=_integer_sign)
@on_cpu(elementwise(formula.sgn, reason="MindSpore's has no gradient", input=_sgn_gradient))
def sgn(input):
    """The sign; of complex numbers `input / |input|`, and 0 at 0."""
    return ms.mint.sign(input)


@op(inplace=False, out=False)
def conj(input):
    """The complex conjugate; a real tensor itself."""
    return conj_physical(input) if input.dtype.is_complex else input


@op(inplace=True)
@unary(integers=np.array)
@on_cpu(
    elementwise(np.conj, reason="MindSpore's takes 1.5 times as long", input=lambda m, grad: m.conj(grad))
)
def conj_physical(input):
    """A copy with every element conjugated."""
    return ms.ops.conj(input)


def _angle_gradient(m, grad, input):
    if not m.is_complex(input):
        return m.zeros_like(grad)
    size = m.abs(input)
    return m.where(size == 0, m.zeros_like(input), 1j * input / (size * size) * grad)


def _angle(input):
    if input.dtype.kind == "c":
        return np.arctan2(input.imag, input.real)
    return np.where(np.isnan(input), input, np.where(input < 0, input.dtype.type(np.pi), input.dtype.type(0)))


@op
@unary
@on_cpu(elementwise(_angle, reason="MindSpore's takes complex only, 6 times as long", input=_angle_gradient))
def angle(input):
    """The angle to the positive real axis, in radians: 0 or pi for real numbers."""
    return ms.ops.angle(input)


# --- rounding -------------------------------------------------------------------------------------------------------


def _not_for(name, complex_text=None):
    return {
        "bool": f"{name}_vml_cpu",
        "complex": complex_text or f"{name} is not supported for complex inputs",
    }


_ROUNDING = "MindSpore's takes 4 times as long and has no gradient or no integers"


@op(inplace=True)
@unary(integers=np.array, refuses=_not_for("floor"))
@on_cpu(elementwise(np.floor, reason=_ROUNDING, input=_constant))
def floor(input):
    """The largest whole number not above; integers as they are."""
    return ms.mint.floor(input)


@op(inplace=True)
@unary(integers=np.array, refuses=_not_for("ceil"))
@on_cpu(elementwise(np.ceil, reason=_ROUNDING, input=_constant))
def ceil(input):
    """The smallest whole number not below; integers as they are."""
    return ms.mint.ceil(input)


@op(inplace=True, aliases=("fix",))
@unary(integers=np.array, refuses=_not_for("trunc"))
@on_cpu(elementwise(np.trunc, reason=_ROUNDING, input=_constant))
def trunc(input):
    """The whole number next to `input` on the way to 0; integers as they are."""
    return ms.mint.trunc(input)


@op(inplace=True)
@unary(refuses=floats_only("frac_cpu"))
@on_cpu(elementwise(lambda input: input - np.trunc(input), reason=_ROUNDING, input=lambda m, grad: grad))
def frac(input):
    """`input - trunc(input)`. Raises RuntimeError for integers."""
    return ms.mint.frac(input)


def _round(input, decimals):
    if decimals == 0:
        return np.rint(input)
    power = input.dtype.type(10.0 ** np.abs(decimals))
    return np.rint(input * power) / power if decimals > 0 else np.rint(input / power) * power


def _rounded_integers(input, decimals=0):
    if decimals:
        name = _dtype.SCALAR_NAMES[_dtype.of_numpy(input.dtype)]
        raise NotImplementedError(f"\"round_cpu\" not implemented for '{name}'")
    return np.array(input)


@op(inplace=True, also=("torch.special",))
@unary(integers=_rounded_integers, refuses=_not_for("round", "round_vml_cpu"))
@on_cpu(elementwise(_round, reason=_ROUNDING, input=_constant))
def round(input, *, decimals=0):
    """The nearest whole number, or multiple of `10**-decimals`; halves to the even one."""
    return ms.mint.round(input, decimals=decimals)


# --- replacing ------------------------------------------------------------------------------------------------------


def _nan_to_num_array(input, nan, posinf, neginf):
    if input.dtype.kind == "c":
        parts = input.view(input.real.dtype)
        return _nan_to_num_array(parts, nan, posinf, neginf).view(input.dtype)
    result = np.array(input)
    for condition, value in ((np.isnan(input), nan), (input == np.inf, posinf), (input == -np.inf, neginf)):
        result[condition] = value
    return result


@unary
@on_cpu(
    elementwise(
        _nan_to_num_array,
        reason="MindSpore's takes float32 and float16 alone",
        input=lambda m, grad, input: m.where(m.isfinite(input), grad, m.zeros_like(grad)),
    )
)
def _nan_to_num(input, nan, posinf, neginf):
    return ms.mint.nan_to_num(input, nan, posinf, neginf)


@op(inplace=True)
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    """`input` with NaN as `nan` (0 by default) and infinities as the numbers given, by default the dtype's limits."""
    dtype = _dtype.of_native(dtype_of(input))
    if not (dtype.is_floating_point or dtype.is_complex):
        return copy_of(input)
    limits = _dtype.finfo(dtype.to_real())
    return _nan_to_num(
        input,
        0.0 if nan is None else nan,
        limits.max if posinf is None else posinf,
        limits.min if neginf is None else neginf,
    )
