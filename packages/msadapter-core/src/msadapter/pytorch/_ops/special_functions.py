"""torch.special: gamma functions, Bessel functions, the normal distribution, orthogonal polynomials.

SciPy computes them; the gradients are formulas of the same functions (`m.special` is torch.special or scipy.special).
"""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.elementwise import elementwise
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.arrays import wide
from msadapter.pytorch._ops.elementary import sigmoid
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import floats_only, no_complex, promoting, unary
from msadapter.pytorch._ops.shapes import to_int

_SPECIAL = {"namespace": "torch.special", "method": False}
_REASON = (
    "MindSpore's operator, where there is one, takes no integers and bfloat16, and float64 partly in float32"
)
_HALVES = (_dtype.float16, _dtype.bfloat16)


def _scipy(name):
    """The function of scipy.special, which is imported when it is first called."""
    return lambda *args: getattr(formula.special, name)(*args)


def _nan_at_infinity(name):
    """The function of scipy.special, NaN at infinity: PyTorch's series end there in inf * 0."""
    return lambda input: np.where(
        np.isinf(input), input.dtype.type(np.nan), getattr(formula.special, name)(input)
    )


def _refuse_halves(dtype, kernel_name):
    if dtype in _HALVES:
        raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")


# --- of one argument ------------------------------------------------------------------------------------------------


def _unary(name, doc, function, slope=None, *, kernel_name=None, halves=False, **facts):
    """Register a function of one argument. `slope(m, input, out)`: its derivative; None where PyTorch has none."""
    kernel_name = kernel_name or f"{name}_cpu"
    formulas = {} if slope is None else {"input": lambda m, grad, input, out: grad * slope(m, input, out)}
    chosen = elementwise(lambda input: function(input), reason=_REASON, **formulas)
    compute = unary(lambda input: chosen(input), refuses=no_complex(kernel_name))

    def body(input):
        if not halves:
            _refuse_halves(input.dtype, kernel_name)
        return compute(input)

    body.__doc__ = doc
    return op(body, name=name, **(facts or _SPECIAL))


def _i1_slope(m, input, out):
    quotient = out / m.where(input == 0, 1.0, input)
    return m.where(input == 0, 0.5, m.special.i0(input) - quotient)


def _i1e_slope(m, input, out):
    quotient = out / m.where(input == 0, 1.0, input)
    return m.where(input == 0, 0.5, m.special.i0e(input) - quotient - out * m.sgn(input))


lgamma = _unary(
    "lgamma",
    "The logarithm of the absolute value of the gamma function.",
    lambda input: np.where(np.isinf(input), np.abs(input), formula.special.gammaln(input)),
    lambda m, input, out: m.special.digamma(input),
    kernel_name="lgamma_vml_cpu",
    halves=True,
    inplace=True,
)
digamma = _unary(
    "digamma",
    "The derivative of `lgamma`.",
    _scipy("digamma"),
    lambda m, input, out: m.special.polygamma(1, input),
    kernel_name="digamma",
    halves=True,
    inplace=True,
    also=("torch.special",),
)
i0 = _unary(
    "i0",
    "The modified Bessel function of the first kind, of order 0.",
    _nan_at_infinity("i0"),
    lambda m, input, out: m.special.i1(input),
    kernel_name="i0_vml_cpu",
    halves=True,
    inplace=True,
    also=("torch.special",),
)
_unary(
    "i0e",
    "`exp(-|input|) * i0(input)`.",
    _scipy("i0e"),
    lambda m, input, out: m.special.i1e(input) - m.sgn(input) * out,
    halves=True,
    node="SpecialI0EBackward0",
    **_SPECIAL,
)
_unary(
    "i1",
    "The modified Bessel function of the first kind, of order 1.",
    _nan_at_infinity("i1"),
    _i1_slope,
    halves=True,
    node="SpecialI1Backward0",
    **_SPECIAL,
)
_unary(
    "i1e",
    "`exp(-|input|) * i1(input)`.",
    _scipy("i1e"),
    _i1e_slope,
    halves=True,
    node="SpecialI1EBackward0",
    **_SPECIAL,
)
_unary(
    "entr",
    "`-input * log(input)`: 0 at 0, -inf below.",
    _scipy("entr"),
    lambda m, input, out: -1 - m.log(input),
    halves=True,
    node="SpecialEntrBackward0",
    **_SPECIAL,
)
_unary(
    "erfcx",
    "`exp(input**2) * erfc(input)`.",
    _scipy("erfcx"),
    lambda m, input, out: 2 * input * out - 2 / math.sqrt(math.pi),
    node="SpecialErfcxBackward0",
    **_SPECIAL,
)
_unary(
    "ndtr",
    "The area under the standard normal density left of `input`.",
    _scipy("ndtr"),
    lambda m, input, out: m.exp(-0.5 * input * input) / math.sqrt(2 * math.pi),
    kernel_name="erf_vml_cpu",
    halves=True,
    node="MulBackward1",
    **_SPECIAL,
)
_unary(
    "log_ndtr",
    "The logarithm of `ndtr`, exact far to the left too.",
    _scipy("log_ndtr"),
    lambda m, input, out: math.sqrt(2 / math.pi) / m.special.erfcx(input * -math.sqrt(0.5)),
    node="SpecialLogNdtrBackward0",
    **_SPECIAL,
)
_unary(
    "ndtri",
    "The inverse of `ndtr`.",
    _scipy("ndtri"),
    lambda m, input, out: math.sqrt(2 * math.pi) * m.exp(0.5 * out * out),
    node="SpecialNdtriBackward0",
    **_SPECIAL,
)

