"""Norms of vectors, and the distance that they give."""

import math

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.arrays import axes_of, total, wide
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.extremes import equal_shares
from msadapter.pytorch._ops.promotion import promote_types
from msadapter.pytorch._ops.reduction import spread
from msadapter.pytorch._ops.registry import op


@kernel(reason="MindSpore's norm has no float64, and of zero elements it is junk", saves=("input", "out"))
def _vector_norm(input, order, dim, keepdim):
    size = np.abs(wide(input))
    axes = axes_of(dim, input.ndim)
    if order == 2:
        norm = np.sqrt(total(size * size, axes, keepdim))
    elif order == 0:
        norm = total((size != 0).astype(size.dtype), axes, keepdim)
    elif math.isinf(order):
        extreme = np.max if order > 0 else np.min
        norm = extreme(size, axes, keepdims=keepdim)
    elif order == 1:
        norm = total(size, axes, keepdim)
    else:
        norm = total(size**order, axes, keepdim) ** (1 / order)
    return norm.astype(input.dtype if input.dtype.kind != "c" else size.dtype)


@_vector_norm.gradient
def _(ctx, grad):
    _, order, dim, keepdim = ctx.args
    input, out = ctx.saved
    (shape,) = ctx.shapes
    size = input.abs()
    norm = spread(out, dim, keepdim, shape)
    if math.isinf(order):
        chosen = (size == norm) | (size != size)
        return input.sgn() * equal_shares(grad, chosen, dim, keepdim, shape)
    grad = spread(grad, dim, keepdim, shape)
    if order == 0:
        return grad * 0
    if order == 1:
        return input.sgn() * grad
    if order == 2:
        return grad * (input / norm).masked_fill(norm == 0, 0)
    if order < 1:
        return input.sgn() * size.pow(order - 1).masked_fill(size == 0, 0) * grad * norm.pow(1 - order)
    direction = input.sgn() * size.pow(order - 1) if order < 2 else input * size.pow(order - 2)
    return direction * (grad / norm.pow(order - 1)).masked_fill(norm == 0, 0)


@on_cpu(_vector_norm)
def _norm_over(input, order, dim, keepdim):
    return mint.linalg.vector_norm(input, order, dim, keepdim)


def _check_identity(order, shape, axes, whole):
    """Raise PyTorch's error for the largest or smallest of no elements."""
    if not (order < 0 or math.isinf(order)):
        return
    start, end = (
        f"linalg.vector_norm cannot compute the {order:g} norm on",
        "the operation does not have an identity",
    )
    if whole and 0 in shape:
        raise RuntimeError(f"{start} an empty tensor because {end}")
    for axis in axes:
        if not shape[axis]:
            raise RuntimeError(f"{start} the dimension {axis} because this dimension is empty and {end}")


def _in_norm_dtype(input, dtype):
    """`input` in `dtype`; raises RuntimeError where a norm has no such dtype."""
    own = input.dtype
    if not (own.is_floating_point or own.is_complex):
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {_dtype.SCALAR_NAMES[own]}"
        )
    if dtype is None:
        return input
    wanted = _dtype.SCALAR_NAMES[dtype]
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"linalg.vector_norm: dtype should be floating point or complex, but got {wanted}")
    if own.is_complex != dtype.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(f"linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {wanted}")
    if promote_types(own, dtype) != dtype:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({_dtype.SCALAR_NAMES[own]}) should be convertible without "
            f"narrowing to the specified dtype ({wanted})"
        )
    return cast(input, dtype)


@op(name="vector_norm", namespace="torch.linalg", method=False)
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The `ord`-norm of the elements over `dim` (all by default): a number, inf, -inf, or 0 to count.

    Raises RuntimeError for integers, and for the inf or a negative norm of no elements.
    """
    if isinstance(ord, (str, complex)) or ord is None:
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}"
        )
    x = _in_norm_dtype(x, dtype)
    shape = shape_of(x)
    axes = axes_of(dim, len(shape))
    _check_identity(ord, shape, axes, dim is None or dim == () or dim == [])
    return _norm_over(x, float(ord), dim, keepdim)


@op
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The `p`-norm over `dim`: of vectors for a number or "fro", of matrices for "nuc". See `torch.linalg`."""
    if isinstance(p, str) and p != "fro":
        from msadapter.pytorch import linalg  # built on these operators

        dims = tuple(range(len(shape_of(input)))) if dim is None else dim
        return linalg.matrix_norm(input, p, dims, keepdim, dtype=dtype)
    return vector_norm.record.body(input, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


@op(out=False)
def dist(input, other, p=2):
    """The `p`-norm of `input - other`. Raises RuntimeError for integers."""
    return norm.record.body(input - other, p)
