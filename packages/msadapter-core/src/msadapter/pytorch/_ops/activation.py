"""Activation functions of neural networks: those of torch.nn.functional, some of which PyTorch has in torch too."""

import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.elementwise import analytic, elementwise
from msadapter.pytorch._engine.kernel import on_cpu
from msadapter.pytorch._engine.native import dtype_of, numel_of, shape_of
from msadapter.pytorch._generator import default_generator
from msadapter.pytorch._kernels import formula
from msadapter.pytorch._ops.arrays import wide
from msadapter.pytorch._ops.elementary import sigmoid, tanh
from msadapter.pytorch._ops.parts import narrow
from msadapter.pytorch._ops.pointwise import div, mul, sub
from msadapter.pytorch._ops.registry import op, retag, taking_inplace
from msadapter.pytorch._ops.rules import floats_and_complex, floats_only, halves_in_float32, refuse, unary
from msadapter.pytorch._ops.shapes import wrap_dim
from msadapter.pytorch._ops.signs import abs

_F = "torch.nn.functional"


def _kept(m, grad, mask):
    return m.where(mask, grad, m.zeros_like(grad))


# --- rectifiers -----------------------------------------------------------------------------------------------------


def _relu(input):
    return np.maximum(input.dtype.type(0), input)  # in this order, -0.0 stays


@op(also=(_F,), inplace=True, maker=taking_inplace, out=False)
@unary(
    integers=_relu,
    refuses={
        "bool": RuntimeError("Boolean inputs not supported for relu"),
        "complex": "clamp is not supported for complex types",
    },
)
@on_cpu(
    elementwise(
        _relu,
        reason="MindSpore's turns NaN into 0",
        input=lambda m, grad, out: m.where(out <= 0, m.zeros_like(grad), grad),
    )
)
def relu(input):
    """`max(input, 0)`; NaN stays."""
    return ms.ops.relu(input)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("leaky_relu_cpu"))
@on_cpu(
    elementwise(
        lambda input, negative_slope: formula.where(input > 0, input, input * negative_slope),
        reason="MindSpore has none for the CPU",
        input=lambda m, grad, input, negative_slope: m.where(input > 0, grad, grad * negative_slope),
    )
)
def leaky_relu(input, negative_slope=0.01):
    """`input` above 0, `negative_slope * input` below."""
    return ms.mint.nn.functional.leaky_relu(input, negative_slope)


@op(
    namespace=_F,
    also=("torch",),
    method=False,
    inplace=True,
    maker=taking_inplace,
    out=False,
    node="RreluWithNoiseBackward0",
)
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """`input` above 0; below times a slope drawn from [lower, upper], or their mean outside training."""
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound. Received: {lower} and {upper}"
        )
    if not training:
        return leaky_relu.record.body(input, (lower + upper) / 2)
    dtype = input.dtype
    if not dtype.is_floating_point or dtype == _dtype.float16:
        name = _dtype.SCALAR_NAMES[dtype]
        raise NotImplementedError(f"\"rrelu_with_noise_out_cpu\" not implemented for '{name}'")
    values = wide(native.asnumpy(input.detach()))
    slopes = default_generator.stream.rrelu_noise(values, lower, upper).astype(_dtype.NUMPY[dtype])
    return input * retag(native.from_numpy(slopes))


@halves_in_float32
@on_cpu(
    elementwise(
        lambda input, weight: formula.where(input > 0, input, input * weight),
        reason="MindSpore's has no float64",
        input=lambda m, grad, input, weight: m.where(input > 0, grad, grad * weight),
        weight=lambda m, grad, input: m.where(input > 0, m.zeros_like(grad), grad * input),
    )
)
def _prelu(input, weight):
    return ms.mint.where(input > 0, input, input * weight)


