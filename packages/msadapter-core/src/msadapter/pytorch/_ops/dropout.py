"""Dropout of elements and of whole channels, with PyTorch's random draws."""

import math
import warnings

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import strided
from msadapter.pytorch._engine.kernel import to_tensor
from msadapter.pytorch._engine.native import shape_of, strides_of
from msadapter.pytorch._generator import default_generator
from msadapter.pytorch._ops.arrays import wide
from msadapter.pytorch._ops.registry import op, retag

_FUNCTIONAL = {"namespace": "torch.nn.functional", "method": False, "out": False}
_SATURATION = 1.7580993408473766  # of SELU, negative: what alpha dropout sets elements to


def _in_dtype(array, function):
    """`function` of the array, rounded to its own dtype."""
    return function(wide(array)).astype(array.dtype)


def _kept(input, p, features):
    """1 where an element (or a channel) is kept, 0 where dropped, in the input's dtype; None where nothing is drawn."""
    dtype = input.dtype
    if dtype.is_complex:
        raise NotImplementedError(
            f"\"bernoulli_scalar_cpu_\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'"
        )
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {_dtype.SCALAR_NAMES[dtype]}"
        )
    shape = shape_of(input)
    strides = strided.kept_strides(shape, strides_of(input))
    mask = default_generator.stream.dropout_mask(shape, p, features=features, strides=strides)
    return mask.astype(_dtype.NUMPY[dtype])


def _tensor(array):
    return retag(to_tensor(array))


def _drop(input, p, training, inplace, features=False, alpha=False):
    """`input` with elements dropped and the rest scaled; itself where nothing is dropped."""
    if not training or p == 0 or 0 in shape_of(input):
        return input
    shift = None
    if p == 1:
        factor = np.zeros((), _dtype.NUMPY[input.dtype])
    else:
        factor = _kept(input, p, features)
        if alpha:
            scale = 1 / math.sqrt((_SATURATION * _SATURATION * p + 1) * (1 - p))
            steps = (
                lambda a: a - 1,
                lambda a: a * (_SATURATION * scale),
                lambda a: a + _SATURATION * scale * p,
            )
            shift = factor
            for step in steps:
                shift = _in_dtype(shift, step)
            factor = _in_dtype(factor, lambda a: a * scale)
        else:
            factor = _in_dtype(factor, lambda a: a / (1 - p))
    result = input.mul_(_tensor(factor)) if inplace else input * _tensor(factor)
    if shift is None:
        return result
    return result.add_(_tensor(shift)) if inplace else result + _tensor(shift)


def _check_probability(p, error=ValueError):
    if not 0 <= p <= 1:
        raise error(f"dropout probability has to be between 0 and 1, but got {p}")


@op(**_FUNCTIONAL)
def dropout(input, p=0.5, training=True, inplace=False):
    """Each element set to 0 with probability `p`, the others divided by `1 - p`; `input` itself outside training."""
    _check_probability(p)
    return _drop(input, p, training, inplace)


@op(**_FUNCTIONAL)
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout to SELU's saturation instead of 0, which keeps mean and variance of standardized inputs."""
    _check_probability(p)
    return _drop(input, p, training, inplace, alpha=True)


@op(**_FUNCTIONAL)
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels of [N, C, ...]."""
    _check_probability(p)
    return _drop(input, p, training, inplace, features=True, alpha=True)


def _drop_channels(input, p, training, inplace, has_batch):
    _check_probability(p)
    if has_batch:
        return _drop(input, p, training, inplace, features=True)
    result = _drop(input.unsqueeze(0), p, training, inplace, features=True)
    return input if inplace else result.squeeze(0)


@op(**_FUNCTIONAL)
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Whole channels of [N, C, L] (or without N) set to 0 with probability `p`, the others divided by `1 - p`."""
    _check_probability(p)
    rank = len(shape_of(input))
    if rank not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {rank}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _drop_channels(input, p, training, inplace, rank == 3)


def _warn_of_rank(name, rank, ranks):
    if rank not in ranks:
        warnings.warn(
            f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an error in a future "
            f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists "
            f"to provide channel-wise dropout on inputs with {ranks[0] - 1} spatial dimensions, a channel dimension, and an "
            f"optional batch dimension (i.e. {ranks[0]}D or {ranks[1]}D inputs).",
            stacklevel=5,
        )


@op(**_FUNCTIONAL)
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Whole channels of [N, C, H, W] set to 0 with probability `p`, the others divided by `1 - p`.

    A 3-d input counts as [N, C, L], with a warning: PyTorch's own way of old.
    """
    rank = len(shape_of(input))
    _check_probability(p)
    _warn_of_rank("dropout2d", rank, (3, 4))
    if rank == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
            "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future "
            "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=4,
        )
    return _drop_channels(input, p, training, inplace, True)


@op(**_FUNCTIONAL)
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Whole channels of [N, C, D, H, W] (or without N) set to 0 with probability `p`, the others divided by `1 - p`."""
    rank = len(shape_of(input))
    _check_probability(p)
    _warn_of_rank("dropout3d", rank, (4, 5))
    return _drop_channels(input, p, training, inplace, rank == 5)


def _register_of_torch(name, **kind):
    """`torch.<name>(input, p, train)` and its in-place form."""

    def body(input, p, train):
        _check_probability(p, RuntimeError)
        return _drop(input, p, train, False, **kind)

    def inplace(input, p, train):
        _check_probability(p, RuntimeError)
        return _drop(input, p, train, True, **kind)

    for function, full_name in ((body, name), (inplace, name + "_")):
        function.__doc__ = f"`torch.nn.functional.{name}`, which checks more."
        op(function, name=full_name, method=False, out=False)


_register_of_torch("dropout")
_register_of_torch("feature_dropout", features=True)
_register_of_torch("alpha_dropout", alpha=True)
_register_of_torch("feature_alpha_dropout", features=True, alpha=True)


@op(method=False, out=False)
def native_dropout(input, p, train):
    """(dropout, which elements it kept)."""
    _check_probability(p, RuntimeError)
    if not train:
        return input * 1, input.new_ones(shape_of(input), dtype=_dtype.bool)
    kept = _kept(input, p, False)
    scale = 1 / (1 - p) if p < 1 else 0.0
    return input * _tensor(kept) * scale, _tensor(kept.astype(bool))
