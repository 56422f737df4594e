"""Matrix products of tensors of one dtype: matmul and its kin, linear layers."""

import functools
import math

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import TensorPy, dtype_of, numel_of, shape_of
from msadapter.pytorch._ops.casting import CPP_NAMES, cast
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.rules import ON_CPU
from msadapter.pytorch._ops.shapes import broadcast

_F32, _F64 = _dtype.NATIVE[_dtype.float32], _dtype.NATIVE[_dtype.float64]
_HALVES = frozenset(map(_dtype.NATIVE.get, (_dtype.float16, _dtype.bfloat16)))
_matmul, _matmul_transposed = ms.ops.MatMul(), ms.ops.MatMul(False, True)
_batch_matmul = ms.ops.BatchMatMul()
_LITTLE = 1 << 16  # multiplications: a MindSpore product takes 37 us to start, NumPy's 1


@kernel(
    reason="MindSpore takes 20 times as long for 8x8, has no gradient for integers and complex, and gives junk for K = 0",
    saves=("input", "other"),
)
def _matmul_arrays(input, other):
    return np.matmul(input, other)


@kernel(reason="a gradient of the NumPy product", saves=("input", "other"))
def _times_adjoint(input, other):
    return np.matmul(input, _adjoint(other))


@kernel(reason="a gradient of the NumPy product", saves=("input", "other"))
def _adjoint_times(input, other):
    return np.matmul(_adjoint(input), other)


def _adjoint(array):
    turned = array.swapaxes(-1, -2)
    return np.conj(turned) if array.dtype.kind == "c" else turned


def _gradients(for_input, for_other):
    """A derivative from two functions of (grad, input, other), each computed only where it is asked for."""

    def gradient(ctx, grad):
        needs_input, needs_other = ctx.needs
        return (
            for_input(grad, *ctx.saved) if needs_input else None,
            for_other(grad, *ctx.saved) if needs_other else None,
        )

    return gradient


_matmul_arrays.gradient(
    _gradients(lambda g, a, b: _times_adjoint(g, b), lambda g, a, b: _adjoint_times(a, g))
)
_times_adjoint.gradient(
    _gradients(lambda g, a, b: _matmul_arrays(g, b), lambda g, a, b: _adjoint_times(g, a))
)
_adjoint_times.gradient(
    _gradients(lambda g, a, b: _times_adjoint(b, g), lambda g, a, b: _matmul_arrays(a, g))
)


def _raise_mismatch(name, input, other, *bias):
    """PyTorch's words for operands of two dtypes, which its kernels each put their own way."""
    dtypes = [_dtype.of_native(dtype_of(t)) for t in (input, other)]
    first, second = map(_dtype.SCALAR_NAMES.get, dtypes)
    if name == "linear" and any(b is not None for b in bias):
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {first} and {second}")
    if name == "bmm":
        raise RuntimeError(f"expected scalar type {first} but found {second}")
    if name == "dot":
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {first} and {second}")
    if name == "mv":
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {second}, {first}, and {second}"
        )
    first, second = (CPP_NAMES[_dtype.name_of(d)] for d in dtypes)
    raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {first} != {second}")


def _of_one_dtype(body):
    """PyTorch promotes nothing in products: operands have one dtype. On the CPU halves compute in float32."""

    @functools.wraps(body)
    def run(input, other, *args, **kwargs):
        dtype = dtype_of(input)
        if dtype_of(other) is not dtype:
            _raise_mismatch(body.__name__, input, other, *args, *kwargs.values())
        for added in (*args, *kwargs.values()):
            if isinstance(added, TensorPy) and dtype_of(added) is not dtype:
                names = [_dtype.SCALAR_NAMES[_dtype.of_native(dtype_of(t))] for t in (added, other)]
                raise RuntimeError(
                    f"self and mat2 must have the same dtype, but got {names[0]} and {names[1]}"
                )
        if dtype in _HALVES and ON_CPU:
            wide = [cast(t, _dtype.float32) if isinstance(t, TensorPy) else t for t in (input, other, *args)]
            return cast(body(*wide, **kwargs), _dtype.of_native(dtype))
        return body(input, other, *args, **kwargs)

    return run


def _takes_arrays(tensor, columns):
    """Whether NumPy multiplies `tensor` with a matrix of so many columns: other dtypes, no elements, little work."""
    if not ON_CPU:
        return False
    dtype = dtype_of(tensor)
    work = numel_of(tensor) * columns
    return work < _LITTLE or not (dtype is _F32 or dtype is _F64)


