"""Shapes and views: the results share the memory of the input wherever PyTorch's do."""

from mindspore import mint

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.native import numel_of, shape_of, strides_of
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import infer_size, to_int, to_size, wrap_dim, wrap_dims


def _fits_without_copy(tensor, size):
    """Whether a tensor of these strides can be seen with shape `size`: each new dimension lies in one old stretch."""
    if native.is_contiguous(tensor) or not numel_of(tensor):
        return True
    stretches = []  # (elements, step) of the maximal stretches of memory with one step, from the front
    for s, step in zip(shape_of(tensor), strides_of(tensor), strict=True):
        if s == 1:
            continue
        if stretches and stretches[-1][1] == s * step:
            stretches[-1] = (stretches[-1][0] * s, step)
        else:
            stretches.append((s, step))
    remaining = [s for s in size if s != 1]
    for elements, _ in stretches:
        filled = 1
        while filled < elements:
            if not remaining:
                return False
            filled *= remaining.pop(0)
        if filled != elements:
            return False
    return not remaining


def alias(tensor):
    """A view of the whole tensor."""
    return (
        native.view(tensor, shape_of(tensor)) if native.is_contiguous(tensor) else native.getitem(tensor, ...)
    )


@op(view=True, function=False)
def view(input, *shape):
    """`input` with another shape over the same memory, or with another dtype of it.

    Raises RuntimeError where the strides do not allow it; `reshape` then copies.
    """
    size = infer_size(to_size(shape), numel_of(input), shape_of(input))
    if size == shape_of(input):
        return alias(input)
    if not _fits_without_copy(input, size):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return native.view(input, size)


@op
def reshape(input, *shape):
    """`input` with another shape: a view where the strides allow it, else a copy."""
    size = infer_size(to_size(shape), numel_of(input), shape_of(input))
    if native.is_contiguous(input):
        return view(input, size)
    return view(contiguous(input), size)


@op(function=False)
def contiguous(input, memory_format=None):
    """`input` itself where its elements lie in order, else a copy in which they do."""
    return input if native.is_contiguous(input) else clone(input)


@op
def clone(input, *, memory_format=None):
    """A copy with memory of its own; gradients pass through."""
    return copy_of(input)


@op(view=True, aliases=("swapaxes", "swapdims"))
def transpose(input, dim0, dim1):
    """`input` with two dimensions swapped."""
    rank = len(shape_of(input))
    dim0, dim1 = wrap_dim(to_int(dim0), rank), wrap_dim(to_int(dim1), rank)
    return mint.transpose(input, dim0, dim1) if rank else native.view(input, ())


@op(view=True)
def permute(input, *dims):
    """`input` with its dimensions in the order `dims`."""
    rank = len(shape_of(input))
    order = to_size(dims)
    if len(order) != rank:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(order)}"
        )
    return mint.permute(input, wrap_dims(order, rank)) if rank else native.view(input, ())


@op(view=True)
def t(input):
    """A matrix transposed; tensors of fewer dimensions as they are."""
    rank = len(shape_of(input))
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    return mint.transpose(input, 0, 1) if rank == 2 else alias(input)


@op(view=True)
def narrow(input, dim, start, length):
    """Elements `start` to `start + length` of dimension `dim`."""
    shape = shape_of(input)
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim, start, length = wrap_dim(dim, len(shape)), to_int(start), to_int(length)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -shape[dim] <= start <= shape[dim]:
        raise IndexError(
            f"start out of range (expected to be in range of [{-shape[dim]}, {shape[dim]}], but got {start})"
        )
    start = start + shape[dim] if start < 0 else start
    if start + length > shape[dim]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[dim]}).")
    return native.slice_view(input, dim, start, start + length)


@op(view=True)
def select(input, dim, index):
    """Element `index` of dimension `dim`, which goes away."""
    shape = shape_of(input)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_dim(dim, len(shape)), to_int(index)
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    return native.select_view(input, dim, index % size)


@op(view=True, inplace=False)
def unsqueeze(input, dim):
    """A dimension of size 1 put in at `dim`."""
    return mint.unsqueeze(input, wrap_dim(to_int(dim), len(shape_of(input)) + 1))


@op(view=True)
def squeeze(input, dim=None):
    """Dimensions of size 1 (all, or those of `dim`) taken out."""
    shape = shape_of(input)
    dims = tuple(d for d in wrap_dims(dim, len(shape)) if shape and shape[d] == 1)
    if not dims:
        return alias(input)
    result = input
    for d in sorted(dims, reverse=True):
        result = mint.squeeze(result, d)
    return result


@op(view=True, function=False)
def expand(input, *size, implicit=False):
    """`input` with dimensions of size 1 repeated to `size` without copying; -1 keeps a size."""
    size, shape = to_size(size), shape_of(input)
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    target = []
    for i, s in enumerate(size):
        own = shape[i - lead] if i >= lead else 1
        if s == -1 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({s}) isn't allowed in a leading, non-existing dimension {i}"
            )
        if s not in (own, -1) and own != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({s}) must match the existing size ({own}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
        target.append(own if s == -1 else s)
    return mint.broadcast_to(input, tuple(target))


def _split_points(sizes):
    starts, start = [], 0
    for s in sizes:
        starts.append((start, s))
        start += s
    return starts


@op(view=True)
def split(tensor, split_size_or_sections, dim=0):
    """Parts of dimension `dim`: of one size (the last may be smaller), or of the sizes in a list."""
    shape = shape_of(tensor)
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(shape))
    total = shape[dim]
    if isinstance(split_size_or_sections, (tuple, list)):
        sizes = tuple(split_size_or_sections)
        if sum(sizes) != total:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {dim}), but got split_sizes={list(sizes)}"
            )
    else:
        step = to_int(split_size_or_sections)
        if step < 0 or (step == 0 and total):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
        count = max(-(-total // step), 1) if step else 1
        sizes = tuple(min(step, total - i * step) for i in range(count)) if total else (0,)
    return tuple(native.slice_view(tensor, dim, start, start + s) for start, s in _split_points(sizes))


@op(view=True)
def chunk(input, chunks, dim=0):
    """At most `chunks` parts of dimension `dim`, of one size but for the last."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    shape = shape_of(input)
    total = shape[wrap_dim(dim, len(shape))] if shape else 0
    step = -(-total // chunks)
    return split.record.body(input, step if step else 0, dim)


@op(view=True)
def unbind(input, dim=0):
    """The slices along `dim`, without it."""
    shape = shape_of(input)
    if not shape:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    dim = wrap_dim(dim, len(shape))
    return tuple(native.select_view(input, dim, i) for i in range(shape[dim]))
