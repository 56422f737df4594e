"""Choosing between values, element by element: where, masked_fill, clamp, maximum and their kin."""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.elementwise import elementwise, no_derivative
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import TensorPy, dtype_of, shape_of
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.casting import CPP_NAMES, cast, checked_constant, constant
from msadapter.pytorch._ops.gathering import nonzero
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import ON_CPU, halves_in_float32, no_complex, promoting, refuse

_BOOL, _UINT8, _FLOAT32 = (_dtype.NATIVE[t] for t in (_dtype.bool, _dtype.uint8, _dtype.float32))
# --- by a condition -------------------------------------------------------------------------------------------------


@on_cpu(
    elementwise(
        formula.where,
        reason="MindSpore's has no bfloat16, and rounds Python floats to float32",
        input=lambda m, grad, condition: m.where(condition, grad, m.zeros_like(grad)),
        other=lambda m, grad, condition: m.where(condition, m.zeros_like(grad), grad),
    )
)
def _where(condition, input, other):
    return ms.mint.where(condition, input, other)


def _condition(condition):
    if not isinstance(condition, TensorPy):
        raise TypeError(
            f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}"
        )
    if dtype_of(condition) is _BOOL:
        return condition
    if dtype_of(condition) is not _UINT8:
        name = _dtype.SCALAR_NAMES[condition.dtype]
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}"
        )
    return cast(condition, _dtype.bool)


def _choice(value, dtype):
    if isinstance(value, TensorPy):
        return cast(value, dtype)
    is_float = dtype.is_floating_point or dtype.is_complex
    return constant(value, dtype) if is_float else checked_constant(value, dtype)


@op(method=False)
def where(condition, input=None, other=None):
    """`input` where the bool tensor `condition` holds, else `other`: tensors or numbers, broadcast and promoted.

    `where(condition)` alone is `nonzero(condition, as_tuple=True)`. Raises RuntimeError for a condition that is not bool.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    condition = _condition(condition)
    dtype = result_type(input, other)
    return _where(condition, _choice(input, dtype), _choice(other, dtype))


@op(name="where", namespace="torch.Tensor", function=False, out=False)
def _method_where(input, condition, other):
    """`input` where the bool tensor `condition` holds, else `other`."""
    return where(condition, input, other)


@op(inplace=True)
def masked_fill(input, mask, value):
    """`input` with `value`, a number or 0-d tensor, wherever the bool tensor `mask` holds.

    Raises RuntimeError for a mask that is not bool, and for a value that the dtype of `input` can't hold.
    """
    if dtype_of(mask) is not _BOOL:
        name = CPP_NAMES[_dtype.name_of(mask.dtype)]
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {name}")
    dtype = _dtype.of_native(dtype_of(input))
    if not isinstance(value, TensorPy):
        return _where(mask, checked_constant(value, dtype), input)
    if shape_of(value):
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{len(shape_of(value))} dimension(s)."
        )
    if ON_CPU:
        checked_constant(value.item(), dtype)
    return _where(mask, cast(value, dtype), input)


# --- by size --------------------------------------------------------------------------------------------------------


def _first_at_ties(function):
    """A NumPy maximum or minimum that gives its first operand where both are equal, as PyTorch's do: the sign of zero."""
    return lambda input, other: function(other, input)


def _larger(m, grad, input, other):
    return m.where(input == other, grad * 0.5, m.where(input < other, m.zeros_like(grad), grad))


@op
@promoting(
    integers=np.maximum,
    numbers=False,
    refuses=no_complex(RuntimeError("maximum not implemented for complex tensors.")),
)
@on_cpu(
    elementwise(
        _first_at_ties(np.maximum),
        reason="MindSpore's takes NaN from one side only",
        input=_larger,
        other=lambda m, grad, input, other: _larger(m, grad, other, input),
    )
)
def maximum(input, other):
    """The larger of two elements; NaN where either is."""
    return ms.mint.maximum(input, other)


@op
@promoting(
    integers=np.minimum,
    numbers=False,
    refuses=no_complex(RuntimeError("minimum not implemented for complex tensors.")),
)
@on_cpu(
    elementwise(
        _first_at_ties(np.minimum),
        reason="MindSpore's takes NaN from one side only",
        input=lambda m, grad, input, other: _larger(m, grad, other, input),
        other=_larger,
    )
)
def minimum(input, other):
    """The smaller of two elements; NaN where either is."""
    return ms.mint.minimum(input, other)


def _masked(m, grad, mask):
    return m.where(mask, grad, m.zeros_like(grad))


@op
@promoting(
    integers=np.maximum,
    numbers=False,
    refuses=no_complex(RuntimeError("fmax not implemented for complex tensors.")),
)
@on_cpu(
    elementwise(
        _first_at_ties(np.fmax),
        reason="MindSpore has none for the CPU",
        input=lambda m, grad, input, other: _masked(m, grad, (input >= other) | m.isnan(other)),
        other=lambda m, grad, input, other: _masked(m, grad, ~((input >= other) | m.isnan(other))),
    )
)
def fmax(input, other):
    """The larger of two elements; the other one where one is NaN."""
    return ms.mint.where(ms.mint.isnan(input) | (input < other), other, input)


