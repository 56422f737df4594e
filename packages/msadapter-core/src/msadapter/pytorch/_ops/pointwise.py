"""Arithmetic, element by element: sums, products, quotients and remainders."""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.elementwise import elementwise, no_derivative
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import TensorPy, dtype_of, numel_of, requires_grad, shape_of
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.casting import CPP_NAMES, cast, checked_constant
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import (
    ON_CPU,
    floats_and_complex,
    halves_in_float32,
    in_dtype,
    promoting,
    refuse,
    unary,
)

_add, _sub, _mul = ms.ops.add, ms.ops.sub, ms.ops.mul
_FLOAT32, _BOOL = _dtype.NATIVE[_dtype.float32], _dtype.NATIVE[_dtype.bool]

# --- sums -----------------------------------------------------------------------------------------------------------


@kernel(
    reason="MindSpore's Add hands both operands one gradient, and needs Clone, which has no CPU kernel, for two leaves"
)
def _add_recorded(input, other):
    return np.add(input, other)


@_add_recorded.gradient
def _(ctx, grad):
    return grad, copy_of(grad)


def _check_alpha(dtype, input, other, alpha=1):
    if type(alpha) is int:
        return
    if isinstance(alpha, bool) and dtype != _dtype.bool:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _times(array, alpha):
    return array if alpha == 1 else array * array.dtype.type(alpha)


@op(inplace=True, linear=True, operators=("__add__",), reflected="__radd__")
@promoting(integers=lambda a, b, alpha=1: np.add(a, _times(b, alpha)), check=_check_alpha)
def add(input, other, *, alpha=1):
    """`input + alpha * other`; of bool, whether at least one is True."""
    if alpha != 1:
        _check_alpha(_dtype.of_native(dtype_of(input)), input, other, alpha)
        other = mul.record.body(other, alpha)
    if isinstance(other, TensorPy) and ON_CPU and requires_grad(other) and requires_grad(input):
        return _add_recorded(input, other)
    return _add(input, other)


def _check_sub(dtype, input, other, alpha=1):
    bools = [
        t is True or t is False or isinstance(t, TensorPy) and dtype_of(t) is _BOOL for t in (input, other)
    ]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    _check_alpha(dtype, input, other, alpha)


@op(inplace=True, linear=True, operators=("__sub__",), reflected="__rsub__", aliases=("subtract",))
@promoting(integers=lambda a, b, alpha=1: np.subtract(a, _times(b, alpha)), check=_check_sub)
def sub(input, other, *, alpha=1):
    """`input - alpha * other`. Raises RuntimeError for bool operands."""
    if alpha == 1:
        return _sub(input, other)
    _check_alpha(_dtype.of_native(dtype_of(input)), input, other, alpha)
    return _sub(input, mul.record.body(other, alpha))


@op(method=False, out=False)
def rsub(input, other, alpha=1):
    """`other - alpha * input`."""
    return sub(other, input, alpha=alpha)


@op(inplace=True, linear=True, operators=("__neg__",), aliases=("negative",))
@unary(
    integers=np.negative,
    refuses={
        "bool": RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    },
)
def neg(input):
    """`-input`. Raises RuntimeError for bool."""
    return ms.ops.neg(input)


@op(operators=("__pos__",), out=False)
def positive(input):
    """`input` itself. Raises RuntimeError for bool."""
    if dtype_of(input) is _BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# --- products and quotients -----------------------------------------------------------------------------------------


def _conjugate(m, value):
    """The conjugate of an operand that may be a Python number."""
    return value.conjugate() if isinstance(value, (int, float, complex)) else m.conj(value)


_mul_arrays = elementwise(
    np.multiply,
    reason="MindSpore's takes 5 times as long below 32K elements, and has no gradient for complex times a constant",
    input=lambda m, grad, other: grad * _conjugate(m, other),
    other=lambda m, grad, input: grad * _conjugate(m, input),
)
_FEW = 1 << 15  # elements: with more, MindSpore's gradient in C++ makes up for its slow start


@op(inplace=True, operators=("__mul__",), reflected="__rmul__", aliases=("multiply",))
@promoting(integers=np.multiply, wide_number=True, complexes=_mul_arrays)
def mul(input, other):
    """`input * other`; of bool, whether both are True."""
    if ON_CPU and numel_of(input) < _FEW:
        return _mul_arrays(input, other)
    return _mul(input, other)


