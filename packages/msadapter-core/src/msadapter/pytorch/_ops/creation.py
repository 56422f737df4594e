"""Tensors made from data: numbers, nested sequences, arrays, buffers, other tensors."""

import warnings

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._device import check_device
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops import casting
from msadapter.pytorch._ops.factories import factory, inferred_dtype, to_dtype
from msadapter.pytorch._ops.promotion import promote_types
from msadapter.pytorch._ops.registry import op, retag
from msadapter.pytorch._ops.shapes import to_size

_NUMPY = (np.ndarray, np.generic)


def from_array(array, dtype=None, requires_grad=False, device=None):
    """A tensor that owns or shares the memory of `array`."""
    if device is not None:
        check_device(device)
    if dtype is not None and array.dtype != _dtype.NUMPY[dtype]:
        array = array.astype(_dtype.NUMPY[dtype])
    tensor = retag(native.from_numpy(array))
    return tensor.requires_grad_() if requires_grad else tensor


def legacy_tensor(args, dtype):
    """The native tensor that `Tensor(*args)` makes: of a shape, of data, or of another tensor."""
    if len(args) == 1 and not isinstance(args[0], int):
        data = args[0]
        if isinstance(data, MsTensor):
            return native.raw_data(casting.cast(data, dtype))
        if type(data).__name__ == "Size":
            return native.from_numpy(np.empty(tuple(data), _dtype.NUMPY[dtype]))
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        if not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        return native.from_numpy(array_of(data, dtype))
    return native.from_numpy(np.empty(to_size(args) if args else (0,), _dtype.NUMPY[dtype]))


# --- arrays of data -------------------------------------------------------------------------------------------------


def array_of(data, dtype):
    """A fresh NumPy array of `data`; `dtype` None infers it. Raises PyTorch's errors for what is no regular data."""
    if isinstance(data, MsTensor):
        array = native.asnumpy(data)
        return np.array(array, None if dtype is None else _dtype.NUMPY[dtype], order="C")
    if isinstance(data, _NUMPY):
        _check_array(data)
        return np.array(data, None if dtype is None else _dtype.NUMPY[dtype], order="C")
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not isinstance(data, (int, float, complex, list, tuple)):
        if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")) or isinstance(data, dict):
            raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
        data = list(data)
    array, foreign = _as_array(data)
    if dtype is None:
        dtype = _inferred(data, array, foreign)
    if array.dtype.kind == "c" and not dtype.is_complex and dtype != _dtype.bool:
        wanted = (
            "must be real number, not complex"
            if dtype.is_floating_point
            else ("'complex' object cannot be interpreted as an integer")
        )
        raise TypeError(wanted)
    if _dtype.is_integral(dtype):
        _check_range(array, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(_dtype.NUMPY[dtype])


def _check_array(array):
    _dtype.of_numpy(array.dtype)
    if any(stride < 0 for stride in array.strides):
        storage.tensor_over(array)  # raises: PyTorch takes no negative strides


def _as_array(data):
    """(array, whether arrays or tensors are among the elements)."""
    foreign = isinstance(data, (list, tuple)) and _contains_foreign(data)
    try:
        array = np.array(_plain(data) if foreign else data)
    except (ValueError, OverflowError):
        array = None
    if array is None or array.dtype.kind not in "biufc":
        _check_regular(data, _sizes(data), 0)
        array = np.array(_plain(data), np.object_)
    return array, foreign


def _contains_foreign(data):
    for item in data:
        if isinstance(item, (list, tuple)):
            if _contains_foreign(item):
                return True
        elif not isinstance(item, (int, float, complex)) or isinstance(item, np.generic):
            return True
    return False


def _plain(data):
    """Nested sequences with tensors and arrays in them as nested lists of numbers."""
    if isinstance(data, (MsTensor, *_NUMPY)):
        if isinstance(data, MsTensor) and data.numel() > 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars. Write torch.stack(...) for a sequence of "
                f"tensors. Received: shape {list(data.shape)}"
            )
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data


def _is_sequence(data):
    return isinstance(data, (list, tuple, np.ndarray)) or isinstance(data, MsTensor) and data.dim() > 0


def _sizes(data):
    """The shape that the first elements tell."""
    sizes = []
    while _is_sequence(data):
        sizes.append(len(data))
        if not len(data):
            break
        data = data[0]
        if isinstance(data, (str, bytes)):  # a sequence of sequences of sequences ...
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
    return sizes


