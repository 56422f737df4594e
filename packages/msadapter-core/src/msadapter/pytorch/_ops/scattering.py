"""Elements and slices written, or accumulated, at indices."""

import numpy as np
from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import MsTensor, dtype_of, numel_of, shape_of
from msadapter.pytorch._engine.storage import ON_CPU
from msadapter.pytorch._kernels.selections import Along, Slices
from msadapter.pytorch._ops.arrays import is_floating, wide
from msadapter.pytorch._ops.casting import cast, checked_constant, constant
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.gathering import flat_index, places_of
from msadapter.pytorch._ops.reduction import labelled
from msadapter.pytorch._ops.registry import op, retag
from msadapter.pytorch._ops.selecting import (
    accumulated,
    added,
    along,
    check_range,
    index_values,
    read,
    written,
    zeroed,
)
from msadapter.pytorch._ops.shapes import broadcast, to_int, wrap_dim

_LONG, _INT, _BOOL = (_dtype.NATIVE[t] for t in (_dtype.int64, _dtype.int32, _dtype.bool))
_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def _scalar_name(tensor):
    return _dtype.SCALAR_NAMES[_dtype.of_native(dtype_of(tensor))]


def _scatter_selection(input, dim, index, src):
    """The places of `index`, and the part of `src` that goes there."""
    if not isinstance(src, MsTensor):
        raise TypeError(f"scatter(): argument 'src' (position 3) must be Tensor, not {type(src).__name__}")
    if dtype_of(src) is not dtype_of(input):
        raise RuntimeError(
            f"scatter(): Expected self.dtype to be equal to src.dtype. Received: {input.dtype} and {src.dtype}"
        )
    selection = along("scatter", input, dim, index, src)
    extent = selection.index.shape
    if shape_of(src) != extent:
        if len(shape_of(src)) == len(extent):
            src = src[tuple(slice(n) for n in extent)]
        src = src.reshape(extent)
    return selection, src


@op(inplace=True, linear=True)
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """`input` with input[index[i][j]][j] = src[i][j] for `dim` 0, and so on; `src` may be a number.

    `reduce` "add" or "multiply" combines instead of writing. Raises RuntimeError for indices out of range, shapes that
    do not fit, and a `src` of another dtype.
    """
    src = value if src is None else src
    if reduce is not None:
        return _scatter_combining(input, dim, index, src, reduce)
    if not isinstance(src, MsTensor):
        number = checked_constant(src, input.dtype)
        return labelled(written(input, number, along("scatter", input, dim, index)), "ScatterBackward1")
    if not ON_CPU:
        return mint.scatter(input, dim, index, src)
    selection, src = _scatter_selection(input, dim, index, src)
    return written(input, src, selection)