@op(also=(_F,), out=False)
def prelu(input, weight):
    """`input` above 0, `weight * input` below; `weight` is one number or one per channel (dimension 1).

    Raises RuntimeError where the number of weights is not 1 or that of the channels, and for different dtypes.
    """
    shape, own = shape_of(input), shape_of(weight)
    if dtype_of(input) is not dtype_of(weight):
        names = (_dtype.SCALAR_NAMES[t.dtype] for t in (input, weight))
        raise RuntimeError("prelu: Type promoting not supported. Got {} and {}".format(*names))
    if len(own) > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(own)}"
        )
    refuse(floats_only("prelu_cpu"), input.dtype)
    if numel_of(weight) == 1:
        return _prelu(input, weight.reshape(()))
    channels = shape[1] if len(shape) > 1 else 1
    if numel_of(weight) != channels:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{numel_of(weight)} and channel size = {channels}."
        )
    return _prelu(input, weight.reshape((channels,) + (1,) * (len(shape) - 2)))


def _threshold_gradient(m, grad, input, threshold):
    return m.where(input <= threshold, m.zeros_like(grad), grad)


def _threshold(input, threshold, value):
    return formula.where(input <= threshold, input.dtype.type(value), input)


@op(also=(_F,), method=False, inplace=True, maker=taking_inplace)
@unary(integers=_threshold, refuses={"bool": "threshold_cpu", "complex": "threshold_cpu"})
@on_cpu(elementwise(_threshold, reason="MindSpore has none for the CPU", input=_threshold_gradient))
def threshold(input, threshold, value):
    """`input` above `threshold`, `value` elsewhere; NaN stays."""
    return ms.mint.nn.functional.threshold(input, threshold, value)


def _clipped(input, min_val, max_val):
    return formula.clip(input, input.dtype.type(min_val), input.dtype.type(max_val))


def _check_limits(input, min_val, max_val):
    dtype = _dtype.of_native(dtype_of(input))
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val. Received: {min_val}, {max_val}")
    if not dtype.is_signed and dtype != _dtype.bool and int(min_val) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


@unary(
    integers=_clipped,
    refuses={
        "bool": RuntimeError("Bool inputs not supported for hardtanh"),
        "complex": "clamp is not supported for complex types",
    },
)
@on_cpu(
    elementwise(
        _clipped,
        reason="MindSpore's turns NaN into a bound",
        # By what is outside, so that the gradient passes at NaN, as PyTorch's does.
        input=lambda m, grad, input, min_val, max_val: m.where(
            (input <= min_val) | (input >= max_val), m.zeros_like(grad), grad
        ),
    )
)
def _hardtanh(input, min_val, max_val):
    return ms.mint.nn.functional.hardtanh(input, min_val, max_val)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
def hardtanh(input, min_val=-1.0, max_val=1.0):
    """`input` limited to [min_val, max_val]; NaN stays. Raises ValueError for min_val > max_val."""
    _check_limits(input, min_val, max_val)
    return _hardtanh(input, min_val, max_val)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
def relu6(input):
    """`input` limited to [0, 6]; NaN stays."""
    return _hardtanh(input, 0, 6)


# --- exponential units ----------------------------------------------------------------------------------------------


def _elu(input, alpha, scale, input_scale):
    negative = np.expm1(np.minimum(0, input) * input_scale) * alpha
    result = formula.where(input > 0, input, negative)
    return result if scale == 1 else result * scale


def _elu_gradient(m, grad, input, alpha, scale, input_scale):
    # Clipped, so that the branch not taken stays finite: its second derivative is multiplied by 0.
    slope = m.exp(m.clip(input, None, 0) * input_scale) * (alpha * input_scale)
    return m.where(input <= 0, grad * slope, grad) * scale


@on_cpu(
    elementwise(
        _elu,
        reason="MindSpore has no elu for the CPU, selu's gradient is wrong, celu computes float64 in float32",
        input=_elu_gradient,
    )
)
def _elu_like(input, alpha, scale, input_scale):
    negative = ms.mint.expm1(ms.mint.clamp(input, max=0) * input_scale) * alpha
    return ms.mint.where(input > 0, input, negative) * scale


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("elu_cpu"))
def elu(input, alpha=1.0):
    """`input` above 0, `alpha * (exp(input) - 1)` below."""
    return _elu_like(input, alpha, 1, 1)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@op(also=(_F,), method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("elu_cpu"))
def selu(input):
    """1.0507 times `elu` with alpha 1.67326: the self-normalising unit."""
    return _elu_like(input, _SELU_ALPHA, _SELU_SCALE, 1)


