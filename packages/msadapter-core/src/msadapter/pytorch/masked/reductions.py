"""Reductions over the elements that a mask lets through; `dim` is one dimension, several, or all (None)."""

import msadapter.pytorch as torch
from msadapter.pytorch._ops.shapes import wrap_dim, wrap_dims
from msadapter.pytorch.masked._masking import expanded, filled, highest, in_dtype, lowest


def _dims(input, dim):
    return wrap_dims(dim, input.dim())


def _whole_numbers_in_int64(input, dtype):
    is_whole = not (input.dtype.is_floating_point or input.dtype.is_complex)
    return torch.int64 if dtype is None and is_whole else dtype


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum; 0 where all is masked. Integers and bool sum to int64."""
    input = in_dtype(input, _whole_numbers_in_int64(input, dtype))
    return torch.sum(filled(input, mask, 0), _dims(input, dim), bool(keepdim))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product; 1 where all is masked. Integers and bool multiply in int64."""
    input = in_dtype(input, _whole_numbers_in_int64(input, dtype))
    result = filled(input, mask, 1)
    for d in sorted(_dims(input, dim), reverse=True):
        result = torch.prod(result, d, bool(keepdim))
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element; where all is masked, the lowest number of the dtype."""
    input = in_dtype(input, dtype)
    return torch.amax(filled(input, mask, lowest("amax")), _dims(input, dim), bool(keepdim))


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element; where all is masked, the highest number of the dtype."""
    input = in_dtype(input, dtype)
    return torch.amin(filled(input, mask, highest("amin")), _dims(input, dim), bool(keepdim))


def _place(function, input, dim, keepdim, value):
    # PyTorch returns these indices in the dtype of the input.
    found = function(value, None if dim is None else wrap_dim(dim, input.dim()), bool(keepdim))
    return found.to(input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the largest element, in the input's dtype; 0 where all is masked."""
    input = in_dtype(input, dtype)
    return _place(torch.argmax, input, dim, keepdim, filled(input, mask, lowest("argmax")))


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the smallest element, in the input's dtype; 0 where all is masked."""
    input = in_dtype(input, dtype)
    return _place(torch.argmin, input, dim, keepdim, filled(input, mask, highest("argmin")))


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials; -inf where all is masked."""
    input = in_dtype(input, dtype)
    return torch.logsumexp(filled(input, mask, lowest("logsumexp")), _dims(input, dim), keepdim).to(
        input.dtype
    )


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The norm of order `ord` as a vector; 0 where all is masked, infinity for negative orders."""
    input = in_dtype(input, dtype)
    value = 0.0 if ord is None or ord >= 0 else torch.inf
    return torch.linalg.vector_norm(
        filled(input, mask, value), 2.0 if ord is None else ord, _dims(input, dim), bool(keepdim)
    )


def _count(input, dim, keepdim, mask):
    """How many elements are not masked."""
    if mask is None:
        mask = torch.ones_like(input, dtype=torch.bool)
    return torch.sum(expanded(input, mask), _dims(input, dim), keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean; NaN where all is masked. Raises ValueError for integers and bool without a float `dtype`."""
    input = in_dtype(input, dtype)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype}"
        )
    return sum(input, dim, keepdim=keepdim, mask=mask) / _count(input, dim, bool(keepdim), mask)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance, `correction` (1 by default) taken off the number of elements; NaN where nothing is left.

    Raises RuntimeError where both `unbiased` and `correction` are given.
    """
    if unbiased is not None and correction is not None:
        raise RuntimeError(
            f"Only one of unbiased and correction may be given. Received: {unbiased} and {correction}"
        )
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    is_whole = not (input.dtype.is_floating_point or input.dtype.is_complex)
    input = in_dtype(input, torch.get_default_dtype() if dtype is None and is_whole else dtype)
    deviation = input - mean(input, dim, keepdim=True, mask=mask)
    squares = deviation * deviation.conj() if input.dtype.is_complex else deviation * deviation
    count = _count(input, dim, bool(keepdim), mask) - correction
    return sum(squares, dim, keepdim=keepdim, mask=mask) / count.clamp(min=0)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation, the root of `var`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median along one dimension, in the input's dtype; NaN where all is masked.

    Raises ValueError where all is masked and the dtype is not floating point.
    """
    is_floating = input.dtype.is_floating_point
    dim = _dims(input, dim)[0] if input.dim() else 0
    if mask is not None and not is_floating and not torch.all(torch.any(expanded(input, mask), dim)):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    wide = input if is_floating else input.to(torch.get_default_dtype())
    result = torch.nanmedian(filled(wide, mask, torch.nan), dim, keepdim).values
    return result if is_floating else result.to(input.dtype)
