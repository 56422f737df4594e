"""A line search for a step size that satisfies the strong Wolfe conditions."""

import math

_DECREASE, _CURVATURE = 1e-4, 0.9
_SMALLEST_CHANGE = 1e-9


class _Point:
    """A step size with loss, gradient and slope there."""

    __slots__ = ("size", "loss", "gradient", "slope")

    def __init__(self, size, loss, gradient, slope):
        self.size, self.loss, self.gradient, self.slope = size, loss, gradient, slope


def strong_wolfe(evaluate, size, direction, loss, gradient, slope, max_steps):
    """Search along `direction` from loss, gradient and slope at 0, `size` the first guess.

    `evaluate(size)` gives loss and gradient. Returns (loss, gradient, size, number of evaluations).
    """
    start = _Point(0, loss, gradient.clone(), slope)

    def at(size):
        loss, gradient = evaluate(size)
        return _Point(size, loss, gradient, (gradient * direction).sum().item())

    found, bracket, steps = _bracket(at, start, size, max_steps)
    evaluations = steps + 1
    if found is None:
        width = direction.abs().max().item()
        found, more = _zoom(at, start, bracket, width, steps, max_steps)
        evaluations += more
    return found.loss, found.gradient, found.size, evaluations


def _too_high(point, start):
    return point.loss > start.loss + _DECREASE * point.size * start.slope


def _flat_enough(point, start):
    return abs(point.slope) <= -_CURVATURE * start.slope


def _bracket(at, start, size, max_steps):
    """(a point that satisfies the conditions, None) or (None, two points that have one between them), and the steps."""
    previous, point = start, at(size)
    steps = 0
    while steps < max_steps:
        if _too_high(point, start) or (steps > 1 and point.loss >= previous.loss):
            return None, [previous, point], steps
        if _flat_enough(point, start):
            return point, None, steps
        if point.slope >= 0:
            return None, [previous, point], steps
        bounds = (point.size + 0.01 * (point.size - previous.size), point.size * 10)
        size = _cubic_minimum(previous, point, bounds)
        previous, point = point, at(size)
        steps += 1
    return None, [start, point], steps


def _zoom(at, start, bracket, width, steps, max_steps):
    """Shrink the bracket around the minimum; returns its better end and the evaluations."""
    evaluations = 0
    stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while steps < max_steps and abs(bracket[1].size - bracket[0].size) * width >= _SMALLEST_CHANGE:
        size, stuck = _inside(_cubic_minimum(*bracket), bracket, stuck)
        point = at(size)
        evaluations += 1
        steps += 1
        if _too_high(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = _flat_enough(point, start)
        if not done and point.slope * (bracket[high].size - bracket[low].size) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if done:
            break
    return bracket[low], evaluations


def _inside(size, bracket, stuck):
    """`size` moved away from an end of the bracket where the last trial did not get away from it either."""
    lowest, highest = sorted(point.size for point in bracket)
    margin = 0.1 * (highest - lowest)
    if min(highest - size, size - lowest) >= margin:
        return size, False
    if not stuck and lowest < size < highest:
        return size, True
    return (highest - margin if abs(size - highest) < abs(size - lowest) else lowest + margin), False


def _cubic_minimum(first, second, bounds=None):
    """Where the cubic through both points' losses and slopes is smallest, within `bounds`."""
    lowest, highest = bounds or sorted((first.size, second.size))
    a, b = (first, second) if first.size <= second.size else (second, first)
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / (first.size - second.size)
    square = d1 * d1 - first.slope * second.slope
    if not square >= 0:
        return (lowest + highest) / 2.0
    d2 = math.sqrt(square)
    position = b.size - (b.size - a.size) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(position, lowest), highest)
