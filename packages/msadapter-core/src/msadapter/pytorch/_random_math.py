"""The arithmetic under PyTorch's CPU random numbers: what turns uniform draws into samples, bit for bit.

A sample agrees only if every rounding does. The measure is PyTorch's AVX2 build, which fuses multiplications
with additions and computes float32 logarithms and sines with Cephes' polynomials. Which draws feed which
function is in `_random_streams`.
"""

import math

import numpy as np


def fma32(a, b, c):
    """float32 `a * b + c` rounded once; `b` and `c` are float32 arrays or numbers that float32 holds exactly.

    The product is exact in float64. The sum is rounded twice, which shows in about one of 2**29 results.
    """
    wide = np.multiply(a, b, dtype=np.float64)
    wide += c
    return wide.astype(np.float32)


def fma64(a, b, c):
    """float64 `a * b + c` rounded once, `b` and `c` numbers: from the exact errors of both operations."""
    if b == 1:
        return a + c
    product = a * b
    plain = product + c
    if c == 0:
        return plain
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    product_error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    back = plain - product
    sum_error = (product - (plain - back)) + (c - back)
    exact = plain + (sum_error + product_error)
    return np.where(np.isfinite(exact), exact, plain)  # splitting overflows near the end of the range


def _high_half(value):
    """The upper 26 bits of a float64's significand."""
    shifted = value * 134217729.0
    return shifted - (shifted - value)


def libm(ufunc, values, exact):
    """`ufunc(values)` in float64; `exact` gives the C library's last bit, which NumPy's SIMD loops may miss.

    A call of Python's per value is slow, so results that are rounded to a narrower dtype take NumPy's loop.
    """
    if not exact:
        return ufunc(values)
    return np.fromiter(map(_LIBM[ufunc], values.tolist()), np.float64, values.size)


def _exp(value):
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


_LIBM = {np.log: math.log, np.log1p: math.log1p, np.tan: math.tan, np.exp: _exp}


# --- normals from blocks of 16 ---


def box_muller(uniforms, mean, std):
    """Normals from a multiple of 16 uniforms in [0, 1), float32 or float64.

    In each block of 16 the first eight make the radius and the last eight the angle; out come eight cosines,
    then eight sines.
    """
    exact = uniforms.dtype == np.float64
    normals = np.empty_like(uniforms)
    for start in range(0, uniforms.size, _BLOCK):
        pairs = uniforms[start : start + _BLOCK].reshape(-1, 2, 8)
        out = normals[start : start + _BLOCK].reshape(-1, 2, 8)
        parts = _polar64 if exact else _polar32
        for half, part in enumerate(parts(1 - pairs[:, 0].ravel(), pairs[:, 1].ravel())):
            out[:, half] = (fma64 if exact else fma32)(part, std, mean).reshape(-1, 8)
    return normals


_BLOCK = 32768  # uniforms at a time: the temporaries stay in the cache


def _polar64(u1, u2):
    radius = np.sqrt(-2 * libm(np.log, u1, exact=True))
    angle = 2 * math.pi * u2  # NumPy's float64 sine and cosine are the C library's
    return radius * np.cos(angle), radius * np.sin(angle)


def _polar32(u1, u2):
    radius = np.sqrt(np.float32(-2) * _log32(u1))
    sine, cosine = _sincos32(np.float32(2 * math.pi) * u2)
    return radius * cosine, radius * sine


def _singles(*values):
    """float32 constants, as Python numbers so that they mix with float64 arrays."""
    return [float(np.float32(value)) for value in values]


