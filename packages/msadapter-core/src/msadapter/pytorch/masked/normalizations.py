"""What keeps the input's shape: softmax and its kin, norms scaled to 1, running sums and products."""

import msadapter.pytorch as torch
from msadapter.pytorch._ops.shapes import wrap_dim
from msadapter.pytorch.masked._masking import filled, highest, in_dtype, lowest
from msadapter.pytorch.masked.reductions import norm


def softmax(input, dim, *, dtype=None, mask=None):
    """Exponentials along `dim` that sum to 1; 0 for masked elements, NaN where all is masked."""
    input = in_dtype(input, dtype)
    return torch.softmax(filled(input, mask, lowest("softmax")), wrap_dim(dim, input.dim()))


def log_softmax(input, dim, *, dtype=None, mask=None):
    """The logarithm of `softmax`."""
    input = in_dtype(input, dtype)
    return torch.log_softmax(filled(input, mask, lowest("log_softmax")), wrap_dim(dim, input.dim()))


def softmin(input, dim, *, dtype=None, mask=None):
    """`softmax` of the negative input."""
    input = in_dtype(input, dtype)
    return torch.softmax(-filled(input, mask, highest("softmin")), wrap_dim(dim, input.dim()))


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """The input divided by its norm of order `ord` along `dim`, or by `eps` where that is larger; 0 for masked elements."""
    input = in_dtype(input, dtype)
    size = norm(input, ord, wrap_dim(dim, input.dim()), keepdim=True, mask=mask)
    return filled(input, mask, 0) / torch.maximum(size, size.new_tensor(eps))


def cumsum(input, dim, *, dtype=None, mask=None):
    """The running sum along `dim`, in the input's dtype; masked elements add 0."""
    input = in_dtype(input, dtype)
    return torch.cumsum(filled(input, mask, 0), wrap_dim(dim, input.dim()), dtype=input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The running product along `dim`, in the input's dtype; masked elements count as 1."""
    input = in_dtype(input, dtype)
    return torch.cumprod(filled(input, mask, 1), wrap_dim(dim, input.dim()), dtype=input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """`log(exp(input) + exp(other))`, to which masked elements of either add nothing."""
    input, other = in_dtype(input, dtype), in_dtype(other, dtype)
    first = filled(input, input_mask, lowest("logaddexp"))
    return torch.logaddexp(first, filled(other, other_mask, lowest("logaddexp")))
