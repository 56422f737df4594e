"""Other shapes over the same memory: view, transpose, squeeze, expand and their kin."""

import math
import warnings

from mindspore import mint

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage, strided
from msadapter.pytorch._engine.native import MsTensor, numel_of, shape_of, strides_of
from msadapter.pytorch._engine.strided import dense_strides, strided_view
from msadapter.pytorch._ops.registry import op, retag
from msadapter.pytorch._ops.shapes import broadcast_of, infer_size, to_int, to_size, wrap_dim, wrap_dims
from msadapter.pytorch._tensor import Tensor


def viewed_strides(tensor, size):
    """The strides with which the memory of `tensor` shows as shape `size`; None where no strides do."""
    if not numel_of(tensor):
        return dense_strides(size)
    stretches = []  # (elements, step) of the maximal stretches of memory with one step, from the front
    for s, step in zip(shape_of(tensor), strides_of(tensor), strict=True):
        if s == 1:
            continue
        if stretches and stretches[-1][1] == s * step:
            stretches[-1] = (stretches[-1][0] * s, step)
        else:
            stretches.append((s, step))
    strides = [1] * len(size)
    available, step = stretches.pop() if stretches else (1, 1)
    for dim in reversed(range(len(size))):
        if size[dim] != 1 and available == 1:
            available, step = stretches.pop()
        if available % size[dim]:
            return None
        strides[dim] = step
        available, step = available // size[dim], step * size[dim]
    return tuple(strides)


def alias(tensor):
    """A view of the whole tensor."""
    return seen_as(tensor, shape_of(tensor), strides_of(tensor))


@op(view=True, name="alias", function=False, method=False)
def alias_view(input):
    """A view of the whole tensor."""
    return alias(input)


def seen_as(tensor, size, strides):
    """The view with shape `size`; `strides` count where the tensor is not contiguous."""
    if native.is_contiguous(tensor):
        return native.view(tensor, size)
    return strided_view(tensor, size, strides, native.storage_offset(tensor))


@op(view=True, function=False)
def view(input, *size):
    """`input` with another shape over the same memory, or, given a dtype, its memory read as that dtype.

    Raises RuntimeError where the strides do not allow it; `reshape` then copies.
    """
    if len(size) == 1 and isinstance(size[0], _dtype.dtype):
        return _reinterpreted(input, size[0])
    size = infer_size(to_size(size), numel_of(input), shape_of(input))
    if native.is_contiguous(input):
        return native.view(input, size)
    strides = viewed_strides(input, size)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return strided_view(input, size, strides, native.storage_offset(input))


def _reinterpreted(input, dtype):
    """The bytes of `input` as another dtype, outside the graph (PyTorch's is no view to it either)."""
    own = _dtype.of_native(native.dtype_of(input))
    if own == dtype:
        return alias(input)
    shape, strides, offset = strided.geometry(input)
    if own.itemsize != dtype.itemsize:
        shape, strides, offset = _resized_elements(own, dtype, shape, strides, offset)
    result = strided.reinterpreted(native.raw_data(input), dtype, (shape, strides, offset))
    storage.share_version(result, input)
    return retag(result)


