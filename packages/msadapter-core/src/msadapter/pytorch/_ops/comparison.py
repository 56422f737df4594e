"""Comparisons, predicates, logic and bits."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.elementwise import elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import integers_only, no_complex, promoting, unary
from msadapter.pytorch._tensor import Tensor

_SLOW = "MindSpore's takes 4 times as long and has no bfloat16"

# --- comparisons ----------------------------------------------------------------------------------------------------


@op(inplace=True, operators=("__eq__",))
@promoting
@on_cpu(elementwise(np.equal, reason=_SLOW))
def eq(input, other):
    """Whether elements are equal, as a bool tensor."""
    return ms.ops.eq(input, other)


@op(inplace=True, operators=("__ne__",), aliases=("not_equal",))
@promoting
@on_cpu(elementwise(np.not_equal, reason=_SLOW))
def ne(input, other):
    """Whether elements differ, as a bool tensor."""
    return ms.ops.ne(input, other)


@op(inplace=True, operators=("__lt__",), aliases=("less",))
@promoting(refuses=no_complex("lt_cpu"))
@on_cpu(elementwise(np.less, reason=_SLOW))
def lt(input, other):
    """Whether `input` is below `other`, as a bool tensor."""
    return ms.ops.lt(input, other)


@op(inplace=True, operators=("__le__",), aliases=("less_equal",))
@promoting(refuses=no_complex("le_cpu"))
@on_cpu(elementwise(np.less_equal, reason=_SLOW))
def le(input, other):
    """Whether `input` is below or equal to `other`, as a bool tensor."""
    return ms.ops.le(input, other)


@op(inplace=True, operators=("__gt__",), aliases=("greater",))
@promoting(refuses=no_complex("gt_cpu"))
@on_cpu(elementwise(np.greater, reason=_SLOW))
def gt(input, other):
    """Whether `input` is above `other`, as a bool tensor."""
    return ms.ops.gt(input, other)


@op(inplace=True, operators=("__ge__",), aliases=("greater_equal",))
@promoting(refuses=no_complex("ge_cpu"))
@on_cpu(elementwise(np.greater_equal, reason=_SLOW))
def ge(input, other):
    """Whether `input` is above or equal to `other`, as a bool tensor."""
    return ms.ops.ge(input, other)


@op(out=False)
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether `|input - other| <= atol + rtol * |other|`, or both are equal; with `equal_nan`, or both NaN.

    Raises RuntimeError for tensors of different dtypes and for negative tolerances.
    """
    if dtype_of(input) is not dtype_of(other):
        names = (_dtype.SCALAR_NAMES[_dtype.of_native(dtype_of(t))] for t in (input, other))
        raise RuntimeError("{} did not match {}".format(*names))
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    return _isclose(input, other, rtol, atol, equal_nan)


def _close(input, other, rtol, atol, equal_nan):
    result = input == other
    if equal_nan:
        result |= np.isnan(input) & np.isnan(other)
    if input.dtype.kind in "biu":
        input, other = input.astype(np.float64), other.astype(np.float64)
    return result | (np.isfinite(other) & (np.abs(input - other) <= atol + np.abs(rtol * other)))


@promoting
@on_cpu(elementwise(_close, reason="MindSpore's has no bfloat16 and no complex"))
def _isclose(input, other, rtol, atol, equal_nan):
    return ms.mint.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