@op(also=(_F,), method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("elu_cpu"))
def celu(input, alpha=1.0):
    """`input` above 0, `alpha * (exp(input / alpha) - 1)` below. Raises RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu_like(input, alpha, 1, 1 / alpha)


def _softplus(input, beta, threshold):
    scaled = input * beta
    return formula.where(scaled > threshold, input, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def _softplus_gradient(m, grad, input, beta, threshold):
    scaled = input * beta
    return m.where(scaled > threshold, grad, grad * m.sigmoid(scaled))


@op(namespace=_F, method=False)
@unary(refuses=floats_only("softplus_cpu"))
@on_cpu(elementwise(_softplus, reason="MindSpore's is 0 below -88", input=_softplus_gradient))
def softplus(input, beta=1, threshold=20):
    """`log(1 + exp(beta * input)) / beta`, and `input` itself where `beta * input` is above `threshold`."""
    return ms.mint.nn.functional.softplus(input, beta, threshold)


def _log_sigmoid(input):
    return np.minimum(input, 0) - np.log1p(np.exp(-np.abs(input)))


@op(namespace=_F, method=False)
@unary(refuses=floats_only("log_sigmoid_cpu"))
@on_cpu(
    elementwise(
        _log_sigmoid,
        reason="MindSpore has none for the CPU",
        input=lambda m, grad, input: grad * m.sigmoid(-input),
    )
)
def logsigmoid(input):
    """`log(sigmoid(input))`, exact for large input of either sign."""
    return ms.mint.nn.functional.logsigmoid(input)


# --- smooth gates ---------------------------------------------------------------------------------------------------

_ROOT_HALF, _ROOT_TWO_OVER_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)


def _gelu(m, input):
    return input * (0.5 + 0.5 * m.erf(input * _ROOT_HALF))


def _gelu_slope(m, input):
    density = m.exp(input * input * -0.5) * (1 / math.sqrt(2 * math.pi))
    return 0.5 + 0.5 * m.erf(input * _ROOT_HALF) + input * density


def _gelu_inner(m, input):
    return m.tanh((input + input * input * input * 0.044715) * _ROOT_TWO_OVER_PI)


def _gelu_tanh(m, input):
    return input * (0.5 + 0.5 * _gelu_inner(m, input))


def _gelu_tanh_slope(m, input):
    inner = _gelu_inner(m, input)
    return (
        0.5
        + 0.5 * inner
        + input * (1 - inner * inner) * (1 + input * input * 0.134145) * (0.5 * _ROOT_TWO_OVER_PI)
    )


@on_cpu(analytic(lambda input: _gelu(formula, input), _gelu_slope, reason="MindSpore has none for the CPU"))
def _gelu_exact(input):
    return ms.mint.nn.functional.gelu(input)


@on_cpu(
    analytic(
        lambda input: _gelu_tanh(formula, input), _gelu_tanh_slope, reason="MindSpore has none for the CPU"
    )
)
def _gelu_by_tanh(input):
    return ms.mint.nn.functional.gelu(input, approximate="tanh")


@op(namespace=_F, method=False)
@unary(refuses=floats_only("GeluKernelImpl"))
def gelu(input, *, approximate="none"):
    """`input` times the normal distribution function of it; `approximate="tanh"` by the usual formula with tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh. Received: {approximate!r}")
    return _gelu_exact(input) if approximate == "none" else _gelu_by_tanh(input)


def _silu_slope(m, input):
    gate = m.sigmoid(input)
    return gate * (1 + input * (1 - gate))


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_and_complex("silu_cpu"))
@on_cpu(
    analytic(
        lambda input: input * formula.sigmoid(input), _silu_slope, reason="MindSpore's exp is off by 3e-6"
    )
)
def silu(input):
    """`input * sigmoid(input)`."""
    return ms.mint.nn.functional.silu(input)


def _mish_gate(m, input):
    """tanh(log(1 + e**x)) as a quotient of polynomials in e**x; from 20 on it is 1 in every dtype."""
    exponential = m.exp(m.clip(input, None, 20))
    product = exponential * (exponential + 2)
    return product / (product + 2)


