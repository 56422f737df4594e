"""Bounds for gradients, in place."""

import functools
import types
import warnings

import numpy as np

from msadapter import pytorch as torch
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.optim import _updates

__all__ = ["clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors taken as one vector, a 0-d tensor.

    Raises RuntimeError for a norm that is not finite, if `error_if_nonfinite`.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return torch.tensor(0.0)
    if storage.ON_CPU:
        norms = np.array([_norm(storage.read_only_use(t), norm_type) for t in tensors])
        total = torch.tensor(float(_norm(norms, norm_type)), dtype=_widest(tensors))
    else:
        norms = [torch.linalg.vector_norm(t, norm_type) for t in tensors]
        total = torch.linalg.vector_norm(torch.stack(norms), norm_type)
    if error_if_nonfinite and not np.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _widest(tensors):
    return functools.reduce(torch.promote_types, {t.dtype for t in tensors})


def _norm(array, norm_type):
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat = np.abs(flat)
    elif flat.dtype.itemsize < 4:
        flat = flat.astype(np.float32)
    with np.errstate(all="ignore"):
        if norm_type == 2.0:
            return np.sqrt(np.dot(flat, flat))  # BLAS reads the memory once
        return np.linalg.norm(flat, norm_type)


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients by `max_norm / total_norm` where that is less than 1."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    factor = float(max_norm) / (float(total_norm) + 1e-6)
    if factor >= 1.0:
        return
    for parameter in parameters:
        if parameter.grad is not None:
            _updates.run(_scale, parameter.grad, factor=factor)


def _scale(gradient, *, factor):
    gradient.mul_(factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the gradients so that their norm, taken as one vector, is at most `max_norm`. Returns the norm before."""
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        is_generator = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if is_generator and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2
            )
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    total_norm = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Deprecated: `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clip every gradient to [-clip_value, clip_value]."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    bound = float(clip_value)
    for parameter in parameters:
        if parameter.grad is not None:
            _updates.run(_clip, parameter.grad, bound=bound)


def _clip(gradient, *, bound):
    gradient.clamp_(min=-bound, max=bound)
