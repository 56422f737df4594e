"""What stands before an operator's body: promotion and dtype support, once for all operators of a kind."""

import functools
from types import MappingProxyType

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.elementwise import Elementwise
from msadapter.pytorch._engine.kernel import Kernel, to_tensor
from msadapter.pytorch._engine.native import TensorPy, dtype_of, shape_of
from msadapter.pytorch._engine.quiet import quiet
from msadapter.pytorch._ops.casting import cast, constant
from msadapter.pytorch._ops.promotion import result_type

_F32, _F64 = _dtype.NATIVE[_dtype.float32], _dtype.NATIVE[_dtype.float64]
_HALVES = frozenset((_dtype.float16, _dtype.bfloat16))
_NUMBERS = (int, float, bool, complex)
_OPERANDS = (TensorPy, int, float, complex)
ON_CPU = storage.ON_CPU
EVERYTHING_GOES = MappingProxyType({})


def refuse(refuses, dtype):
    """Raise what PyTorch raises for a dtype that an operator does not take.

    `refuses` maps kinds of dtype ("bool", "integer", "float", "complex") to PyTorch's name of the kernel, to the message of
    its NotImplementedError, or to another error.
    """
    found = refuses.get(_kind_of(dtype))
    if found is None:
        return
    if isinstance(found, Exception):
        raise type(found)(*found.args)
    raise NotImplementedError(
        found if " " in found else f"\"{found}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'"
    )


def no_complex(text):
    """For `refuses`: complex is not taken."""
    return MappingProxyType({"complex": text})


def floats_only(kernel_name):
    """For `refuses`: bool, integers and complex are not taken."""
    return MappingProxyType(dict.fromkeys(("bool", "integer", "complex"), kernel_name))


def floats_and_complex(kernel_name):
    """For `refuses`: bool and integers are not taken."""
    return MappingProxyType({"bool": kernel_name, "integer": kernel_name})


def integers_only(kernel_name, *others):
    """For `refuses`: float and complex are not taken, nor are the kinds in `others`."""
    return MappingProxyType(dict.fromkeys(("float", "complex", *others), kernel_name))


def _kind_of(dtype):
    if dtype.is_floating_point:
        return "float"
    if dtype.is_complex:
        return "complex"
    return "bool" if dtype == _dtype.bool else "integer"


def promoting(
    body=None,
    *,
    floating=False,
    integers=None,
    complexes=None,
    check=None,
    refuses=EVERYTHING_GOES,
    numbers=True,
    wide_number=False,
):
    """Two operands in one dtype: PyTorch's promotion of tensors and numbers, then `body(a, b, ...)`.

    Args:
        floating: integers compute in the default float dtype (division and its kind).
        integers: on the CPU, the NumPy function for integers and bool; MindSpore's kernels miss or falsify many.
        complexes: on the CPU, the kernel for complex tensors, where MindSpore's gradient fails.
        check: called with (dtype, input, other, ...), where the operands are no floats of one dtype.
        refuses: what PyTorch does not take, by the common dtype; see `refuse`.
        numbers: False where both operands must be tensors.
        wide_number: a number or 0-d tensor as second operand of a half keeps its precision; else it is rounded to it first.
    On the CPU float16 and bfloat16 compute in float32 and round once, as PyTorch's kernels do. The body sees a Python
    number beside a float32 tensor, where MindSpore's scalar form is exact and cheaper; an elementwise kernel beside every
    float or complex tensor, as NumPy's is.
    """
    if body is None:
        return functools.partial(
            promoting,
            floating=floating,
            integers=integers,
            complexes=complexes,
            check=check,
            refuses=refuses,
            numbers=numbers,
            wide_number=wide_number,
        )

    elementwise = isinstance(body, Elementwise)
    takes_floats = "float" not in refuses
    takes_numbers = takes_floats and numbers and (elementwise or not isinstance(body, Kernel))

    @functools.wraps(body)
    def run(input, other, *args, **kwargs):
        kind = type(other)
        if kind is float or kind is int:
            if takes_numbers and dtype_of(input) is _F32:
                return body(input, other, *args, **kwargs)
        elif takes_floats and kind is not bool and kind is not complex and type(input) not in _NUMBERS:
            dtype = dtype_of(input)
            if dtype is dtype_of(other) and (dtype is _F32 or dtype is _F64):
                return body(input, other, *args, **kwargs)
        dtype = _common_dtype(input, other, floating, _OPERANDS if numbers else TensorPy)
        refuse(refuses, dtype)
        if check is not None:
            check(dtype, input, other, *args, **kwargs)
        exact = not (dtype.is_floating_point or dtype.is_complex)
        if integers is not None and ON_CPU and exact:
            return _on_integers(integers, in_dtype(input, dtype), in_dtype(other, dtype), *args, **kwargs)
        if complexes is not None and ON_CPU and dtype.is_complex:
            return complexes(in_dtype(input, dtype), in_dtype(other, dtype), *args, **kwargs)
        compute = dtype
        if ON_CPU and dtype in _HALVES:
            compute, input = _dtype.float32, _rounded(input, dtype)
            if not (wide_number and (not isinstance(other, TensorPy) or not shape_of(other))):
                other = _rounded(other, dtype)
            kwargs = {name: _rounded(value, dtype) for name, value in kwargs.items()}
        raw = elementwise and not exact and (isinstance(input, TensorPy) or isinstance(other, TensorPy))
        input, other = _operand(input, compute, raw), _operand(other, compute, raw)
        result = body(input, other, *args, **kwargs)
        return cast(result, dtype) if compute is not dtype and dtype_of(result) is _F32 else result

    return run


