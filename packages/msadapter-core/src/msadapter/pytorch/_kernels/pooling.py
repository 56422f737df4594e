"""Pooling over windows, in any number of spatial dimensions: [N, C, *spatial] in, [N, C, *out] out.

Why NumPy: MindSpore's pooling kernels drop NaN, compute float64 in float32, refuse zero-size batches, and have no
second derivative. `kernel`, `stride`, `padding` and `dilation` are tuples of one int per spatial dimension.
"""

import itertools
import math

import numpy as np

from msadapter.pytorch._kernels import formula, parallel

_PIECE = 1 << 16  # elements: a smaller piece is not worth a thread


def pooled_size(size, kernel, stride, padding, dilation=1, ceil_mode=False):
    """How many windows fit along one dimension; PyTorch drops a last one that would start in the right padding."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil_mode else reach // stride) + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def _out_sizes(spatial, kernel, stride, padding, dilation, ceil_mode):
    columns = zip(spatial, kernel, stride, padding, dilation, strict=True)
    return tuple(pooled_size(*column, ceil_mode) for column in columns)


def _padded(input, out, kernel, stride, padding, dilation, fill):
    """The input with `fill` around it, so that every window lies inside."""
    spatial = input.shape[2:]
    ends = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(out, stride, dilation, kernel, strict=True)]
    after = [max(e - n - p, 0) for e, n, p in zip(ends, spatial, padding, strict=True)]
    if not any(padding) and not any(after):
        return input
    result = np.full(
        input.shape[:2] + tuple(p + n + a for p, n, a in zip(padding, spatial, after, strict=True)),
        fill,
        input.dtype,
    )
    result[(..., *(slice(p, p + n) for p, n in zip(padding, spatial, strict=True)))] = input
    return result


def _taps(out, kernel, stride, dilation):
    """For each place in the window: (its offsets, the slices of the padded input that all windows have there)."""
    for offsets in itertools.product(*map(range, kernel)):
        starts = [o * d for o, d in zip(offsets, dilation, strict=True)]
        yield (
            offsets,
            (..., *(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(starts, out, stride, strict=True))),
        )


def max_pool(input, kernel, stride, padding, dilation, ceil_mode):
    """(maxima, winners): for each window its maximum and the number of the place in the window that has it.

    NaN is the largest; the first of equals wins, but the last NaN. `flat_places` turns winners into PyTorch's indices.
    """
    out = _out_sizes(input.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    best = np.empty(input.shape[:2] + out, input.dtype)
    winner = np.empty(best.shape, np.uint8 if math.prod(kernel) <= 256 else np.int32)
    first = _first_inside(out, kernel, stride, padding, dilation)

    def fill(start, stop):
        winner[start:stop] = first
        _take_maxima(
            input[start:stop], best[start:stop], winner[start:stop], kernel, stride, padding, dilation
        )

    parallel.run(fill, len(input), _grain(input))
    return best, winner


def _grain(array):
    """How many samples make a piece worth a thread of its own."""
    return 1 + _PIECE * len(array) // max(array.size, 1)


def _take_maxima(input, best, winner, kernel, stride, padding, dilation):
    """Fill `best` with the maxima of the windows, and `winner`, which holds where each window begins."""
    lowest = -np.inf if input.dtype.kind == "f" else np.iinfo(input.dtype).min
    padded = _padded(input, best.shape[2:], kernel, stride, padding, dilation, lowest)
    places = [place for _, place in _taps(best.shape[2:], kernel, stride, dilation)]
    begins_inside = padded is input
    best[...] = padded[places[0]] if begins_inside else lowest
    for number, place in enumerate(places):
        if number == 0 and begins_inside:
            continue
        candidate = np.ascontiguousarray(padded[place])  # read twice
        _mark(winner, number, candidate > best)
        np.maximum(candidate, best, out=best)  # of equals, the second
    if input.dtype.kind == "f" and np.isnan(best).any():
        for number, place in enumerate(places):
            np.copyto(winner, number, where=np.isnan(padded[place]))


def _mark(winner, number, chosen):
    """winner[chosen] = number, for bytes by bit masks: a branch per element, as NumPy's, takes six times as long."""
    if winner.dtype != np.uint8:
        np.copyto(winner, number, where=chosen)
        return
    mask = np.negative(chosen.view(np.int8)).view(np.uint8)
    mask &= winner ^ np.uint8(number)
    winner ^= mask


