"""What the operators of linear algebra share: PyTorch's refusals, and kernels that go through a batch of matrices."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.native import shape_of

_HALVES = (_dtype.float16, _dtype.bfloat16)


class LinAlgError(RuntimeError):
    """A matrix that has no such factorization or inverse, or an iteration that did not converge."""


def check_matrices(name, input):
    """Raise RuntimeError unless `input` has two dimensions or more."""
    if len(shape_of(input)) < 2:
        raise RuntimeError(
            f"{name}: The input tensor A must have at least 2 dimensions. Received: {list(shape_of(input))}"
        )


def check_square(name, input):
    """Raise RuntimeError unless `input` is a square matrix or a batch of them."""
    check_matrices(name, input)
    rows, columns = shape_of(input)[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def check_dtype(name, input, kernel_name=None):
    """Raise what PyTorch does unless `input` is float32, float64, complex64 or complex128.

    `kernel_name`: PyTorch's name of the kernel that refuses halves; without one, `name` refuses them itself.
    """
    dtype = input.dtype
    shown = _dtype.SCALAR_NAMES[dtype]
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {shown}")
    if dtype in _HALVES:
        if kernel_name:
            raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{shown}'")
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {shown}")


def check_kernel_dtype(kernel_name, input):
    """`check_dtype` for operators that refuse integers and halves alike with the kernel's name."""
    dtype = input.dtype
    if not (dtype.is_floating_point or dtype.is_complex) or dtype in _HALVES:
        raise NotImplementedError(f"\"{kernel_name}\" not implemented for '{_dtype.SCALAR_NAMES[dtype]}'")


def check_same_dtype(name, A, B):
    """Raise RuntimeError unless both have one dtype."""
    if A.dtype != B.dtype:
        names = _dtype.SCALAR_NAMES
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {names[A.dtype]} and B of type "
            f"{names[B.dtype]} instead"
        )


def check_fits(name, A, B, left=True):
    """Raise RuntimeError unless AX = B (XA = B for `left=False`) fits."""
    rows, columns = shape_of(A)[-2:]
    check_matrices(name, B)
    if rows != shape_of(B)[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        m, n = shape_of(B)[-2:]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({rows}x{columns} and {m}x{n})"
        )


def raise_on(info, name, text):
    """Raise LinAlgError with `text.format(code)` for the first nonzero code of the int tensor `info`."""
    codes = info.numpy()
    if not codes.any():
        return
    first = np.flatnonzero(codes)[0]
    place = f"(Batch element {first}): " if codes.ndim else ""
    raise LinAlgError(f"{name}: {place}{text.format(codes.flat[first])}")


def with_one_batch(A, B):
    """Both arrays with the same batch dimensions, broadcast."""
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return np.broadcast_to(A, batch + A.shape[-2:]), np.broadcast_to(B, batch + B.shape[-2:])


def matrix_by_matrix(function, inputs, outputs):
    """Fill the arrays `outputs` with the tuples that `function` makes of each matrix of `inputs`."""
    for index in np.ndindex(inputs[0].shape[:-2]):
        for output, value in zip(outputs, function(*(array[index] for array in inputs)), strict=True):
            output[index] = value
