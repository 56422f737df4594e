"""Tensors made from data, shapes and ranges."""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._device import check_device
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops import casting, outputs
from msadapter.pytorch._ops.registry import op, retag
from msadapter.pytorch._ops.shapes import to_size


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
        return native.from_numpy(_array_of(data, dtype))
    return native.from_numpy(np.empty(to_size(args) if args else (0,), _dtype.NUMPY[dtype]))


def _inferred(array):
    """Python data's dtype by PyTorch's rules: floats in the default dtype, ints as int64."""
    kind = array.dtype.kind
    if kind == "f":
        return _dtype.get_default_dtype()
    if kind == "c":
        return _dtype.default_complex()
    if kind in "iu":
        return _dtype.int64
    if kind == "b":
        return _dtype.bool
    raise TypeError(
        f"new(): data must be numbers, lists or arrays of them. Received: elements of type {array.dtype}"
    )


def _contains(data, kind):
    if isinstance(data, (list, tuple)):
        return any(_contains(d, kind) for d in data)
    return isinstance(data, kind)


def _plain(data):
    """Nested sequences with tensors in them as nested lists of numbers."""
    if isinstance(data, MsTensor):
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return data


def _array_of(data, dtype):
    """A fresh NumPy array of `data`; `dtype` None infers it. Raises ValueError for ragged lists."""
    if isinstance(data, MsTensor):
        array = native.asnumpy(data)
        return np.array(array if dtype is None else array.astype(_dtype.NUMPY[dtype]))
    if isinstance(data, (np.ndarray, np.generic)):
        _dtype.of_numpy(data.dtype)
        return np.array(data if dtype is None else data.astype(_dtype.NUMPY[dtype]), order="C")
    has_scalars = isinstance(data, (list, tuple)) and _contains(data, (np.generic, np.ndarray, MsTensor))
    plain = _plain(data) if has_scalars else data
    if dtype is not None and _dtype.is_integral(dtype) and isinstance(plain, (int, float, list, tuple)):
        return _integer_array(plain, dtype)
    try:
        array = np.array(plain)
    except ValueError:
        raise ValueError(
            f"expected sequence of equal length at every dimension. Received: {type(data).__name__}"
        ) from None
    if array.dtype == object:
        raise TypeError(f"could not infer dtype of {_odd_type(data)}")
    if dtype is None:
        dtype = _dtype.get_default_dtype() if not array.size and array.dtype == np.float64 else None
        if dtype is None:
            dtype = _numpy_scalar_dtype(data) if has_scalars else None
        dtype = dtype or _inferred(array)
    return array.astype(_dtype.NUMPY[dtype])


def _integer_array(plain, dtype):
    info = np.iinfo(_dtype.NUMPY[dtype])
    array = np.array(plain)
    if (
        array.dtype == object
        or array.dtype.kind in "iu"
        and array.size
        and (array.max() > info.max or array.min() < info.min)
    ):
        flat = np.array(plain, dtype=object).ravel().tolist()
        if any(isinstance(v, int) and not info.min <= v <= info.max for v in flat):
            raise RuntimeError(f"value cannot be converted to type {info.dtype} without overflow")
    return array.astype(_dtype.NUMPY[dtype])


def _numpy_scalar_dtype(data):
    """The dtype of the first NumPy or tensor element: PyTorch takes it over from there."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    if isinstance(data, MsTensor):
        return data.dtype
    return _dtype.of_numpy(data.dtype) if isinstance(data, (np.generic, np.ndarray)) else None


def _odd_type(data):
    while isinstance(data, (list, tuple)) and data:
        data = next((d for d in data if not isinstance(d, (int, float, bool, complex))), data[0])
    return type(data).__name__


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new leaf with a copy of `data` (numbers, nested lists, arrays, tensors).

    Python floats become the default dtype, ints int64; arrays keep their dtype. Raises ValueError for ragged lists,
    TypeError for what is no number.
    """
    array = _array_of(data, dtype)
    if storage.ON_CPU and array.dtype == _dtype.NUMPY[_dtype.bfloat16]:
        array = np.ascontiguousarray(array)
    return from_array(array, dtype, requires_grad, device)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, without a copy where it is a tensor or an array of that dtype."""
    if isinstance(data, MsTensor):
        retag(data)
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or _dtype.NUMPY[dtype] == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray):
    """A tensor over the memory of an array: writes show on both sides. Raises TypeError for other types and dtypes."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return retag(storage.tensor_over(ndarray))