def _multiply(a, b):
    """[..., M, K] @ [..., K, N] whose leading dimensions broadcast."""
    left, right = shape_of(a), shape_of(b)
    if _takes_arrays(a, right[-1]):
        return _matmul_arrays(a, b)
    if len(left) == 2 and len(right) == 2:
        return _matmul(a, b)
    batch = broadcast(left[:-2], right[:-2])
    return _batch_matmul(_expanded(a, batch), _expanded(b, batch))


def _expanded(tensor, batch):
    shape = shape_of(tensor)
    return tensor if shape[:-2] == batch else tensor.expand(batch + shape[-2:])


@op(also=("torch.linalg",), operators=("__matmul__",), reflected="__rmatmul__")
@_of_one_dtype
def matmul(input, other):
    """The matrix product: vectors, matrices, and batches of them, which broadcast."""
    a, b = shape_of(input), shape_of(other)
    if not a or not b:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D"
        )
    if len(a) == 2 and len(b) == 2:
        _check_inner(a, b)
        return _multiply(input, other)
    if len(a) == 1 and len(b) == 1:
        return dot.record.body(input, other)
    _check_inner(a if len(a) > 1 else (1, *a), b if len(b) > 1 else (*b, 1))
    left = input.unsqueeze(0) if len(a) == 1 else input
    right = other.unsqueeze(-1) if len(b) == 1 else other
    result = _folded(left, right)
    if len(a) == 1:
        return result.squeeze(-2)
    return result.squeeze(-1) if len(b) == 1 else result


def _folded(left, right):
    """A batch of matrices times one matrix is one product of a taller matrix."""
    shape = shape_of(left)
    if len(shape) > 2 and len(shape_of(right)) == 2:
        flat = _multiply(left.reshape(math.prod(shape[:-1]), shape[-1]), right)
        return flat.reshape(shape[:-1] + shape_of(right)[-1:])
    return _multiply(left, right)


def _check_inner(a, b):
    if a[-1] != b[-2]:
        if len(a) > 2 and len(b) > 2:
            raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b[0]}, {a[-1]}] but got: [{b[0]}, {b[-2]}].")  # fmt: skip
        rows = a[-2] if len(a) == 2 else math.prod(a[:-1])
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a[-1]} and {b[-2]}x{b[-1]})")


@op
@_of_one_dtype
def mm(input, mat2):
    """The product of two matrices."""
    _check_rank("mm", input, 2, "self must be a matrix")
    _check_rank("mm", mat2, 2, "mat2 must be a matrix")
    _check_inner(shape_of(input), shape_of(mat2))
    return _multiply(input, mat2)


@op
@_of_one_dtype
def bmm(input, mat2):
    """The products of two batches of matrices, [B, M, K] and [B, K, N]."""
    _check_rank("bmm", input, 3, "batch1 must be a 3D tensor")
    _check_rank("bmm", mat2, 3, "batch2 must be a 3D tensor")
    a, b = shape_of(input), shape_of(mat2)
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}].")  # fmt: skip
    return _multiply(input, mat2)


def _check_rank(name, tensor, rank, message):
    if len(shape_of(tensor)) != rank:
        raise RuntimeError(f"{message}. Received: {len(shape_of(tensor))}D tensor for {name}()")


@op
@_of_one_dtype
def mv(input, vec):
    """A matrix times a vector."""
    a, b = shape_of(input), shape_of(vec)
    if len(a) != 2 or len(b) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    if a[1] != b[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    return _multiply(input, vec.unsqueeze(-1)).squeeze(-1)


@op
@_of_one_dtype
def dot(input, tensor):
    """The sum of the products of two vectors' elements."""
    a, b = shape_of(input), shape_of(tensor)
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if a != b:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, but got {a[0]} and {b[0]} elements respectively")  # fmt: skip
    return _multiply(input.unsqueeze(0), tensor.unsqueeze(-1)).reshape(())


@op(namespace="torch.nn.functional", method=False, out=False)
@_of_one_dtype
def linear(input, weight, bias=None):
    """`input @ weight.T + bias`: input [..., K], weight [N, K] (or [K]), bias [N], result [..., N]."""
    own, rows = shape_of(input), shape_of(weight)
    if len(rows) == 1:
        result = matmul.record.body(input, weight)
        return result if bias is None else result + bias
    if not own or own[-1] != rows[1]:
        lead = math.prod(own[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({lead}x{own[-1] if own else 1} and {rows[1]}x{rows[0]})"
        )
    flat = input if len(own) == 2 else input.reshape(math.prod(own[:-1]), own[-1])
    if _takes_arrays(flat, rows[0]):
        result = _matmul_arrays(flat, weight.t())
    else:
        result = _matmul_transposed(flat, weight)
    if bias is not None:
        result = ms.ops.add(result, bias) if numel_of(result) else result + bias
    return result if len(own) == 2 else native.view(result, own[:-1] + rows[:1])