@op
@promoting(
    integers=np.minimum,
    numbers=False,
    refuses=no_complex(RuntimeError("fmin not implemented for complex tensors.")),
)
@on_cpu(
    elementwise(
        _first_at_ties(np.fmin),
        reason="MindSpore has none for the CPU",
        input=lambda m, grad, input, other: _masked(m, grad, (input <= other) | m.isnan(other)),
        other=lambda m, grad, input, other: _masked(m, grad, ~((input <= other) | m.isnan(other))),
    )
)
def fmin(input, other):
    """The smaller of two elements; the other one where one is NaN."""
    return ms.mint.where(ms.mint.isnan(input) | (input > other), other, input)


def _between(m, grad, input, min, max):
    inside = input >= min if max is None else input <= max if min is None else (input >= min) & (input <= max)
    return _masked(m, grad, inside)


def _at_min(m, grad, input, min, max):
    return _masked(m, grad, input < min if max is None else (input < min) & (min < max))


def _at_max(m, grad, input, min, max):
    return _masked(m, grad, input > max if min is None else (input > max) | (max < min))


@halves_in_float32
@on_cpu(
    elementwise(
        formula.clip,
        reason="MindSpore's turns NaN into a bound",
        input=_between,
        min=_at_min,
        max=_at_max,
    )
)
def _clamp(input, min, max):
    return ms.mint.clamp(input, min, max)


def _bound(value, dtype):
    """A bound in the common dtype. A float stays a number: it is exact, needs no gradient and broadcasts for free."""
    if value is None:
        return None
    if isinstance(value, TensorPy):
        return cast(value, dtype)
    checked = checked_constant(value, dtype)
    return value if dtype.is_floating_point else checked


_PLAIN_BOUNDS = frozenset((float, int, type(None)))


def _clamp_refuses(min, max):
    """What PyTorch's kernels of the forms do not take."""
    form = "clamp" if min is not None and max is not None else "clamp_min" if max is None else "clamp_max"
    if not (isinstance(min, TensorPy) or isinstance(max, TensorPy)):
        return {"complex": "clamp is not supported for complex types", "bool": f"{form}_scalar_cpu"}
    if form == "clamp":
        return {"complex": "clamp_cpu", "bool": "clamp_cpu"}
    return no_complex("maximum_cpu" if form == "clamp_min" else "minimum_cpu")


@op(inplace=True, aliases=("clip",))
def clamp(input, min=None, max=None):
    """`input` limited to [min, max]: two numbers or two tensors, either may be None. NaN stays; `max` wins over `min`.

    Raises RuntimeError where both are None.
    """
    if type(min) in _PLAIN_BOUNDS and type(max) in _PLAIN_BOUNDS and dtype_of(input) is _FLOAT32:
        if min is not None or max is not None:
            return _clamp(input, min, max)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if min is not None and max is not None and isinstance(min, TensorPy) != isinstance(max, TensorPy):
        raise TypeError(
            "clamp() received an invalid combination of arguments: min and max must both be tensors or both be numbers. "
            f"Received: min={type(min).__name__}, max={type(max).__name__}"
        )
    dtype = result_type(input, min, max)
    refuse(_clamp_refuses(min, max), dtype)
    return _clamp(cast(input, dtype), _bound(min, dtype), _bound(max, dtype))


@op(inplace=True)
def clamp_min(input, min):
    """`input` where it is not below `min`, a number or a tensor, else `min`."""
    if min is None:
        raise TypeError("clamp_min(): argument 'min' (position 2) must be Tensor or Number, not NoneType")
    return clamp.record.body(input, min)


@op(inplace=True)
def clamp_max(input, max):
    """`input` where it is not above `max`, a number or a tensor, else `max`."""
    if max is None:
        raise TypeError("clamp_max(): argument 'max' (position 2) must be Tensor or Number, not NoneType")
    return clamp.record.body(input, None, max)


@op(inplace=True)
def heaviside(input, values):
    """0 below zero, 1 above, `values` at zero; 0 for NaN. Raises RuntimeError for tensors of different dtypes."""
    if dtype_of(input) is not dtype_of(values):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _heaviside(input, values)


@promoting(refuses=no_complex(RuntimeError("heaviside is not yet implemented for complex tensors.")))
@on_cpu(
    elementwise(
        lambda input, values: np.where(input == 0, values, (input > 0).astype(input.dtype)),
        reason="MindSpore's has no bool and no bfloat16",
        input=no_derivative("heaviside"),
        values=no_derivative("heaviside"),
    )
)
def _heaviside(input, values):
    return ms.mint.where(input == 0, values, (input > 0).to(input.dtype))
