"""What NumPy kernels of several families share: halves computed wide, sums that stay exact, dtypes refused."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._ops.shapes import wrap_dims

# NumPy adds pairwise along the fastest axis only; along others a chain of this length is as exact as its tree.
_CHAIN = 128


def wide(array):
    """The array in the dtype that PyTorch computes in: float16 and bfloat16 as float32."""
    return array.astype(np.float32) if is_half(array) else array


def is_half(array):
    """Whether the array is float16 or bfloat16 (NumPy sees the latter as a dtype of kind V)."""
    return array.dtype.itemsize == 2 and array.dtype.kind in "fV"


def as_bits(array):
    """bfloat16 as uint16, for moving elements about: a mask reads MindSpore's bfloat16 arrays wrongly in NumPy."""
    return array.view(np.uint16) if array.dtype.kind == "V" else array


def is_floating(array):
    """Whether the array is floating point or complex."""
    return array.dtype.kind in "fVc"


def has_nan(array):
    """Where the array is NaN; None for integers and bool."""
    return np.isnan(array) if array.dtype.kind in "fc" else None


def converted(array, dtype):
    """The array in the torch dtype `dtype`; as it is for None."""
    return array if dtype is None else array.astype(_dtype.NUMPY[dtype], copy=False)


def axes_of(dim, rank):
    """The axes to reduce: `wrap_dims`, but none of a 0-d array, on which PyTorch accepts dimension 0."""
    dims = wrap_dims(dim, rank)
    return dims if rank else ()


def total(array, axes, keepdims=False):
    """The sum over `axes` in the array's own dtype, halves in float32; integers and bool in int64."""
    if not is_floating(array):
        return array.sum(axes, dtype=np.int64, keepdims=keepdims)
    dtype, array = array.dtype, wide(array)
    if len(axes) < array.ndim or not array.flags.c_contiguous:
        for axis in axes:
            while array.shape[axis] > _CHAIN and array.strides[axis] != array.itemsize:
                array = _partial_sums(array, axis)
    return array.sum(axes, dtype=array.dtype, keepdims=keepdims).astype(dtype, copy=False)


def _partial_sums(array, axis):
    """Sums of stretches of `axis`."""
    count, rest = divmod(array.shape[axis], _CHAIN)
    array = np.moveaxis(array, axis, 0)
    split = array[: count * _CHAIN].reshape(count, _CHAIN, *array.shape[1:]).sum(1, dtype=array.dtype)
    if rest:
        split = np.concatenate([split, array[count * _CHAIN :].sum(0, dtype=array.dtype, keepdims=True)])
    return np.moveaxis(split, 0, axis)


def refuse(array, kinds, what):
    """Raise PyTorch's NotImplementedError where the array's dtype is one of `kinds` ("c": complex, "b": bool)."""
    if array.dtype.kind in kinds:
        name = _dtype.SCALAR_NAMES[_dtype.of_numpy(array.dtype)]
        raise NotImplementedError(f"\"{what}\" not implemented for '{name}'")


def check_not_empty(name, shape, axes, whole):
    """Raise PyTorch's error where a reduction without an identity meets no elements."""
    if whole and 0 in shape:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )
    for axis in axes:
        if not shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