def _common_dtype(input, other, floating, operands):
    for operand in (input, other):
        if not isinstance(operand, operands):
            dtype_of(operand)  # raises the AttributeError that names the wrong argument
    dtype = result_type(input, other)
    if floating and not (dtype.is_floating_point or dtype.is_complex):
        return _dtype.get_default_dtype()
    return dtype


def _rounded(value, dtype):
    """A tensor in `dtype`; a Python number with the value it has there."""
    if isinstance(value, TensorPy):
        return cast(value, dtype)
    return float(np.asarray(value).astype(_dtype.NUMPY[dtype]).astype(np.float64))


def _operand(value, dtype, raw):
    return value if raw and not isinstance(value, TensorPy) else in_dtype(value, dtype)


def _on_integers(function, *args, **kwargs):
    args = [storage.read_only_use(a) if isinstance(a, TensorPy) else a for a in args]
    with quiet():
        return to_tensor(function(*args, **kwargs))


def in_dtype(operand, dtype):
    """A tensor or number as a tensor of `dtype`."""
    return cast(operand, dtype) if isinstance(operand, TensorPy) else constant(operand, dtype)


def halves_in_float32(body):
    """Tensors of one dtype (and numbers): on the CPU float16 and bfloat16 compute in float32 and round once."""

    @functools.wraps(body)
    def run(*args, **kwargs):
        native_dtype = dtype_of(args[0])
        if native_dtype is _F32 or native_dtype is _F64 or not ON_CPU:
            return body(*args, **kwargs)
        dtype = _dtype.of_native(native_dtype)
        if dtype not in _HALVES:
            return body(*args, **kwargs)
        wide = (cast(a, _dtype.float32) if isinstance(a, TensorPy) else a for a in args)
        return cast(body(*wide, **kwargs), dtype)

    return run


def unary(body=None, *, integers=None, refuses=EVERYTHING_GOES):
    """One operand: integers and bool compute in the default float dtype, float16 and bfloat16 (on the CPU) in float32.

    Args:
        integers: the NumPy function for integers and bool, where PyTorch keeps their dtype.
        refuses: what PyTorch does not take, see `refuse`.
    """
    if body is None:
        return functools.partial(unary, integers=integers, refuses=refuses)

    takes_floats = "float" not in refuses

    @functools.wraps(body)
    def run(input, *args, **kwargs):
        native_dtype = dtype_of(input)
        # By identity: hashing a MindSpore dtype takes 0.6 us.
        if takes_floats and (native_dtype is _F32 or native_dtype is _F64):
            return body(input, *args, **kwargs)
        dtype = _dtype.of_native(native_dtype)
        if refuses:
            refuse(refuses, dtype)
        if dtype.is_complex:
            return body(input, *args, **kwargs)
        if not dtype.is_floating_point:
            if integers is None:
                return body(cast(input, _dtype.get_default_dtype()), *args, **kwargs)
            run_here = functools.partial(_on_integers, integers) if ON_CPU else body
            return run_here(input, *args, **kwargs)
        if not ON_CPU:
            return body(input, *args, **kwargs)
        result = body(cast(input, _dtype.float32), *args, **kwargs)
        return cast(result, dtype) if dtype_of(result) is _F32 else result

    return run
