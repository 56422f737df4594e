"""How a tensor lies in memory: copies, memory formats, resize_ and set_; complex numbers as pairs of real ones."""

from msadapter.pytorch import _dtype, _memory_format
from msadapter.pytorch._engine import native, storage, strided
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.native import MsTensor, dtype_of, shape_of, strides_of
from msadapter.pytorch._memory_format import contiguous_format, preserve_format
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, to_size
from msadapter.pytorch._tensor import Tensor


def strides_for(shape, strides, memory_format):
    """The strides of a copy in `memory_format` of a tensor of `shape` and `strides`; None stands for preserve_format."""
    if memory_format is None or memory_format is preserve_format:
        return strided.kept_strides(shape, strides)
    if memory_format is contiguous_format:
        return strided.dense_strides(shape)
    return _memory_format.format_strides(shape, memory_format)


def copy_with_strides(tensor, strides):
    """A copy in a memory of its own, of those strides; gradients pass through."""
    if strides == strided.dense_strides(shape_of(tensor)):
        return copy_of(tensor)
    return strided.as_root(strided.copy_in_place(tensor, (shape_of(tensor), strides, 0)))


@op(out=False)
def clone(input, *, memory_format=None):
    """A copy with memory of its own, by default in the order of dimensions of `input`; gradients pass through."""
    if native.is_contiguous(input) and memory_format is None:
        return copy_of(input)
    return copy_with_strides(input, strides_for(shape_of(input), strides_of(input), memory_format))


def is_in_format(tensor, memory_format):
    """Whether `tensor` lies in memory in that format."""
    if memory_format is contiguous_format:
        return native.is_contiguous(tensor)
    return _memory_format.is_in_format(shape_of(tensor), strides_of(tensor), memory_format)


@op(function=False, out=False)
def contiguous(input, memory_format=contiguous_format):
    """`input` itself where its elements lie in order (of `memory_format`), else a copy in which they do."""
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return input if is_in_format(input, memory_format) else clone(input, memory_format=memory_format)


def is_contiguous(self, memory_format=contiguous_format):
    """Whether the elements lie in memory in order (of `memory_format`)."""
    if not isinstance(memory_format, type(contiguous_format)):
        raise TypeError(
            "is_contiguous(): argument 'memory_format' must be torch.memory_format, not "
            f"{type(memory_format).__name__}"
        )
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the is_contiguous operator")
    return is_in_format(self, memory_format)


def storage_offset(self):
    """Where the first element lies in the memory, in elements."""
    return native.storage_offset(self)


for _method in (is_contiguous, storage_offset):
    setattr(Tensor, _method.__name__, _method)


@op(method=False, out=False)
def detach(input):
    """The same memory outside the graph; a write into it counts as one into `input`."""
    return Tensor.detach(input)


# --- another shape in place -----------------------------------------------------------------------------------------


def _refuse_graph(tensor, what):
    if native.requires_grad(tensor):
        raise RuntimeError(f"cannot {what} variables that require grad")


def resize_(self, *size, memory_format=None):
    """Give the tensor another size, keeping the memory as far as it goes; new elements are uninitialised.

    Raises RuntimeError for a tensor that requires grad, and where a larger memory would leave its views behind.
    """
    size = to_size(size)
    negative = next((s for s in size if s < 0), None)
    if negative is not None:
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {list(size)}")
    _refuse_graph(self, "resize")
    format_ = contiguous_format if memory_format in (None, preserve_format) else memory_format
    strides = strides_for(size, strided.dense_strides(size), format_)
    _take_geometry(self, (size, strides, native.storage_offset(self)))
    return self


def _take_geometry(tensor, place):
    """Let `tensor` show its memory by the geometry `place`; a memory too small is replaced by a larger one."""
    held, needed = storage.elements_held(tensor), strided.span(place)[1]
    with native.LOCK:
        source = native.raw_data(tensor)
        if needed > held:
            if tensor.__dict__.get("_base") is not None or tensor.__dict__.get("_views"):
                raise RuntimeError(
                    "torch.Tensor.resize_: the memory is too small, and views share it, which would be left behind. "
                    f"clone() the tensor first. Received: sizes {list(place[0])} for {held} elements"
                )
            larger = strided.empty_strided((needed,), (1,), storage.numpy_dtype(tensor))
            if held:
                storage.write(
                    native.as_strided(larger, (held,), (1,), 0), native.as_strided(source, (held,), (1,), 0)
                )
            source = larger
        native.set_raw_data(tensor, native.raw_data(native.as_strided(source, *place)))
        storage.advance_version(tensor)


