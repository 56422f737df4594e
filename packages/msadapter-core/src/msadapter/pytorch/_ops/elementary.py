"""Elementary functions of one tensor: exponential, logarithm, trigonometry, the error function and their kin.

All take float and (but for the error functions) complex; integers and bool compute in the default float dtype.
"""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch._engine.elementwise import analytic, elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import no_complex, unary

_LN2, _LN10 = math.log(2), math.log(10)


# --- exponentials and logarithms ------------------------------------------------------------------------------------


@op(inplace=True)
@unary
@on_cpu(analytic(np.exp, lambda m, out: out, reason="MindSpore's is off by 5e-6 and 0 below exp(-88)"))
def exp(input):
    """e to the power of `input`."""
    return ms.ops.exp(input)


def _exp2(input):
    return np.exp2(input) if input.dtype.kind != "c" else np.exp(input * _LN2)


@op(inplace=True, also=("torch.special",))
@unary
@on_cpu(analytic(_exp2, lambda m, out: out * _LN2, reason="MindSpore's takes 80 times as long"))
def exp2(input):
    """2 to the power of `input`."""
    return ms.mint.exp2(input)


@op(inplace=True, also=("torch.special",))
@unary
@on_cpu(analytic(np.expm1, lambda m, out: out + 1, reason="MindSpore's is 0 for small input"))
def expm1(input):
    """`exp(input) - 1`, exact for small input too."""
    return ms.mint.expm1(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.log, lambda m, input: 1 / input, reason="MindSpore's is off by 2e-5 near 1"))
def log(input):
    """The natural logarithm."""
    return ms.ops.log(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.log2, lambda m, input: 1 / (input * _LN2), reason="MindSpore's is off by 2e-5 near 1"))
def log2(input):
    """The logarithm to base 2."""
    return ms.mint.log2(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.log10, lambda m, input: 1 / (input * _LN10), reason="MindSpore's is off by 2e-5 near 1"))
def log10(input):
    """The logarithm to base 10."""
    return ms.mint.log10(input)


@op(inplace=True, also=("torch.special",))
@unary
@on_cpu(analytic(np.log1p, lambda m, input: 1 / (input + 1), reason="MindSpore's is 0 for small input"))
def log1p(input):
    """`log(1 + input)`, exact for small input too."""
    return ms.mint.log1p(input)


# --- trigonometry ---------------------------------------------------------------------------------------------------


@op(inplace=True)
@unary
@on_cpu(analytic(np.sin, lambda m, input: m.cos(input), reason="MindSpore's takes 10 times as long"))
def sin(input):
    """The sine of `input` in radians."""
    return ms.ops.sin(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.cos, lambda m, input: -m.sin(input), reason="MindSpore's takes 12 times as long"))
def cos(input):
    """The cosine of `input` in radians."""
    return ms.ops.cos(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.tan, lambda m, out: 1 + out * out, reason="MindSpore's takes 15 times as long"))
def tan(input):
    """The tangent of `input` in radians."""
    return ms.ops.tan(input)


@op(inplace=True, aliases=("arcsin",))
@unary
@on_cpu(
    analytic(
        np.arcsin,
        lambda m, input: 1 / m.sqrt(1 - input * input),
        reason="MindSpore's takes 30 times as long",
    )
)
def asin(input):
    """The inverse sine in radians; NaN outside [-1, 1]."""
    return ms.mint.asin(input)


@op(inplace=True, aliases=("arccos",))
@unary
@on_cpu(
    analytic(
        np.arccos,
        lambda m, input: -1 / m.sqrt(1 - input * input),
        reason="MindSpore's takes 30 times as long",
    )
)
def acos(input):
    """The inverse cosine in radians; NaN outside [-1, 1]."""
    return ms.mint.acos(input)


@op(inplace=True, aliases=("arctan",))
@unary
@on_cpu(
    analytic(np.arctan, lambda m, input: 1 / (input * input + 1), reason="MindSpore's takes 12 times as long")
)
def atan(input):
    """The inverse tangent in radians."""
    return ms.mint.atan(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.sinh, lambda m, input: m.cosh(input), reason="MindSpore's takes 35 times as long"))
def sinh(input):
    """The hyperbolic sine."""
    return ms.ops.sinh(input)


@op(inplace=True)
@unary
@on_cpu(analytic(np.cosh, lambda m, input: m.sinh(input), reason="MindSpore's takes 25 times as long"))
def cosh(input):
    """The hyperbolic cosine."""
    return ms.ops.cosh(input)


@op(inplace=True, also=("torch.nn.functional",))
@unary
@on_cpu(analytic(np.tanh, lambda m, out: 1 - out * out, reason="MindSpore's is off by 1e-4"))
def tanh(input):
    """The hyperbolic tangent."""
    return ms.ops.tanh(input)


@op(inplace=True, aliases=("arcsinh",))
@unary
@on_cpu(
    analytic(
        np.arcsinh,
        lambda m, input: 1 / m.sqrt(input * input + 1),
        reason="MindSpore's takes 29 times as long",
    )
)
def asinh(input):
    """The inverse hyperbolic sine."""
    return ms.mint.asinh(input)


