"""Norms of vectors and matrices, and what is made of them."""

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
from msadapter.pytorch._ops.reduction import restored, spread
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim


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


_NODE = "LinalgVectorNormBackward0"


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


def _in_norm_dtype(input, dtype, name):
    """`input` in `dtype`; raises RuntimeError where a norm has no such dtype."""
    own = input.dtype
    if not (own.is_floating_point or own.is_complex):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {_dtype.SCALAR_NAMES[own]}"
        )
    if dtype is None:
        return input
    wanted = _dtype.SCALAR_NAMES[dtype]
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {wanted}")
    if own.is_complex != dtype.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {wanted}")
    if promote_types(own, dtype) != dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({_dtype.SCALAR_NAMES[own]}) should be convertible without "
            f"narrowing to the specified dtype ({wanted})"
        )
    return cast(input, dtype)


@op(name="vector_norm", namespace="torch.linalg", method=False, node=_NODE)
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The `ord`-norm of the elements over `dim` (all by default): a number, inf, -inf, or 0 to count.

    Raises RuntimeError for integers, and for the inf or a negative norm of no elements.
    """
    if isinstance(ord, (str, complex)) or ord is None:
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}"
        )
    x = _in_norm_dtype(x, dtype, "linalg.vector_norm")
    shape = shape_of(x)
    axes = axes_of(dim, len(shape))
    _check_identity(ord, shape, axes, dim is None or dim == () or dim == [])
    return _norm_over(x, float(ord), dim, keepdim)


def _matrix_norm(A, ord, dim, keepdim):
    """The norm of the matrices over the two dimensions `dim`."""
    rows, columns = dim
    if ord == "fro":
        return _norm_over(A, 2.0, dim, keepdim)
    if ord in ("nuc", 2, -2):
        if A.dtype in (_dtype.float16, _dtype.bfloat16):
            raise RuntimeError(
                f"linalg.matrix_norm: Low precision dtypes not supported. Got {_dtype.SCALAR_NAMES[A.dtype]}"
            )
        from msadapter.pytorch import linalg  # its decompositions are built on these operators

        values = linalg.svdvals(A.movedim(dim, (-2, -1)))
        norm = values.sum(-1) if ord == "nuc" else _extreme(values, -1, ord)
        return restored(norm, dim, False, len(shape_of(A))) if keepdim else norm
    along = rows if abs(ord) == 1 else columns
    sums = _norm_over(A, 1.0, (along,), True)
    other = columns if along == rows else rows
    norm = _extreme(sums, other, ord).squeeze(along if along < other else along - 1)
    return restored(norm, dim, False, len(shape_of(A))) if keepdim else norm


def _extreme(sizes, dim, ord):
    """The largest (for a positive `ord`) or smallest of sizes; of none, the largest is 0."""
    if ord > 0:
        return sizes.amax(dim) if shape_of(sizes)[dim] else sizes.sum(dim)
    return sizes.amin(dim)


@op(namespace="torch.linalg", method=False)
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices over two dimensions: "fro", "nuc", or inf, 1, 2 and their negatives.

    Raises RuntimeError for integers, fewer than two dimensions, and other orders.
    """
    A = _in_norm_dtype(A, dtype, "linalg.matrix_norm")
    shape = shape_of(A)
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    if wrap_dim(dim[0], len(shape)) == wrap_dim(dim[1], len(shape)):
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord not in _MATRIX_ORDERS:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return _matrix_norm(A, ord, tuple(wrap_dim(d, len(shape)) for d in dim), keepdim)


_MATRIX_ORDERS = ("fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2)


@op(name="norm", namespace="torch.linalg", method=False)
def _linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """`vector_norm` for one dimension (or no `ord`), `matrix_norm` for two."""
    rank = len(shape_of(A))
    if dim is not None:
        dim = (dim,) if not isinstance(dim, (tuple, list)) else tuple(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
            )
    elif ord is not None and rank not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."
        )
    if ord is not None and (isinstance(ord, str) or len(dim or (0,) * rank) == 2):
        return matrix_norm.record.body(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm.record.body(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@op(node=_NODE)
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """The `p`-norm over `dim`: of vectors for a number or "fro", of matrices for "nuc". See `torch.linalg`."""
    if isinstance(p, str) and p != "fro":
        dims = (-2, -1) if dim is None else dim
        return matrix_norm.record.body(input, p, dims, keepdim, dtype=dtype)
    return vector_norm.record.body(input, 2 if p is None or p == "fro" else p, dim, keepdim, dtype=dtype)


@op(out=False)
def dist(input, other, p=2):
    """The `p`-norm of `input - other`. Raises RuntimeError for integers."""
    return norm.record.body(input - other, p)


@op(inplace=True, node="RenormBackward0")
def renorm(input, p, dim, maxnorm):
    """`input` with each slice of `dim` whose `p`-norm exceeds `maxnorm` scaled down to it."""
    rank = len(shape_of(input))
    if rank < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {rank} dimensions")
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported. Received: {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    dim = wrap_dim(to_int(dim), rank)
    norms = _norm_over(input, float(p), tuple(d for d in range(rank) if d != dim), True)
    return input * (maxnorm / (norms + 1e-7)).masked_fill(norms <= maxnorm, 1)
