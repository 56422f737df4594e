"""Tensors put together: along a dimension, as blocks, as grids and products of sets."""

import itertools
import math
import warnings

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.factories import zeros
from msadapter.pytorch._ops.promotion import result_type
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim


@kernel(reason="MindSpore's concatenation takes two to three times as long, and its gradient five times")
def _concatenate(dim, sizes, *tensors):
    return np.concatenate(tensors, dim)


@_concatenate.gradient
def _(ctx, grad):
    dim, sizes = ctx.args[:2]
    return grad.split(sizes, dim)


@kernel(reason="a view of each tensor before they are joined takes longer than the rest")
def _stacked(dim, *tensors):
    return np.stack(tensors, dim)


@_stacked.gradient
def _(ctx, grad):
    return grad.unbind(ctx.args[0])


def joined(tensors, dim):
    """Tensors of one dtype and of sizes that fit, along `dim`."""
    if storage.ON_CPU:
        return _concatenate(dim, tuple(shape_of(t)[dim] for t in tensors), *tensors)
    return ms.ops.cat(tensors, dim)


def _several(name, tensors):
    """The tensors of a sequence as a list; PyTorch's errors for anything else."""
    if isinstance(tensors, MsTensor) or not hasattr(tensors, "__iter__"):
        kind = type(tensors).__name__
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}")
    tensors = list(tensors)
    for i, t in enumerate(tensors):
        if not isinstance(t, MsTensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    if not tensors and name == "cat":
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


def _in_common_dtype(tensors):
    if len({id(native.dtype_of(t)) for t in tensors}) == 1:
        return tensors
    dtype = result_type(*tensors)
    return [cast(t, dtype) for t in tensors]


@op(method=False, aliases=("concat", "concatenate"))
def cat(tensors, dim=0):
    """Tensors joined along `dim`, in their common dtype; a 1-d tensor without elements is passed over."""
    tensors = _several("cat", tensors)
    shapes = [shape_of(t) for t in tensors]
    if () in shapes:
        raise RuntimeError(f"zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated")
    tensors = _in_common_dtype(tensors)
    kept = [t for t, s in zip(tensors, shapes, strict=True) if s != (0,)] or tensors[:1]
    dim = wrap_dim(to_int(dim), len(shape_of(kept[0])))
    _check_sizes(kept, dim)
    return joined(kept, dim)


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
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for "
                    f"tensor number {i} in the list."
                )


@op(method=False)
def stack(tensors, dim=0):
    """Tensors of one shape along a new dimension `dim`."""
    tensors = _several("stack", tensors)
    first = shape_of(tensors[0])
    for i, t in enumerate(tensors[1:], 1):
        if shape_of(t) != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(shape_of(t))} "
                f"at entry {i}"
            )
    dim = wrap_dim(to_int(dim), len(first) + 1)
    tensors = _in_common_dtype(tensors)
    return _stacked(dim, *tensors) if storage.ON_CPU else ms.ops.stack(tensors, dim)


@op(method=False)
def hstack(tensors):
    """Tensors side by side: along dimension 1, or 0 for tensors of one dimension."""
    tensors = [atleast_1d(t) for t in _several("hstack", tensors)]
    return cat(tensors, 0 if len(shape_of(tensors[0])) == 1 else 1)


@op(method=False, aliases=("row_stack",))
def vstack(tensors):
    """Tensors above one another, along dimension 0; one dimension counts as a row."""
    return cat([atleast_2d(t) for t in _several("vstack", tensors)], 0)


@op(method=False)
def dstack(tensors):
    """Tensors behind one another, along dimension 2."""
    return cat([atleast_3d(t) for t in _several("dstack", tensors)], 2)


@op(method=False)
def column_stack(tensors):
    """Tensors side by side; one dimension, or none, counts as a column."""
    tensors = _several("column_stack", tensors)
    return cat([t.reshape(t.numel(), 1) if t.dim() < 2 else t for t in tensors], 1)


def _atleast(name, widened, doc):
    @op(name=name, method=False, out=False)
    def atleast(*tensors):
        if len(tensors) == 1:
            if isinstance(tensors[0], MsTensor):
                return widened(tensors[0])
            tensors = _several(name, tensors[0])
        return tuple(widened(t) for t in tensors)

    atleast.__doc__ = atleast.record.body.__doc__ = (
        f"{doc} One tensor gives one, several (or a sequence) a tuple."
    )
    return atleast


def _as_matrix(tensor):
    return tensor.unsqueeze(0) if tensor.dim() == 1 else tensor.reshape(1, 1) if not tensor.dim() else tensor


atleast_1d = _atleast(
    "atleast_1d", lambda t: t if t.dim() else t.reshape(1), "Tensors with at least one dimension."
)
atleast_2d = _atleast("atleast_2d", _as_matrix, "Tensors with at least two dimensions, new ones first.")
atleast_3d = _atleast(
    "atleast_3d",
    lambda t: t if t.dim() > 2 else _as_matrix(t).unsqueeze(-1),
    "Tensors with at least three dimensions: a vector in the middle one, a matrix in the first two.",
)


@op(method=False, out=False)
def block_diag(*tensors):
    """The matrix with the tensors (of two dimensions at most) as blocks on its diagonal."""
    for i, t in enumerate(tensors):
        if not isinstance(t, MsTensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()} dimensions"
            )
    if not tensors:
        return zeros(1, 0)
    blocks = _in_common_dtype([_as_matrix(t) for t in tensors])
    width, rows, before = sum(b.shape[1] for b in blocks), [], 0
    for block in blocks:
        height, own = block.shape
        left, right = block.new_zeros(height, before), block.new_zeros(height, width - before - own)
        rows.append(joined([left, block, right], 1))
        before += own
    return joined(rows, 0)


# --- grids and products ---------------------------------------------------------------------------------------------


@op(method=False, out=False)
def meshgrid(*tensors, indexing=None):
    """The coordinates of a grid over vectors, as views: one tensor per vector, of all their sizes.

    `indexing` "ij" (the default, with a warning) puts the first vector along dimension 0, "xy" along dimension 1.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    tensors = _several("meshgrid", tensors)
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=4,
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    _check_vectors(tensors)
    swapped = indexing == "xy" and len(tensors) > 1
    if swapped:
        tensors[:2] = tensors[1::-1]
    sizes = tuple(t.numel() for t in tensors)
    grids = [
        t.reshape([-1 if d == i else 1 for d in range(len(sizes))]).expand(sizes)
        for i, t in enumerate(tensors)
    ]
    if swapped:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def _check_vectors(tensors):
    for i, t in enumerate(tensors):
        if t.dim() > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape {list(t.shape)} at {i}"
            )
        if t.dtype != tensors[0].dtype:
            raise RuntimeError(
                "meshgrid expects all tensors to have the same dtype. "
                f"Received: {[str(t.dtype) for t in tensors]}"
            )


@op(method=False, out=False)
def cartesian_prod(*tensors):
    """All combinations of one element of each vector, as rows; of a single vector, itself."""
    for t in _several("cartesian_prod", tensors):
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.reshape(-1) for grid in meshgrid(*tensors, indexing="ij")], 1)


@op(out=False)
def combinations(input, r=2, with_replacement=False):
    """The combinations of `r` elements of a vector, as rows, in the order of `itertools`."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    count = math.comb(len(input) + r - 1, r) if with_replacement and len(input) else math.comb(len(input), r)
    rows = np.fromiter(itertools.chain.from_iterable(choose(range(len(input)), r)), np.int64, count * r)
    return input[from_array(rows.reshape(count, r), _dtype.int64)]
