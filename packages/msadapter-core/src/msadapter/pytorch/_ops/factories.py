"""Tensors made from shapes and ranges, and what all functions that make tensors have in common, said once."""

import functools
import math
import warnings

import numpy as np

from msadapter.pytorch import _dtype, _memory_format, overrides
from msadapter.pytorch._device import check_device
from msadapter.pytorch._engine import native, storage, strided
from msadapter.pytorch._engine.native import LOCK, MsTensor, shape_of, strides_of
from msadapter.pytorch._memory_format import contiguous_format, preserve_format
from msadapter.pytorch._ops import errors, outputs
from msadapter.pytorch._ops.casting import checked_constant
from msadapter.pytorch._ops.layout import strides_for
from msadapter.pytorch._ops.registry import PLAIN, op, plain_arguments, retag
from msadapter.pytorch._ops.shapes import to_int, to_size

_PYTHON_TYPES = {float: _dtype.float64, int: _dtype.int64, bool: _dtype.bool, complex: _dtype.complex128}


def factory(body=None, *, follows=False, takes_out=True, sees_out=False, takes_data=False, **facts):
    """Register a body that makes a tensor: it returns a NumPy array, or a native tensor, of `dtype`.

    What the public function takes beside the body's parameters: `out`, `layout`, `device`, `requires_grad` and
    `pin_memory` (which changes nothing here). The body's `dtype` is the one given, else that of `out`, else None.

    Args:
        follows: the first argument is a tensor; its dtype stands in, and a subclass of Tensor has its say.
        takes_out: whether there is an `out`.
        sees_out: the body has a parameter `into`, the `out` given: its values depend on the order that has in memory.
        takes_data: the first argument is data and reaches the body as it is.
    """
    options = {"follows": follows, "takes_out": takes_out, "sees_out": sees_out, "takes_data": takes_data}
    if body is None:
        return functools.partial(factory, **options, **facts)
    maker = functools.partial(_make_factory, **options)
    return op(body, maker=maker, out=takes_out, **facts)


def _make_factory(record, follows, takes_out, sees_out, takes_data):
    body, name = record.body, record.name

    def function(
        *args, dtype=None, out=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kwargs
    ):
        if follows and (kwargs or type(args[0]) not in PLAIN) and not overrides.is_disabled():
            if overrides.overriding((*args, *kwargs.values())):
                options = {"dtype": dtype, "requires_grad": requires_grad, **kwargs}
                return overrides.handle_torch_function(
                    record.public, (*args, *kwargs.values()), *args, **options
                )
        if not takes_data:
            args, kwargs = plain_arguments(record, args, kwargs)
        if dtype is not None:
            dtype = to_dtype(dtype, name)
        if out is not None:
            dtype = _dtype_of_out(name, out, dtype, takes_out)
        elif dtype is None and follows:
            dtype = _dtype_followed(name, record, args, kwargs)
        if device is not None:
            check_device(device)
        if layout not in (None, _memory_format.strided):
            raise NotImplementedError(
                f"torch.{name}: layout {layout} is not supported, MindSpore's CPU kernels are for dense tensors. "
                "Leave layout out."
            )
        if sees_out and out is not None:
            kwargs["into"] = out
        with LOCK:
            try:
                result = body(*args, dtype=dtype, **kwargs)
            except Exception as error:
                raise errors.explain(record, error, args, kwargs) from error.__cause__
            if type(result) is np.ndarray:
                result = native.from_numpy(result)
            retag(result)
            if out is not None:
                result = outputs.store(name, out, result)
        return _requiring_grad(result) if requires_grad else result

    return function


def _requiring_grad(tensor):
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise RuntimeError(
            f"Only Tensors of floating point and complex dtype can require gradients. Received: {tensor.dtype}"
        )
    return tensor.requires_grad_()


def _dtype_of_out(name, out, dtype, takes_out):
    if not takes_out:
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    if not isinstance(out, MsTensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype not in (None, out.dtype):
        names = _dtype.SCALAR_NAMES
        raise RuntimeError(f"dtype {names[dtype]} does not match dtype of out parameter ({names[out.dtype]})")
    return out.dtype


def _dtype_followed(name, record, args, kwargs):
    first = record.parameters[0]
    source = args[0] if args else kwargs.get(first)
    if not isinstance(source, MsTensor):
        raise TypeError(
            f"{name}(): argument '{first}' (position 1) must be Tensor, not {type(source).__name__}"
        )
    return _dtype.of_native(native.dtype_of(source))


def to_dtype(value, name):
    """The torch dtype for what a `dtype` argument may be: a dtype, MindSpore's own, or float, int, bool, complex.

    Raises PyTorch's TypeError, in the name of the operator, for anything else.
    """
    if isinstance(value, _dtype.dtype):
        return value
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    if type(value).__module__.startswith("mindspore"):
        return _dtype.of_native(value)
    raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(value).__name__}")


