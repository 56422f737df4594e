"""Samples of distributions whose parameters are tensors: bernoulli, multinomial, poisson, binomial."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage, strided
from msadapter.pytorch._engine.kernel import kernel, to_tensor
from msadapter.pytorch._engine.native import MsTensor, dtype_of, shape_of, strides_of
from msadapter.pytorch._generator import stream_of
from msadapter.pytorch._ops.random import OWN_STREAM, float_of, int_of, values_of, zero_gradient
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast_of
from msadapter.pytorch._random_arguments import FLOATS, INTS, check_dtype


def _dtype_of(tensor):
    return _dtype.of_native(dtype_of(tensor))


def check_coins(dtype, name):
    """NotImplementedError for a dtype, given by name, that PyTorch's kernel `name` has no zeros and ones of."""
    check_dtype(dtype, (*FLOATS, *INTS, "bool"), name)


@kernel(reason=OWN_STREAM)
def coins(input, dtype, stream, strides):
    """1 with the probability that `input` has, else 0, in `dtype`; `strides` as `Stream.bernoulli` takes them."""
    return stream.bernoulli(values_of(input), input.shape, strides).astype(_dtype.NUMPY[dtype])


coins.gradient(zero_gradient)


@kernel(reason=OWN_STREAM)
def _bernoulli(input, p, stream):
    return stream.bernoulli_p(input.shape, p).astype(input.dtype)


@op
def bernoulli(input, p=None, *, generator=None):
    """1 with the probability that `input` has (or `p`, whatever is in `input`), else 0; the dtype is that of `input`.

    The gradient is zero. RuntimeError for a probability outside [0, 1].
    """
    stream = stream_of(generator, "bernoulli")
    dtype = _dtype_of(input)
    if p is None:
        check_coins(_dtype.name_of(dtype), "bernoulli_tensor_cpu_self_")
        return coins(input, dtype, stream, None)
    check_coins(_dtype.name_of(dtype), "bernoulli_scalar_cpu_")
    return _bernoulli(input, float_of("bernoulli", "p", 2, p), stream)


@op
def multinomial(input, num_samples, replacement=False, *, generator=None):
    """Indices drawn with the weights `input`, shape (n,) or (m, n): int64 of shape (num_samples,) or (m, num_samples).

    RuntimeError for weights that are negative, infinite, NaN or all zero, and for more samples without replacement than n.
    """
    count = int_of("multinomial", "num_samples", 2, num_samples)
    stream = stream_of(generator, "multinomial")
    weights = values_of(storage.read_only_use(input))
    strides = strided.kept_strides(shape_of(input), tuple(strides_of(input)))
    return to_tensor(
        stream.multinomial(weights, count, replacement, _dtype.name_of(_dtype_of(input)), strides)
    )


@kernel(reason=OWN_STREAM)
def _poisson(input, dtype, stream):
    return stream.poisson(values_of(input), _dtype.name_of(dtype)).astype(input.dtype, copy=False)


_poisson.gradient(zero_gradient)


@op(method=False, out=False)
def poisson(input, generator=None):
    """A number of events for each rate in `input`, in its dtype; the gradient is zero. RuntimeError for a rate < 0."""
    return _poisson(input, _dtype_of(input), stream_of(generator, "poisson"))


@kernel(reason=OWN_STREAM)
def _binomial(count, prob, stream):
    return stream.binomial(*np.broadcast_arrays(count, prob))


@op(method=False, out=False)
def binomial(count, prob, generator=None):
    """The number of successes in `count` trials of probability `prob` each; both of one dtype, float32 or float64.

    ValueError for a `count` of integers. There is no gradient, as in PyTorch.
    """
    for position, (name, value) in enumerate((("count", count), ("prob", prob)), 1):
        if not isinstance(value, MsTensor):
            raise TypeError(
                f"binomial(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}"
            )
        if not _dtype_of(value).is_floating_point:
            scalar = _dtype.SCALAR_NAMES[_dtype_of(value)]
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {scalar}")
    if _dtype_of(count) != _dtype_of(prob):
        found, expected = (_dtype.SCALAR_NAMES[_dtype_of(t)] for t in (prob, count))
        raise RuntimeError(f"Found dtype {found} but expected {expected}")
    broadcast_of(count, prob)
    check_dtype(_dtype.name_of(_dtype_of(count)), ("float32", "float64"), "binomial_cpu")
    return _binomial(count, prob, stream_of(generator, "binomial"))