@op(out=False)
def resize_as_(input, the_template, *, memory_format=None):
    """`resize_` to the size of `the_template`."""
    return resize_(input, shape_of(the_template), memory_format=memory_format)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Let the tensor share the memory of `source`, with its geometry or the one given; without `source`, be empty."""
    if native.is_grad_enabled() and native.requires_grad(self) and native.is_leaf(self):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if source is None:
        source = strided.empty_strided((0,), (1,), storage.numpy_dtype(self))
    if not isinstance(source, MsTensor):
        raise TypeError(
            f"set_(): argument 'source' (position 1) must be Tensor, not {type(source).__name__}: msadapter has no "
            "storage objects, pass the tensor itself"
        )
    if dtype_of(source) is not dtype_of(self):
        raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
    data = native.raw_data(source)
    if size is not None:
        size = to_size((size,))
        strides = strided.dense_strides(size) if stride is None else to_size((stride,))
        data = native.raw_data(native.as_strided(data, size, strides, to_int(storage_offset)))
    for field in ("_base", "_recipe", "_views"):
        self.__dict__.pop(field, None)
    native.set_raw_data(self, data)
    if isinstance(source, Tensor):
        storage.share_version(self, source)
    return self


for _method in (resize_, set_):
    setattr(Tensor, _method.__name__, _method)


# --- complex numbers ------------------------------------------------------------------------------------------------


class _AsReal(native.GradFunction):
    """The memory of a complex tensor as pairs of real numbers."""

    @staticmethod
    def forward(ctx, tensor):
        return _pairs(tensor)

    @staticmethod
    def backward(ctx, grad):
        return as_complex(grad.contiguous())


class _AsComplex(native.GradFunction):
    """The memory of pairs of real numbers as a complex tensor."""

    @staticmethod
    def forward(ctx, tensor):
        return _unpaired(tensor)

    @staticmethod
    def backward(ctx, grad):
        return as_real(grad.contiguous())


def _pairs(tensor):
    shape, strides, offset = strided.geometry(tensor)
    place = (*shape, 2), (*(2 * step for step in strides), 1), 2 * offset
    return strided.reinterpreted(tensor, _dtype.of_native(dtype_of(tensor)).to_real(), place)


def _unpaired(tensor):
    shape, strides, offset = strided.geometry(tensor)
    place = shape[:-1], tuple(step // 2 for step in strides[:-1]), offset // 2
    return strided.reinterpreted(tensor, _dtype.of_native(dtype_of(tensor)).to_complex(), place)


def _recorded(function, plain, tensor):
    return (
        function.apply(tensor) if native.is_grad_enabled() and native.requires_grad(tensor) else plain(tensor)
    )


def as_real(tensor):
    """The native view of a complex tensor as pairs of real numbers."""
    return _recorded(_AsReal, _pairs, tensor)


def as_complex(tensor):
    """The native view of pairs of real numbers as a complex tensor."""
    return _recorded(_AsComplex, _unpaired, tensor)


@op(view=True, method=False)
def view_as_real(input):
    """A complex tensor as pairs of real numbers, in a last dimension of size 2."""
    if not _dtype.of_native(dtype_of(input)).is_complex:
        raise RuntimeError(f"view_as_real is only supported for complex tensors. Received: {input.dtype}")
    return as_real(input)


@op(view=True, method=False)
def view_as_complex(input):
    """Pairs of real numbers, the last dimension, as complex numbers."""
    dtype, shape, strides = _dtype.of_native(dtype_of(input)), shape_of(input), strides_of(input)
    if dtype not in (_dtype.float32, _dtype.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{_dtype.SCALAR_NAMES[dtype]}{' (complex32, which MindSpore has not)' if dtype == _dtype.float16 else ''}"
        )
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2. Received: shape {list(shape)}")
    if strides[-1] != 1:
        raise RuntimeError(f"Tensor must have a last dimension with stride 1. Received: {strides[-1]}")
    odd = next((d for d, step in enumerate(strides[:-1]) if step % 2), None)
    if odd is not None:
        raise RuntimeError(
            f"Tensor must have a stride divisible by 2 for all but last dimension. Received: {strides[odd]}"
        )
    if native.storage_offset(input) % 2:
        raise RuntimeError(
            f"Tensor must have a storage_offset divisible by 2. Received: {native.storage_offset(input)}"
        )
    return as_complex(input)


@op(view=True, function=False, method=False)
def _real_part(input):
    """The real parts of a complex tensor."""
    return strided.select_view(as_real(input), len(shape_of(input)), 0)


@op(view=True, function=False, method=False)
def _imaginary_part(input):
    """The imaginary parts of a complex tensor."""
    return strided.select_view(as_real(input), len(shape_of(input)), 1)


@op(method=False, out=False)
def real(input):
    """The real part, a view of a complex tensor; a real tensor as it is."""
    return _real_part(input) if _dtype.of_native(dtype_of(input)).is_complex else input


@op(method=False, out=False)
def imag(input):
    """The imaginary part, a view of a complex tensor. Raises RuntimeError for a real one."""
    if not _dtype.of_native(dtype_of(input)).is_complex:
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes. Received: {input.dtype}"
        )
    return _imaginary_part(input)


Tensor.real = property(real, lambda self, value: real(self).copy_(value))
Tensor.imag = property(imag, lambda self, value: imag(self).copy_(value))


@op(out=False, aliases=("resolve_neg",))
def resolve_conj(input):
    """`input` itself: a conjugate is computed at once here."""
    return input