def _size_fault(size):
    """What is wrong with a size that holds something else than ints."""
    values = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    bad = next((i for i, value in enumerate(values) if not hasattr(value, "__index__")), 0)
    kind = type(values[bad]).__name__
    if bad:
        return f'failed to unpack the object at pos {bad + 1} with error "type must be tuple of ints,but got {kind}"'
    if values is size:
        return f"(position 1) must be tuple of ints, not {kind}"
    return f"(position 1) must be tuple of ints, but found element of type {kind} at pos 0"


def size_of(name, size):
    """A checked size from the varargs of a factory."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    try:
        sizes = to_size(size)
    except TypeError:
        raise TypeError(f"{name}(): argument 'size' {_size_fault(size)}") from None
    negative = next((s for s in sizes if s < 0), None)
    if negative is not None:
        if name in ("zeros", "ones", "full"):
            raise RuntimeError(f"{name}: Dimension size must be non-negative. Received: {list(sizes)}")
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {list(sizes)}")
    return sizes


def or_default(dtype):
    return _dtype.get_default_dtype() if dtype is None else dtype


# --- one value ------------------------------------------------------------------------------------------------------


def filled(size, value, dtype, strides=None):
    """A native tensor with every element `value` (None: uninitialised), contiguous or of the `strides` given."""
    kind = _dtype.NUMPY[dtype]
    if strides is not None and strides != strided.dense_strides(size):
        tensor = strided.empty_strided(size, strides, kind)
        if value is not None:
            storage.array_over(tensor)[...] = value
        return tensor
    if value is None:
        return native.from_numpy(np.empty(size, kind))
    return native.from_numpy(
        np.zeros(size, kind) if type(value) is int and not value else np.full(size, value, kind)
    )


@factory(method=False)
def zeros(*size, dtype=None):
    """A tensor of zeros of shape `size`."""
    return filled(size_of("zeros", size), 0, or_default(dtype))


@factory(method=False)
def ones(*size, dtype=None):
    """A tensor of ones of shape `size`."""
    return filled(size_of("ones", size), 1, or_default(dtype))


@factory(method=False)
def empty(*size, dtype=None, memory_format=contiguous_format):
    """A tensor of shape `size` with whatever was in its memory."""
    size = size_of("empty", size)
    if memory_format is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    strides = strides_for(size, None, memory_format or contiguous_format)
    return filled(size, None, or_default(dtype), strides)


@factory(method=False, takes_out=False)
def empty_strided(size, stride, *, dtype=None):
    """An uninitialised tensor of the sizes and strides given."""
    size, stride = size_of("empty_strided", (size,)), to_size((stride,))
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    return filled(size, None, or_default(dtype), stride)


@factory(method=False, takes_out=False)
def empty_permuted(size, physical_layout, *, dtype=None):
    """An uninitialised tensor whose dimensions lie in memory in the order `physical_layout`, slowest first."""
    size, order = size_of("empty_permuted", (size,)), to_size((physical_layout,))
    if len(size) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {len(order)}"
        )
    outside = next((d for d in order if not 0 <= d < len(size)), None)
    if outside is not None:
        raise RuntimeError(
            f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {outside})"
        )
    if len(set(order)) != len(order):
        raise RuntimeError(f"Duplicate dim not allowed. Received: physical_layout={list(order)}")
    strides, step = [0] * len(size), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= size[dim]
    return filled(size, None, or_default(dtype), tuple(strides))


def _number(name, value):
    """The Python number of a `fill_value`."""
    if isinstance(value, MsTensor) and not shape_of(value):
        return value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(
            f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}"
        )
    return value


def _value(number, dtype):
    """The NumPy value of a number in `dtype`. RuntimeError where it does not fit."""
    return native.asnumpy(checked_constant(number, dtype))


def inferred_dtype(value):
    """The dtype that a Python number gives a new tensor."""
    if isinstance(value, bool):
        return _dtype.bool
    if isinstance(value, int):
        return _dtype.int64
    return _dtype.default_complex() if isinstance(value, complex) else _dtype.get_default_dtype()


@factory(method=False)
def full(size, fill_value, *, dtype=None):
    """A tensor of shape `size` filled with `fill_value`, whose type gives the dtype."""
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    value = _number("full", fill_value)
    dtype = inferred_dtype(value) if dtype is None else dtype
    return filled(size_of("full", (size,)), _value(value, dtype), dtype)


def _like(name, value, doc):
    @factory(name=name, method=False, follows=True, takes_out=False)
    def like(input, *, dtype=None, memory_format=preserve_format):
        return filled(shape_of(input), value, dtype, strides_like(input, memory_format))

    like.__doc__ = like.record.body.__doc__ = doc
    return like


def strides_like(input, memory_format):
    return strides_for(shape_of(input), tuple(strides_of(input)), memory_format)


zeros_like = _like("zeros_like", 0, "Zeros in the shape, dtype and order of dimensions of `input`.")
ones_like = _like("ones_like", 1, "Ones in the shape, dtype and order of dimensions of `input`.")
empty_like = _like(
    "empty_like", None, "Uninitialised, in the shape, dtype and order of dimensions of `input`."
)


@factory(method=False, follows=True, takes_out=False)
def full_like(input, fill_value, *, dtype=None, memory_format=preserve_format):
    """A tensor of the shape, dtype and order of dimensions of `input`, filled with `fill_value`."""
    value = _value(_number("full_like", fill_value), dtype)
    return filled(shape_of(input), value, dtype, strides_like(input, memory_format))


def _new(name, value, doc):
    @factory(name=name, function=False, follows=True, takes_out=False)
    def new(input, *size, dtype=None):
        return filled(size_of(name, size), value, dtype)

    new.__doc__ = new.record.body.__doc__ = doc


_new("new_zeros", 0, "Zeros of shape `size` in the dtype of this tensor.")
_new("new_ones", 1, "Ones of shape `size` in the dtype of this tensor.")
_new("new_empty", None, "A tensor of shape `size` in the dtype of this one, uninitialised.")


@factory(function=False, follows=True, takes_out=False)
def new_full(input, size, fill_value, *, dtype=None):
    """A tensor of shape `size` filled with `fill_value`, in the dtype of this one."""
    return filled(size_of("new_full", (size,)), _value(_number("new_full", fill_value), dtype), dtype)


@factory(function=False, follows=True, takes_out=False)
def new_empty_strided(input, size, stride, *, dtype=None):
    """An uninitialised tensor of the sizes and strides given, in the dtype of this one."""
    return filled(size_of("new_empty_strided", (size,)), None, dtype, to_size((stride,)))


@factory(method=False, takes_out=False)
def scalar_tensor(s, *, dtype=None):
    """A 0-d tensor of the number `s`, by default in the default dtype."""
    return _value(_number("scalar_tensor", s), or_default(dtype))


# --- ranges ---------------------------------------------------------------------------------------------------------


def _bound(name, value, what, position):
    """The Python number of a bound: a number, or a tensor of one element."""
    if isinstance(value, MsTensor):
        return value.item()
    if not isinstance(value, (int, float)):
        raise TypeError(
            f"{name}(): argument '{what}' (position {position}) must be Number, not {type(value).__name__}"
        )
    return value


def _check_range(start, end, step):
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if not step:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign. Received: start={start}, end={end}, step={step}"
        )


def _refuse(dtype, name, *refused):
    if dtype == _dtype.bool or dtype.is_complex or dtype in refused:
        raise NotImplementedError(f"\"{name}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")


@factory(method=False)
def arange(*args, start=0, end=None, step=1, dtype=None):
    """Values from `start` (0) to `end` (excluded) by `step` (1): `arange(end)`, `arange(start, end[, step])`."""
    if len(args) == 1 and end is None:
        end = args[0]
    else:
        start, end, step = list(args) + [start, end, step][len(args) :]
    if end is None:
        raise TypeError(
            f"arange() received an invalid combination of arguments - got {errors.received(args, {})}: end is missing"
        )
    start, end, step = (
        _bound("arange", value, name, max(len(args) - 2 + i, 1))
        for i, (name, value) in enumerate((("start", start), ("end", end), ("step", step)), 1)
    )
    if dtype is None:
        whole = all(isinstance(v, int) for v in (start, end, step))
        dtype = _dtype.int64 if whole else _dtype.get_default_dtype()
    _check_range(start, end, step)
    _refuse(dtype, "arange_cpu")
    if _dtype.is_integral(dtype):
        if not int(step):
            raise ValueError(f"step must be nonzero. Received: step={step} for dtype {dtype}")
        return np.arange(int(start), int(end), int(step), dtype=np.int64).astype(_dtype.NUMPY[dtype])
    return _steps(start, step, math.ceil((end - start) / step), dtype)


def _steps(start, step, count, dtype):
    return (start + step * np.arange(count, dtype=np.float64)).astype(_dtype.NUMPY[dtype])


@factory(name="range", method=False)
def range_(start, end=None, step=1, *, dtype=None):
    """Values from `start` to `end`, both included, by `step`. PyTorch advises `arange`."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (
        _bound("range", value, name, i)
        for i, (name, value) in enumerate((("start", start), ("end", end), ("step", step)), 1)
    )
    _check_range(start, end, step)
    dtype = or_default(dtype)
    _refuse(dtype, "range_cpu")
    return _steps(start, step, math.floor((end - start) / step) + 1, dtype)