_BESSEL = (
    ("airy_ai", lambda x: np.where(np.isinf(x), x.dtype.type(np.nan), formula.special.airy(x)[0]), "The Airy function Ai"),
    ("bessel_j0", _nan_at_infinity("j0"), "The Bessel function of the first kind, of order 0"),
    ("bessel_j1", _nan_at_infinity("j1"), "The Bessel function of the first kind, of order 1"),
    ("bessel_y0", _nan_at_infinity("y0"), "The Bessel function of the second kind, of order 0"),
    ("bessel_y1", _nan_at_infinity("y1"), "The Bessel function of the second kind, of order 1"),
    ("modified_bessel_i0", _nan_at_infinity("i0"), "The modified Bessel function of the first kind, of order 0"),
    ("modified_bessel_i1", _nan_at_infinity("i1"), "The modified Bessel function of the first kind, of order 1"),
    ("modified_bessel_k0", _scipy("k0"), "The modified Bessel function of the second kind, of order 0"),
    ("modified_bessel_k1", _scipy("k1"), "The modified Bessel function of the second kind, of order 1"),
    ("scaled_modified_bessel_k0", _scipy("k0e"), "`exp(input)` times the modified Bessel function of the second kind, of order 0"),
    ("scaled_modified_bessel_k1", _scipy("k1e"), "`exp(input)` times the modified Bessel function of the second kind, of order 1"),
    ("spherical_bessel_j0", lambda x: formula.special.spherical_jn(0, x).astype(x.dtype), "The spherical Bessel function of the first kind, of order 0"),
)  # fmt: skip
for _name, _of_array, _what in _BESSEL:
    _unary(_name, _what + ". It has no derivative.", _of_array)


# --- polygamma and the multivariate gamma function ------------------------------------------------------------------


@kernel(reason=_REASON, saves=("input",))
def _polygamma(n, input):
    return formula.special.polygamma(n, wide(input)).astype(input.dtype)


@_polygamma.gradient
def _(ctx, grad):
    return grad * _polygamma(ctx.args[0] + 1, ctx.saved[0])


@unary(refuses=no_complex("trigamma"))
def _derivative_of_digamma(input, n):
    return _polygamma(n, input) if n else digamma(input)


def _checked_order(n):
    if not isinstance(n, int):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n. Received: {n}")
    return n


@op(method=False, also=("torch.special",))
def polygamma(n, input):
    """The derivative of order `n` of `digamma`. Raises RuntimeError for negative `n`."""
    return _derivative_of_digamma(input, _checked_order(n))


@op(name="polygamma", namespace="torch.Tensor", function=False, inplace=True, out=False)
def _polygamma_method(input, n):
    """`torch.polygamma(n, input)`."""
    return _derivative_of_digamma(input, _checked_order(n))


