"""NumPy under the names that gradient formulas use: PyTorch's functions over arrays (`_engine.elementwise`).

Everything not defined here is numpy's function of that name; `special` is scipy.special.
"""

import numpy as np

_BRANCHLESS = 4096  # elements from which bit masks pay


def __getattr__(name):
    if name == "special":
        from scipy import special  # not above: it takes as long to import as all of ours

        return special
    return getattr(np, name)


def where(condition, input, other):
    """numpy.where; on a random mask up to five times as fast for elements of four bytes.

    NumPy's takes a branch per element, which the processor mispredicts half the time.
    """
    if condition.size < _BRANCHLESS:
        return np.where(condition, input, other)
    dtype = np.result_type(input, other)
    if dtype.itemsize != 4 or dtype.kind not in "fiu":
        return np.where(condition, input, other)
    mask = np.negative(condition.view(np.int8), dtype=np.int32)
    chosen, rest = (np.asarray(value, dtype).view(np.int32) for value in (input, other))
    if not rest.ndim and not rest:
        return (chosen & mask).view(dtype)
    bits = chosen ^ rest
    bits &= mask
    bits ^= rest
    return bits.view(dtype)


def clip(input, min, max):
    """`input` limited to [min, max], either of which may be None; NaN stays."""
    # Bounds first: NumPy gives the second operand where both are equal, and a zero its sign.
    result = input if min is None else np.maximum(min, input)
    return result if max is None else np.minimum(max, result)


def sgn(input):
    """-1, 0 or 1; `input / |input|` for complex, NaN as 0."""
    if input.dtype.kind == "c":
        size = np.abs(input)
        return np.where(size == 0, 0, input / size)
    return np.subtract(input > 0, input < 0, dtype=input.dtype)


def conj(input):
    """The conjugate of complex arrays; real ones as they are, where numpy's would copy."""
    return np.conj(input) if input.dtype.kind == "c" else input


def is_complex(input):
    """Whether the array is complex."""
    return input.dtype.kind == "c"


# erf(x) / x on [-4, 4] as a quotient of polynomials in x**2, highest power first: fitted by us to 7e-8, off by at most
# 4e-7 in float32. SciPy's function takes four times as long.
_ERF_ABOVE = (
    1.91079524e-08,
    -1.94194482e-06,
    1.47245838e-04,
    3.9893284e-03,
    0.0515213179,
    0.207099627,
    1.12837909,
)
_ERF_BELOW = (1.02077403e-03, 0.0149557106, 0.117959983, 0.516868523, 1.0)


def erf(input):
    """The error function."""
    if input.dtype != np.float32:
        from scipy import special  # not above: it takes as long to import as all of ours

        return special.erf(input)
    x = clip(input, -4, 4)
    square = x * x
    x *= _polynomial(square, _ERF_ABOVE)
    x /= _polynomial(square, _ERF_BELOW)
    return clip(x, -1, 1)


def _polynomial(x, coefficients):
    result = x * x.dtype.type(coefficients[0])
    for coefficient in coefficients[1:-1]:
        result += x.dtype.type(coefficient)
        result *= x
    result += x.dtype.type(coefficients[-1])
    return result


def sigmoid(input):
    """`1 / (1 + exp(-input))`."""
    result = np.negative(input)
    np.exp(result, out=result)
    result += 1
    return np.reciprocal(result, out=result)


def div(input, other, *, rounding_mode):
    """The quotient, rounded to "floor" or "trunc"."""
    return (
        np.floor_divide(input, other) if rounding_mode == "floor" else np.trunc(np.true_divide(input, other))
    )
