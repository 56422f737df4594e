"""Largest and smallest elements, and where they are. NaN is the extreme where there is one."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._engine.storage import ON_CPU
from msadapter.pytorch._ops.arrays import axes_of, check_not_empty, refuse, wide
from msadapter.pytorch._ops.reduction import labelled, spread
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.selecting import pick_one
from msadapter.pytorch._ops.shapes import to_int, wrap_dim

_REASON = "MindSpore's skips NaN and has no bool and bfloat16"


def equal_shares(grad, chosen, dim, keepdim, shape):
    """The gradient of a reduction that picked the elements where `chosen` is True: to each of them the same part."""
    share = grad / chosen.sum(dim, keepdim)
    return spread(share, dim, keepdim, shape) * chosen


# --- over dimensions: amax, amin, aminmax ---------------------------------------------------------------------------


def _over_dims(name, function, native_op, dtype_error):
    @kernel(reason=_REASON, saves=("input", "out"))
    def extreme(input, dim, keepdim):
        refuse(input, "c", dtype_error)
        axes = axes_of(dim, input.ndim)
        check_not_empty(name, input.shape, axes, dim == ())
        return function(wide(input), axes, keepdims=keepdim).astype(input.dtype)

    @extreme.gradient
    def _(ctx, grad):
        _, dim, keepdim = ctx.args
        input, out = ctx.saved
        (shape,) = ctx.shapes
        chosen = input == spread(out, dim, keepdim, shape)
        return equal_shares(grad, chosen, dim, keepdim, shape)

    @op(name=name)
    @on_cpu(extreme)
    def reduce(input, dim=(), keepdim=False):
        return native_op(input, dim, keepdim)

    reduce.__doc__ = reduce.record.body.__doc__ = (
        f"The {'largest' if name == 'amax' else 'smallest'} element over `dim` (one, several, or all); equal ones share "
        "the gradient. Raises NotImplementedError for complex, IndexError for a dimension without elements."
    )
    return reduce


amax = _over_dims("amax", np.max, mint.amax, "max_values_cpu")
amin = _over_dims("amin", np.min, mint.amin, "min_values_cpu")

_aminmax_result = named_result("aminmax", "min max")


@op
def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest element over `dim` (all by default), as a named tuple `min max`."""
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    shape = shape_of(input)
    if dim is None and 0 in shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if dim is not None:
        dim = wrap_dim(to_int(dim), len(shape))
        check_not_empty("aminmax", shape, (dim,) if shape else (), False)
    dims = () if dim is None else (dim,)
    return _aminmax_result(amin.record.body(input, dims, keepdim), amax.record.body(input, dims, keepdim))


# --- with their places: max, min, argmax, argmin --------------------------------------------------------------------


def _index_of(function):
    """A choice for `pick_one`: the first place of the extreme along an axis, which stays as 1."""
    return lambda array, axis: function(array, axis, keepdims=True)


def _of_all(name, function, native_op):
    @kernel(reason=_REASON, saves=("input", "out"))
    def extreme(input):
        refuse(input, "c", f"{name}_all")
        check_not_empty(name, input.shape, (), True)
        return function(wide(input)).astype(input.dtype)

    @extreme.gradient
    def _(ctx, grad):
        input, out = ctx.saved
        chosen = input == out if bool(out == out) else input != input
        return equal_shares(grad, chosen, None, False, ctx.shapes[0])

    @on_cpu(extreme)
    def reduce(input):
        return native_op(input)

    return reduce


def _with_places(name, function, choose, native_op, elementwise):
    of_all, result, choice = (
        _of_all(name, function, native_op),
        named_result(name, "values indices"),
        _index_of(choose),
    )
    node_of_all = f"{name.capitalize()}Backward1"

    @op(name=name)
    def reduce(input, dim=None, keepdim=False, *, other=None):
        if not isinstance(input, MsTensor):
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({type(input).__name__}, ...), but expected "
                "(Tensor input, ...)"
            )
        if isinstance(dim, MsTensor):
            other = dim
        if other is not None:
            return getattr(input, elementwise)(other)
        if dim is None:
            return labelled(of_all(input), node_of_all)
        dim = _checked_dim(name, input, dim)
        if input.dtype.is_complex:
            raise RuntimeError(f"{name}(): does not support complex input. Received: {input.dtype}")
        if not ON_CPU:
            return result(*native_op(input, dim, keepdim))
        return result(*pick_one(input, dim, keepdim, choice))

    reduce.__doc__ = reduce.record.body.__doc__ = (
        f"`{name}(input)`: the extreme of all elements. `{name}(input, dim, keepdim=False)`: that of each row along `dim` "
        f"and its first index, as a named tuple `values indices`. `{name}(input, other)`: `{elementwise}`."
    )
    return reduce


def _checked_dim(name, input, dim):
    if isinstance(dim, (tuple, list, float)):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, {type(dim).__name__}), but expected an "
            "int `dim` or a Tensor `other`"
        )
    shape = shape_of(input)
    dim = wrap_dim(to_int(dim), len(shape))
    check_not_empty(name, shape, (dim,) if shape else (), False)
    return dim


max = _with_places("max", np.max, np.argmax, mint.max, "maximum")
min = _with_places("min", np.min, np.argmin, mint.min, "minimum")


def _place(name, function, native_op):
    @kernel(reason=_REASON)
    def place(input, dim, keepdim):
        if input.dtype.kind in "cb":
            kind = "complex" if input.dtype.kind == "c" else "bool"
            raise RuntimeError(f"{name}(): does not support {kind} input")
        if dim is None:
            if not input.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            found = function(wide(input))
            return np.asarray(found).reshape((1,) * input.ndim if keepdim else ())
        dim = wrap_dim(to_int(dim), input.ndim)
        if not input.ndim:
            return np.zeros((), np.int64)
        check_not_empty(name, input.shape, (dim,), False)
        return function(wide(input), dim, keepdims=keepdim)

    @op(name=name)
    @on_cpu(place)
    def find(input, dim=None, keepdim=False):
        return native_op(input, dim, keepdim)

    find.__doc__ = find.record.body.__doc__ = (
        f"The first index of the {'largest' if name == 'argmax' else 'smallest'} element along `dim` (in the flattened "
        "tensor by default), in int64. Raises RuntimeError for bool and complex."
    )
    return find


argmax = _place("argmax", np.argmax, mint.argmax)
argmin = _place("argmin", np.argmin, mint.argmin)
