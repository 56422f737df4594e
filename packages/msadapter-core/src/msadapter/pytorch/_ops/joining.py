"""Tensors put together."""

import mindspore as ms

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import wrap_dim


@op(method=False, aliases=())
def cat(tensors, dim=0):
    """Tensors joined along `dim`, in their common dtype; a 1-d tensor without elements is passed over."""
    tensors = _checked(tensors, "cat")
    shapes = [shape_of(t) for t in tensors]
    if any(not s for s in shapes):
        position = next(i for i, s in enumerate(shapes) if not s)
        raise RuntimeError(f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    kept = [t for t, s in zip(tensors, shapes, strict=True) if s != (0,)] or tensors[:1]
    rank = len(shape_of(kept[0]))
    dim = wrap_dim(dim, rank)
    dtype = (
        result_type(*(t.reshape(-1) for t in tensors))
        if len({native.dtype_of(t) for t in tensors}) > 1
        else None
    )
    _check_sizes(kept, dim)
    if dtype is not None:
        kept = [cast(t, dtype) for t in kept]
    return ms.ops.cat(kept, dim) if len(kept) > 1 else kept[0].clone()


def _checked(tensors, name):
    if isinstance(tensors, MsTensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError(f"{name}(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if not isinstance(t, MsTensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return tensors


def _check_sizes(tensors, dim):
    first = shape_of(tensors[0])
    for i, t in enumerate(tensors[1:], 1):
        shape = shape_of(t)
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for d, (a, b) in enumerate(zip(first, shape, strict=True)):
            if a != b and d != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for tensor number {i} in the list."
                )


@op(method=False)
def stack(tensors, dim=0):
    """Tensors of one shape along a new dimension `dim`."""
    tensors = _checked(tensors, "stack")
    first = shape_of(tensors[0])
    for i, t in enumerate(tensors[1:], 1):
        if shape_of(t) != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(shape_of(t))} at entry {i}"
            )
    dim = wrap_dim(dim, len(first) + 1)
    return cat([t.unsqueeze(dim) for t in tensors], dim)