def _made(shape, fill, dtype, device, requires_grad, out=None):
    dtype = _dtype.get_default_dtype() if dtype is None and out is None else dtype or out.dtype
    array = np.empty(shape, _dtype.NUMPY[dtype])
    if fill is not None:
        array.fill(fill)
    if out is not None:
        return outputs.store("full", out, from_array(array, dtype))
    return from_array(array, dtype, requires_grad, device)


def zeros(
    *size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None
):
    """A tensor of zeros of shape `size`."""
    return _made(to_size(size), 0, dtype, device, requires_grad, out)


def ones(
    *size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, names=None
):
    """A tensor of ones of shape `size`."""
    return _made(to_size(size), 1, dtype, device, requires_grad, out)


def empty(
    *size,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=None,
):
    """A tensor of shape `size` with whatever was in its memory."""
    return _made(to_size(size), None, dtype, device, requires_grad, out)


def full(
    size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """A tensor of shape `size` filled with `fill_value`, whose type gives the dtype."""
    if isinstance(fill_value, MsTensor):
        fill_value = fill_value.item()
    if dtype is None and out is None:
        dtype = _inferred(np.asarray(fill_value))
    return _made(to_size((size,)), fill_value, dtype, device, requires_grad, out)


def _like(name, fill):
    @op(name=name, method=False, out=False)
    def like(
        input,
        *,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        pin_memory=False,
        memory_format=None,
    ):
        return _made(native.shape_of(input), fill, dtype or input.dtype, device, requires_grad)

    return like


zeros_like, ones_like, empty_like = _like("zeros_like", 0), _like("ones_like", 1), _like("empty_like", None)


@op(method=False, out=False)
def full_like(
    input,
    fill_value,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=None,
):
    """A tensor of the shape and dtype of `input`, filled with `fill_value`."""
    return _made(native.shape_of(input), fill_value, dtype or input.dtype, device, requires_grad)


def arange(
    *args,
    start=None,
    end=None,
    step=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """Values from `start` (0) to `end` (excluded) by `step` (1): `arange(end)`, `arange(start, end[, step])`."""
    given = list(args)
    if len(given) == 1 and end is None:
        given = [0 if start is None else start, given[0]]
    elif len(given) == 0:
        given = [0 if start is None else start, end]
    elif len(given) == 1:
        given = [given[0], end]
    start, end = given[:2]
    step = given[2] if len(given) > 2 else 1 if step is None else step
    start, end, step = (v.item() if hasattr(v, "item") else v for v in (start, end, step))
    if end is None:
        raise TypeError("arange() received an invalid combination of arguments - got (): 'end' is missing")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign. Received: start={start}, end={end}, step={step}"
        )
    if dtype is None:
        dtype = out.dtype if out is not None else None
    if dtype is None:
        dtype = (
            _dtype.int64
            if all(isinstance(v, int) for v in (start, end, step))
            else _dtype.get_default_dtype()
        )
    if _dtype.is_integral(dtype):
        start, end, step = int(start), int(end), int(step)
        values = np.arange(start, end, step, dtype=np.int64)
    else:
        count = max(math.ceil((end - start) / step), 0)
        values = start + step * np.arange(count, dtype=np.float64)
    result = from_array(values, dtype, requires_grad, device)
    return result if out is None else outputs.store("arange", out, result)
