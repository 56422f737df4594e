"""Error messages: MindSpore's and Python's turned into PyTorch's class and wording, with what was received."""

import re

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops.shapes import broadcast_of

_BINDING = re.compile(
    r"missing \d+ required|takes .* positional argument|unexpected keyword argument|multiple values for"
)
# The same of a function that a caller does not know, and of `inspect.Signature.bind`, which names none.
_INNER = re.compile(r"(\S*\.)?(_\w+|<lambda>)\(\) |got an |missing a |too many ")
_NOT_AN_INT = "cannot be interpreted as an integer"
_NO_KERNEL = re.compile(
    r"unregistered|Unsupported op|select.*kernel|not support|Kernel select failed|dtype|data type",
    re.IGNORECASE,
)
_SHAPES = re.compile(r"broadcast|shape|dimension", re.IGNORECASE)


# What Python says where a value of a wrong type got into a computation: no words for a caller.
_LEAKED = re.compile(
    r"not supported between instances|bad operand type|unsupported operand type|object has no attribute '|"
    r"could not convert string|invalid literal for|object is not iterable|object is not subscriptable|has no len\(\)"
)
_TENSOR_FIELDS = ("'_dtype'", "'_shape'", "'_requires_grad'", "'_size'")


def _is_operand(value):
    return isinstance(value, MsTensor)


def is_numpy_number(value):
    return isinstance(value, np.generic)


def is_number_or_array(value):
    """Whether a Python operator with a tensor on the other side is ours to answer."""
    return isinstance(value, (int, float, complex, np.generic, MsTensor))


def describe(value):
    """The type of an argument, with dtype and shape for a tensor."""
    if isinstance(value, MsTensor):
        dtype = _dtype.name_of(_dtype.of_native(native.dtype_of(value)))
        return f"Tensor({dtype}, {list(native.shape_of(value))})"
    if isinstance(value, (list, tuple)) and any(isinstance(v, MsTensor) for v in value):
        return f"{type(value).__name__}[{', '.join(map(describe, value))}]"
    return type(value).__name__


def received(args, kwargs):
    parts = [describe(a) for a in args] + [f"{k}={describe(v)}" for k, v in kwargs.items()]
    return f"({', '.join(parts)})"


def explain(record, error, args, kwargs):
    """The exception to raise in place of `error`: itself where it is already PyTorch's."""
    message = str(error)
    if isinstance(error, MemoryError) or "Allocate memory failed" in message:
        return RuntimeError(
            f"torch.{record.qualified}: DefaultCPUAllocator: can't allocate memory: {message.splitlines()[0]}. "
            f"Received: {received(args, kwargs)}"
        )
    if isinstance(error, TypeError) and (
        _BINDING.search(message)
        and (_INNER.match(message) or _from_body(error, record))
        or message.endswith(_NOT_AN_INT)
    ):
        detail = message.split("() ", 1)[-1]
        return TypeError(
            f"{record.name}() received an invalid combination of arguments - got {received(args, kwargs)}: {detail}"
        )
    if (
        isinstance(error, AttributeError)
        and message.endswith(_TENSOR_FIELDS)
        and not all(map(_is_operand, args))
    ):
        strange = [i for i, a in enumerate(args) if not _is_operand(a)]
        position = next((i for i in strange if not is_number_or_array(args[i])), strange[0])
        name = record.parameters[min(position, len(record.parameters) - 1)]
        kind = type(args[position]).__name__
        return TypeError(
            f"{record.name}(): argument '{name}' (position {position + 1}) must be Tensor, not {kind}"
        )
    if isinstance(error, TypeError) and message.startswith("argument 'size' must be"):
        return TypeError(f"{record.name}(): {message}")
    if _is_leaked(error, message, args, kwargs):
        return TypeError(
            f"{record.name}() received an invalid combination of arguments - got {received(args, kwargs)}"
            + ("" if isinstance(error, AttributeError) else f": {message}")
        )
    tensors = [a for a in args if isinstance(a, MsTensor)]
    if (
        isinstance(error, ValueError)
        and "broadcast" in message
        or _from_mindspore(error)
        and _SHAPES.search(message)
    ):
        try:
            broadcast_of(*tensors)
        except RuntimeError as mismatch:
            return mismatch
    if not _from_mindspore(error):
        return error
    first = message.split("\n")[0].strip()
    native.set_recording(True)
    if isinstance(error, TypeError) or _NO_KERNEL.search(first):
        dtype = (
            _dtype.SCALAR_NAMES.get(_dtype.of_native(native.dtype_of(tensors[0])))
            if tensors
            else "these arguments"
        )
        return RuntimeError(
            f"\"{record.name}\" not implemented for '{dtype}'. Received: {received(args, kwargs)}. MindSpore says: {first}"
        )
    return RuntimeError(f"torch.{record.qualified}: {first} Received: {received(args, kwargs)}")


def _is_leaked(error, message, args, kwargs):
    """Whether Python itself complained about a value it met inside; a caller's own function may say what it likes."""
    return (
        isinstance(error, (TypeError, AttributeError, ValueError))
        and _LEAKED.search(message)
        and not any(map(callable, (*args, *kwargs.values())))
        and not all(map(_is_plain, (*args, *kwargs.values())))
    )


def _is_plain(value):
    return value is None or isinstance(value, (MsTensor, int, float, complex))


def _from_body(error, record):
    """Whether the call of the body itself failed, not a call inside it."""
    trace = error.__traceback__.tb_next
    return trace is None or trace.tb_next is None


def _from_mindspore(error):
    """Whether MindSpore raised `error`, seen by the frame or by its way of writing messages."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    if trace.tb_frame.f_globals.get("__name__", "").startswith("mindspore"):
        return True
    message = str(error)
    return (
        "\n----" in message
        or message.startswith("For '")
        or "unregistered" in message
        or "C++ Call Stack" in message
    )
