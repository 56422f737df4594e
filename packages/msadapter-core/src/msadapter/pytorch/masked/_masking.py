"""Masks brought to the input's shape, and what stands in for masked elements."""

import msadapter.pytorch as torch


def in_dtype(input, dtype):
    """The input in `dtype`; as it is for None."""
    return input if dtype is None or dtype == input.dtype else input.to(dtype)


def expanded(input, mask):
    """The mask as bool, of the input's shape. Raises IndexError and RuntimeError where it does not broadcast to it."""
    if mask.dim() > input.dim():
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input). "
            f"Received: {mask.dim()} and {input.dim()} dimensions"
        )
    return mask.to(torch.bool).expand(input.shape)


def filled(input, mask, value):
    """The input with `value`, or `value(dtype)`, in place of the masked elements; they get no gradient."""
    if mask is None:
        return input
    return input.masked_fill(~expanded(input, mask), value(input.dtype) if callable(value) else value)


def lowest(name):
    """For `filled`: what no element is below. Raises NotImplementedError for bool, on behalf of the function `name`."""
    return lambda dtype: _extreme(name, dtype, -1)


def highest(name):
    """For `filled`: what no element is above."""
    return lambda dtype: _extreme(name, dtype, 1)


def _extreme(name, dtype, sign):
    if dtype == torch.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    if dtype.is_floating_point or dtype.is_complex:
        return sign * torch.inf
    limits = torch.iinfo(dtype)
    return limits.max if sign > 0 else limits.min