def _scatter_combining(input, dim, index, src, reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply. Received: {reduce!r}")
    if not isinstance(src, MsTensor):
        src = retag(checked_constant(src, input.dtype)).expand(shape_of(index))
    if reduce == "add":
        return scatter_add.record.body(input, dim, index, src)
    # A copy, as the gradient of a product reads the input, which scatter_ is about to write.
    return scatter_reduce.record.body(input.clone(), dim, index, src, "prod")


@op(inplace=True, linear=True)
def scatter_add(input, dim, index, src):
    """`input` with input[index[i][j]][j] += src[i][j] for `dim` 0, and so on."""
    if not ON_CPU:
        return mint.scatter_add(input, dim, index, src)
    selection, src = _scatter_selection(input, dim, index, src)
    return accumulated(input, src, selection)


@kernel(
    reason="MindSpore's scatters know only add, and drop indices out of range", saves=("input", "src", "out")
)
def _scatter_reduced(input, src, selection, reduce, include_self):
    function, identity = _combination(reduce, input.dtype)
    result = np.array(wide(input), order="C")
    if not include_self:
        selection.write(result, identity)
    selection.combine(result, wide(src), function)
    if reduce == "mean":
        count = selection.added(np.ones(selection.index.shape, np.int64), input.shape) + (
            1 if include_self else 0
        )
        divide = np.true_divide if is_floating(input) else np.floor_divide
        result = divide(result, np.maximum(count, 1).astype(result.dtype))
    return result.astype(input.dtype)


def _combination(reduce, dtype):
    """The NumPy function of a reduction and its neutral element."""
    if reduce in ("sum", "mean"):
        return np.add, 0
    if reduce == "prod":
        return np.multiply, 1
    smallest = reduce == "amin"
    if dtype.kind in "fV":
        extreme = np.inf if smallest else -np.inf
    elif dtype.kind == "b":
        extreme = smallest
    else:
        extreme = np.iinfo(dtype).max if smallest else np.iinfo(dtype).min
    return (np.minimum if smallest else np.maximum), extreme


@_scatter_reduced.gradient
def _(ctx, grad):
    _, _, selection, reduce, include_self = ctx.args
    input, src, out = ctx.saved
    if reduce == "sum":
        for_input, for_src = grad, read(grad, selection)
    elif reduce == "mean":
        for_input, for_src = _gradient_of_mean(grad, selection, include_self)
    elif reduce == "prod":
        for_input, for_src = _gradient_of_product(grad, input, src, out, selection, include_self)
    else:
        for_input, for_src = _gradient_of_extreme(grad, input, src, out, selection)
    if not include_self:
        for_input = zeroed(for_input, selection)
    return for_input, for_src


def _gradient_of_mean(grad, selection, include_self):
    count = selection.added(np.ones(selection.index.shape), shape_of(grad)) + (1 if include_self else 0)
    share = grad / from_array(np.asarray(np.maximum(count, 1)), grad.dtype)
    return share, read(share, selection)


def _gradient_of_extreme(grad, input, src, out, selection):
    """Equal shares for all elements that are the extreme."""
    from_input = (input == out).to(grad.dtype)
    from_src = (src == read(out, selection)).to(grad.dtype)
    share = grad / accumulated(from_input, from_src, selection)
    return from_input * share, from_src * read(share, selection)


def _gradient_of_product(grad, input, src, out, selection, include_self):
    """The product of all other factors: with one zero among them, only that zero's is not zero."""
    nonzero_input = input.masked_fill(input == 0, 1)
    others = _scatter_reduced(nonzero_input, src, selection, "prod", include_self) / nonzero_input
    is_zero = src == 0
    zeros = added(is_zero.to(grad.dtype), selection, shape_of(input))
    only_zero = is_zero & (read(zeros, selection) == 1)
    without = _scatter_reduced(input, src.masked_fill(only_zero, 1), selection, "prod", include_self)
    plain = read(grad * out, selection) / src.masked_fill(is_zero, 1)
    return grad * others, read(grad * without, selection).where(only_zero, plain)


@op(inplace=True)
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """`input` with the values of `src` that `index` sends to one place combined there by `reduce`: "sum", "prod",
    "mean", "amax" or "amin"; `include_self`: together with the element that is there.
    """
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    selection, src = _scatter_selection(input, dim, index, src)
    return _scatter_reduced(input, src, selection, reduce, include_self)


# --- whole slices ---------------------------------------------------------------------------------------------------


def _places_in(name, input, dim, index, source):
    """`dim` from the front and the index vector as an array, where index and source fit a slice operator."""
    if dtype_of(index) is not _LONG and dtype_of(index) is not _INT:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {_scalar_name(index)}")
    own = shape_of(index)
    if len(own) > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {len(own)} with type: {_scalar_name(index)} and "
            f"size: {list(own)}"
        )
    if dtype_of(source) is not dtype_of(input):
        raise RuntimeError(
            f"{name}(): self ({_scalar_name(input)}) and source ({_scalar_name(source)}) must have the same scalar type"
        )
    values = index_values(index).reshape(-1)
    shape, own = shape_of(input), shape_of(source)
    dim = wrap_dim(to_int(dim), len(shape))
    if (
        len(shape) == len(own)
        and own[dim : dim + 1] not in ((), (values.size,))
        or (not own and values.size != 1)
    ):
        raise RuntimeError(
            f"{name}(): Number of indices ({values.size}) should be equal to source.size(dim): "
            f"({own[dim] if own else 1}), for dim: {dim}"
        )
    if len(own) != len(shape) or own[:dim] + own[dim + 1 :] != shape[:dim] + shape[dim + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(own)}"
        )
    return dim, values


def _on_slices(combine, input, source, values, dim):
    """`combine(input, source, slices)`, where a 0-d tensor has one slice."""
    if shape_of(input):
        return combine(input, source, Slices(values, dim))
    return combine(input.reshape(1), source.reshape(-1), Slices(values, 0)).reshape(())


@op(inplace=True, linear=True)
def index_add(input, dim, index, source, *, alpha=1):
    """`input` with `alpha` times slice i of `source` added to slice index[i] of `dim`."""
    if not ON_CPU:
        return mint.index_add(input, dim, index, source, alpha=alpha)
    dim, values = _places_in("index_add_", input, dim, index, source)
    check_range(values, dim, shape_of(input)[dim] if shape_of(input) else 1)
    if alpha != 1:
        source = source * constant(alpha, input.dtype)
    return _on_slices(accumulated, input, source, values, dim)


