"""torch.nn.init: fill tensors with initial values, drawing random numbers in PyTorch's order."""

import functools
import math
import warnings

from msadapter import pytorch as torch
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._missing import attribute_error as _attribute_error

__all__ = [
    "calculate_gain",
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
    "uniform",
    "normal",
    "constant",
    "eye",
    "dirac",
    "xavier_uniform",
    "xavier_normal",
    "kaiming_uniform",
    "kaiming_normal",
    "orthogonal",
    "sparse",
]

_GAINS = {"sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, "linear": 1}
_GAINS.update((f"conv{kind}{n}d", 1) for n in (1, 2, 3) for kind in ("", "_transpose"))


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through `nonlinearity`; `param` is the slope of leaky_relu.

    Raises ValueError for a name it does not know and for a slope that is no number.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Values drawn evenly from [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Values drawn from the normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Values drawn from the normal distribution, drawn again until they are within [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    if inside > 0.3:
        return _redraw_outside(tensor, mean, std, a, b, generator)
    return _accept_by_density(tensor, mean, std, a, b, generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(tensor, mean, std, a, b, generator):
    low, high = (torch.tensor(bound, dtype=tensor.dtype).item() for bound in (a, b))
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < low) | (tensor > high)
        if not outside.any():
            return tensor
        drawn = torch.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(torch.where(outside, drawn, tensor))


def _accept_by_density(tensor, mean, std, a, b, generator):
    """Uniform candidates, each accepted with the probability of its density relative to the highest within [a, b]."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    pending = None
    while True:
        candidates = torch.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(candidates if pending is None else torch.where(pending, candidates, tensor))
        log_density = candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        rejected = torch.empty_like(tensor).uniform_(generator=generator).log_().gt(log_density)
        pending = rejected if pending is None else pending & rejected
        if not pending.any():
            return tensor


@no_grad()
def constant_(tensor, val):
    """Every value is `val`."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor):
    """Every value is 1."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor):
    """Every value is 0."""
    return tensor.zero_()


@no_grad()
def eye_(tensor):
    """The identity matrix, as far as it fits. Raises ValueError unless the tensor has two dimensions."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(torch.eye(*tensor.shape, dtype=tensor.dtype))


@no_grad()
def dirac_(tensor, groups=1):
    """A convolution weight that passes its input channels through, per group.

    Raises ValueError unless the tensor has 3 to 5 dimensions and `groups` divides the first.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    out_channels = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    tensor.zero_()
    for group in range(groups):
        for channel in range(min(out_channels, tensor.size(1))):
            tensor[(group * out_channels + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field, tensor.size(0) * receptive_field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform values with variance `gain**2 * 2 / (fan_in + fan_out)` (Glorot)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal values with variance `gain**2 * 2 / (fan_in + fan_out)` (Glorot)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    """None for a tensor without elements, about which PyTorch warns."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform values with variance `gain**2 / fan` (He); `a` is the slope of leaky_relu."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal values with variance `gain**2 / fan` (He); `a` is the slope of leaky_relu."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns times `gain`; dimensions after the first are flattened.

    Raises ValueError for fewer than two dimensions.
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = torch.empty((rows, columns), dtype=tensor.dtype).normal_(0, 1, generator=generator)
    q, r = torch.linalg.qr(flat.mT if rows < columns else flat)
    q = q * r.diagonal().sign()
    tensor.copy_((q.mT if rows < columns else q).reshape(tensor.shape))
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal values, the fraction `sparsity` of each column set to zero. Raises ValueError unless it is a matrix."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[torch.randperm(rows)[:zeros], column] = 0
    return tensor


def _deprecated(function):
    name = function.__name__
    old = name[:-1]

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    wrapper.__name__ = old
    return wrapper


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