def _ends(name, start, end, steps, dtype):
    """(start, end, steps, dtype) of a space of values."""
    for what, bound in (("start", start), ("end", end)):
        if isinstance(bound, MsTensor) and shape_of(bound):
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {what} with "
                f"{len(shape_of(bound))} dimension(s)."
            )
    start, end = (b.item() if isinstance(b, MsTensor) else b for b in (start, end))
    steps = to_int(steps)
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative. Received: {steps}")
    if isinstance(start, complex) or isinstance(end, complex):
        wanted = _dtype.default_complex()
        if dtype is not None and not dtype.is_complex:
            raise RuntimeError(
                f"torch.{name}(): inferred dtype {wanted} can't be safely cast to passed dtype "
                f"{_dtype.SCALAR_NAMES[dtype]}"
            )
        return start, end, steps, dtype or wanted
    return start, end, steps, or_default(dtype)


def _spaced(start, end, steps):
    """`steps` values from `start` to `end`, each computed from the nearer end."""
    if steps < 2:
        return np.full(steps, start, np.result_type(type(start), np.float64))
    step = (end - start) / (steps - 1)
    index = np.arange(steps)
    return np.where(index < steps // 2, start + step * index, end - step * (steps - 1 - index))


@factory(method=False)
def linspace(start, end, steps, *, dtype=None):
    """`steps` values evenly spaced from `start` to `end`, both included."""
    start, end, steps, dtype = _ends("linspace", start, end, steps, dtype)
    if dtype == _dtype.bool:
        _refuse(dtype, "linspace_cpu")
    values = _spaced(start, end, steps)
    return values.astype(_dtype.NUMPY[dtype])


@factory(method=False)
def logspace(start, end, steps, base=10.0, *, dtype=None):
    """`steps` powers of `base` with exponents evenly spaced from `start` to `end`."""
    start, end, steps, dtype = _ends("logspace", start, end, steps, dtype)
    if dtype == _dtype.bool:
        _refuse(dtype, "logspace_cpu")
    with np.errstate(invalid="ignore"):
        return np.power(type(_spaced(start, end, 1)[0])(base), _spaced(start, end, steps)).astype(
            _dtype.NUMPY[dtype]
        )


# --- matrices and indices -------------------------------------------------------------------------------------------


@factory(method=False)
def eye(n, m=None, *, dtype=None):
    """The `n` by `m` (default `n`) matrix with ones on the diagonal."""
    n, m = to_int(n), None if m is None else to_int(m)
    for name, value in (("n", n), ("m", m)):
        if value is not None and value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    return np.eye(n, m, dtype=_dtype.NUMPY[or_default(dtype)])


def _triangle_indices(name, indices, doc):
    @factory(name=name, method=False, takes_out=False)
    def triangle(row, col, offset=0, *, dtype=None):
        row, col, offset = map(to_int, (row, col, offset))
        dtype = _dtype.int64 if dtype is None else dtype
        for what, value in (("row", row), ("col", col)):
            if value < 0:
                raise RuntimeError(f"{what} must be non-negative, got{value}")
        if not _dtype.is_integral(dtype):
            raise NotImplementedError(f"\"{name}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")
        return np.stack(indices(row, offset, col)).astype(_dtype.NUMPY[dtype])

    triangle.__doc__ = triangle.record.body.__doc__ = doc
    return triangle


tril_indices = _triangle_indices(
    "tril_indices",
    np.tril_indices,
    "Rows and columns of the lower triangle of a `row` by `col` matrix, as two rows.",
)
triu_indices = _triangle_indices(
    "triu_indices",
    np.triu_indices,
    "Rows and columns of the upper triangle of a `row` by `col` matrix, as two rows.",
)
