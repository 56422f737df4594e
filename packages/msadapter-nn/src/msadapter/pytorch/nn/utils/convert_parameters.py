"""Parameters as one vector and back."""

from msadapter.pytorch import cat
from msadapter.pytorch._tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """All parameters, one after the other, in one dimension."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Let the parameters' data be pieces of `vec`, which they then share memory with.

    Raises TypeError if `vec` is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__module__}.{type(vec).__qualname__}")
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop
