"""Elements in other places: flipped, rolled, repeated, on diagonals and triangles."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, to_size, wrap_dim, wrap_dims

# --- flipped and rolled ---------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's flip ends the process on tensors without elements and has no bfloat16")
def _flip_array(input, dims):
    return np.array(np.flip(input, dims))


@_flip_array.gradient
def _(ctx, grad):
    return _flip(grad, ctx.args[1])


@on_cpu(_flip_array)
def _flip(input, dims):
    return mint.flip(input, dims)


@op(out=False)
def flip(input, *dims):
    """`input` with the order of elements along `dims` reversed, as a copy."""
    dims, rank = to_size(dims), len(shape_of(input))
    dims = wrap_dims(dims, rank) if dims else ()
    return _flip(input, dims) if dims and rank else input.clone()


@op(out=False)
def fliplr(input):
    """`input` with dimension 1 reversed."""
    if len(shape_of(input)) < 2:
        raise RuntimeError(f"Input must be >= 2-d. Received: {len(shape_of(input))} dimensions")
    return _flip(input, (1,))


@op(out=False)
def flipud(input):
    """`input` with dimension 0 reversed."""
    if not shape_of(input):
        raise RuntimeError("Input must be >= 1-d. Received: 0 dimensions")
    return _flip(input, (0,))


@op(out=False)
def rot90(input, k=1, dims=(0, 1)):
    """`input` turned by `k` times 90 degrees in the plane of two dimensions, from the first towards the second."""
    rank, dims = len(shape_of(input)), to_size((dims,))
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if rank < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {rank}")
    first, second = (wrap_dim(d, rank) for d in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    turns = to_int(k) % 4
    if turns == 1:
        return _flip(input, (second,)).transpose(first, second)
    if turns == 2:
        return _flip(input, (first, second))
    if turns == 3:
        return _flip(input, (first,)).transpose(first, second)
    return input.clone()


@kernel(reason="MindSpore's roll has no CPU kernel")
def _roll_array(input, shifts, dims):
    return np.roll(input, shifts, dims)


@_roll_array.gradient
def _(ctx, grad):
    _, shifts, dims = ctx.args
    return _roll(grad, tuple(-s for s in shifts), dims)


@on_cpu(_roll_array)
def _roll(input, shifts, dims):
    return mint.roll(input, shifts, dims)


@op(out=False)
def roll(input, shifts, dims=()):
    """`input` with its elements moved by `shifts` along `dims`, around the ends; without `dims`, as one flat row."""
    shape, shifts = shape_of(input), _ints(shifts)
    dims = _ints(dims)
    if not dims and len(shifts) == 1:
        return _roll(input.reshape(-1), shifts, (0,)).reshape(shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not shape:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return _roll(input, shifts, tuple(wrap_dim(d, len(shape)) for d in dims))


def _ints(value):
    return tuple(map(to_int, value)) if isinstance(value, (tuple, list)) else (to_int(value),)


# --- repeated -------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's tile has no bfloat16, and takes twice as long")
def _tile_array(input, repeats, shape):
    return np.tile(input, repeats)


@_tile_array.gradient
def _(ctx, grad):
    _, repeats, shape = ctx.args
    lead = len(repeats) - len(shape)
    pairs = [n for r, s in zip(repeats, (1,) * lead + shape, strict=True) for n in (r, s)]
    return grad.reshape(pairs).sum(tuple(range(0, len(pairs), 2))).reshape(shape)


@on_cpu(_tile_array)
def _tile(input, repeats, shape):
    return mint.tile(input, repeats)


def _repeated(input, repeats):
    shape = shape_of(input)
    negative = next((r for r in repeats if r < 0), None)
    if negative is not None:
        sizes = [r * s for r, s in zip(repeats, (1,) * (len(repeats) - len(shape)) + shape, strict=True)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
    return _tile(input, repeats, shape)


@op(function=False, out=False)
def repeat(input, *repeats):
    """`input` side by side, `repeats` times in each dimension; new dimensions come first."""
    if not repeats:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    repeats = to_size(repeats)
    if len(repeats) < len(shape_of(input)):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor. "
            f"Received: repeats={list(repeats)} for {len(shape_of(input))} dimensions"
        )
    return _repeated(input, repeats)


@op(out=False)
def tile(input, *dims):
    """`repeat` whose `dims` may be fewer than the dimensions of `input`: they count from the last."""
    dims = to_size(dims)
    return _repeated(input, (1,) * (len(shape_of(input)) - len(dims)) + dims)


@kernel(reason="MindSpore's repeat_interleave has no bfloat16 or bool, and takes 100 to 400 us")
def _repeat_array(input, repeats, dim):
    return np.repeat(input, repeats, dim)


@_repeat_array.gradient
def _(ctx, grad):
    _, repeats, dim = ctx.args
    return _sum_runs(grad, repeats, dim)


@kernel(reason="the gradient of repeat_interleave")
def _sum_runs(input, repeats, dim):
    half = input.dtype.itemsize == 2
    ends = np.cumsum(repeats)
    filled = repeats > 0
    shape = (*input.shape[:dim], len(repeats), *input.shape[dim + 1 :])
    result = np.zeros(shape, np.float32 if half else input.dtype)
    if filled.any():
        sums = np.add.reduceat(input.astype(result.dtype), (ends - repeats)[filled], dim)
        result[(slice(None),) * dim + (filled,)] = sums
    return result.astype(input.dtype)


@_sum_runs.gradient
def _(ctx, grad):
    _, repeats, dim = ctx.args
    return _repeat_array(grad, repeats, dim)


@op(out=False)
def repeat_interleave(input=None, repeats=None, dim=None, *, output_size=None):
    """Every element (or slice along `dim`) `repeats` times: a number, or one per slice.

    With a single integer tensor, the indices that it repeats.
    """
    if repeats is None or input is None:
        counts = _counts(input if repeats is None else repeats, None)
        return from_array(np.repeat(np.arange(len(counts)), counts), _dtype.int64)
    if dim is None:
        input, dim = input.reshape(-1), 0
    elif not shape_of(input):
        input = input.reshape(1)
    dim = wrap_dim(to_int(dim), len(shape_of(input)))
    size = shape_of(input)[dim]
    if isinstance(repeats, MsTensor):
        return _repeat_array(input, _counts(repeats, size), dim)
    repeats = to_int(repeats)
    if repeats < 0:
        raise RuntimeError(f"Repeats must be non-negative. Received: {repeats}")
    return _repeat_array(input, np.full(size, repeats), dim)


def _counts(repeats, size):
    """The int64 array of a tensor of repeats, one per element of a dimension of `size`."""
    if len(shape_of(repeats)) > 1:
        raise RuntimeError(f"repeats must be 0-dim or 1-dim tensor. Received: shape {list(repeats.shape)}")
    if repeats.dtype not in (_dtype.int32, _dtype.int64):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{_dtype.SCALAR_NAMES[repeats.dtype]}'"
        )
    counts = native.asnumpy(repeats).astype(np.int64).reshape(-1)
    if size is not None and len(counts) == 1:
        counts = np.full(size, counts[0])
    if size is not None and len(counts) != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(counts)} and "
            f"input.size(0) = {size}"
        )
    if (counts < 0).any():
        raise RuntimeError(f"repeats can not be negative. Received: {counts.min()}")
    return counts


# --- triangles and diagonals ----------------------------------------------------------------------------------------


def _triangle(name, cut, elsewhere, doc):
    @kernel(reason="MindSpore's tril and triu refuse tensors without elements, bfloat16 and complex numbers")
    def cut_array(input, diagonal):
        return cut(input, diagonal)

    cut_array.gradient(lambda ctx, grad: on_device(grad, ctx.args[1]))

    @on_cpu(cut_array)
    def on_device(input, diagonal):
        return elsewhere(input, diagonal)

    @op(name=name, inplace=True, linear=True)
    def triangle(input, diagonal=0):
        if len(shape_of(input)) < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return on_device(input, to_int(diagonal))

    triangle.__doc__ = triangle.record.body.__doc__ = doc
    return triangle


tril = _triangle("tril", np.tril, mint.tril, "Matrices with zeros above the diagonal number `diagonal`.")
triu = _triangle("triu", np.triu, mint.triu, "Matrices with zeros below the diagonal number `diagonal`.")


@kernel(reason="MindSpore's diag_embed has no CPU kernel for bfloat16 and int types")
def _embed(input, offset, first, second):
    size = input.shape[-1] + abs(offset)
    shape = list(input.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    result = np.zeros(shape, input.dtype)
    view = np.moveaxis(result, (first, second), (-2, -1))
    index = np.arange(input.shape[-1])
    view[..., index + max(-offset, 0), index + max(offset, 0)] = input
    return result


@_embed.gradient
def _(ctx, grad):
    return grad.diagonal(*ctx.args[1:])


@op(out=False)
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """The last dimension of `input` as diagonals (`offset` above the main one) of dimensions `dim1` and `dim2`."""
    rank = len(shape_of(input)) + 1
    offset, first, second = to_int(offset), wrap_dim(to_int(dim1), rank), wrap_dim(to_int(dim2), rank)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _embed(input, offset, first, second)


@op
def diag(input, diagonal=0):
    """A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector (a copy)."""
    rank = len(shape_of(input))
    if rank not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {rank}D")
    return diag_embed(input, diagonal) if rank == 1 else input.diagonal(diagonal).clone()


@op(out=False)
def diagflat(input, offset=0):
    """All elements of `input` as the diagonal of a matrix."""
    return diag_embed(input.reshape(-1), offset)


@op(out=False)
def trace(input):
    """The sum of the diagonal of a matrix."""
    if len(shape_of(input)) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(shape_of(input))}")
    return input.diagonal().sum()


@op
def kron(input, other):
    """The Kronecker product: every element of `input` times `other`, in blocks."""
    rank = max(input.dim(), other.dim())
    left, right = ((1,) * (rank - len(shape_of(tensor))) + shape_of(tensor) for tensor in (input, other))
    outer = input.reshape([n for s in left for n in (s, 1)]) * other.reshape(
        [n for s in right for n in (1, s)]
    )
    return outer.reshape([m * n for m, n in zip(left, right, strict=True)])
