"""The memory of tensors: NumPy arrays over it, writes into it, and the version counters that writes advance."""

import ctypes
import weakref

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native

NUMPY_BY_ID = _dtype.NUMPY_BY_ID
_CHAR = ctypes.c_char
ON_CPU = native.device_target() == "CPU"


def array_over(tensor):
    """A NumPy array over the very memory of `tensor`, strides kept; writes show on both sides. CPU only."""
    shape = native.shape_of(tensor)
    dtype = numpy_dtype(tensor)
    if not native.numel_of(tensor):
        return np.empty(shape, dtype)
    strides = native.strides_of(tensor)
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    buffer = (ctypes.c_char * ((last + 1) * dtype.itemsize)).from_address(native.data_pointer(tensor))
    buffer.owner = native.raw_data(
        tensor
    )  # keeps the storage alive, also when the tensor is given another one
    return np.ndarray(shape, dtype, buffer, 0, [stride * dtype.itemsize for stride in strides])


def numpy_dtype(tensor):
    return _dtype.NUMPY_BY_ID[id(native.dtype_of(tensor))]


def itemsize_of(tensor):
    """Bytes of one element. MindSpore's own figure is that of the former dtype after `view(dtype)`."""
    return _dtype.NUMPY_BY_ID[id(native.dtype_of(tensor))].itemsize


def elements_held(tensor):
    """How many elements the whole memory holds that `tensor` is a view of."""
    return native.storage_bytes(tensor) // itemsize_of(tensor)


def read_only_use(tensor):
    """The elements as a contiguous NumPy array, for reading while `tensor` lives: over its memory where that is in
    order, else a copy. A third of the cost of `asnumpy`."""
    if not (ON_CPU and native.is_contiguous(tensor)):
        return native.asnumpy(tensor)
    count = native.numel_of(tensor)
    dtype = NUMPY_BY_ID[id(native.dtype_of(tensor))]
    if not count:
        return np.empty(native.shape_of(tensor), dtype)
    buffer = (_CHAR * (count * dtype.itemsize)).from_address(native.data_pointer(tensor))
    buffer.owner = tensor
    return np.ndarray(native.shape_of(tensor), dtype, buffer)


def tensor_over(array):
    """A native tensor over the memory of a NumPy array, strides kept (negative ones are refused)."""
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array with array.copy().)"
        )
    _dtype.of_numpy(array.dtype)
    if array.flags.c_contiguous or not array.size:
        return native.from_numpy(array)
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
        )
    strides = tuple(stride // array.itemsize for stride in array.strides)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(array.shape, strides, strict=True))
    flat = np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,))
    return native.as_strided(native.from_numpy(flat), array.shape, strides, 0)


def write(target, source):
    """Copy `source` (same shape and dtype) into the memory of `target`; aliases see it. No graph, no version."""
    if not native.numel_of(target):
        return
    if not ON_CPU:
        native.device_copy(target, source)
    elif native.is_contiguous(target) and native.is_contiguous(source):
        size = native.numel_of(target) * itemsize_of(target)
        ctypes.memmove(native.data_pointer(target), native.data_pointer(source), size)
    else:
        np.copyto(array_over(target), array_over(source))


def write_zeros(target):
    """Set the memory of `target` to zero, outside the graph."""
    if not native.numel_of(target):
        return
    if ON_CPU:
        array_over(target)[...] = 0
    else:
        native.device_copy(target, target * 0)


def check_no_overlap(tensor):
    """Raise PyTorch's RuntimeError where one memory location stands for several elements (an expanded tensor)."""
    if native.is_contiguous(tensor):
        return
    for size, stride in zip(native.shape_of(tensor), native.strides_of(tensor), strict=True):
        if stride == 0 and size > 1:
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )


def advance_version(tensor, recorded=False):
    """Count one write: saved tensors that share this memory become stale. Views share the counter in the engine,
    detached tensors have one of their own that is moved along here. `recorded`: the engine itself counts the write
    for the root."""
    root = tensor.__dict__.get("_base")
    root = tensor if root is None else root
    source = root.__dict__.get("_detached_from", root)
    members = [source]
    for reference in source.__dict__.get("_detached", ()):
        detached = reference()
        if detached is not None:
            members.append(detached)
    if recorded:
        members = [member for member in members if member is not root]
    if members:
        native.set_version_counters(members, [native.version_of(member) + 1 for member in members])


def share_version(detached, tensor):
    """Let `detached`, a new tensor over the memory of `tensor`, advance its version together with it."""
    root = tensor.__dict__.get("_base")
    root = tensor if root is None else root
    source = root.__dict__.get("_detached_from", root)
    detached.__dict__["_detached_from"] = source
    references = source.__dict__.setdefault("_detached", [])
    if len(references) >= 32:
        references[:] = [reference for reference in references if reference() is not None]
    references.append(weakref.ref(detached))