def _resized_elements(own, dtype, shape, strides, offset):
    """A geometry in elements of `own`, in elements of `dtype`; the last dimension takes the difference in size."""
    what = f"view {_dtype.SCALAR_NAMES[own]} as {_dtype.SCALAR_NAMES[dtype]} (different element sizes)"
    if not shape:
        raise RuntimeError(f"self.dim() cannot be 0 to {what}")
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to {what}, but got {strides[-1]}")
    if own.itemsize > dtype.itemsize:
        times = own.itemsize // dtype.itemsize
        return (*shape[:-1], shape[-1] * times), (*(s * times for s in strides[:-1]), 1), offset * times
    times = dtype.itemsize // own.itemsize
    figures = [("size(-1)", shape[-1]), ("storage_offset()", offset)]
    figures += [(f"stride({dim})", step) for dim, step in enumerate(strides[:-1])]
    for name, figure in figures:
        if figure % times:
            raise RuntimeError(f"self.{name} must be divisible by {times} to {what}, but got {figure}")
    return (*shape[:-1], shape[-1] // times), (*(s // times for s in strides[:-1]), 1), offset // times


@op(out=False)
def reshape(input, *shape):
    """`input` with another shape: a view where the strides allow it, else a copy."""
    size = infer_size(to_size(shape), numel_of(input), shape_of(input))
    if native.is_contiguous(input) or viewed_strides(input, size) is not None:
        return view(input, size)
    return view(input.contiguous(), size)


@op(function=False, out=False)
def view_as(input, other):
    """`input.view(other.shape)`."""
    return view(input, shape_of(other))


@op(function=False, out=False)
def reshape_as(input, other):
    """`input.reshape(other.shape)`."""
    return reshape(input, shape_of(other))


@op(out=False)
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions `start_dim` to `end_dim` made one; `input` itself where that is one already."""
    shape = shape_of(input)
    start, end = wrap_dim(to_int(start_dim), len(shape)), wrap_dim(to_int(end_dim), len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@op(out=False)
def ravel(input):
    """`input` as one contiguous dimension."""
    return reshape(input.contiguous(), -1) if len(shape_of(input)) != 1 else input.contiguous()


@op(out=False)
def unflatten(input, dim, sizes):
    """Dimension `dim` as several of `sizes`, one of which may be -1."""
    shape = shape_of(input)
    dim = wrap_dim(to_int(dim), len(shape))
    sizes = to_size((sizes,))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inferred = infer_size(sizes, shape[dim], shape)
    except RuntimeError as error:
        if "only one dimension" in str(error) or "unspecified" in str(error):
            raise
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input tensor"
        ) from None
    return view(input, (*shape[:dim], *inferred, *shape[dim + 1 :]))


# --- the order of dimensions ----------------------------------------------------------------------------------------


def permuted(input, order):
    """The native view with its dimensions in `order`."""
    return mint.permute(input, order) if order else native.view(input, ())


@op(view=True, inplace=True, aliases=("swapaxes", "swapdims"))
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
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(order)}"
        )
    order = tuple(wrap_dim(d, rank) for d in order)
    if len(set(order)) != rank:
        raise RuntimeError(f"permute(): duplicate dims are not allowed. Received: dims={to_size(dims)}")
    return permuted(input, order)


@op(view=True, aliases=("moveaxis",))
def movedim(input, source, destination):
    """Dimensions `source` (an int or several) at the places `destination`, the others in their order."""
    rank = len(shape_of(input))
    source, destination = _dims(source), _dims(destination)
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims ) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    wrapped = []
    for name, dims in (("source", source), ("destination", destination)):
        wrapped.append([wrap_dim(d, rank) for d in dims])
        if len(set(wrapped[-1])) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    if not rank:
        return alias(input)
    place = dict(zip(wrapped[1], wrapped[0], strict=True))
    others = iter(d for d in range(rank) if d not in wrapped[0])
    return permuted(input, tuple(place[d] if d in place else next(others) for d in range(rank)))


def _dims(dims):
    return tuple(map(to_int, dims)) if isinstance(dims, (tuple, list)) else (to_int(dims),)


@op(view=True, inplace=True)
def t(input):
    """A matrix transposed; tensors of fewer dimensions as they are."""
    rank = len(shape_of(input))
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    return mint.transpose(input, 0, 1) if rank == 2 else alias(input)


@op(view=True, function=False, method=False)
def numpy_T(input):
    """`input` with its dimensions in reverse order."""
    return permuted(input, tuple(reversed(range(len(shape_of(input))))))


def _matrices(tensor, name):
    rank = len(shape_of(tensor))
    if rank < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {rank}-D tensor."
        )
    return transpose(tensor, -2, -1)


def _conjugated(tensor):
    return tensor.conj() if tensor.is_complex() else tensor


@op(out=False)
def adjoint(input):
    """The matrices of `input` transposed and conjugated."""
    return _conjugated(_matrices(input, "adjoint()"))


def _T(self):
    """`self` with its dimensions in reverse order."""
    if len(shape_of(self)) not in (0, 2):
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
            "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return numpy_T(self)


def _H(self):
    """The matrix `self` transposed and conjugated."""
    rank = len(shape_of(self))
    if rank not in (0, 2):
        hint = "" if rank < 2 else " For batches of matrices, consider using tensor.mH"
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {rank}-D tensor.{hint}"
        )
    return _conjugated(transpose(self, 0, 1) if rank else self)


def _mT(self):
    """The matrices of `self` transposed."""
    return _matrices(self, "mT")


def _mH(self):
    """The matrices of `self` transposed and conjugated."""
    return _conjugated(_matrices(self, "mH"))


for _property in (_T, _H, _mT, _mH):
    setattr(Tensor, _property.__name__.removeprefix("_"), property(_property))


# --- dimensions of size 1 and expanded ones -------------------------------------------------------------------------


@op(view=True, inplace=True)
def unsqueeze(input, dim):
    """A dimension of size 1 put in at `dim`."""
    return mint.unsqueeze(input, wrap_dim(to_int(dim), len(shape_of(input)) + 1))


@op(view=True, inplace=True)
def squeeze(input, dim=None):
    """Dimensions of size 1 (all, or those of `dim`) taken out."""
    shape = shape_of(input)
    dims = () if dim == () else wrap_dims(dim, len(shape))
    kept = tuple(d for d, s in enumerate(shape) if s != 1 or d not in dims)
    strides = strides_of(input)
    return seen_as(input, tuple(shape[d] for d in kept), tuple(strides[d] for d in kept))


def expanded_size(tensor, size):
    """`size` with each -1 filled in. RuntimeError where `tensor` does not expand to it."""
    shape = shape_of(tensor)
    lead = len(size) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({tensor.type()}{{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be "
            f"greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    target = []
    for i, s in enumerate(size):
        own = shape[i - lead] if i >= lead else 1
        if s == -1 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({s}) isn't allowed in a leading, non-existing dimension {i}"
            )
        if s not in (own, -1) and (own != 1 or s < 0):
            raise RuntimeError(
                f"The expanded size of the tensor ({s}) must match the existing size ({own}) at non-singleton dimension "
                f"{i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
        target.append(own if s == -1 else s)
    return tuple(target)


def _expanded(input, size):
    target, shape = expanded_size(input, size), shape_of(input)
    if not storage.ON_CPU:
        return mint.broadcast_to(input, target)
    # MindSpore's gradient of broadcast_to has no bfloat16, and sums zero elements to junk.
    lead, own = len(target) - len(shape), strides_of(input)
    steps, following = [], 1
    for dim in reversed(range(len(target))):
        size, step = (shape[dim - lead], own[dim - lead]) if dim >= lead else (1, following)
        steps.append(step if size == target[dim] else 0)
        following = target[dim] * steps[-1]
    return strided_view(input, target, tuple(reversed(steps)), native.storage_offset(input))


@op(view=True, function=False)
def expand(input, *size):
    """`input` with dimensions of size 1 repeated to `size` without copying; -1 keeps a size."""
    return _expanded(input, to_size(size))


@op(view=True)
def broadcast_to(input, *size):
    """`input.expand(size)`."""
    return _expanded(input, to_size(size))


@op(function=False, out=False)
def expand_as(input, other):
    """`input.expand(other.shape)`."""
    return expand(input, shape_of(other))


@op(method=False, out=False)
def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, MsTensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(tensor).__name__}")
    shape = broadcast_of(*tensors)
    return tuple(expand(tensor, shape) for tensor in tensors)
