"""Window functions: `torch.hann_window` and its kind, and the symmetric ones of `torch.signal.windows`."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._ops.factories import factory
from msadapter.pytorch._ops.shapes import to_int


def _cosines(length, period, coefficients):
    """a0 - a1 cos(x) + a2 cos(2x) ... over `length` points of a period of `period` steps."""
    phase = 2 * np.pi / period * np.arange(length) if length > 1 else np.zeros(length)
    return sum((-1) ** k * a * np.cos(k * phase) for k, a in enumerate(coefficients))


def _kaiser(length, period, beta):
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * np.arange(length) / period - 1) ** 2, 0))) / np.i0(beta)


def _bartlett(length, period):
    return 1 - np.abs(2 * np.arange(length) / period - 1)


# --- torch.*_window: periodic unless told otherwise -----------------------------------------------------------------


def _windowed(name, dtype, length, periodic, values):
    """`values(length, period)` in `dtype`, the window's own checks done."""
    length = _whole(name, length)
    dtype = _dtype.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if length < 2:
        return np.ones(length, _dtype.NUMPY[dtype])
    return values(length, length if periodic else length - 1).astype(_dtype.NUMPY[dtype])


def _whole(name, length):
    try:
        return to_int(length)
    except TypeError:
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, not {type(length).__name__}"
        ) from None


@factory(method=False, takes_out=False)
def hann_window(window_length, periodic=True, *, dtype=None):
    """The Hann window of `window_length` points; the first of one more point where `periodic`."""
    return _windowed("hann_window", dtype, window_length, periodic, lambda n, p: _cosines(n, p, (0.5, 0.5)))


@factory(method=False, takes_out=False)
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None):
    """The Hamming window `alpha - beta * cos(x)`."""
    return _windowed(
        "hamming_window", dtype, window_length, periodic, lambda n, p: _cosines(n, p, (alpha, beta))
    )


@factory(method=False, takes_out=False)
def blackman_window(window_length, periodic=True, *, dtype=None):
    """The Blackman window."""
    return _windowed(
        "blackman_window", dtype, window_length, periodic, lambda n, p: _cosines(n, p, _BLACKMAN)
    )


@factory(method=False, takes_out=False)
def bartlett_window(window_length, periodic=True, *, dtype=None):
    """The triangular window."""
    return _windowed("bartlett_window", dtype, window_length, periodic, _bartlett)


@factory(method=False, takes_out=False)
def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None):
    """The Kaiser window of shape `beta`."""
    return _windowed("kaiser_window", dtype, window_length, periodic, lambda n, p: _kaiser(n, p, beta))


_BLACKMAN = (0.42, 0.5, 0.08)
_NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)

# --- torch.signal.windows: symmetric unless told otherwise ----------------------------------------------------------

signal_window = factory(namespace="torch.signal.windows", method=False, takes_out=False)


def _signal(name, M, sym, dtype, values):
    """`values(length, period)` in `dtype`, the checks of torch.signal.windows done."""
    dtype = _dtype.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if dtype not in (_dtype.float32, _dtype.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if not M:
        return np.empty(0, _dtype.NUMPY[dtype])
    period = (M - 1 if sym else M) or 1
    return values(M, period).astype(_dtype.NUMPY[dtype])


@signal_window
def general_cosine(M, *, a, sym=True, dtype=None):
    """The sum of cosines with the coefficients `a`, their signs alternating. Raises TypeError and ValueError for `a`."""
    if not isinstance(a, (list, tuple)) and not hasattr(a, "__iter__"):
        raise TypeError(f"Coefficients must be a list/tuple. Received: {type(a).__name__}")
    if not len(a):
        raise ValueError("Coefficients cannot be empty")
    if M == 1:
        return _signal("general_cosine", M, sym, dtype, lambda n, p: np.ones(1))
    return _signal("general_cosine", M, sym, dtype, lambda n, p: _cosines(n, p, a))


def _cosine_window(name, coefficients, doc):
    @factory(name=name, namespace="torch.signal.windows", method=False, takes_out=False)
    def window(M, *, sym=True, dtype=None):
        return general_cosine.record.body(M, a=coefficients, sym=sym, dtype=dtype)

    window.__doc__ = window.record.body.__doc__ = doc


_cosine_window("hann", (0.5, 0.5), "The Hann window of `M` points; periodic unless `sym`.")
_cosine_window("hamming", (0.54, 0.46), "The Hamming window of `M` points; periodic unless `sym`.")
_cosine_window("blackman", _BLACKMAN, "The Blackman window of `M` points; periodic unless `sym`.")
_cosine_window("nuttall", _NUTTALL, "The Nuttall window of `M` points; periodic unless `sym`.")


@signal_window
def general_hamming(M, *, alpha=0.54, sym=True, dtype=None):
    """The window `alpha - (1 - alpha) * cos(x)`."""
    return general_cosine.record.body(M, a=(alpha, 1 - alpha), sym=sym, dtype=dtype)


@signal_window
def bartlett(M, *, sym=True, dtype=None):
    """The triangular window."""
    return _signal("bartlett", M, sym, dtype, _bartlett if M > 1 else lambda n, p: np.ones(1))


@signal_window
def cosine(M, *, sym=True, dtype=None):
    """The first half of a sine wave, sampled between the ends."""
    middle = (M if sym or M < 2 else M + 1) / np.pi
    return _signal("cosine", M, sym, dtype, lambda n, p: np.sin((np.arange(n) + 0.5) / middle))


@signal_window
def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None):
    """`exp(-|n - center| / tau)`; the center is the middle, which a symmetric window must keep."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _signal(
        "exponential", M, sym, dtype,
        lambda n, p: np.exp(-np.abs(np.arange(n) - (_middle(M, sym) if center is None else center)) / tau),
    )  # fmt: skip


@signal_window
def gaussian(M, *, std=1.0, sym=True, dtype=None):
    """`exp(-(n / std)**2 / 2)` around the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _signal(
        "gaussian", M, sym, dtype, lambda n, p: np.exp(-0.5 * ((np.arange(n) - _middle(M, sym)) / std) ** 2)
    )


@signal_window
def kaiser(M, *, beta=12.0, sym=True, dtype=None):
    """The Kaiser window of shape `beta`, which must not be negative."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _signal(
        "kaiser", M, sym, dtype, (lambda n, p: _kaiser(n, p, beta)) if M > 1 else lambda n, p: np.ones(1)
    )


def _middle(M, sym):
    return (M - 1 if sym and M > 1 else M) / 2 if M > 1 else 0
