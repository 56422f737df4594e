"""New tensors of random numbers: rand, randn, randint, randperm, their `_like`s, and normal.

All draw from a stream (`_random_streams.Stream`) that gives PyTorch's numbers for its seed; an operator finds its own by
`msadapter.pytorch._generator.stream_of(generator, name)`, the default generator's for None.
"""

import functools

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, strided
from msadapter.pytorch._engine.kernel import kernel, to_tensor
from msadapter.pytorch._engine.native import MsTensor, dtype_of, shape_of, strides_of
from msadapter.pytorch._generator import stream_of
from msadapter.pytorch._memory_format import preserve_format
from msadapter.pytorch._ops import errors
from msadapter.pytorch._ops.casting import checked_constant
from msadapter.pytorch._ops.factories import factory, filled, or_default, size_of, strides_like, zeros_like
from msadapter.pytorch._ops.shapes import broadcast_of
from msadapter.pytorch._random_arguments import FLOATS, INTS, KINDS, check_dtype

OWN_STREAM = "MindSpore's random numbers are others than PyTorch's for the same seed"


# --- arguments and results that all random operators have in common -------------------------------------------------


def float_of(name, what, position, value):
    """The number of an argument: one, or a 0-d tensor that requires no grad. TypeError for anything else."""
    if isinstance(value, MsTensor) and not shape_of(value) and not native.requires_grad(value):
        value = value.item()
    if not isinstance(value, (int, float)):
        raise TypeError(
            f"{name}(): argument '{what}' (position {position}) must be float, not {type(value).__name__}"
        )
    return value


def int_of(name, what, position, value):
    """The int64 of an argument: an int, or a 0-d integer tensor. TypeError for anything else, ValueError beyond int64."""
    if isinstance(value, MsTensor) and not shape_of(value):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"{name}(): argument '{what}' (position {position}) must be int, not {type(value).__name__}"
        )
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"Overflow when unpacking long long. Received: {what}={value}")
    return value


def values_of(array):
    """An array as streams take it: bfloat16 in float32."""
    return array.astype(np.float32) if array.dtype == _dtype.NUMPY[_dtype.bfloat16] else array


def drawn(draw, size, dtype, strides=None):
    """A native tensor of what `draw(size, name of dtype, strides=)` gives, which lies in memory as the strides say."""
    values = draw(size, _dtype.name_of(dtype), strides=strides)
    if strides is not None and strides != strided.dense_strides(size):
        return filled(size, values, dtype, strides)
    return to_tensor(values.astype(_dtype.NUMPY[dtype], copy=False))


def _size_argument(name, position, size):
    """A size that must be one argument: a tuple or list."""
    if size is None or isinstance(size, int):
        raise TypeError(
            f"{name}(): argument 'size' (position {position}) must be tuple of ints, not {type(size).__name__}"
        )
    return size_of(name, (size,))


def _strides_for(into, size):
    """The strides of the `out` where it has that size: PyTorch draws in the order of its memory."""
    return None if into is None or shape_of(into) != size else tuple(strides_of(into))


# --- uniform, normal ------------------------------------------------------------------------------------------------


@factory(method=False, sees_out=True)
def rand(*size, generator=None, dtype=None, into=None):
    """Numbers drawn evenly from [0, 1), shape `size`; complex ones have both parts drawn."""
    size = size_of("rand", size)
    return drawn(stream_of(generator, "rand").uniform, size, or_default(dtype), _strides_for(into, size))


@factory(method=False, sees_out=True)
def randn(*size, generator=None, dtype=None, into=None):
    """Numbers drawn from the standard normal distribution, shape `size`; the parts of complex ones have variance 1/2."""
    size = size_of("randn", size)
    return drawn(stream_of(generator, "randn").normal, size, or_default(dtype), _strides_for(into, size))


@factory(method=False, follows=True, takes_out=False)
def rand_like(input, *, generator=None, dtype=None, memory_format=preserve_format):
    """`rand` in the shape, dtype and order of dimensions of `input`."""
    draw = stream_of(generator, "rand_like").uniform
    return drawn(draw, shape_of(input), dtype, strides_like(input, memory_format))


@factory(method=False, follows=True, takes_out=False)
def randn_like(input, *, generator=None, dtype=None, memory_format=preserve_format):
    """`randn` in the shape, dtype and order of dimensions of `input`."""
    draw = stream_of(generator, "randn_like").normal
    return drawn(draw, shape_of(input), dtype, strides_like(input, memory_format))


