"""Rows of a table by their number: embedding, embedding_bag, one_hot."""

import warnings

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._kernels.selections import Slices
from msadapter.pytorch._ops.registry import op

_REASON = "MindSpore's embedding has no CPU kernel"
_INT64 = _dtype.NATIVE[_dtype.int64]
_NO_ROW = -1  # as padding index: every row gets its gradient


@kernel(reason=_REASON, saves=("index",))
def _rows(weight, index, padding_idx, by_frequency):
    if index.size and not 0 <= index.min() <= index.max() < len(weight):
        raise IndexError("index out of range in self")
    return weight.take(index, 0)


@_rows.gradient
def _(ctx, grad):
    return _summed_rows(grad, ctx.saved[0], ctx.shapes[0][0], *ctx.args[2:]), None


@kernel(reason="the gradient of embedding", saves=("index",))
def _summed_rows(values, index, count, padding_idx, by_frequency):
    width = values.shape[index.ndim :]
    shares = _shares(index, count, padding_idx, by_frequency)
    if shares is not None:
        shares = shares.astype(np.float64 if values.dtype == np.float64 else np.float32)
        values = (values * shares.reshape(*index.shape, *(1,) * len(width))).astype(values.dtype)
    return Slices(index, 0).added(values, (count, *width))


@_summed_rows.gradient
def _(ctx, second):
    (index,) = ctx.saved
    shares = _shares(native.asnumpy(index), *ctx.args[2:])
    result = _rows(second, index, _NO_ROW, False)
    if shares is not None:
        result = result * result.new_tensor(
            shares.reshape(*shape_of(index), *(1,) * (len(shape_of(second)) - 1))
        )
    return result, None


def _shares(index, count, padding_idx, by_frequency):
    """By how much the gradient of each picked row counts; None where all count as they are."""
    shares = None
    if by_frequency:
        shares = 1 / np.maximum(np.bincount(index.ravel(), minlength=count), 1)[index]
    if padding_idx != _NO_ROW:
        kept = (index != padding_idx).astype(np.float64)
        shares = kept if shares is None else shares * kept
    return shares


@on_cpu(_rows)
def _lookup(weight, index, padding_idx, by_frequency):
    padding = None if padding_idx == _NO_ROW else padding_idx
    return ms.mint.nn.functional.embedding(index, weight, padding, scale_grad_by_freq=by_frequency)


@on_cpu(_summed_rows)
def _sums(values, index, count, padding_idx, by_frequency):
    return ms.mint.zeros((count, *values.shape[1:]), dtype=values.dtype).index_add(0, index, values)


def _check_index(index, function):
    if index.dtype not in (_dtype.int64, _dtype.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{_dtype.SCALAR_NAMES[index.dtype]}Tensor instead (while checking arguments for {function})"
        )


def _padding(padding_idx, count):
    """`padding_idx` counted from the front. Raises AssertionError where there is no such row."""
    if padding_idx is None:
        return _NO_ROW
    if not -count <= padding_idx < count:
        raise AssertionError(
            f"Padding_idx must be within num_embeddings. Received: {padding_idx} for {count}"
        )
    return padding_idx % count


def _renormalize(weight, index, max_norm, norm_type):
    """Shrink the rows that `index` names, in place, to a norm of at most `max_norm`."""
    with no_grad():
        named = np.unique(native.asnumpy(index))
        rows = native.asnumpy(weight.detach())[named]
        exact = rows.astype(np.float64)
        norms = np.linalg.norm(exact, norm_type, 1, keepdims=True)
        shrunk = (exact * (max_norm / (norms + 1e-7))).astype(rows.dtype)
        weight[index.new_tensor(named)] = native.from_numpy(np.where(norms > max_norm, shrunk, rows))


@op(namespace="torch.nn.functional", method=False, out=False, kernel=_rows)
def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """The rows of `weight` [count, width] that `input` (int64 or int32, any shape) names: its shape, then width.

    Args:
        padding_idx: the row that gets no gradient.
        max_norm: rows with a larger `norm_type`-norm are shrunk to it first, in place.
        scale_grad_by_freq: divide a row's gradient by how often it was named.
        sparse: taken, but the gradient is dense.
    Raises IndexError for a row that does not exist.
    """
    _check_index(input, "embedding")
    if len(shape_of(weight)) != 2:
        raise RuntimeError(f"'weight' must be 2-D. Received: {weight.shape}")
    padding_idx = _padding(padding_idx, shape_of(weight)[0])
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    return _lookup(weight, input, padding_idx, scale_grad_by_freq)