def _check_regular(data, sizes, dim):
    """Raise PyTorch's error for the first element that is no number, or no sequence of the length expected."""
    if dim == len(sizes):
        if isinstance(data, (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
        if isinstance(data, (list, tuple)):
            raise TypeError(f"'{type(data).__name__}' object cannot be interpreted as an integer")
        if not isinstance(data, (int, float, complex, MsTensor, *_NUMPY)):
            raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
        return
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise TypeError(f"not a sequence. Received: {type(data).__name__} at dim {dim}")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _check_regular(item, sizes, dim + 1)


def _inferred(data, array, foreign):
    """The dtype PyTorch infers: Python's floats count as the default dtype, ints as int64, arrays and tensors as theirs."""
    if foreign:
        dtype = None
        for leaf in _leaves(data):
            own = leaf.dtype if isinstance(leaf, MsTensor) else None
            if isinstance(leaf, _NUMPY):
                own = _dtype.of_numpy(leaf.dtype)
            own = inferred_dtype(leaf) if own is None else own
            dtype = own if dtype is None else promote_types(dtype, own)
        return dtype or _dtype.get_default_dtype()
    if array.dtype.kind == "O" or array.dtype == np.uint64:
        raise ValueError("Overflow when unpacking long long")
    if not array.size:
        return _dtype.get_default_dtype()
    return inferred_dtype(array.reshape(-1)[0].item())


def _leaves(data):
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from _leaves(item)
    else:
        yield data


def _check_range(array, dtype):
    """RuntimeError for a value that the integer `dtype` does not hold; -1 may stand for the largest unsigned one."""
    if not array.size or array.dtype == np.bool_:
        return
    info = np.iinfo(_dtype.NUMPY[dtype])
    whole = array.dtype.kind in "iuO"
    lowest = -info.max if info.min == 0 and whole else info.min
    low, high = array.min(), array.max()
    if not (lowest <= low and high <= info.max):
        raise RuntimeError(
            f"value cannot be converted to type {info.dtype} without overflow. Received: values from {low} to {high}"
        )


# --- the functions --------------------------------------------------------------------------------------------------


@factory(method=False, takes_out=False, takes_data=True)
def tensor(data, *, dtype=None):
    """A new leaf with a copy of `data` (numbers, nested lists, arrays, tensors).

    Python floats become the default dtype, ints int64; arrays keep their dtype. Raises ValueError for ragged lists,
    TypeError and RuntimeError for what is no number.
    """
    if isinstance(data, MsTensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=3,
        )
    return array_of(data, dtype)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, without a copy where it is a tensor or an array of that dtype."""
    if dtype is not None:
        dtype = to_dtype(dtype, "as_tensor")
    if isinstance(data, MsTensor):
        if device is not None:
            check_device(device)
        return retag(data) if dtype is None else retag(data).to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or _dtype.NUMPY[dtype] == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` (a tensor, array, buffer, number or sequence) as a tensor.

    `copy` None copies only where it must, True always, False never: it raises ValueError where it must.
    """
    if dtype is not None:
        dtype = to_dtype(dtype, "asarray")
    if device is not None:
        check_device(device)
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        result = tensor(obj, dtype=dtype)
    elif dtype not in (None, shared.dtype):
        if copy is False:
            names = _dtype.SCALAR_NAMES
            raise ValueError(
                f"can't alias tensor with dtype '{names[shared.dtype]}' into dtype '{names[dtype]}'."
            )
        result = shared.to(dtype)
    else:
        result = shared.clone() if copy else shared
    if result.requires_grad and not requires_grad:
        return result
    return result.requires_grad_(requires_grad) if result.is_leaf else result


def _shared(obj, dtype):
    """A tensor over the memory of a tensor, array or buffer; None for anything else."""
    if isinstance(obj, MsTensor):
        return retag(obj)
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if isinstance(obj, (bytes, bytearray, memoryview)):
        return frombuffer(obj, dtype=dtype or _dtype.get_default_dtype())
    return None


def from_numpy(ndarray):
    """A tensor over the memory of an array: writes show on both sides. Raises TypeError for other types and dtypes."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if ndarray.dtype.byteorder == ">":
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    return retag(storage.tensor_over(ndarray))


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension over the memory of `buffer`: `count` elements (-1: all) from byte `offset` on.

    Raises ValueError where the sizes do not fit.
    """
    dtype = to_dtype(dtype, "frombuffer")
    try:
        held = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size = dtype.itemsize
    if not held or not count:
        raise ValueError(f"both buffer length ({held}) and count ({count}) must not be 0")
    if not 0 <= offset < held:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({held} bytes) minus 1"
        )
    if count < 0 and (held - offset) % size:
        raise ValueError(
            f"buffer length ({held} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
        )
    if count > 0 and offset + count * size > held:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({held} bytes)"
        )
    array = np.frombuffer(buffer, np.uint8, (held - offset if count < 0 else count * size), offset)
    return from_array(array.view(_dtype.NUMPY[dtype]), requires_grad=requires_grad)


# --- complex numbers ------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's Complex refuses tensors without elements")
def _join(real, imag):
    result = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imag
    return result


@_join.gradient
def _(ctx, grad):
    return grad.real, grad.imag


def _check_parts(first, second):
    names = [_dtype.SCALAR_NAMES[t.dtype] for t in (first, second)]
    if not all(t.dtype in (_dtype.float16, _dtype.float32, _dtype.float64) for t in (first, second)):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}"
        )
    if names[0] != names[1]:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument"
        )
    if names[0] == "Half":
        raise RuntimeError(
            "torch.complex: complex32 is not supported by MindSpore. Write real.float(), imag.float()."
        )


@op(name="complex", method=False)
def complex_(real, imag):
    """`real + 1j * imag`, of two float32 or two float64 tensors, which broadcast."""
    _check_parts(real, imag)
    return _join(real, imag)


@op(method=False)
def polar(abs, angle):
    """The complex number of absolute value `abs` and argument `angle`: `abs * exp(1j * angle)`."""
    _check_parts(abs, angle)
    return _join(abs * angle.cos(), abs * angle.sin())
