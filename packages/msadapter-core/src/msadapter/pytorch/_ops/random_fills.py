"""Random numbers written into a tensor: uniform_, normal_, random_, bernoulli_ and the other distributions.

The memory is filled in its own order, as PyTorch does it; the gradient of what was there becomes zero.
"""

import numpy as np

from msadapter.pytorch import _dtype, overrides
from msadapter.pytorch._engine import inplace, native, storage
from msadapter.pytorch._engine.kernel import to_tensor
from msadapter.pytorch._engine.native import LOCK, MsTensor, dtype_of, set_recording, shape_of, strides_of
from msadapter.pytorch._generator import stream_of
from msadapter.pytorch._ops import errors
from msadapter.pytorch._ops.random import bounds_of, float_of, int_of
from msadapter.pytorch._ops.random_choices import check_coins, coins
from msadapter.pytorch._ops.registry import op, plain_arguments


def _fill(body):
    """Register an in-place method without a functional form: the body returns the values (an array, or a tensor with a
    graph), which are then written into its `input`."""
    return op(body, function=False, out=False, maker=_make_fill)


def _make_fill(record):
    def method(self, *args, **kwargs):
        candidates = (self, *args, *kwargs.values())
        if not overrides.is_disabled() and overrides.overriding(candidates):
            return overrides.handle_torch_function(record.public, candidates, self, *args, **kwargs)
        args, kwargs = plain_arguments(record, args, kwargs)
        with LOCK:
            set_recording(True)
            try:
                # Before anything is drawn: a refused call leaves the stream alone.
                storage.check_no_overlap(self)
                if inplace.needs_graph(self):
                    inplace.check_writable(self)
                values = record.body(self, *args, **kwargs)
            except Exception as error:
                raise errors.explain(record, error, (self, *args), kwargs) from error.__cause__
            if not isinstance(values, MsTensor):
                values = to_tensor(np.asarray(values).astype(storage.numpy_dtype(self), copy=False))
            inplace.write(self, values, forgets=True)
        if native.requires_grad(self):
            self.__dict__["_operator"] = record.grad_name
        return self

    return method


def _place(input):
    """(shape, name of the dtype, strides): what a stream must know of the tensor it fills."""
    name = _dtype.name_of(_dtype.of_native(dtype_of(input)))
    return shape_of(input), name, tuple(strides_of(input))


def _floats(name, **given):
    return (float_of(name, what, i, value) for i, (what, value) in enumerate(given.items(), 1))


@_fill
def uniform_(input, from_=0.0, to=1.0, *, generator=None):
    """Numbers drawn evenly from [from, to). RuntimeError where `from` is larger, or a bound is beyond the dtype."""
    from_, to = _floats("uniform_", **{"from": from_, "to": to})
    shape, dtype, strides = _place(input)
    return stream_of(generator, "uniform_").uniform(shape, dtype, from_, to, strides)


@_fill
def normal_(input, mean=0.0, std=1.0, *, generator=None):
    """Numbers from the normal distribution. RuntimeError for `std` < 0."""
    mean, std = _floats("normal_", mean=mean, std=std)
    shape, dtype, strides = _place(input)
    return stream_of(generator, "normal_").normal(shape, dtype, mean, std, strides)


@_fill
def log_normal_(input, mean=1.0, std=2.0, *, generator=None):
    """Exponentials of numbers from the normal distribution. RuntimeError for `std` <= 0."""
    mean, std = _floats("log_normal_", mean=mean, std=std)
    shape, dtype, strides = _place(input)
    return stream_of(generator, "log_normal_").log_normal(shape, dtype, mean, std, strides)


@_fill
def exponential_(input, lambd=1.0, *, generator=None):
    """Numbers from the exponential distribution of rate `lambd`. RuntimeError for `lambd` <= 0."""
    (lambd,) = _floats("exponential_", lambd=lambd)
    shape, dtype, strides = _place(input)
    return stream_of(generator, "exponential_").exponential(shape, dtype, lambd, strides)


@_fill
def cauchy_(input, median=0.0, sigma=1.0, *, generator=None):
    """Numbers from the Cauchy distribution. RuntimeError for `sigma` <= 0."""
    median, sigma = _floats("cauchy_", median=median, sigma=sigma)
    shape, dtype, strides = _place(input)
    return stream_of(generator, "cauchy_").cauchy(shape, dtype, median, sigma, strides)


@_fill
def geometric_(input, p, *, generator=None):
    """Numbers of trials up to the first success, each of probability `p`. RuntimeError unless 0 < p < 1."""
    (p,) = _floats("geometric_", p=p)
    shape, dtype, strides = _place(input)
    return stream_of(generator, "geometric_").geometric(shape, dtype, p, strides)


@_fill
def bernoulli_(input, p=0.5, *, generator=None):
    """1 with probability `p`, a number or a tensor that expands to this shape, else 0. RuntimeError unless 0 <= p <= 1."""
    stream = stream_of(generator, "bernoulli_")
    shape, dtype, strides = _place(input)
    if isinstance(p, MsTensor):
        check_coins(dtype, "bernoulli_tensor_cpu_self_")
        return coins(p.expand(shape), _dtype.of_native(dtype_of(input)), stream, strides)
    check_coins(dtype, "bernoulli_scalar_cpu_")
    return stream.bernoulli_p(shape, float_of("bernoulli_", "p", 1, p), strides)


_ABSENT = object()


@_fill
def random_(input, *bounds, from_=None, to=_ABSENT, generator=None):
    """Integers drawn evenly: `random_()` from 0 to the dtype's largest, `random_(to)`, `random_(from, to)` from [from, to).

    For floating dtypes the largest is that up to which every integer is held; with `from`, `to` None goes up to it.
    """
    stream = stream_of(generator, "random_")
    shape, dtype, strides = _place(input)
    if not bounds and from_ is None and to is _ABSENT:
        return stream.random(shape, dtype, strides)
    if bounds and to is _ABSENT:
        *bounds, to = bounds
    if to is None:
        low = bounds[0] if len(bounds) == 1 else from_
        return stream.randint(int_of("random_", "from", 1, low), None, shape, dtype, strides)
    to = None if to is _ABSENT else to
    return stream.randint(*bounds_of("random_", bounds, from_, to, ("from", "to")), shape, dtype, strides)