@op(inplace=True, linear=True)
def index_copy(input, dim, index, source):
    """`input` with slice i of `source` in place of slice index[i] of `dim`."""
    if dtype_of(index) is not _LONG:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {_scalar_name(index)}")
    if dtype_of(source) is not dtype_of(input):
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_scalar_name(input)} and (source) {_scalar_name(source)}"
        )
    if len(shape_of(index)) > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {len(shape_of(index))})")
    values = index_values(index).reshape(-1)
    shape, own = shape_of(input), shape_of(source)
    dim = wrap_dim(to_int(dim), len(shape))
    if shape and own and len(shape) != len(own):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(own)}), destination dimensionality ({len(shape)})"
        )
    if shape[:dim] + shape[dim + 1 :] != own[:dim] + own[dim + 1 :]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{list(shape[:dim] + shape[dim + 1 :])} at dimension {dim} and source slice shape: "
            f"{list(own[:dim] + own[dim + 1 :])} at dimension {dim}."
        )
    if (own[dim] if own else 1) != values.size:
        raise IndexError(
            f"index_copy_(): Number of indices ({values.size}) should be equal to source.size(dim) ({own[dim] if own else 1})"
        )
    size = shape[dim] if shape else 1
    if values.size and not (0 <= values.min() and values.max() < size):
        bad = int(values[(values < 0) | (values >= size)][0])
        raise IndexError(f"index_copy_(): index {bad} is out of bounds for dimension {dim} with size {size}")
    return _on_slices(written, input, source, values, dim)


@op(inplace=True, linear=True)
def index_fill(input, dim, index, value):
    """`input` with `value`, a number or 0-d tensor, in the slices `index` of `dim`; negative ones count from the end."""
    if dtype_of(index) is not _LONG:
        raise IndexError(f"index_fill_(): Expected dtype int64 for index. Received: {index.dtype}")
    if len(shape_of(index)) > 1:
        raise RuntimeError(f"Index has to be a vector/scalar. Received: shape {list(shape_of(index))}")
    dtype, shape = input.dtype, shape_of(input)
    dim = wrap_dim(to_int(dim), len(shape))
    size = shape[dim] if shape else 1
    values = index_values(index).reshape(-1)
    if values.size and not (-size <= values.min() and values.max() < size):
        bad = int(values[(values < -size) | (values >= size)][0])
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {size}")
    if not isinstance(value, MsTensor):
        if isinstance(value, complex) and not dtype.is_complex:
            raise RuntimeError(
                "index_fill_(): Converting complex Scalar to non-complex type is not supported"
            )
        value = checked_constant(value, dtype)
    elif shape_of(value):
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{len(shape_of(value))} dimension(s)."
        )
    selection = Slices(np.unique(np.where(values < 0, values + size, values)), dim)
    if not shape:
        return written(input.reshape(1), cast(value, dtype), selection).reshape(())
    return written(input, cast(value, dtype), selection)


@op(inplace=True)
def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """`input` with the slices of `source` that `index` sends to one slice of `dim` combined there by `reduce`: "prod",
    "mean", "amax" or "amin"; `include_self`: together with the slice that is there.
    """
    if reduce not in _REDUCTIONS[1:]:
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    dim, values = _places_in("index_reduce_", input, dim, index, source)
    size = shape_of(input)[dim] if shape_of(input) else 1
    if values.size and not (0 <= values.min() and values.max() < size):
        bad = int(values[(values < 0) | (values >= size)][0])
        raise IndexError(f"index out of range in self. Received: {bad} for size {size}")
    extent = shape_of(source)
    column = values.reshape(-1, *(1,) * (len(extent) - 1 - dim)) if extent else values.reshape(())
    selection = Along(np.broadcast_to(column, extent), dim)
    return _scatter_reduced(input, source, selection, reduce, include_self)


# --- the flattened tensor -------------------------------------------------------------------------------------------


@op(inplace=True, linear=True, node="PutBackward0")
def put(input, index, source, accumulate=False):
    """`input` with the elements of `source` at `index` in the flattened tensor, or added there (`accumulate`)."""
    selection = Slices(flat_index("put_", input, index).reshape(-1), 0)
    if dtype_of(source) is not dtype_of(input):
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_scalar_name(input)} and source.dtype = {_scalar_name(source)}"
        )
    if numel_of(source) != selection.index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{numel_of(source)}, index.numel() = {selection.index.size}"
        )
    combine = accumulated if accumulate else written
    return combine(input.reshape(-1), source.reshape(-1), selection).reshape(shape_of(input))


@op(inplace=True, linear=True, node="MaskedScatterBackward0")
def masked_scatter(input, mask, source):
    """`input` with the first elements of `source`, in order, where `mask` (which broadcasts with it) is True.

    Raises RuntimeError where `source` has too few elements or another dtype.
    """
    if dtype_of(mask) is not _BOOL:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {_scalar_name(mask)}"
        )
    if dtype_of(source) is not dtype_of(input):
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{_scalar_name(input)} and {_scalar_name(source)}"
        )
    shape = broadcast(shape_of(input), shape_of(mask))
    places = places_of(mask, shape)
    if numel_of(source) < places.size:
        raise RuntimeError(
            f"Number of elements of source < number of ones in mask. Received: {numel_of(source)} and {places.size}"
        )
    values = source.reshape(-1)[: places.size]
    input = input if shape == shape_of(input) else input.expand(shape)
    return written(input.reshape(-1), values, Slices(places, 0)).reshape(shape)
