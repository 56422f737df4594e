"""Dtype, device and layout conversions: `to` and its short forms."""

import warnings

from msadapter.pytorch import _dtype
from msadapter.pytorch._device import check_device, device
from msadapter.pytorch._engine.native import MsTensor, dtype_of
from msadapter.pytorch._memory_format import preserve_format
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.creation import legacy_tensor, tensor
from msadapter.pytorch._ops.factories import to_dtype
from msadapter.pytorch._ops.layout import clone, contiguous
from msadapter.pytorch._ops.registry import op, retag


def parse_to(args, dtype, target):
    """(dtype, device) of the positional forms of `to`: a dtype, a device, both, or a tensor to follow."""
    dtype = None if dtype is None else to_dtype(dtype, "to")
    for arg in args:
        if isinstance(arg, _dtype.dtype):
            dtype = arg
        elif isinstance(arg, (str, device, int)) and not isinstance(arg, bool):
            target = arg
        elif isinstance(arg, MsTensor):
            dtype = _dtype.of_native(dtype_of(arg))
        elif type(arg).__module__.startswith("mindspore") and hasattr(arg, "__hash__"):
            dtype = _dtype.of_native(arg)
        elif arg is not None and not isinstance(arg, bool):
            raise TypeError(f"to() received an invalid combination of arguments - got ({type(arg).__name__})")
    if target is not None:
        check_device(target)
    return dtype


@op(function=False, out=False)
def to(input, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """`input` with another dtype or device: itself where nothing changes, unless `copy`."""
    head = [a for a in args if not isinstance(a, bool)]
    flags = [a for a in args if isinstance(a, bool)]
    if len(flags) == 2:
        copy = flags[1]
    dtype = parse_to(head, dtype, device)
    result = _in_format(input if dtype is None else _convert(input, dtype), memory_format)
    return clone(result) if copy and result is input else result


def _in_format(tensor, memory_format):
    if memory_format is None or memory_format is preserve_format:
        return tensor
    return contiguous(tensor, memory_format)


def _convert(input, dtype):
    source = _dtype.of_native(dtype_of(input))
    if source.is_complex and not (dtype.is_complex or dtype == _dtype.bool):
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)
    return cast(input, dtype)


def _short_form(name, dtype):
    @op(name=name, function=False, out=False)
    def convert(input, memory_format=None):
        return _in_format(_convert(input, dtype), memory_format)

    convert.__doc__ = f"`input.to({dtype})`."


for _name in ("float", "double", "half", "bfloat16", "long", "int", "short", "bool", "cfloat", "cdouble"):
    _short_form(_name, getattr(_dtype, _name))
_short_form("char", _dtype.int8)
_short_form("byte", _dtype.uint8)


@op(function=False, out=False)
def type_as(input, other):
    """`input` in the dtype of `other`."""
    return _convert(input, _dtype.of_native(dtype_of(other)))


_TENSOR_TYPES = {f"torch.{_dtype.SCALAR_NAMES[d]}Tensor": d for d in _dtype.SCALAR_NAMES}


@op(name="type", function=False, out=False)
def convert_type(input, dtype=None, non_blocking=False):
    """Without `dtype`, the legacy type name ("torch.FloatTensor"); with a dtype, such a type or name, the conversion."""
    if dtype is None:
        return f"torch.{_dtype.SCALAR_NAMES[_dtype.of_native(dtype_of(input))]}Tensor"
    if isinstance(dtype, str):
        if dtype not in _TENSOR_TYPES:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = _TENSOR_TYPES[dtype]
    return _convert(input, to_dtype(getattr(dtype, "dtype", dtype), "type"))


def _move(kind):
    @op(name=kind, function=False, out=False)
    def move(input, device=None, non_blocking=False, memory_format=None):
        check_device(kind if device is None else device)
        return _in_format(input, memory_format)

    move.__doc__ = f"`input` on the device {kind}. Raises RuntimeError where MindSpore has none here."


for _kind in ("cpu", "cuda", "npu"):
    _move(_kind)


@op(function=False, out=False)
def new_tensor(input, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A copy of `data` in the dtype of this tensor."""
    return tensor(data, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


@op(function=False, out=False)
def new(input, *args):
    """`torch.Tensor(*args)` in the dtype of this tensor."""
    return retag(legacy_tensor(args, input.dtype))
