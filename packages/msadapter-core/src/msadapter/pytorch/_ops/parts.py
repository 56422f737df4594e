"""Parts of a tensor over its memory: slices, splits, diagonals, windows, and strided views of any kind."""

import itertools

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage, strided
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, to_size, wrap_dim


def _dim_of(tensor, dim, name):
    shape = shape_of(tensor)
    if not shape:
        raise RuntimeError(f"{name}() cannot be applied to a 0-dim tensor.")
    return wrap_dim(to_int(dim), len(shape))


@op(view=True)
def narrow(input, dim, start, length):
    """Elements `start` to `start + length` of dimension `dim`."""
    if isinstance(start, MsTensor) and (shape_of(start) or not _dtype.is_integral(start.dtype)):
        raise RuntimeError(f"start must be an 0-dim integral Tensor. Received: {start.dtype}, {start.shape}")
    start, length = to_int(start), to_int(length)
    dim = _dim_of(input, dim, "narrow")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = shape_of(input)[dim]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return strided.slice_view(input, dim, start, start + length)


@op(view=True, name="slice", function=False, method=False)
def slice_(input, dim=0, start=None, end=None, step=1):
    """Elements `start` to `end` of dimension `dim`, every `step`-th; bounds beyond it are cut."""
    dim = _dim_of(input, dim, "slice")
    if step <= 0:
        raise RuntimeError(f"slice step must be positive. Received: {step}")
    start, end, step = slice(start, end, step).indices(shape_of(input)[dim])
    return strided.slice_view(input, dim, start, max(end, start), step)


@op(view=True)
def select(input, dim, index):
    """Element `index` of dimension `dim`, which goes away."""
    shape = shape_of(input)
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_dim(to_int(dim), len(shape)), to_int(index)
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    return strided.select_view(input, dim, index % size)


# --- several parts --------------------------------------------------------------------------------------------------


def _slices(tensor, dim, bounds):
    """The native views `start:stop` of dimension `dim`."""
    shape, strides, offset = strided.geometry(tensor)
    return strided.strided_views(
        tensor,
        [
            ((*shape[:dim], max(stop - start, 0), *shape[dim + 1 :]), strides, offset + start * strides[dim])
            for start, stop in bounds
        ],
    )


@op(view=True)
def split(tensor, split_size_or_sections, dim=0):
    """Parts of dimension `dim`: of one size (the last may be smaller), or of the sizes in a list."""
    if isinstance(split_size_or_sections, (tuple, list)):
        return _split_with_sizes(tensor, split_size_or_sections, dim)
    shape = shape_of(tensor)
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim, step = wrap_dim(to_int(dim), len(shape)), to_int(split_size_or_sections)
    total = shape[dim]
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if not step and total:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}"
        )
    starts = range(0, total, step) if total else (0,)
    return _slices(tensor, dim, [(start, min(start + step, total)) for start in starts])


def _split_with_sizes(tensor, sizes, dim):
    shape, sizes = shape_of(tensor), to_size((sizes,))
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(to_int(dim), len(shape))
    negative = next((s for s in sizes if s < 0), None)
    if negative is not None:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    stops = list(itertools.accumulate(sizes))
    if (stops[-1] if stops else 0) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={list(sizes)}"
        )
    return _slices(tensor, dim, [(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)])


@op(view=True)
def split_with_sizes(input, split_sizes, dim=0):
    """Parts of dimension `dim` of the sizes given, which add up to its own."""
    return _split_with_sizes(input, split_sizes, dim)


@op(view=True, node="SplitBackward0")
def chunk(input, chunks, dim=0):
    """At most `chunks` parts of dimension `dim`, of one size but for the last."""
    shape, chunks = shape_of(input), to_int(chunks)
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(to_int(dim), len(shape))
    total = shape[dim]
    if not total:
        return _slices(input, dim, [(0, 0)] * chunks)
    step = -(-total // chunks)
    return _slices(input, dim, [(start, min(start + step, total)) for start in range(0, total, step)])


def _tensor_split(input, indices_or_sections, dim):
    shape = shape_of(input)
    if not shape:
        raise RuntimeError(
            f"tensor_split expected at least a 1-dimensional tensor, but got a tensor with {len(shape)} dims"
        )
    dim = wrap_dim(to_int(dim), len(shape))
    total, given = shape[dim], indices_or_sections
    if isinstance(given, MsTensor):
        if given.dtype != _dtype.int64 or len(shape_of(given)) > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor of "
                f"dtype long. Received: {given.dtype}, {given.dim()} dims"
            )
        given = given.tolist()
    if isinstance(given, (tuple, list)):
        edges = [slice(None, to_int(i)).indices(total)[1] for i in given]
        return _slices(input, dim, list(zip([0, *edges], [*edges, total], strict=True)))
    sections = to_int(given)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size, larger = divmod(total, sections)
    edges = [i * size + min(i, larger) for i in range(sections + 1)]
    return _slices(input, dim, list(itertools.pairwise(edges)))


