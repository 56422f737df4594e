"""Max pooling over windows whose places are drawn at random."""

import math

import numpy as np

from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.random import rand
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.sliding import ints, with_batch

_AXES = {2: ("height", "width"), 3: ("time", "height", "width")}


def _starts(samples, length, count, size):
    """Where the windows along one axis begin, [N, C, count], for a sample of each channel."""
    if not count:
        return np.zeros((*samples.shape, 0), np.int64)
    step = samples.dtype.type((length - size) / (count - 1)) if count > 1 else samples.dtype.type(0)
    samples = samples[..., None]
    starts = ((np.arange(count).astype(samples.dtype) + samples) * step).astype(np.int64)
    starts -= (samples * step).astype(np.int64)
    starts[..., -1] = length - size
    return starts


@kernel(reason="MindSpore's fractional pooling draws by itself and has no float64")
@in_float32
def _places(input, samples, size, out):
    """The flat place of each window's maximum, [N, C, *out]; the first of equals, the last NaN."""
    rank, spatial = len(out), input.shape[2:]
    windows = np.zeros((*input.shape[:2], *(1,) * 2 * rank), np.int64)  # [N, C, *out, *size] of flat places
    for axis in range(rank):
        sample = samples[..., axis if rank == 3 else 1 - axis]
        starts = _starts(sample, spatial[axis], out[axis], size[axis])
        along = starts[..., None] + np.arange(size[axis])
        shape = [*starts.shape[:2], *(1,) * 2 * rank]
        shape[2 + axis], shape[2 + rank + axis] = out[axis], size[axis]
        windows = windows + along.reshape(shape) * math.prod(spatial[axis + 1 :])
    flat = windows.reshape(*windows.shape[: 2 + rank], math.prod(size))
    whole = (*input.shape[:2], math.prod(spatial))
    values = np.take_along_axis(input.reshape(whole), flat.reshape(*whole[:2], -1), 2) if flat.size else flat
    values = values.reshape(flat.shape)
    nan = np.isnan(values)
    last_nan = math.prod(size) - 1 - nan[..., ::-1].argmax(-1)
    chosen = np.where(nan.any(-1), last_nan, values.argmax(-1))
    return np.take_along_axis(flat, chosen[..., None], -1)[..., 0]


_places.differentiable = False


def _per_dimension(function, argument, value, rank):
    values = ints(function, argument, value)
    if len(values) not in (1, rank):
        raise RuntimeError(
            f"{function}: {argument} must either be a single Int or tuple of Ints. Received: {value}"
        )
    return values if len(values) == rank else values * rank


def _out_sizes(function, rank, input, output_size, output_ratio):
    if output_size is not None:
        return _per_dimension(function, "output_size", output_size, rank)
    if output_ratio is None:
        raise ValueError(f"{function} requires specifying either an output_size or an output_ratio")
    if len(output_ratio) > rank:
        raise ValueError(
            f"{function} requires output_ratio to either be a single Int or tuple of Ints. Received: {output_ratio}"
        )
    return tuple(int(n * ratio) for n, ratio in zip(shape_of(input)[-rank:], output_ratio, strict=True))


def _pooled(rank, input, kernel_size, output_size, output_ratio, samples):
    """(the maxima, their flat places)."""
    function = f"fractional_max_pool{rank}d"
    size = _per_dimension(function, "kernel_size", kernel_size, rank)
    out = _out_sizes(function, rank, input, output_size, output_ratio)
    shape = shape_of(input)
    if len(shape) not in (rank + 1, rank + 2):
        raise IndexError(
            f"{function}: expected an input of {rank + 1} or {rank + 2} dimensions, but got {list(shape)}"
        )
    for axis, n, k, o in zip(_AXES[rank], shape[-rank:], size, out, strict=True):
        if o + k - 1 > n:
            raise RuntimeError(f"{function}(): pool {axis} {k} too large relative to input {axis} {n}")
    if samples is None:
        rows = 1 if len(shape) == rank + 1 else shape[0]
        samples = rand(rows, shape[-rank - 1], rank, dtype=input.dtype)

    def pool(input):
        places = _places(input, samples, size, out)
        flat = (*shape_of(input)[:2], -1)
        if not math.prod(shape_of(places)):
            return input.new_zeros(shape_of(places)), places
        picked = input.reshape(flat).gather(2, places.reshape(flat))
        return picked.reshape(shape_of(places)), places

    return pool(input) if len(shape) == rank + 2 else with_batch(pool, input)


def _register(rank):
    facts = {"namespace": "torch.nn.functional", "method": False, "out": False, "kernel": _places}

    def pool(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        result = _pooled(rank, input, kernel_size, output_size, output_ratio, _random_samples)
        return result if return_indices else result[0]

    def pool_with_indices(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        return _pooled(rank, input, kernel_size, output_size, output_ratio, _random_samples)

    doc = """The maxima of `output_size` (or that part of the input's, `output_ratio`) windows at random places{}.

    Raises RuntimeError or ValueError where sizes do not fit.
    """
    pool.__doc__, pool_with_indices.__doc__ = doc.format(""), doc.format(", and the flat place of each")
    node = f"FractionalMaxPool{rank}DBackward0"
    op(pool, name=f"fractional_max_pool{rank}d", node=node, **facts)
    op(pool_with_indices, name=f"fractional_max_pool{rank}d_with_indices", node=node, **facts)


_register(2)
_register(3)
