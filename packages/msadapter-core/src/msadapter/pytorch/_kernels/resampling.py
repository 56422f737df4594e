"""Resizing along one axis is a product with a sparse matrix: its rows say of which input places an output is made.

The matrices are PyTorch's, to its float32 arithmetic; each is made once per pair of sizes.
"""

import functools
import math

import numpy as np
import scipy.sparse

_CUBIC, _SMOOTH_CUBIC = -0.75, -0.5  # PyTorch's free parameter of the cubic, without and with antialias


def apply(array, weights, axis):
    """The product of `weights`, shape (outputs, inputs), with `array` along `axis`."""
    lines = np.moveaxis(array, axis, 0)
    result = weights @ np.ascontiguousarray(lines).reshape(lines.shape[0], -1)
    shape = (weights.shape[0], *lines.shape[1:])
    return np.ascontiguousarray(np.moveaxis(result.reshape(shape), 0, axis))


def nearest(inputs, outputs, scale, exact):
    """Which input place each output is; `exact` looks at the middle of a place, not at its beginning."""
    step = np.float32(1 / scale if scale else inputs / outputs)
    places = np.arange(outputs, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum(np.floor(places * step).astype(np.int64), inputs - 1)


@functools.lru_cache(maxsize=64)  # a loader resizes many images of few sizes
def weights(inputs, outputs, kind, dtype, align_corners=False, scale=None, antialias=False):
    """The matrix (CSR) that resizes `inputs` places to `outputs`.

    Args:
        kind: "linear", "cubic", "lanczos" or "area".
        scale: the factor that the user gave; None derives it from the sizes.
        antialias: whether an output is made of all input places it covers.
    """
    if kind == "area":
        return _area(inputs, outputs, dtype)
    real = np.float64 if dtype == np.float64 else np.float32
    step = real(_step(inputs, outputs, align_corners, scale))
    if antialias:
        return _antialiased(inputs, outputs, kind, step, real)
    return _interpolated(inputs, outputs, kind, step, align_corners, real)


def _step(inputs, outputs, align_corners, scale):
    """Input places from one output to the next."""
    if align_corners:
        return (inputs - 1) / (outputs - 1) if outputs > 1 else 0.0
    return 1 / scale if scale else inputs / outputs


def _area(inputs, outputs, dtype):
    out = np.arange(outputs)
    starts, ends = out * inputs // outputs, -((out + 1) * inputs // -outputs)
    counts = ends - starts
    values = np.repeat((1.0 / counts).astype(dtype), counts)
    return _matrix([np.arange(s, e) for s, e in zip(starts, ends)], values, inputs)


def _interpolated(inputs, outputs, kind, step, align_corners, real):
    places = np.arange(outputs, dtype=real)
    centre = places * step if align_corners else (places + real(0.5)) * step - real(0.5)
    if kind == "linear":
        centre = np.maximum(centre, 0)
    first = np.minimum(np.floor(centre).astype(np.int64), inputs - 1)
    beyond = centre - first.astype(real)
    if kind == "linear":
        taps, values = (0, 1), (1 - beyond, beyond)
    else:
        taps, values = (-1, 0, 1, 2), _cubic_values(beyond)
    columns = np.stack([np.clip(first + tap, 0, inputs - 1) for tap in taps], 1)
    return _matrix(columns, np.stack(values, 1).ravel(), inputs)


def _cubic_values(beyond):
    one = beyond.dtype.type(1)
    return (
        _far_cubic(beyond + one, _CUBIC),
        _near_cubic(beyond, _CUBIC),
        _near_cubic(one - beyond, _CUBIC),
        _far_cubic(one - beyond + one, _CUBIC),
    )


def _near_cubic(x, a):
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _far_cubic(x, a):
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _smooth_linear(x):
    return np.maximum(1 - np.abs(x), 0)


def _smooth_cubic(x):
    x = np.abs(x)
    near, far = _near_cubic(x, _SMOOTH_CUBIC), _far_cubic(x, _SMOOTH_CUBIC)
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _smooth_lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


_FILTERS = {"linear": (1, _smooth_linear), "cubic": (2, _smooth_cubic), "lanczos": (3, _smooth_lanczos)}


def _antialiased(inputs, outputs, kind, step, real):
    reach, function = _FILTERS[kind]
    stretch = max(step, real(1))
    reach = real(reach) * stretch
    columns, values = [], []
    for place in range(outputs):
        centre = step * real(place + 0.5)
        start = max(int(centre - reach + real(0.5)), 0)
        covered = np.arange(start, min(int(centre + reach + real(0.5)), inputs))
        line = function(((covered - centre + real(0.5)) / stretch).astype(real)).astype(real)
        columns.append(covered)
        values.append(line / line.sum(dtype=real))
    return _matrix(columns, np.concatenate(values), inputs)


def _matrix(columns, values, inputs):
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.concatenate(columns)
    return scipy.sparse.csr_matrix((values, flat, ends), shape=(len(columns), inputs))


def round_to_byte(array):
    """Floats as uint8: rounded, halves up as in fixed point, and cut off at both ends (a cubic overshoots)."""
    return np.clip(np.floor(array + 0.5), 0, 255).astype(np.uint8)


def output_sizes(sizes, scales):
    return tuple(math.floor(size * scale) for size, scale in zip(sizes, scales, strict=True))