def _acosh_slope(m, input):
    if not m.is_complex(input):
        return 1 / m.sqrt(input * input - 1)
    # Two roots: that of input**2 - 1 lies on the wrong branch in the left half plane.
    return 1 / (m.sqrt(input - 1) * m.sqrt(input + 1))


@op(inplace=True, aliases=("arccosh",))
@unary
@on_cpu(
    analytic(
        np.arccosh,
        _acosh_slope,
        reason="MindSpore's takes 1.5 times as long",
    )
)
def acosh(input):
    """The inverse hyperbolic cosine; NaN below 1."""
    return ms.mint.acosh(input)


@op(inplace=True, aliases=("arctanh",))
@unary
@on_cpu(
    analytic(
        np.arctanh, lambda m, input: 1 / (1 - input * input), reason="MindSpore's takes 43 times as long"
    )
)
def atanh(input):
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    return ms.mint.atanh(input)


def _sinc(input):
    return np.sinc(input)


def _sinc_slope(m, input):
    x = input * math.pi
    return m.where(input == 0, m.zeros_like(input), (m.cos(x) * x - m.sin(x)) / (x * input))


@op(inplace=True, also=("torch.special",))
@unary
@on_cpu(analytic(_sinc, _sinc_slope, reason="MindSpore's takes 8 times as long"))
def sinc(input):
    """`sin(pi * input) / (pi * input)`, and 1 at 0."""
    return ms.mint.sinc(input)


@op(inplace=True)
@unary(refuses=no_complex(RuntimeError("deg2rad is not supported for complex tensors.")))
@on_cpu(
    elementwise(
        np.deg2rad,
        reason="MindSpore's computes float64 in float32",
        input=lambda m, grad: grad * (math.pi / 180),
    )
)
def deg2rad(input):
    """Degrees as radians."""
    return input * (math.pi / 180)


@op(inplace=True)
@unary(refuses=no_complex(RuntimeError("rad2deg is not supported for complex tensors.")))
@on_cpu(
    elementwise(
        np.rad2deg,
        reason="MindSpore's computes float64 in float32",
        input=lambda m, grad: grad * (180 / math.pi),
    )
)
def rad2deg(input):
    """Radians as degrees."""
    return input * (180 / math.pi)


# --- sigmoid and error functions ------------------------------------------------------------------------------------


@op(inplace=True, also=("torch.nn.functional",))
@unary
@on_cpu(analytic(formula.sigmoid, lambda m, out: (1 - out) * out, reason="MindSpore's is off by 2e-6"))
def sigmoid(input):
    """`1 / (1 + exp(-input))`."""
    return ms.ops.sigmoid(input)


def _logit(input, eps):
    clamped = input if eps is None else np.clip(input, eps, 1 - eps)
    return np.log(clamped / (1 - clamped))


def _logit_gradient(m, grad, input, eps):
    low, high = (0, 1) if eps is None else (eps, 1 - eps)
    outside = math.nan if eps is None else 0.0
    return m.where((input >= low) & (input <= high), grad / (input * (1 - input)), outside)


@op(inplace=True, also=("torch.special",))
@unary(refuses=no_complex("logit_cpu"))
@on_cpu(elementwise(_logit, reason="MindSpore's log is off by 2e-5 near 1", input=_logit_gradient))
def logit(input, eps=None):
    """`log(input / (1 - input))`, with `input` clamped to [eps, 1 - eps] where `eps` is given."""
    clamped = input if eps is None else ms.mint.clamp(input, eps, 1 - eps)
    return ms.mint.log(clamped / (1 - clamped))


def _special(name):
    """A function of scipy.special, imported when it is first called: the import takes as long as ours."""

    def call(input):
        from scipy import special

        return getattr(special, name)(input)

    return call


@op(inplace=True, also=("torch.special",))
@unary(refuses=no_complex("erf_vml_cpu"))
@on_cpu(
    analytic(
        formula.erf,
        lambda m, input: m.exp(-input * input) * (2 / math.sqrt(math.pi)),
        reason="MindSpore's takes twice as long and its gradient's exp is off by 5e-6",
    )
)
def erf(input):
    """The error function."""
    return ms.ops.erf(input)


@op(inplace=True, also=("torch.special",))
@unary(refuses=no_complex("erfc_vml_cpu"))
@on_cpu(
    analytic(
        _special("erfc"),
        lambda m, input: m.exp(-input * input) * (-2 / math.sqrt(math.pi)),
        reason="MindSpore's takes twice as long",
    )
)
def erfc(input):
    """The complementary error function, `1 - erf(input)`."""
    return ms.ops.erfc(input)


def _erfinv(input):
    return np.copysign(_special("erfinv")(input), input)  # SciPy's loses the sign of zero


@op(inplace=True, also=("torch.special",))
@unary(refuses=no_complex("erfinv_vml_cpu"))
@on_cpu(
    analytic(
        _erfinv,
        lambda m, out: m.exp(out * out) * (math.sqrt(math.pi) / 2),
        reason="MindSpore's is off by 1e-2",
    )
)
def erfinv(input):
    """The inverse of the error function; NaN outside [-1, 1]."""
    return ms.mint.erfinv(input)