@factory(method=False, sees_out=True)
def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, into=None):
    """Numbers from normal distributions, each with its own mean and standard deviation.

    Args:
        mean, std: tensors that broadcast, or one of them a number; the result has the dtype of `mean`, else of `std`.
        size: with two numbers, the shape.

    The gradient for `mean` and `std` is zero, as in PyTorch. RuntimeError for a negative `std`.
    """
    stream = stream_of(generator, "normal")
    tensors = [value for value in (mean, std) if isinstance(value, MsTensor)]
    if bool(tensors) != (size is None) or (tensors and dtype is not None and into is None):
        given = {"size": size, "dtype": dtype}
        given = {name: value for name, value in given.items() if value is not None}
        raise TypeError(
            f"normal() received an invalid combination of arguments - got {errors.received((mean, std), given)}: "
            "either a tensor, whose shape and dtype the result has, or two numbers and a size"
        )
    if tensors:
        broadcast_of(*tensors)
        native.set_recording(True)
        dtype = _dtype.of_native(dtype_of(tensors[0])) if dtype is None else dtype
        return _normal(
            *(_parameter("normal", *given) for given in (("mean", 1, mean), ("std", 2, std))), dtype, stream
        )
    mean, std = float_of("normal", "mean", 1, mean), float_of("normal", "std", 2, std)
    size = _size_argument("normal", 3, size)
    draw = functools.partial(stream.normal, mean=mean, std=std)
    return drawn(draw, size, or_default(dtype), _strides_for(into, size))


def _parameter(name, what, position, value):
    return value if isinstance(value, MsTensor) else float_of(name, what, position, value)


@kernel(reason=OWN_STREAM)
def _normal(mean, std, dtype, stream):
    mean, std = (values_of(v) if isinstance(v, np.ndarray) else v for v in (mean, std))
    return stream.normal_around(mean, std, _dtype.name_of(dtype)).astype(_dtype.NUMPY[dtype], copy=False)


@_normal.gradient
def zero_gradient(ctx, grad):
    """That of a sample for the parameters of its distribution, as PyTorch has it."""
    return tuple(zeros_like(grad) for _ in ctx.shapes)


# --- whole numbers --------------------------------------------------------------------------------------------------


def bounds_of(name, given, low, high, names=("low", "high")):
    """(low, high) of the positional arguments `[low,] high` and what was given by name; low is 0 by default.

    Raises TypeError where there is no `high`, or too much. `names`: what the operator calls them.
    """
    given = list(given)
    if high is None and given:
        high = given.pop()
    if low is None and given:
        low = given.pop()
    if high is None or given:
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got {errors.received(given, {})} for the bounds: "
            f"expected [{names[0]},] {names[1]}"
        )
    if low is None:
        return 0, int_of(name, names[1], 1, high)
    return int_of(name, names[0], 1, low), int_of(name, names[1], 2, high)


@factory(method=False, sees_out=True)
def randint(*args, low=None, high=None, size=None, generator=None, dtype=None, into=None):
    """Integers drawn evenly from [low, high): `randint(high, size)`, `randint(low, high, size)`; int64 by default."""
    if size is None and args:
        *args, size = args
    low, high = bounds_of("randint", args, low, high)
    size = _size_argument("randint", 2, size)
    draw = functools.partial(stream_of(generator, "randint").randint, low, high)
    return drawn(draw, size, _dtype.int64 if dtype is None else dtype, _strides_for(into, size))


@factory(method=False, follows=True, takes_out=False)
def randint_like(
    input, *args, low=None, high=None, generator=None, dtype=None, memory_format=preserve_format
):
    """`randint` in the shape, dtype and order of dimensions of `input`: `randint_like(input, [low,] high)`.

    A `high` alone may be a 0-d tensor of any dtype.
    """
    if args and high is None:
        *args, high = args
    if not args and low is None and isinstance(high, MsTensor):
        high = _int_inside(high)
    low, high = bounds_of("randint_like", args, low, high)
    draw = functools.partial(stream_of(generator, "randint_like").randint, low, high)
    return drawn(draw, shape_of(input), dtype, strides_like(input, memory_format))


def _int_inside(high):
    if shape_of(high):
        raise RuntimeError(f"high must be a scalar tensor and on CPU. Received: shape {list(shape_of(high))}")
    return int(high.item())


_LARGEST_PERMUTATION = {
    "float16": (2049, "2049"),
    "float32": (2**24 + 1, "2^24+1"),
    "float64": (2**53 + 1, "2^53+1"),
}


@factory(method=False)
def randperm(n, *, generator=None, dtype=None):
    """The integers from 0 to `n` - 1 in random order; int64 by default."""
    n = int_of("randperm", "n", 1, n)
    dtype = _dtype.int64 if dtype is None else dtype
    name = _dtype.name_of(dtype)
    check_dtype(name, FLOATS + INTS, "randperm")
    largest, text = _LARGEST_PERMUTATION.get(name, (n, ""))
    if n > largest:
        raise RuntimeError(f"n cannot be greater than {text} for {KINDS[name].scalar} type. Received: {n}")
    if n > 0:
        checked_constant(n - 1, dtype)
    return stream_of(generator, "randperm").randperm(n).astype(_dtype.NUMPY[dtype], copy=False)