@op(name="embedding", method=False, out=False, kernel=_rows)
def _by_weight(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """`torch.nn.functional.embedding` with the table first; `padding_idx` -1 stands for none."""
    return embedding.record.body(
        indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq
    )


@op(method=False, out=False)
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Shrink the rows of the table `input` that `indices` names to a norm of at most `max_norm`, in place."""
    _check_index(indices, "embedding_renorm_")
    _renormalize(input, indices, max_norm, norm_type)
    return input


# --- bags ------------------------------------------------------------------------------------------------------------


def _bags(input, offsets, include_last_offset):
    """(flat indices, the bag of each as an array, number of bags). Raises PyTorch's errors for shapes and offsets."""
    shape = shape_of(input)
    if len(shape) == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        return input.reshape(-1), np.repeat(np.arange(shape[0]), shape[1]), shape[0]
    if len(shape) != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(shape)}")
    if offsets is None or len(shape_of(offsets)) != 1:
        raise ValueError(f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}")
    starts = native.asnumpy(offsets)
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {starts[0]}"
        )
    if starts.size and starts[-1] > shape[0]:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {shape[0]} but got offsets[-1] of {starts[-1]}"
        )
    if include_last_offset:
        starts = starts[:-1]
    return input, np.searchsorted(starts, np.arange(shape[0]), side="right") - 1, len(starts)


def _check_bag_arguments(input, weight, weights, mode, scale_grad_by_freq, sparse):
    if weights is not None and shape_of(input) != shape_of(weights):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({weights.shape}) is not None, then it must have the same shape as the "
            f"input ({input.shape})"
        )
    if len(shape_of(weight)) != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {len(shape_of(weight))}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max. Received: {mode!r}")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}')."
        )
    if weights is not None and dtype_of(weights) is not dtype_of(weight):
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'. Received: {weight.dtype} and {weights.dtype}"
        )


@op(namespace="torch.nn.functional", method=False, out=False, node="EmbeddingBagBackward0", kernel=_rows)
def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of the rows of `weight` [count, width] that each bag of `input` names: [bags, width].

    A bag is a row of a 2-d `input`; a 1-d one is cut at `offsets`. Rows `padding_idx` are passed over; an empty bag is 0.
    `per_sample_weights` (for "sum") multiplies rows before they are added. Other arguments are those of `embedding`.
    """
    if dtype_of(weight) is _INT64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=4,
        )
        input, weight = weight, input
    _check_bag_arguments(input, weight, per_sample_weights, mode, scale_grad_by_freq, sparse)
    _check_index(input, "embedding_bag")
    index, bags, count = _bags(input, offsets, include_last_offset)
    named, length = native.asnumpy(index), shape_of(weight)[0]
    wrong = np.flatnonzero((named < 0) | (named >= length))
    if wrong.size:
        raise RuntimeError(
            f"Index {wrong[0]} of input takes value {named[wrong[0]]} which is not in the valid range [0, {length})"
        )
    if max_norm is not None:
        _renormalize(weight, index, max_norm, norm_type)
    rows = _lookup(weight, index, _NO_ROW, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if padding_idx is not None:
        kept = np.flatnonzero(named != _padding(padding_idx, length))
        rows, bags = rows[index.new_tensor(kept, dtype=_dtype.int64)], bags[kept]
    if mode == "max":
        return _maxima(rows, bags, count)
    sums = _sums(rows, index.new_tensor(bags, dtype=_dtype.int64), count, _NO_ROW, False)
    if mode == "sum":
        return sums
    sizes = np.maximum(np.bincount(bags, minlength=count), 1).reshape(-1, 1)
    return sums / sums.new_tensor(sizes)


def _maxima(rows, bags, count):
    """The maximum of each bag of rows, its gradient to the first row that has it."""
    values = native.asnumpy(rows.detach())
    places = np.zeros((count, values.shape[1]), np.int64)
    for bag in np.unique(bags):
        members = np.flatnonzero(bags == bag)
        places[bag] = members[values[members].argmax(0)]
    if not len(values):
        return rows.new_zeros((count, values.shape[1]))
    empty = np.bincount(bags, minlength=count)[:, None] == 0
    maxima = rows.gather(0, rows.new_tensor(places, dtype=_dtype.int64))
    return maxima.masked_fill(rows.new_tensor(empty, dtype=_dtype.bool), 0)


# --- one_hot ---------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's is a zero row for a class out of range")
def _one_hot_array(index, classes):
    return (index[..., None] == np.arange(classes)).astype(np.int64)


@on_cpu(_one_hot_array)
def _one_hot(index, classes):
    return ms.mint.nn.functional.one_hot(index, classes)


@op(namespace="torch.nn.functional", method=False, out=False, kernel=_one_hot_array)
def one_hot(tensor, num_classes=-1):
    """1 at the class that each element of the int64 `tensor` names, 0 elsewhere: its shape, then the classes.

    Without `num_classes` there are as many as the largest element needs. Raises RuntimeError for other classes.
    """
    if dtype_of(tensor) is not _INT64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor. Received: {tensor.dtype}"
        )
    num_classes = int(num_classes)
    index = native.asnumpy(tensor)
    if not index.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    elif index.min() < 0:
        raise RuntimeError(f"Class values must be non-negative. Received: {index.min()}")
    elif num_classes == -1:
        num_classes = int(index.max()) + 1
    elif index.max() >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes. Received: {index.max()} of {num_classes}"
        )
    return _one_hot(tensor, num_classes)
