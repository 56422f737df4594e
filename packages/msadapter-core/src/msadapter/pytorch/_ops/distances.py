"""Distances and angles between vectors."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast, wrap_dim

_BOTH = {"also": ("torch.nn.functional",), "method": False, "out": False}


def at_least(tensor, least):
    """The tensor with its elements raised to `least`; the gradient passes through all of them."""
    return tensor + (tensor.detach().clamp(min=least) - tensor.detach())


@op(**_BOTH)
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of `x1 - x2 + eps` over the last dimension of the two, which broadcast."""
    rank = max(len(shape_of(x1)), len(shape_of(x2)), 1)
    return (x1 - x2 + eps).norm(p, rank - 1, keepdim)


@op(**_BOTH)
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between `x1` and `x2`, which broadcast, along `dim`; each norm counts as at least `eps`.

    Raises RuntimeError where the common dtype is not a real floating one.
    """
    dtype = result_type(x1, x2)
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {_dtype.SCALAR_NAMES[dtype]}"
        )
    shape = broadcast(shape_of(x1), shape_of(x2))
    dim = wrap_dim(dim, len(shape))
    directions = []
    for x in (x1, x2):
        x = cast(x, dtype).expand(shape)
        directions.append(x / at_least(x.norm(2, dim, True), eps))
    return (directions[0] * directions[1]).sum(dim)


@op(**_BOTH, node="PdistBackward0")
def pdist(input, p=2.0):
    """The p-norm distance of each pair of rows of `input` [N, M]: those of the first row, of the second, ...

    Raises RuntimeError for other dimensions, other dtypes and negative p.
    """
    shape = shape_of(input)
    if len(shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(shape)}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"pdist only supports floating-point dtypes. Received: {input.dtype}")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values. Received: {p}")
    if input.dtype not in (_dtype.float32, _dtype.float64):
        raise NotImplementedError(f"\"pdist\" not implemented for '{_dtype.SCALAR_NAMES[input.dtype]}'")
    first, second = (input.new_tensor(rows, dtype=_dtype.int64) for rows in np.triu_indices(shape[0], 1))
    if not shape[1]:
        return input.new_zeros(shape_of(first))
    return (input[first] - input[second]).norm(p, 1)
