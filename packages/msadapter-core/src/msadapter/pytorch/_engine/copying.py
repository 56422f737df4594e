"""Copies with memory of their own, recorded where that is needed."""

import numpy as np

from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.kernel import kernel


@kernel(reason="mint.clone has no CPU kernel, and a multiplication by 1 costs six times as much")
def _copy(input):
    return np.array(input, order="C")


@_copy.gradient
def _(ctx, grad):
    return grad


def copy_of(tensor):
    """A contiguous copy; the gradient passes through."""
    return _copy(tensor) if storage.ON_CPU else tensor * 1


def distinct(gradients):
    """The gradients with one memory each: two tensors that got the same one would change together."""
    seen = []
    result = []
    for gradient in gradients:
        repeated = gradient is not None and any(gradient is other for other in seen)
        seen.append(gradient)
        result.append(copy_of(gradient) if repeated else gradient)
    return tuple(result)