@op(inplace=True)
@promoting(floating=True, wide_number=True)
@on_cpu(
    elementwise(
        np.true_divide,
        reason="MindSpore's ignores the sign of a zero divisor and loses NaN / 0",
        input=lambda m, grad, other: grad / _conjugate(m, other),
        other=lambda m, grad, other, out: -grad * m.conj(out / other),
    )
)
def true_divide(input, other):
    """`input / other` in floating point, by IEEE rules."""
    return ms.ops.div(input, other)


def _check_divisor(dtype, input, other):
    """Integers have no infinity: PyTorch raises for a zero divisor."""
    if dtype.is_floating_point or dtype.is_complex:
        return
    if not storage.read_only_use(in_dtype(other, dtype)).all():
        raise RuntimeError("ZeroDivisionError")


def _no_gradient(m, grad):
    return m.zeros_like(grad)


def _floor_divide(formula):
    """Division rounded down, with the gradient formula of both operands."""

    @promoting(
        integers=np.floor_divide,
        wide_number=True,
        check=_check_divisor,
        refuses={"bool": "div_floor_cpu", "complex": "div_floor_cpu"},
    )
    @on_cpu(
        elementwise(
            np.floor_divide,
            reason="MindSpore's differs from PyTorch's at inf, nan and zero",
            input=formula,
            other=formula,
        )
    )
    def divide(input, other):
        return ms.ops.floor_divide(input, other)

    return divide


_quotient_rounded_down = _floor_divide(_no_gradient)
_quotient_without_derivative = _floor_divide(no_derivative("floor_divide"))


@op(inplace=True, operators=("__floordiv__",), reflected="__rfloordiv__")
def floor_divide(input, other):
    """`input / other` rounded down. Raises RuntimeError for an integer zero divisor; it has no derivative."""
    return _quotient_without_derivative(input, other)


def _truncated_quotient(input, other):
    return np.floor_divide(input, other) + ((input % other != 0) & ((input < 0) != (other < 0)))


@promoting(
    integers=_truncated_quotient,
    wide_number=True,
    check=_check_divisor,
    refuses={"bool": "div_trunc_cpu", "complex": "div_trunc_cpu"},
)
@on_cpu(
    elementwise(
        lambda input, other: np.trunc(np.true_divide(input, other)),
        reason="MindSpore's truncating division of int64 loses bits above 2**24",
        input=_no_gradient,
        other=_no_gradient,
    )
)
def _trunc_divide(input, other):
    return ms.mint.div(input, other, rounding_mode="trunc")


@op(inplace=True, operators=("__truediv__",), reflected="__rtruediv__", aliases=("divide",))
def div(input, other, *, rounding_mode=None):
    """`input / other`; `rounding_mode` "trunc" or "floor" rounds the quotient and keeps integers integer."""
    if rounding_mode is None:
        return true_divide.record.body(input, other)
    if rounding_mode == "floor":
        return _quotient_rounded_down(input, other)
    if rounding_mode == "trunc":
        return _trunc_divide(input, other)
    raise RuntimeError(
        f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
    )


def _remainder(input, other):
    # Not NumPy's own, which gives a zero the sign of the divisor.
    rest = np.fmod(input, other)
    return formula.where((rest != 0) & ((rest < 0) != (other < 0)), rest + other, rest)


@op(inplace=True, operators=("__mod__",), reflected="__rmod__")
@promoting(
    integers=np.remainder,
    check=_check_divisor,
    refuses={"bool": "remainder_cpu", "complex": "remainder_cpu"},
)
@on_cpu(
    elementwise(
        _remainder,
        reason="MindSpore's is NaN for infinite divisors and takes 4 times as long",
        input=lambda m, grad: grad,
        other=lambda m, grad, input, other: -grad * m.div(input, other, rounding_mode="floor"),
    )
)
def remainder(input, other):
    """`input - floor(input / other) * other`: the sign is the divisor's. RuntimeError for an integer zero divisor."""
    return ms.mint.remainder(input, other)


@op(inplace=True)
@promoting(integers=np.fmod, check=_check_divisor, refuses={"bool": "fmod_cpu", "complex": "fmod_cpu"})
@on_cpu(
    elementwise(
        np.fmod,
        reason="MindSpore's has no int64 and no bfloat16",
        input=lambda m, grad: grad,
        other=lambda m, grad, input, other: -grad * m.div(input, other, rounding_mode="trunc"),
    )
)
def fmod(input, other):
    """`input - trunc(input / other) * other`: the sign is the dividend's. RuntimeError for an integer zero divisor."""
    return ms.mint.fmod(input, other)


# --- of three operands ----------------------------------------------------------------------------------------------