# Cephes' logf and sinf/cosf in the form PyTorch vectorises them: coefficients from the highest power down.
_LOG = _singles(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_COS = _singles(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = _singles(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_PI_4_HIGH, _PI_4_MIDDLE = np.float32(-0.78515625), np.float32(-2.4187564849853515625e-4)
(_PI_4_LOW,) = _singles(-3.77489497744594108e-8)
_FOUR_OVER_PI = np.float32(1.27323954473516)
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_MANTISSA = np.int32(0x7FFFFF)


def _horner32(coefficients, x):
    """A polynomial in float32, one fused multiply-add a step, with `x` widened once for all of them."""
    wide_x = x.astype(np.float64)
    wide = wide_x * coefficients[0]
    wide += coefficients[1]
    value = wide.astype(np.float32)
    for coefficient in coefficients[2:]:
        np.multiply(value, wide_x, out=wide)
        wide += coefficient
        np.copyto(value, wide, casting="same_kind")
    return value


def _log32(u):
    """log(u), u in (0, 1]: `u = m * 2**e` with m in [sqrt(1/2), sqrt(2)), then a polynomial in m - 1."""
    bits = u.view(np.int32) - _SQRT_HALF_BITS
    exponent = (bits >> np.int32(23)).astype(np.float32)
    bits &= _MANTISSA
    bits += _SQRT_HALF_BITS
    x = bits.view(np.float32)
    x -= np.float32(1)
    square = x * x
    y = _horner32(_LOG, x)
    y *= x
    y = fma32(y, square, exponent * _LN2_LOW)
    square *= np.float32(0.5)
    y -= square
    x += y
    exponent *= _LN2_HIGH  # exact: few bits, as are the two larger parts of pi/4 below
    x += exponent
    return x


def _sincos32(angle):
    """(sin, cos) of an angle in [0, 2 pi): reduced by multiples of pi/2, then one polynomial each."""
    octant = (angle * _FOUR_OVER_PI).astype(np.int32)
    octant += np.int32(1)
    octant &= np.int32(~1)
    turns = octant.astype(np.float32)
    x = turns * _PI_4_HIGH
    x += angle
    x += turns * _PI_4_MIDDLE
    x = fma32(turns, _PI_4_LOW, x)
    square = x * x
    cosine = _horner32(_COS, square)
    cosine *= square
    cosine = fma32(cosine, square, np.float32(-0.5) * square)
    cosine += np.float32(1)
    sine = _horner32(_SIN, square)
    sine *= square
    sine = fma32(sine, x, x)
    _turn(sine.view(np.int32), cosine.view(np.int32), octant)
    return sine, cosine


def _turn(sine, cosine, octant):
    """Exchange and negate, in place on the bits (five times faster than np.where), to undo the reduction."""
    exchange = sine ^ cosine
    exchange &= -((octant >> np.int32(1)) & np.int32(1))
    sine ^= exchange
    cosine ^= exchange
    sine ^= (octant & np.int32(4)) << np.int32(29)
    cosine ^= ((octant + np.int32(2)) & np.int32(4)) << np.int32(29)


# --- samplers that draw until they accept: one value each ---
# `uniform()` and `normal()` give the next float64 draw. `real` is the type of the arguments, np.float32 or
# np.float64: PyTorch computes a part of gamma and binomial in it, and its roundings decide what is accepted.


def sample_poisson(rate, uniform):
    """One Poisson count: products of uniforms below a rate of 10, Hoermann's PTRS rejection from there."""
    if rate == 0:
        return 0
    if rate < 10:
        limit = math.exp(-rate)
        count = 0
        product = uniform()
        while product > limit:
            count += 1
            product *= uniform()
        return count
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    accept = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniform() - 0.5
        v = uniform()
        edge = 0.5 - abs(u)
        count = math.floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= accept:
            return count
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        density = -rate + count * math.log(rate) - math.lgamma(count + 1)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b) <= density:
            return count


def sample_binomial(count, probability, uniform):
    """Successes in `count` trials: geometric gaps added up, or BTRS where ten or more are expected."""
    real = type(count)
    if count <= 0 or probability <= 0:
        return 0
    if probability >= 1:
        return count
    if not probability <= 0.5:
        if probability != probability:
            return math.nan
        return count - sample_binomial(count, real(1.0 - float(probability)), uniform)
    if count * probability >= 10:
        return _binomial_by_rejection(count, probability, uniform)
    log_failure = float(np.log1p(-probability))
    successes, trials = -1, 0.0
    while trials <= count:
        successes += 1
        trials += math.ceil(math.log(uniform()) / log_failure)
    return successes


def _binomial_by_rejection(count, probability, uniform):
    """Hoermann's BTRS rejection."""
    real = type(count)
    one = real(1)
    stddev = float(np.sqrt(count * probability * (one - probability)))
    b = 1.15 + 2.53 * stddev
    a = -0.0873 + 0.0248 * b + 0.01 * float(probability)
    centre = float(count * probability) + 0.5
    accept = 0.92 - 4.2 / b
    odds = float(probability / (one - probability))
    alpha = (2.83 + 5.1 / b) * stddev
    mode = float(np.floor((count + one) * probability))
    n = float(count)
    while True:
        u = uniform() - 0.5
        v = uniform()
        edge = 0.5 - abs(u)
        k = float(real(math.floor((2 * a / edge + b) * u + centre))) if edge else -1.0
        if k < 0 or k > n:
            continue
        if edge >= 0.07 and v <= accept:
            return k
        left = float(count - real(k) + one)
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
            + float(count + one) * math.log((n - mode + 1) / left)
            + (k + 0.5) * math.log(odds * left / float(real(k) + one))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if math.log(v * alpha / (a / (edge * edge) + b)) <= bound:
            return k


def _stirling_tail(k):
    """log(k!) minus Stirling's formula for it: tabulated below 10, three terms of the series from there."""
    if k < 10:
        return _STIRLING_TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


_STIRLING_TAILS = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def sample_gamma(alpha, uniform, normal):
    """One Gamma(alpha, 1) value, alpha of type `real`: Marsaglia and Tsang's method, boosted below 1."""
    real = type(alpha)
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = math.pow(1 - uniform(), float(real(1) / alpha))
        alpha = alpha + real(1)
    d = float(alpha - real(np.float32(1) / np.float32(3)))
    c = 1.0 / math.sqrt(9.0 * d)
    squeeze = float(np.float32(0.0331))
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - uniform()
        square = x * x
        if u < 1.0 - squeeze * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v