def _mish_slope(m, input):
    gate = _mish_gate(m, input)
    return gate + input * (1 - gate * gate) * m.sigmoid(input)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("mish_cpu"))
@on_cpu(
    analytic(
        lambda input: input * _mish_gate(formula, input), _mish_slope, reason="MindSpore has none for the CPU"
    )
)
def mish(input):
    """`input * tanh(log(1 + exp(input)))`."""
    return ms.mint.nn.functional.mish(input)


@op(namespace=_F, method=False, out=False)
def softsign(input):
    """`input / (1 + |input|)`."""
    return div(input, abs(input) + 1)


@op(namespace=_F, method=False, out=False)
def tanhshrink(input):
    """`input - tanh(input)`."""
    return sub(input, tanh(input))


@op(namespace=_F, method=False)
def glu(input, dim=-1):
    """The first half of dimension `dim` times the sigmoid of the second. Raises RuntimeError for an odd size."""
    shape = shape_of(input)
    if not shape:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis = wrap_dim(dim, len(shape))
    refuse(floats_only("glu_cpu"), input.dtype)
    if shape[axis] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {shape[axis]}")
    half = shape[axis] // 2
    return mul(narrow(input, axis, 0, half), sigmoid(narrow(input, axis, half, half)))


# --- piecewise linear -----------------------------------------------------------------------------------------------


def _hardswish_gradient(m, grad, input):
    inside = m.where(input < 3, grad * (input / 3 + 0.5), grad)
    return m.where(input <= -3, m.zeros_like(grad), inside)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("hardswish_cpu"))
@on_cpu(
    elementwise(
        lambda input: input * formula.clip(input + 3, 0, 6) / 6,
        reason="MindSpore's drops NaN",
        input=_hardswish_gradient,
    )
)
def hardswish(input):
    """`input * min(max(input + 3, 0), 6) / 6`."""
    return ms.mint.nn.functional.hardswish(input)


@op(namespace=_F, method=False, inplace=True, maker=taking_inplace, out=False)
@unary(refuses=floats_only("hardsigmoid_cpu"))
@on_cpu(
    elementwise(
        lambda input: formula.clip(input + 3, 0, 6) / 6,
        reason="MindSpore's takes no tensor of more than 8 dimensions",
        input=lambda m, grad, input: _kept(m, grad / 6, (input > -3) & (input < 3)),
    )
)
def hardsigmoid(input):
    """`min(max(input + 3, 0), 6) / 6`."""
    return ms.mint.nn.functional.hardsigmoid(input)


def _shrunk_away(input, lambd):
    return (input >= -lambd) & (input <= lambd)


def _shrink_gradient(m, grad, input, lambd):
    return m.where(_shrunk_away(input, lambd), m.zeros_like(grad), grad)


@op(also=(_F,), out=True)
@unary(refuses=floats_only("hardshrink_cpu"))
@on_cpu(
    elementwise(
        lambda input, lambd: formula.where(_shrunk_away(input, lambd), input.dtype.type(0), input),
        reason="MindSpore's drops NaN and has no float64",
        input=_shrink_gradient,
    )
)
def hardshrink(input, lambd=0.5):
    """0 within [-lambd, lambd], `input` elsewhere; NaN stays."""
    return ms.mint.nn.functional.hardshrink(input, lambd)


def _softshrink_array(input, lambd):
    return input - formula.clip(input, -lambd, lambd)


@on_cpu(
    elementwise(_softshrink_array, reason="MindSpore's drops NaN and has no float64", input=_shrink_gradient)
)
def _softshrink(input, lambd):
    return ms.mint.nn.functional.softshrink(input, lambd)


@op(namespace=_F, method=False)
@unary(refuses=floats_only("softshrink_check"))
def softshrink(input, lambd=0.5):
    """0 within [-lambd, lambd], moved by `lambd` towards 0 elsewhere; NaN stays. Raises RuntimeError for lambd < 0."""
    limit = _dtype.finfo(input.dtype).max
    if not 0 <= lambd <= limit:
        name = _dtype.SCALAR_NAMES[input.dtype]
        raise RuntimeError(
            f"lambda must be in range [0, {limit:g}] for input dtype {name}, but found {lambd:g}"
        )
    return _softshrink(input, lambd)
