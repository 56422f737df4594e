"""Normalization: batch, layer, group, instance and RMS norm, local response norm, and vectors of length 1.

The first four are one operation: `input` less its mean, divided by its standard deviation, over some axes, then scaled
and shifted. They differ in the axes, and in where weight and bias stand.
"""

import math

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.arrays import wide
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.halves import in_float32
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.pooling import avg_pool2d
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import wrap_dim

_REASON = "MindSpore's layer_norm and batch_norm have no CPU kernel for float64, and no second derivative"
_FUNCTIONAL = {"namespace": "torch.nn.functional", "method": False, "out": False}

# --- the one operation -----------------------------------------------------------------------------------------------
# Statistics, weight and bias have the rank of the input, and 1 where they broadcast.


def _mean(values, axes):
    """The mean of an array or a tensor over `axes`, kept as 1."""
    return values.sum(axes, keepdims=True) / math.prod(values.shape[a] for a in axes)


@kernel(reason=_REASON)
def _statistics(input, axes):
    """(mean, biased variance) over `axes`, kept as 1."""
    input = wide(input)
    mean = _mean(input, axes)
    centred = input - mean
    np.square(centred, out=centred)
    return mean, _mean(centred, axes)


_statistics.differentiable = False


@kernel(reason=_REASON, saves=("input", "weight", "mean", "var"))
@in_float32
def _normalize(input, weight, bias, mean, var, axes, eps, training):
    """`(input - mean) / sqrt(var + eps) * weight + bias`; `training`: mean and var are those of the input."""
    result = input - mean
    result *= (var + var.dtype.type(eps)) ** -0.5
    if weight is not None:
        result *= weight
    if bias is not None:
        result += bias
    return result


def _gradients(grad, input, weight, mean, var, axes, eps, training):
    """The gradients for input, weight and bias; over arrays, and over tensors where they are differentiated again."""
    scale = (var + eps) ** -0.5
    normal = (input - mean) * scale
    for_normal = grad if weight is None else grad * weight
    if training:
        along = _mean(for_normal * normal, axes)
        for_normal = for_normal - _mean(for_normal, axes) - normal * along
    return for_normal * scale, grad * normal, grad


@kernel(reason="the gradient of a normalization")
@in_float32
def _normalize_gradient(grad, input, weight, mean, var, axes, eps, training, small):
    for_input, for_weight, for_bias = _gradients(grad, input, weight, mean, var, axes, eps, training)
    broadcast = tuple(i for i, (size, own) in enumerate(zip(input.shape, small, strict=True)) if size != own)
    return (
        for_input,
        for_weight.sum(broadcast, keepdims=True),
        for_bias.sum(broadcast, keepdims=True),
    )


_normalize_gradient.differentiable = False


@_normalize.gradient
def _(ctx, grad):
    input, weight, mean, var = ctx.saved
    axes, eps, training = ctx.args[5:]
    if native.is_grad_enabled():
        input, grad = (cast(t, var.dtype) for t in (input, grad))
        if training:
            mean = _mean(input, axes)
            var = _mean((input - mean) ** 2, axes)
        found = _gradients(grad, input, weight, mean, var, axes, eps, training)
    else:
        small = next((shape for i, shape in zip(ctx.positions, ctx.shapes, strict=True) if i in (1, 2)), None)
        small = small or shape_of(mean)
        found = _normalize_gradient(grad, input, weight, mean, var, axes, eps, training, small)
    return tuple(found[i] if i < 3 else None for i in ctx.positions)


def _in_float32(tensor):
    return cast(tensor, _dtype.float32) if tensor.dtype in (_dtype.float16, _dtype.bfloat16) else tensor


@on_cpu(_statistics)
def _mean_and_variance(input, axes):
    input = _in_float32(input)
    mean = _mean(input, axes)
    return mean, _mean((input - mean) ** 2, axes)


@on_cpu(_normalize)
def _standardized(input, weight, bias, mean, var, axes, eps, training):
    if training:
        mean, var = _mean_and_variance(input, axes)
    result = (_in_float32(input) - mean) * (var + eps) ** -0.5
    result = result if weight is None else result * weight
    return cast(result if bias is None else result + bias, input.dtype)


def _over(input, weight, bias, axes, eps):
    """(the normalized input, the mean, the biased variance)."""
    mean, var = _mean_and_variance(input, axes)
    return _standardized(input, weight, bias, mean, var, axes, float(eps), True), mean, var


# --- arguments -------------------------------------------------------------------------------------------------------


def _check_floating(input, what):
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{what}\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")


def _check_parameter_dtypes(input, *parameters):
    """A half input goes with float32 parameters, any other with its own dtype only."""
    own = input.dtype
    allowed = (own, _dtype.float32) if own in (_dtype.float16, _dtype.bfloat16) else (own,)
    for parameter in parameters:
        if parameter is not None and parameter.dtype not in allowed:
            raise RuntimeError(
                "mixed dtype (CPU): expect parameter to have scalar type of Float, or all inputs must share same datatype. "
                f"Received: {own} and {parameter.dtype}"
            )