@op(inplace=True)
def mvlgamma(input, p):
    """The logarithm of the gamma function of matrices of `p` dimensions. Raises RuntimeError for `p` below 1."""
    p = to_int(p)
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1. Received: {p}")
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    if not input.dtype.is_floating_point:
        input = input.to(_dtype.get_default_dtype())
    shifts = input.new_tensor([-0.5 * i for i in reversed(range(p))])
    return lgamma(input.unsqueeze(-1) + shifts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


# --- of two arguments -----------------------------------------------------------------------------------------------


def _no_derivative(name):
    def formula_of_none(m, grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula_of_none


def _incomplete_gamma(name, function, sign, doc):
    def density(m, grad, input, other):
        logarithm = (input - 1) * m.log(other) - other - m.special.gammaln(input)
        return grad * (sign * m.exp(logarithm))

    chosen = elementwise(
        lambda input, other: getattr(formula.special, function)(input, other).astype(input.dtype),
        reason=_REASON,
        input=_no_derivative(f"{name}: input"),
        other=density,
    )
    compute = promoting(
        lambda input, other: chosen(input, other), numbers=False, refuses=floats_only(f"{name}_cpu")
    )

    def body(input, other):
        return compute(input, other)

    body.__doc__ = doc
    return op(body, name=name, inplace=True)


igamma = _incomplete_gamma(
    "igamma",
    "gammainc",
    1,
    "The regularized lower incomplete gamma function of order `input`. Raises NotImplementedError for integers.",
)
igammac = _incomplete_gamma("igammac", "gammaincc", -1, "`1 - igamma(input, other)`, exact near 0 too.")


@op(node="SpecialXlog1PyBackward0", **_SPECIAL)
@promoting(floating=True, refuses=no_complex("xlog1py_cpu"))
def xlog1py(input, other):
    """`input * log1p(other)`, and 0 where `input` is 0 and `other` is not NaN."""
    return _xlog1py(input, other)


_xlog1py = elementwise(
    lambda input, other: formula.where(
        np.asarray((input == 0) & ~np.isnan(other)), 0, input * np.log1p(other)
    ),
    reason="MindSpore has no operator for it",
    input=lambda m, grad, input, other: m.where(
        (input == 0) & (other <= -1), m.zeros_like(grad), grad * m.log1p(other)
    ),
    other=lambda m, grad, input, other: grad * (input / (other + 1)),
)


def _binary(name, function, doc, second="other", **formulas):
    """Register a function of two arguments, of float32 and float64 alone; no formulas: it has no derivative."""
    kernel_name = f"{name}_cpu"
    chosen = elementwise(function, reason="MindSpore has no operator for it", **formulas)
    compute = promoting(
        lambda input, other: chosen(input, other),
        floating=True,
        check=lambda dtype, *operands: _refuse_halves(dtype, kernel_name),
        refuses=no_complex(kernel_name),
    )

    def of_other(input, other):
        return compute(input, other)

    def of_degree(input, n):
        return compute(input, n)

    body = of_degree if second == "n" else of_other
    body.__doc__ = doc
    node = "Special" + name.capitalize() + "Backward0"
    return op(body, name=name, node=node, **_SPECIAL)


_binary(
    "zeta",
    lambda input, other: formula.special.zeta(input, other),
    "The Hurwitz zeta function: the sum of `(k + other)**-input` over k = 0, 1, ...",
    input=_no_derivative("zeta"),
    other=lambda m, grad, input, other: grad * -input * m.special.zeta(input + 1, other),
)


def _polynomial(first, step):
    """The polynomials with P0 = 1, P1 = first(x) and P(k+1) = step(k, x, P(k), P(k-1)), of degree trunc(n)."""

    def evaluate(input, other):
        dtype = np.result_type(*(a for a in (input, other) if isinstance(a, np.ndarray)))
        x, n = np.broadcast_arrays(np.asarray(input, np.float64), np.trunc(np.asarray(other, np.float64)))
        before, current = np.ones(x.shape), first(x)
        result = np.where(n == 0, before, np.where(n == 1, current, 0.0))
        for k in range(1, int(np.max(n[np.isfinite(n)], initial=0))):
            before, current = current, step(k, x, current, before)
            result = np.where(n == k + 1, current, result)
        return result.astype(dtype)

    return evaluate


def _chebyshev(k, x, current, before):
    return 2 * x * current - before


def _shifted(first):
    """Over [0, 1] in place of [-1, 1]."""
    return _polynomial(
        lambda x: first(2 * x - 1), lambda k, x, current, before: _chebyshev(k, 2 * x - 1, current, before)
    )


_FIRST_OF_CHEBYSHEV = {
    "t": (lambda x: x, "first"),
    "u": (lambda x: 2 * x, "second"),
    "v": (lambda x: 2 * x - 1, "third"),
    "w": (lambda x: 2 * x + 1, "fourth"),
}
_NO_DERIVATIVE = "of degree `n` at `input`; 0 for negative `n`. It has no derivative."
for _letter, (_first, _ordinal) in _FIRST_OF_CHEBYSHEV.items():
    _kind = f"Chebyshev polynomial of the {_ordinal} kind"
    _binary(
        f"chebyshev_polynomial_{_letter}",
        _polynomial(_first, _chebyshev),
        f"The {_kind} {_NO_DERIVATIVE}",
        "n",
    )
    _binary(
        f"shifted_chebyshev_polynomial_{_letter}",
        _shifted(_first),
        f"The shifted {_kind} {_NO_DERIVATIVE}",
        "n",
    )
_binary(
    "hermite_polynomial_h",
    _polynomial(lambda x: 2 * x, lambda k, x, current, before: 2 * (x * current - k * before)),
    f"The physicist's Hermite polynomial {_NO_DERIVATIVE}",
    "n",
)
_binary(
    "hermite_polynomial_he",
    _polynomial(lambda x: x, lambda k, x, current, before: x * current - k * before),
    f"The probabilist's Hermite polynomial {_NO_DERIVATIVE}",
    "n",
)
_binary(
    "laguerre_polynomial_l",
    _polynomial(
        lambda x: 1 - x, lambda k, x, current, before: ((2 * k + 1 - x) * current - k * before) / (k + 1)
    ),
    f"The Laguerre polynomial {_NO_DERIVATIVE}",
    "n",
)
_binary(
    "legendre_polynomial_p",
    _polynomial(
        lambda x: x, lambda k, x, current, before: ((2 * k + 1) * x * current - k * before) / (k + 1)
    ),
    f"The Legendre polynomial {_NO_DERIVATIVE}",
    "n",
)


# --- further names --------------------------------------------------------------------------------------------------

for _name, _function in (
    ("expit", sigmoid),
    ("gammaln", lgamma),
    ("psi", digamma),
    ("multigammaln", mvlgamma),
    ("gammainc", igamma),
    ("gammaincc", igammac),
):
    op(_function.record.body, name=_name, node=_function.record.grad_name, **_SPECIAL)
