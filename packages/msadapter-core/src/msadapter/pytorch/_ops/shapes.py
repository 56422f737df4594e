"""Arguments of shape and dimension, brought into one form."""

import operator

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor


def to_int(value):
    """An int of anything PyTorch takes as one (int, 0-d integer tensor, NumPy integer); TypeError otherwise."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return int(value)
    return operator.index(value)


def to_size(size):
    """A tuple of ints from the varargs of a size: `(2, 3)`, `((2, 3),)`, `(Size,)`."""
    if len(size) == 1 and not isinstance(size[0], (int, MsTensor)):
        size = size[0]
    try:
        return tuple(map(to_int, size))
    except TypeError:
        bad = (
            next((s for s in size if not hasattr(s, "__index__")), size)
            if hasattr(size, "__iter__")
            else size
        )
        raise TypeError(
            f"argument 'size' must be tuple of ints, but found element of type {type(bad).__name__}"
        ) from None


def wrap_dim(dim, rank):
    """`dim` counted from the front. Raises PyTorch's IndexError where a tensor of `rank` dimensions has none such."""
    rank = rank or 1
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
        )
    return dim % rank


def wrap_dims(dim, rank):
    """A tuple of distinct dimensions counted from the front; None and () stand for all of them."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(rank))
    if not isinstance(dim, (tuple, list)):
        dim = (dim,)
    dims = tuple(wrap_dim(to_int(d), rank) for d in dim)
    if len(set(dims)) != len(dims):
        repeated = next(d for i, d in enumerate(dims) if d in dims[:i])
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return dims


def infer_size(size, numel, shape):
    """`size` with its -1 filled in. Raises PyTorch's RuntimeError where `numel` elements do not fill it."""
    known, unknown = 1, None
    for i, s in enumerate(size):
        if s == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif s < 0:
            raise RuntimeError(f"invalid shape dimension {s} at index {i} of shape {list(size)}")
        else:
            known *= s
    if unknown is None:
        if known != numel:
            raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
        return tuple(size)
    if known == 0:
        if numel == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    if numel % known:
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    return (*size[:unknown], numel // known, *size[unknown + 1 :])


def broadcast(a, b):
    """The common shape of two. Raises PyTorch's RuntimeError where they do not broadcast."""
    if a == b:
        return a
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    shape = []
    for i, (m, n) in enumerate(zip(left, right, strict=True)):
        if m != n and m != 1 and n != 1:
            raise RuntimeError(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {i}"
            )
        shape.append(n if m == 1 else m)
    return tuple(shape)


def broadcast_of(*tensors):
    """The common shape of tensors."""
    shape = ()
    for tensor in tensors:
        shape = broadcast(shape, native.shape_of(tensor))
    return shape
