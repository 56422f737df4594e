"""Powers and roots."""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.elementwise import analytic, elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import TensorPy, dtype_of
from msadapter.pytorch._ops.casting import checked_constant
from msadapter.pytorch._ops.pointwise import mul
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import in_dtype, promoting, unary
from msadapter.pytorch._tensor import Tensor

_NUMBERS = (int, float, complex)


@op(inplace=True)
@unary(integers=lambda input: input * input if input.dtype != bool else input.astype(np.int64))
@on_cpu(analytic(np.square, lambda m, input: 2 * input, reason="MindSpore's has no bool"))
def square(input):
    """`input * input`; of bool in int64."""
    return ms.ops.square(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.sqrt, lambda m, out: 0.5 / out, reason="MindSpore's has no bfloat16"))
def sqrt(input):
    """The square root; NaN below zero."""
    return ms.ops.sqrt(input)


@op(inplace=True)
@unary
@on_cpu(
    analytic(
        lambda input: np.reciprocal(np.sqrt(input)),
        lambda m, out: -0.5 * out * out * out,
        reason="MindSpore's takes 3 times as long",
    )
)
def rsqrt(input):
    """`1 / sqrt(input)`."""
    return ms.ops.rsqrt(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.reciprocal, lambda m, out: -out * out, reason="MindSpore's takes 3 times as long"))
def reciprocal(input):
    """`1 / input`."""
    return ms.ops.reciprocal(input)


def _integer_power(input, exponent):
    """NumPy's power, and 1 / input ** n truncated where it refuses: for exponents below zero."""
    if exponent.dtype.kind == "u" or not (exponent < 0).any():
        return np.power(input, exponent)
    positive = np.power(input, np.maximum(exponent, 0))
    inverse = np.where(input == 1, 1, np.where(input == -1, 1 - 2 * (exponent & 1), 0))
    return np.where(exponent < 0, inverse, positive).astype(input.dtype)


def _power(input, exponent):
    if isinstance(exponent, np.ndarray) or isinstance(input, _NUMBERS):
        return np.power(input, exponent)
    if exponent == 3:
        return input * input * input
    if exponent == -0.5:
        return np.reciprocal(np.sqrt(input))
    return input**exponent  # NumPy squares, takes roots and reciprocals where the exponent says so


def _power_by_input(m, grad, input, exponent):
    slope = grad * m.conj(exponent * input ** (exponent - 1))
    if isinstance(exponent, _NUMBERS):
        return slope if exponent else m.zeros_like(grad)
    return m.where(exponent == 0, m.zeros_like(grad), slope)


def _power_by_exponent(m, grad, input, exponent, out):
    logarithm = np.log(input) if isinstance(input, _NUMBERS) else m.log(input)
    at_zero = (input == 0) & (m.real(exponent) >= 0)
    return m.where(at_zero, m.zeros_like(grad), grad * m.conj(out * logarithm))


def _check_exponent(dtype, input, exponent):
    if dtype.is_floating_point or dtype.is_complex or isinstance(exponent, TensorPy):
        return
    if exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    checked_constant(exponent, dtype)


@op(inplace=True, operators=("__pow__",), reflected="__rpow__")
@promoting(integers=_integer_power, check=_check_exponent, refuses={"bool": "pow"})
@on_cpu(
    elementwise(
        _power,
        reason="MindSpore's takes 50 times as long, and computes int64 in double",
        input=_power_by_input,
        exponent=_power_by_exponent,
    )
)
def pow(input, exponent):
    """`input ** exponent`. Raises RuntimeError for integers to a negative number."""
    return ms.ops.pow(input, exponent)


@op
def float_power(input, exponent):
    """`input ** exponent` in double precision."""
    dtype = _double_for(result_type(input, exponent))
    return pow(
        *(in_dtype(v, dtype) if isinstance(v, TensorPy) or dtype.is_complex else v for v in (input, exponent))
    )


def _double_for(dtype):
    return _dtype.complex128 if dtype.is_complex else _dtype.float64


def _float_power_in_place(self, exponent):
    """`float_power` into a tensor of double precision. Raises RuntimeError for others."""
    wanted = _double_for(result_type(self, exponent))
    if self.dtype != wanted:
        names = (_dtype.SCALAR_NAMES[d].removeprefix("Complex") for d in (self.dtype, wanted))
        raise RuntimeError(
            "the base given to float_power_ has dtype {} but the operation's result requires dtype {}".format(
                *names
            )
        )
    return self.pow_(exponent)


Tensor.float_power_ = _float_power_in_place


@on_cpu(
    elementwise(
        lambda input, exponent: np.ldexp(input, exponent.astype(np.int32)),
        reason="MindSpore's overflows in between",
        input=lambda m, grad, exponent: grad * 2.0**exponent,
    )
)
def _ldexp(input, exponent):
    return mul(input, pow(2.0, exponent))


@op(inplace=True)
def ldexp(input, other):
    """`input * 2 ** other`, both tensors; without overflow in between where `other` is of integers."""
    kind = _dtype.of_native(dtype_of(other))
    if kind.is_floating_point or kind.is_complex or input.dtype.is_complex:
        return mul(input, pow(2.0, other))
    return _scaled_by_power(input, other)


@unary
def _scaled_by_power(input, exponent):
    return _ldexp(input, exponent)