def _in_common_dtype(*tensors):
    first = dtype_of(tensors[0])
    if all(dtype_of(t) is first for t in tensors):
        return _dtype.of_native(first), tensors
    dtype = result_type(*tensors)
    return dtype, tuple(cast(t, dtype) for t in tensors)


def _factor(value, dtype):
    """A Python number as an operator on `dtype` takes it: cut to an integer in a tensor, where that is one.

    Raises RuntimeError for a number that does not fit.
    """
    if dtype.is_complex or dtype.is_floating_point and not isinstance(value, complex):
        return value
    return checked_constant(value, dtype)


@halves_in_float32
@on_cpu(
    elementwise(
        lambda input, tensor1, tensor2, value: input + value * (tensor1 * tensor2),
        reason="MindSpore's has no bfloat16 and no complex, and takes 5 times as long",
        input=lambda m, grad: grad,
        tensor1=lambda m, grad, tensor2, value: grad * _conjugate(m, value) * m.conj(tensor2),
        tensor2=lambda m, grad, tensor1, value: grad * _conjugate(m, value) * m.conj(tensor1),
    )
)
def _addcmul(input, tensor1, tensor2, value):
    return input + value * (tensor1 * tensor2)


@op(inplace=True)
def addcmul(input, tensor1, tensor2, *, value=1):
    """`input + value * tensor1 * tensor2`."""
    dtype, tensors = _in_common_dtype(input, tensor1, tensor2)
    refuse({"bool": "addcmul_cpu_out"}, dtype)
    return _addcmul(*tensors, _factor(value, dtype))


@halves_in_float32
@on_cpu(
    elementwise(
        lambda input, tensor1, tensor2, value: input + value * (tensor1 / tensor2),
        reason="MindSpore's division ignores the sign of zero",
        input=lambda m, grad: grad,
        tensor1=lambda m, grad, tensor2, value: grad * m.conj(value / tensor2),
        tensor2=lambda m, grad, tensor1, tensor2, value: (
            -grad * m.conj(value * tensor1 / (tensor2 * tensor2))
        ),
    )
)
def _addcdiv(input, tensor1, tensor2, value):
    return input + value * (tensor1 / tensor2)


@op(inplace=True)
def addcdiv(input, tensor1, tensor2, *, value=1):
    """`input + value * tensor1 / tensor2`. Raises RuntimeError where both tensors are integers."""
    divided = result_type(tensor1, tensor2)
    if not (divided.is_floating_point or divided.is_complex):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
            "division of tensor1 and tensor2. Write (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
            f"integers, or divide floats. Received: {tensor1.dtype}, {tensor2.dtype}"
        )
    dtype, tensors = _in_common_dtype(input, tensor1, tensor2)
    return _addcdiv(*tensors, _factor(value, dtype))


def _lerp_array(input, end, weight):
    # From the nearer end, so that weight 1 gives `end` exactly.
    step, near_end = end - input, abs(weight) >= 0.5
    if isinstance(weight, np.ndarray):
        return formula.where(near_end, end - step * (1 - weight), input + weight * step)
    return end - step * (1 - weight) if near_end else input + weight * step


@halves_in_float32
@on_cpu(
    elementwise(
        _lerp_array,
        reason="MindSpore's has no float64, bfloat16 and complex",
        input=lambda m, grad, weight: grad * _conjugate(m, 1 - weight),
        end=lambda m, grad, weight: grad * _conjugate(m, weight),
        weight=lambda m, grad, input, end: grad * m.conj(end - input),
    )
)
def _lerp(input, end, weight):
    return ms.mint.lerp(input, end, weight)


@op(inplace=True)
def lerp(input, end, weight):
    """`input + weight * (end - input)`, `weight` a number or a tensor.

    Raises RuntimeError for tensors of different dtypes, and for integers.
    """
    dtype = _dtype.of_native(dtype_of(input))
    _check_lerp_dtype("end", end, dtype)
    if not isinstance(weight, TensorPy):
        refuse(floats_and_complex("lerp_kernel_scalar"), dtype)
        return _lerp(input, end, _factor(weight, dtype))
    if shape_of(weight):
        _check_lerp_dtype("weight", weight, dtype)
    refuse(floats_and_complex("lerp_kernel_tensor"), dtype)
    return _lerp(input, end, cast(weight, dtype))


def _check_lerp_dtype(name, tensor, dtype):
    found = _dtype.of_native(dtype_of(tensor))
    if found != dtype:
        expected, got = CPP_NAMES[_dtype.name_of(dtype)], CPP_NAMES[_dtype.name_of(found)]
        raise RuntimeError(f"expected dtype {expected} for `{name}` but got dtype {got}")