def _check_several_values(size):
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _per_channel(parameter, rank):
    """A vector of channels in the shape of dimension 1 of `rank`."""
    return None if parameter is None else parameter.reshape((1, -1, *(1,) * (rank - 2)))


def _check_channels(channels, **parameters):
    for name, parameter in parameters.items():
        if parameter is not None and shape_of(parameter) != (channels,):
            raise RuntimeError(
                f"{name} should contain {channels} elements not {math.prod(shape_of(parameter))}"
            )


# --- layer_norm and group_norm ---------------------------------------------------------------------------------------


def _shape_argument(function, normalized_shape):
    if isinstance(normalized_shape, (tuple, list)):
        return tuple(normalized_shape)
    raise TypeError(
        f"{function}(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
        f"{type(normalized_shape).__name__}"
    )


def _check_normalized_shape(input, shape, **parameters):
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, parameter in parameters.items():
        if parameter is not None and shape_of(parameter) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(shape_of(parameter))} and normalized_shape = {list(shape)}"
            )
    if shape_of(input)[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(shape_of(input))}"
        )


def _layer_norm(input, normalized_shape, weight, bias, eps):
    shape = _shape_argument("layer_norm", normalized_shape)
    _check_normalized_shape(input, shape, weight=weight, bias=bias)
    _check_floating(input, "LayerNormKernelImpl")
    _check_parameter_dtypes(input, weight, bias)
    rank = len(shape_of(input))
    lead = (1,) * (rank - len(shape))
    weight, bias = (None if p is None else p.reshape((*lead, *shape)) for p in (weight, bias))
    return _over(input, weight, bias, tuple(range(len(lead), rank)), eps)


@op(**_FUNCTIONAL, node="NativeLayerNormBackward0", kernel=_normalize)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """`input` normalized over its last dimensions, those of `normalized_shape`, then times `weight` plus `bias`.

    Raises RuntimeError where shapes or dtypes do not fit.
    """
    return _layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op(name="layer_norm", method=False, out=False, kernel=_normalize)
def _layer_norm_of_torch(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """`torch.nn.functional.layer_norm`."""
    return _layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op(method=False, out=False, kernel=_normalize)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """(layer_norm, the mean, one over the standard deviation)."""
    result, mean, var = _layer_norm(input, normalized_shape, weight, bias, eps)
    return result, cast(mean, input.dtype), cast((var + eps) ** -0.5, input.dtype)


def _group_norm(input, num_groups, weight, bias, eps):
    shape = shape_of(input)
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    rows, channels, space = shape[0], shape[1], shape[2:]
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(shape)} and "
            f"num_groups={num_groups}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and shape_of(parameter) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(shape_of(parameter))} and input of shape {list(shape)}"
            )
    _check_floating(input, "GroupNormKernelImpl")
    _check_parameter_dtypes(input, weight, bias)
    size = channels // num_groups
    grouped = input.reshape((rows, num_groups, size, math.prod(space)))
    weight, bias = (None if p is None else p.reshape((1, num_groups, size, 1)) for p in (weight, bias))
    result, mean, var = _over(grouped, weight, bias, (2, 3), eps)
    return result.reshape(shape), mean.reshape((rows, num_groups)), var.reshape((rows, num_groups))