@op(view=True, node="SliceBackward0")
def tensor_split(input, indices_or_sections, dim=0):
    """Parts of dimension `dim`: that many (the first ones larger by one), or with the edges in a list."""
    return _tensor_split(input, indices_or_sections, dim)


def _split_along(name, ranks, dim_of):
    @op(view=True, name=name)
    def split_along(input, indices_or_sections):
        rank = len(shape_of(input))
        if rank < ranks:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {ranks} dimension{'s' if ranks > 1 else ''}, "
                f"but got a tensor with {rank} dimensions!"
            )
        dim = dim_of(rank)
        size = shape_of(input)[dim]
        if isinstance(indices_or_sections, int) and (indices_or_sections <= 0 or size % indices_or_sections):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {size} is not "
                f"divisible by the split_size {indices_or_sections}!"
            )
        return _tensor_split(input, indices_or_sections, dim)

    split_along.__doc__ = (
        f"`tensor_split` along dimension {dim_of(ranks)}, which the number of parts must divide."
    )
    return split_along


hsplit = _split_along("hsplit", 1, lambda rank: 0 if rank == 1 else 1)
vsplit = _split_along("vsplit", 2, lambda rank: 0)
dsplit = _split_along("dsplit", 3, lambda rank: 2)


@op(view=True)
def unbind(input, dim=0):
    """The slices along `dim`, without it."""
    shape, strides, offset = strided.geometry(input)
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    dim = wrap_dim(to_int(dim), len(shape))
    rest = (*shape[:dim], *shape[dim + 1 :]), (*strides[:dim], *strides[dim + 1 :])
    return strided.strided_views(input, [(*rest, offset + i * strides[dim]) for i in range(shape[dim])])


# --- diagonals, windows, anything -----------------------------------------------------------------------------------


@op(view=True)
def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonal of dimensions `dim1` and `dim2` (`offset` above it), as the last dimension."""
    shape, strides, start = strided.geometry(input)
    rank = len(shape)
    first, second, offset = wrap_dim(to_int(dim1), rank), wrap_dim(to_int(dim2), rank), to_int(offset)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(shape[first] - down, shape[second] - right), 0)
    others = [d for d in range(rank) if d not in (first, second)]
    if length:
        start += down * strides[first] + right * strides[second]
    return strided.strided_view(
        input,
        (*(shape[d] for d in others), length),
        (*(strides[d] for d in others), strides[first] + strides[second]),
        start,
    )


@op(name="diagonal", namespace="torch.linalg", method=False, out=False)
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """`torch.diagonal` of the last two dimensions."""
    return diagonal(A, offset, dim1, dim2)


@op(view=True, function=False)
def unfold(input, dimension, size, step):
    """Windows of `size` elements every `step` along `dimension`, as a new last dimension."""
    shape, strides, offset = strided.geometry(input)
    dim = wrap_dim(to_int(dimension), len(shape))
    size, step = to_int(size), to_int(step)
    total, stride = (shape[dim], strides[dim]) if shape else (1, 1)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > total:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {total} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not shape:
        return strided.strided_view(input, (size,), (1,), offset)
    return strided.strided_view(
        input,
        (*shape[:dim], (total - size) // step + 1, *shape[dim + 1 :], size),
        (*strides[:dim], stride * step, *strides[dim + 1 :], stride),
        offset,
    )


def checked_geometry(tensor, size, stride, storage_offset):
    """(shape, strides, offset) of a view of any geometry. Raises PyTorch's RuntimeErrors for one outside the memory."""
    size, stride = to_size((size,)), to_size((stride,))
    offset = native.storage_offset(tensor) if storage_offset is None else to_int(storage_offset)
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape. Received: {len(size)} sizes, {len(stride)} strides"
        )
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(s < 0 for s in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    item, held = storage.itemsize_of(tensor), native.storage_bytes(tensor)
    needed = (offset + 1 + sum((s - 1) * step for s, step in zip(size, stride, strict=True))) * item
    if 0 not in size and needed > held:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {item} "
            f"requiring a storage size of {needed} are out of bounds for storage of size {held}"
        )
    return size, stride, offset


@op(view=True, inplace=True)
def as_strided(input, size, stride, storage_offset=None):
    """The memory of `input` read with any sizes, strides and offset (in elements, from the start of the storage).

    Raises RuntimeError for a geometry that leaves the memory.
    """
    return strided.strided_view(input, *checked_geometry(input, size, stride, storage_offset))
