"""Arithmetic and elementary functions, element by element."""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, dtype_of, requires_grad
from msadapter.pytorch._ops.casting import constant
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import ON_CPU, promoting

_add, _sub, _mul = ms.ops.add, ms.ops.sub, ms.ops.mul
_FLOAT32 = _dtype.NATIVE[_dtype.float32]


def scaled(tensor, factor):
    """`tensor * factor` for a Python number (or tensor) `factor`, exact in every dtype; numbers too."""
    if not isinstance(tensor, MsTensor) or isinstance(factor, MsTensor):
        return tensor * factor
    if dtype_of(tensor) is not _FLOAT32:
        factor = constant(factor, _dtype.of_native(dtype_of(tensor)))
    return _mul(tensor, factor)


@kernel(
    reason="MindSpore's Add hands both operands one gradient, and needs Clone, which has no CPU kernel, for two leaves"
)
def _add_recorded(input, other):
    return np.add(input, other)


@_add_recorded.gradient
def _(ctx, grad):
    return grad, copy_of(grad)


@op(inplace=True, linear=True, operators=("__add__",), reflected="__radd__")
@promoting(integers=lambda a, b, alpha=1: np.add(a, b if alpha == 1 else b * a.dtype.type(alpha)))
def add(input, other, *, alpha=1):
    """`input + alpha * other`."""
    if alpha != 1:
        return _add(input, scaled(other, alpha))
    if isinstance(other, MsTensor) and ON_CPU and requires_grad(other) and requires_grad(input):
        return _add_recorded(input, other)
    return _add(input, other)


@op(inplace=True, linear=True, operators=("__sub__",), reflected="__rsub__", aliases=("subtract",))
@promoting(integers=lambda a, b, alpha=1: np.subtract(a, b if alpha == 1 else b * a.dtype.type(alpha)))
def sub(input, other, *, alpha=1):
    """`input - alpha * other`. Raises RuntimeError for bool operands."""
    return _sub(input, other if alpha == 1 else scaled(other, alpha))


@op
def rsub(input, other, *, alpha=1):
    """`other - alpha * input`."""
    return sub(other, input, alpha=alpha)


@op(inplace=True, operators=("__mul__",), reflected="__rmul__", aliases=("multiply",))
@promoting(integers=np.multiply)
def mul(input, other):
    """`input * other`."""
    return _mul(input, other)


@kernel(
    reason="MindSpore's division ignores the sign of a zero divisor and loses NaN / 0",
    saves=("input", "other"),
)
def _true_divide(input, other):
    return np.true_divide(input, other)


@_true_divide.gradient
def _(ctx, grad):
    input, other = ctx.saved
    for_input = grad / other
    return for_input, -(for_input * (input / other)) if ctx.needs[1] else None


@op(inplace=True)
@promoting(floating=True)
@on_cpu(_true_divide)
def true_divide(input, other):
    """`input / other` in floating point, by IEEE rules."""
    return ms.ops.div(input, other)


@kernel(reason="MindSpore's floor division differs from PyTorch's at inf, nan and zero")
def _floor_divide(input, other):
    quotient = np.floor_divide(input, other)
    if quotient.dtype.kind != "f":
        return quotient
    plain = np.true_divide(input, other)
    return np.where(np.isfinite(plain), quotient, plain)


@kernel(reason="MindSpore's truncating division of int64 loses bits above 2**24")
def _trunc_divide(input, other):
    if input.dtype.kind == "f":
        return np.trunc(np.true_divide(input, other))
    return np.floor_divide(input, other) + ((input % other != 0) & ((input < 0) != (other < 0)))


for _rounded in (_floor_divide, _trunc_divide):
    _rounded.gradient(lambda ctx, grad: tuple(grad * 0 for _ in ctx.needs))


def _check_divisor(other):
    """Integers have no infinity: PyTorch raises for a zero divisor."""
    if native.asnumpy(other).dtype.kind in "iub" and not native.asnumpy(other).all():
        raise RuntimeError("ZeroDivisionError")


@op(inplace=True, operators=("__floordiv__",), reflected="__rfloordiv__")
@promoting(integers=np.floor_divide, check=_check_divisor)
@on_cpu(_floor_divide)
def floor_divide(input, other):
    """`input / other` rounded down. Raises RuntimeError for an integer zero divisor."""
    return ms.ops.floor_divide(input, other)


@promoting(check=_check_divisor)
@on_cpu(_trunc_divide)
def _divide_truncating(input, other):
    return ms.mint.div(input, other, rounding_mode="trunc")


@op(inplace=True, operators=("__truediv__",), reflected="__rtruediv__", aliases=("divide",))
def div(input, other, *, rounding_mode=None):
    """`input / other`; `rounding_mode` "trunc" or "floor" rounds the quotient and keeps integers integer."""
    if rounding_mode is None:
        return true_divide.record.body(input, other)
    if rounding_mode == "floor":
        return floor_divide.record.body(input, other)
    if rounding_mode == "trunc":
        return _divide_truncating(input, other)
    raise RuntimeError(
        f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
    )


@op(inplace=True, linear=True, operators=("__neg__",), aliases=("negative",))
def neg(input):
    """`-input`. Raises RuntimeError for bool."""
    if dtype_of(input) is _dtype.NATIVE[_dtype.bool]:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    return ms.ops.neg(input)


@op(operators=("__pos__",))
def positive(input):
    """`input` itself. Raises RuntimeError for bool."""
    if dtype_of(input) is _dtype.NATIVE[_dtype.bool]:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@op(inplace=True, operators=("__pow__",), reflected="__rpow__")
@promoting(integers=np.power)
def pow(input, exponent):
    """`input ** exponent`."""
    return ms.ops.pow(input, exponent)


@kernel(reason="MindSpore's relu turns NaN into 0", saves=("out",))
def _relu(input):
    return np.maximum(input, input.dtype.type(0))


@kernel(reason="the gradient of relu", saves=("result",))
def _relu_gradient(grad, result):
    return np.where(result > 0, grad, grad.dtype.type(0))


@_relu.gradient
def _(ctx, grad):
    return _relu_gradient(grad, ctx.saved[0])


@_relu_gradient.gradient
def _(ctx, grad):
    return _relu_gradient(grad, ctx.saved[0]), None


@op(inplace=True)
@on_cpu(_relu)
def relu(input):
    """`max(input, 0)`; NaN stays."""
    return ms.ops.relu(input)