@op(**_FUNCTIONAL, node="NativeGroupNormBackward0", kernel=_normalize)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """`input` [N, C, ...] normalized over each of `num_groups` groups of channels, then times `weight` [C] plus `bias`.

    Raises RuntimeError where shapes or dtypes do not fit, ValueError for a single value per group.
    """
    shape = shape_of(input)
    if len(shape) >= 2 and num_groups > 0 and not shape[1] % num_groups:
        _check_several_values([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return _group_norm(input, num_groups, weight, bias, eps)[0]


@op(name="group_norm", method=False, out=False, kernel=_normalize)
def _group_norm_of_torch(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """`torch.nn.functional.group_norm`."""
    return _group_norm(input, num_groups, weight, bias, eps)[0]


@op(method=False, out=False, kernel=_normalize)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """(group_norm, the mean, one over the standard deviation)."""
    result, mean, var = _group_norm(input, group, weight, bias, eps)
    if native.requires_grad(input):  # PyTorch differentiates the statistics of this one, and only of this one
        grouped = input.reshape((N, group, C // group * HxW))
        mean = grouped.mean(2)
        var = ((grouped - mean.unsqueeze(2)) ** 2).mean(2)
    return result, cast(mean, input.dtype), cast((var + eps) ** -0.5, input.dtype)


# --- batch_norm and instance_norm ------------------------------------------------------------------------------------


def _move(running, statistic, momentum):
    """`running` moved towards a new statistic, in place. Its version stays, as in PyTorch: no graph takes offence."""
    with no_grad():
        statistic = cast(statistic.reshape(shape_of(running)), running.dtype)
        storage.write(running, running * (1 - momentum) + statistic * momentum)


def _unbiased(var, count):
    return var * (count / (count - 1)) if count > 1 else var * math.nan


def _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps):
    shape = shape_of(input)
    if not math.prod(shape) and len(shape) < 2:
        return input * 1, input, input
    wrap_dim(1, len(shape))  # raises the IndexError for an input without channels
    _check_channels(shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    _check_floating(input, "batch_norm")
    _check_parameter_dtypes(input, weight, bias, running_mean, running_var)
    rank, axes = len(shape), (0, *range(2, len(shape)))
    weight, bias = _per_channel(weight, rank), _per_channel(bias, rank)
    if not training:
        for name, statistic in (("running_mean", running_mean), ("running_var", running_var)):
            if statistic is None:
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        mean, var = (_per_channel(s.detach(), rank) for s in (running_mean, running_var))
        return _standardized(input, weight, bias, mean, var, axes, float(eps), False), mean, var
    result, mean, var = _over(input, weight, bias, axes, eps)
    if running_mean is not None and math.prod(shape):
        _move(running_mean, mean, momentum)
        _move(running_var, _unbiased(var, math.prod(shape) // shape[1]), momentum)
    return result, mean, var


@op(**_FUNCTIONAL, node="NativeBatchNormBackward0", kernel=_normalize)
def batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """`input` [N, C, ...] normalized over all but its channels, then times `weight` [C] plus `bias` [C].

    In training by its own mean and variance, towards which the running ones move in place by `momentum` (the variance
    unbiased there); otherwise by the running ones.
    Raises RuntimeError where shapes or dtypes do not fit, ValueError for a single value per channel in training.
    """
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if training:
        _check_several_values(input.shape)
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


@op(name="batch_norm", method=False, out=False, kernel=_normalize)
def _batch_norm_of_torch(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True
):
    """`torch.nn.functional.batch_norm`, its arguments in another order."""
    return _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


@op(method=False, out=False, kernel=_normalize)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(batch_norm, the mean, one over the standard deviation); the last two are empty outside training."""
    result, mean, var = _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, input.new_empty((0,)), input.new_empty((0,))
    dtype = next((p.dtype for p in (weight, bias, running_mean) if p is not None), input.dtype)
    return result, cast(mean.reshape(-1), dtype), cast(((var + eps) ** -0.5).reshape(-1), dtype)


@op(**_FUNCTIONAL, kernel=_normalize)
def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
):
    """`input` [N, C, ...] normalized over the space of each channel, then times `weight` [C] plus `bias` [C].

    By its own statistics, towards whose mean over N the running ones move, or (not `use_input_stats`) by the running ones.
    Raises RuntimeError where shapes or dtypes do not fit, ValueError for a single element of space.
    """
    shape = shape_of(input)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats is false"
            )
        return _batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)[0]
    if math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    _check_channels(shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    _check_floating(input, "batch_norm")
    _check_parameter_dtypes(input, weight, bias, running_mean, running_var)
    rank = len(shape)
    weight, bias = _per_channel(weight, rank), _per_channel(bias, rank)
    result, mean, var = _over(input, weight, bias, tuple(range(2, rank)), eps)
    for running, statistic in (
        (running_mean, mean),
        (running_var, _unbiased(var, math.prod(shape[2:]))),
    ):
        if running is not None:
            _move(running, statistic.mean(0), momentum)
    return result


@op(name="instance_norm", method=False, out=False, kernel=_normalize)
def _instance_norm_of_torch(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True
):
    """`torch.nn.functional.instance_norm`, its arguments in another order."""
    return instance_norm.record.body(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


# --- others ----------------------------------------------------------------------------------------------------------


@op(also=("torch.nn.functional",), method=False, out=False)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """`input` divided by its root mean square over the dimensions of `normalized_shape`, then times `weight`.

    `eps` is added to the mean square; by default that of the dtype. Raises RuntimeError where shapes do not fit.
    """
    shape = _shape_argument("rms_norm", normalized_shape)
    _check_normalized_shape(input, shape, weight=weight)
    dtype = input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")
    computed = _in_float32(input)
    if eps is None:
        eps = _dtype.finfo(computed.dtype.to_real()).eps
    axes = tuple(range(len(shape_of(input)) - len(shape), len(shape_of(input))))
    result = computed * ((computed * computed).mean(axes, True) + eps) ** -0.5
    return cast(result if weight is None else result * weight, dtype)


@op(namespace="torch.nn.functional", method=False)
def normalize(input, p=2.0, dim=1, eps=1e-12):
    """`input` divided by its p-norm along `dim`, which counts as at least `eps`."""
    return input / input.norm(p, dim, True).clamp(min=eps)


@op(**_FUNCTIONAL)
def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """`input` [N, C, ...] over `(k + alpha * the mean square of the size channels around) ** beta`."""
    shape = shape_of(input)
    if len(shape) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {len(shape)} dimensions)")
    if not math.prod(shape):
        return input
    squares = (input * input).reshape((shape[0], 1, shape[1], math.prod(shape[2:])))
    before = squares.new_zeros((shape[0], 1, size // 2, math.prod(shape[2:])))
    after = squares.new_zeros((shape[0], 1, (size - 1) // 2, math.prod(shape[2:])))
    means = avg_pool2d(cat([before, squares, after], 2), (size, 1), 1).reshape(shape)
    return input / (means * alpha + k).pow(beta)
