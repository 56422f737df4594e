"""Dtype conversion with its gradient."""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import numpy_bfloat16


@kernel(reason="a MindSpore cast takes 0.4 to 1.2 ms at any size, NumPy's 10 us")
def _cast(input, dtype, source_dtype):
    if input.dtype.kind == "c" and not dtype.is_complex:
        input = input.real if dtype != _dtype.bool else input != 0
    if dtype.is_complex and input.dtype == numpy_bfloat16:
        input = input.astype(np.float32)  # NumPy knows no way from bfloat16 to complex
    return input.astype(_dtype.NUMPY[dtype])


@_cast.gradient
def _(ctx, grad):
    return cast(grad, ctx.args[2])


def cast(tensor, dtype):
    """`tensor` in `dtype`; the tensor itself where it is already. Complex to real drops the imaginary part."""
    target = _dtype.NATIVE[dtype]
    source = native.dtype_of(tensor)
    if source is target:
        return tensor
    if storage.ON_CPU:
        return _cast(tensor, dtype, _dtype.of_native(source))
    return native.device_cast(tensor, target)


def constant(value, dtype):
    """A 0-d tensor of `dtype` for the Python number `value`, exact (MindSpore rounds Python floats to float32); integers wrap."""
    return native.from_numpy(np.asarray(value).astype(_dtype.NUMPY[dtype]))


# C++'s names of the dtypes, as some of PyTorch's messages have them.
CPP_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "uint16": "unsigned short",
    "uint32": "unsigned int", "uint64": "unsigned long",
}  # fmt: skip
# And other names, in the message about a number that does not fit.
_C_NAMES = {
    "float16": "at::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "uint8": "uint8_t",
    "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "uint16": "uint16_t",
    "uint32": "uint32_t", "uint64": "uint64_t",
}  # fmt: skip


def checked_constant(value, dtype):
    """`constant`, for a number that a user writes into a tensor: RuntimeError where it does not fit the dtype."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError(f"Overflow when unpacking long long. Received: {value}")
    if dtype != _dtype.bool and not dtype.is_complex and not _fits(value, dtype):
        raise RuntimeError(
            f"value cannot be converted to type {_C_NAMES[_dtype.name_of(dtype)]} without overflow. Received: {value!r}"
        )
    if _dtype.is_integral(dtype) and not isinstance(value, (bool, np.bool_)):
        value = int(value.real)
    return constant(value.real if isinstance(value, complex) and not dtype.is_complex else value, dtype)


def _fits(value, dtype):
    if isinstance(value, (complex, np.complexfloating)):
        if value.imag:
            return False
        value = value.real
    low, high = _RANGES[dtype]
    return low <= value <= high or (dtype.is_floating_point and not math.isfinite(value))


def _range_of(dtype):
    if dtype.is_floating_point:
        return _dtype.finfo(dtype).min, _dtype.finfo(dtype).max
    info = np.iinfo(_dtype.NUMPY[dtype])
    return info.min or -info.max, info.max  # unsigned: negative numbers wrap around


_RANGES = {t: _range_of(t) for t in _dtype.NUMPY if t.is_floating_point or _dtype.is_integral(t)}