@op(out=False)
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, see `isclose`; a Python bool."""
    return isclose.record.body(input, other, rtol, atol, equal_nan).all().item()


@op(out=False)
def equal(input, other):
    """Whether both tensors have one shape and equal elements; a Python bool."""
    return shape_of(input) == shape_of(other) and eq(input, other).all().item()


# --- predicates -----------------------------------------------------------------------------------------------------

_PREDICATE = "MindSpore's takes 5 times as long and misses dtypes"


@op(out=False)
@unary(integers=np.isnan)
@on_cpu(elementwise(np.isnan, reason=_PREDICATE))
def isnan(input):
    """Whether elements are NaN, as a bool tensor."""
    return ms.mint.isnan(input)


@op(out=False)
@unary(integers=np.isinf)
@on_cpu(elementwise(np.isinf, reason=_PREDICATE))
def isinf(input):
    """Whether elements are infinite, as a bool tensor."""
    return ms.mint.isinf(input)


@op(out=False)
@unary(integers=np.isfinite)
@on_cpu(elementwise(np.isfinite, reason=_PREDICATE))
def isfinite(input):
    """Whether elements are neither infinite nor NaN, as a bool tensor."""
    return ms.mint.isfinite(input)


@op(method=False, out=False)
def is_complex(input):
    """Whether the dtype is complex; a Python bool."""
    return input.dtype.is_complex


@op(method=False, out=False)
def is_floating_point(input):
    """Whether the dtype is a real floating-point one; a Python bool."""
    return input.dtype.is_floating_point


def _isreal(input):
    return np.isreal(input)


@op(out=False)
@unary(integers=_isreal)
@on_cpu(elementwise(_isreal, reason="MindSpore's takes 3 times as long"))
def isreal(input):
    """Whether the imaginary part is zero, as a bool tensor."""
    return ms.ops.isreal(input)


@op
@unary(refuses=no_complex(RuntimeError("isposinf does not support complex inputs.")))
def isposinf(input):
    """Whether elements are positive infinity, as a bool tensor."""
    return eq(input, math.inf)


@op
@unary(refuses=no_complex(RuntimeError("isneginf does not support complex inputs.")))
def isneginf(input):
    """Whether elements are negative infinity, as a bool tensor."""
    return eq(input, -math.inf)


@op
@unary(integers=np.signbit, refuses=no_complex("signbit is not implemented for complex tensors."))
@on_cpu(elementwise(np.signbit, reason="MindSpore's ignores the sign of -0"))
def signbit(input):
    """Whether the sign bit is set, as it is in -0.0 too; a bool tensor."""
    return (input < 0) | ((input == 0) & (1 / input < 0))


# --- logic ----------------------------------------------------------------------------------------------------------

_NO_BFLOAT16 = "MindSpore's has no bfloat16"


@op(inplace=True)
@promoting(numbers=False)
@on_cpu(elementwise(np.logical_and, reason=_NO_BFLOAT16))
def logical_and(input, other):
    """Whether both elements are other than zero, as a bool tensor."""
    return ms.mint.logical_and(input, other)


@op(inplace=True)
@promoting(numbers=False)
@on_cpu(elementwise(np.logical_or, reason=_NO_BFLOAT16))
def logical_or(input, other):
    """Whether at least one element is other than zero, as a bool tensor."""
    return ms.mint.logical_or(input, other)


@op(inplace=True)
@promoting(numbers=False)
@on_cpu(elementwise(np.logical_xor, reason=_NO_BFLOAT16))
def logical_xor(input, other):
    """Whether exactly one element is other than zero, as a bool tensor."""
    return ms.mint.logical_xor(input, other)


@op(inplace=True)
@unary(integers=np.logical_not)
@on_cpu(elementwise(np.logical_not, reason=_NO_BFLOAT16))
def logical_not(input):
    """Whether elements are zero, as a bool tensor."""
    return ms.mint.logical_not(input)


# --- bits -----------------------------------------------------------------------------------------------------------

_BITS = "MindSpore's takes no tensor of more than 8 dimensions and no Python number on the left"


@op(inplace=True, operators=("__and__",), reflected="__rand__")
@promoting(refuses=integers_only("bitwise_and_cpu"))
@on_cpu(elementwise(np.bitwise_and, reason=_BITS))
def bitwise_and(input, other):
    """The bits set in both operands. Raises RuntimeError for float and complex."""
    return ms.mint.bitwise_and(input, other)


@op(inplace=True, operators=("__or__",), reflected="__ror__")
@promoting(refuses=integers_only("bitwise_or_cpu"))
@on_cpu(elementwise(np.bitwise_or, reason=_BITS))
def bitwise_or(input, other):
    """The bits set in at least one operand. Raises RuntimeError for float and complex."""
    return ms.mint.bitwise_or(input, other)


@op(inplace=True, operators=("__xor__",), reflected="__rxor__")
@promoting(refuses=integers_only("bitwise_xor_cpu"))
@on_cpu(elementwise(np.bitwise_xor, reason=_BITS))
def bitwise_xor(input, other):
    """The bits set in exactly one operand. Raises RuntimeError for float and complex."""
    return ms.mint.bitwise_xor(input, other)


@op(inplace=True)
@unary(integers=np.invert, refuses=integers_only("bitwise_not_cpu"))
def bitwise_not(input):
    """Every bit inverted; of bool, the negation. Raises RuntimeError for float and complex."""
    return ms.mint.bitwise_not(input)


def _invert(self):
    if self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


Tensor.__invert__ = _invert


def _valid_shift(input, other):
    return (other >= 0) & (other < 8 * input.dtype.itemsize)


def _shifted_left(input, other):
    valid = _valid_shift(input, other)
    return np.where(valid, np.left_shift(input, np.where(valid, other, 0)), 0).astype(input.dtype)


def _shifted_right(input, other):
    valid = _valid_shift(input, other)
    last = 8 * input.dtype.itemsize - 1
    beyond = np.right_shift(input, last) if input.dtype.kind == "i" else 0
    return np.where(valid, np.right_shift(input, np.where(valid, other, 0)), beyond).astype(input.dtype)


_SHIFT = "MindSpore's needs equal dtypes and is undefined beyond the width"


@op(inplace=True, operators=("__lshift__",), reflected="__rlshift__")
@promoting(refuses=integers_only("lshift_cpu", "bool"))
@on_cpu(elementwise(_shifted_left, reason=_SHIFT))
def bitwise_left_shift(input, other):
    """`input * 2**other` in the dtype's width; 0 where `other` is beyond it. Raises RuntimeError for all but integers."""
    return ms.ops.bitwise_left_shift(input, other)


@op(inplace=True, operators=("__rshift__",), reflected="__rrshift__")
@promoting(refuses=integers_only("rshift_cpu", "bool"))
@on_cpu(elementwise(_shifted_right, reason=_SHIFT))
def bitwise_right_shift(input, other):
    """`input` divided by `2**other` and rounded down. Raises RuntimeError for all but integers."""
    return ms.ops.bitwise_right_shift(input, other)