def _first_inside(out, kernel, stride, padding, dilation):
    """The number of the first place of each window that is not in the left padding: what a window of -inf points at."""
    rank = len(out)
    number = np.zeros((1,) * rank, np.int64)
    for axis, (n, k, s, p, d) in enumerate(zip(out, kernel, stride, padding, dilation, strict=True)):
        offsets = np.maximum(0, -(-(p - np.arange(n) * s) // d))
        number = number * k + _along(offsets, axis, rank)
    return number


def _along(values, axis, rank):
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def flat_places(winner, spatial, kernel, stride, padding, dilation):
    """The flat places in the unpadded spatial dimensions, as int64, of the `winner` numbers of `max_pool`."""
    rank = len(spatial)
    out = winner.shape[2:]
    steps = [math.prod(spatial[i + 1 :]) for i in range(rank)]
    by_number = [
        sum(o * d * step for o, d, step in zip(offsets, dilation, steps, strict=True))
        for offsets in itertools.product(*map(range, kernel))
    ]
    origin = np.zeros((1,) * rank, np.int64)
    for axis in range(rank):
        origin = origin + _along(
            (np.arange(out[axis]) * stride[axis] - padding[axis]) * steps[axis], axis, rank
        )
    return np.take(np.array(by_number, np.int64), winner) + origin


def max_pool_gradient(grad, winner, spatial, kernel, stride, padding, dilation):
    """The gradient of `max_pool`: each element of `grad` added at its window's winner in zeros [N, C, *spatial]."""
    out = grad.shape[2:]
    reach = [
        max((o - 1) * s + d * (k - 1) + 1, p + n)
        for o, s, d, k, p, n in zip(out, stride, dilation, kernel, padding, spatial, strict=True)
    ]
    padded = np.zeros((*grad.shape[:2], *reach), grad.dtype)
    apart = all(s > d * (k - 1) for k, s, d in zip(kernel, stride, dilation, strict=True))

    def add(start, stop):
        part, own, where = padded[start:stop], grad[start:stop], winner[start:stop]
        for number, (_, place) in enumerate(_taps(out, kernel, stride, dilation)):
            won = formula.where(where == number, own, grad.dtype.type(0))
            if apart:
                part[place] = won
            else:
                part[place] += won

    parallel.run(add, len(grad), _grain(grad))
    return padded[(..., *(slice(p, p + n) for p, n in zip(padding, spatial, strict=True)))]


def max_pool_pick(input, winner, kernel, stride, padding, dilation):
    """The elements of `input` at the winners of another `max_pool`: the gradient of `max_pool_gradient`."""
    out = winner.shape[2:]
    padded = _padded(input, out, kernel, stride, padding, dilation, 0)
    total = np.zeros(winner.shape, input.dtype)
    for number, (_, place) in enumerate(_taps(out, kernel, stride, dilation)):
        np.copyto(total, padded[place], where=winner == number)
    return total


def scatter_windows(grad, places, spatial):
    """`grad` [N, C, *out] added up at the flat `places` of zeros [N, C, *spatial]: the gradient of picking there."""
    rows = math.prod(grad.shape[:2])
    length = math.prod(spatial)
    if not grad.size:
        return np.zeros(grad.shape[:2] + tuple(spatial), grad.dtype)
    flat = places.reshape(rows, -1) + np.arange(rows)[:, None] * length
    total = np.bincount(flat.ravel(), weights=grad.ravel(), minlength=rows * length)
    return total.astype(grad.dtype).reshape(grad.shape[:2] + tuple(spatial))


def gather_windows(input, places):
    """The elements of `input` [N, C, *spatial] at the flat `places` [N, C, *out]."""
    flat = input.reshape(*input.shape[:2], -1)
    picked = np.take_along_axis(flat, places.reshape(*places.shape[:2], -1), 2)
    return picked.reshape(places.shape)


def avg_pool(input, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """Window means; windows reach into zeros, which count where `count_include_pad`."""
    ones = (1,) * len(kernel)
    out = _out_sizes(input.shape[2:], kernel, stride, padding, ones, ceil_mode)
    padded = _padded(input, out, kernel, stride, padding, ones, 0)
    total = None
    for _, place in _taps(out, kernel, stride, ones):
        if total is None:
            total = padded[place].copy()
        else:
            total += padded[place]
    divisor = _divisor(input.shape[2:], out, kernel, stride, padding, count_include_pad, divisor_override)
    return (
        total if input.dtype.kind in "iu" and np.all(divisor == 1) else (total / divisor).astype(input.dtype)
    )


def avg_pool_gradient(grad, spatial, kernel, stride, padding, count_include_pad, divisor_override):
    """The gradient of `avg_pool` with respect to its input of the given spatial sizes."""
    ones = (1,) * len(kernel)
    out = grad.shape[2:]
    divisor = _divisor(spatial, out, kernel, stride, padding, count_include_pad, divisor_override)
    share = (grad / divisor).astype(grad.dtype)
    reach = [
        max((o - 1) * s + k, p + n)
        for o, s, k, p, n in zip(out, stride, kernel, padding, spatial, strict=True)
    ]
    padded = np.zeros((*grad.shape[:2], *reach), grad.dtype)
    for _, place in _taps(out, kernel, stride, ones):
        padded[place] += share
    return padded[(..., *(slice(p, p + n) for p, n in zip(padding, spatial, strict=True)))]


def _divisor(spatial, out, kernel, stride, padding, count_include_pad, divisor_override):
    if divisor_override:
        return np.float64(divisor_override)
    rank = len(out)
    result = np.ones((1,) * rank)
    for axis in range(rank):
        start = np.arange(out[axis]) * stride[axis] - padding[axis]
        stop = np.minimum(start + kernel[axis], spatial[axis] + padding[axis])
        if not count_include_pad:
            start, stop = np.maximum(start, 0), np.minimum(stop, spatial[axis])
        result = result * _along(stop - start, axis, rank)
    return result


def _adaptive_spans(size, out):
    """(start, stop) of each of `out` windows that together cover `size` elements."""
    return [(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def adaptive_avg_pool(input, out):
    """Means over windows that divide the spatial dimensions into `out` parts each."""
    result = input
    for axis, parts in enumerate(out, start=2):
        spans = _adaptive_spans(result.shape[axis], parts)
        lead = (slice(None),) * axis
        result = (
            np.stack([result[(*lead, slice(*span))].mean(axis) for span in spans], axis)
            if spans
            else result[(*lead, slice(0, 0))]
        )
    return result


def adaptive_avg_pool_gradient(grad, spatial):
    """The gradient of `adaptive_avg_pool` with respect to its input of the given spatial sizes."""
    result = grad
    for axis, size in enumerate(spatial, start=2):
        spans = _adaptive_spans(size, result.shape[axis])
        lead = (slice(None),) * axis
        spread = np.zeros((*result.shape[:axis], size, *result.shape[axis + 1 :]), grad.dtype)
        for i, (start, stop) in enumerate(spans):
            spread[(*lead, slice(start, stop))] += result[(*lead, slice(i, i + 1))] / (stop - start)
        result = spread
    return result


def adaptive_max_pool(input, out):
    """(maxima, their flat places) over windows that divide the spatial dimensions into `out` parts each.

    NaN is the largest; the first of equals wins, but the last NaN.
    """
    spatial = input.shape[2:]
    rank = len(spatial)
    best = np.empty(input.shape[:2] + tuple(out), input.dtype)
    places = np.empty(best.shape, np.int64)
    spans = [_adaptive_spans(n, o) for n, o in zip(spatial, out, strict=True)]
    for index in itertools.product(*map(range, out)):
        span = [spans[axis][i] for axis, i in enumerate(index)]
        window = input[(..., *(slice(*s) for s in span))]
        flat = window.reshape(*window.shape[:2], math.prod(window.shape[2:]))
        arg = flat.argmax(-1)
        nan = np.isnan(flat)
        if nan.any():
            arg = np.where(nan.any(-1), flat.shape[-1] - 1 - nan[..., ::-1].argmax(-1), arg)
        best[(..., *index)] = np.take_along_axis(flat, arg[..., None], -1)[..., 0]
        local = np.unravel_index(arg, window.shape[2:])
        steps = [math.prod(spatial[i + 1 :]) for i in range(rank)]
        places[(..., *index)] = sum((c + s[0]) * step for c, s, step in zip(local, span, steps, strict=True))
    return best, places
