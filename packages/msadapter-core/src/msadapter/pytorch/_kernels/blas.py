"""Matrix products that write into or add to strided arrays, through the BLAS that SciPy ships.

Why not np.matmul: it cannot accumulate, and the OpenBLAS in NumPy 1.26's wheels falls back to SSE on CPUs newer than
itself (26 GFLOP/s per core measured against 100); SciPy's is years newer. The pointers are those SciPy publishes for
Cython code.
"""

import ctypes
import itertools

import numpy as np
from scipy.linalg import cython_blas

# OpenBLAS stays on one thread below this many multiplications, and so do we: its threads spin while they wait and make
# a product up to 100 times slower when something else wants the core. The threads are ours (see `parallel`).
_ONE_THREAD = 1 << 19
_ROWS, _DEPTH = 64, 256  # largest block of the left matrix


def matmul_into(out, a, b, accumulate=False):
    """out = a @ b, or out += a @ b, for each matrix of the leading dimensions, which broadcast.

    out [..., M, N] with unit stride in N, a [..., M, K], b [..., K, N], all of one dtype. Where `out` lacks a leading
    dimension of a and b, the products add up (accumulating only).
    """
    m, n = out.shape[-2:]
    k = a.shape[-1]
    batch = np.broadcast_shapes(out.shape[:-2], a.shape[:-2], b.shape[:-2])
    gemm = _GEMM.get(out.dtype.char)
    if gemm is None or out.size == 0 or k == 0:
        _matmul_by_numpy(out, a, b, batch, accumulate)
        return
    routine, one, zero = gemm
    a_flag, a_lead, a_steps, a = _layout(a)
    b_flag, b_lead, b_steps, b = _layout(b)
    out_flag, out_lead, out_steps, same = _layout(out)
    if out_flag != _PLAIN or same is not out:
        raise ValueError(f"matmul_into: out needs a unit stride in its last dimension, got strides {out.strides}")
    starts = list(zip(_addresses(out, batch), _addresses(a, batch), _addresses(b, batch), strict=True))
    for (m0, m1), (n0, n1), (k0, k1) in itertools.product(*_blocks(m, n, k)):
        beta = one if accumulate or k0 else zero
        rows, columns, depth = _int(m1 - m0), _int(n1 - n0), _int(k1 - k0)
        to_out = m0 * out_steps[0] + n0 * out_steps[1]
        to_a = m0 * a_steps[0] + k0 * a_steps[1]
        to_b = k0 * b_steps[0] + n0 * b_steps[1]
        # BLAS is column-major: it sees the transposes, and out^T = b^T a^T.
        for c, a_start, b_start in starts:
            routine(b_flag, a_flag, columns, rows, depth, one, b_start + to_b, b_lead, a_start + to_a, a_lead,
                    beta, c + to_out, out_lead)  # fmt: skip


def _matmul_by_numpy(out, a, b, batch, accumulate):
    """The same for dtypes BLAS doesn't have, and for empty matrices."""
    a = np.broadcast_to(a, batch + a.shape[-2:])
    b = np.broadcast_to(b, batch + b.shape[-2:])
    for index in np.ndindex(batch):
        target = out[index[len(index) - (out.ndim - 2) :]]
        product = np.matmul(a[index], b[index])
        np.add(target, product, out=target) if accumulate else np.copyto(target, product)


def _layout(array):
    """(BLAS's transposition flag, its leading dimension, byte steps, the array or a contiguous copy BLAS can read)."""
    rows, columns = array.shape[-2:]
    item = array.itemsize
    down, across = array.strides[-2:]
    if columns == 1:
        across = item
    if rows == 1:
        down = max(down, columns * item) if across == item else item
    if across == item and down >= columns * item and down % item == 0:
        return _PLAIN, _int(down // item), (down, across), array
    if down == item and across >= rows * item and across % item == 0:
        return _TRANSPOSED, _int(across // item), (down, across), array
    return _layout(np.ascontiguousarray(array))


def _addresses(array, batch):
    """The address of each matrix of `array`, broadcast over the leading shape `batch`."""
    own = array.shape[:-2]
    total = np.zeros(batch, np.int64)
    for axis in range(len(own)):
        if own[axis] > 1:
            place = len(batch) - len(own) + axis
            steps = np.arange(own[axis]) * array.strides[axis]
            total += steps.reshape((-1,) + (1,) * (len(batch) - 1 - place))
    return (total.ravel() + array.__array_interface__["data"][0]).tolist()


def _blocks(m, n, k):
    """Spans of rows, columns and depth that keep each product on one BLAS thread."""
    if m * n * k <= _ONE_THREAD:
        return ((0, m),), ((0, n),), ((0, k),)
    rows = min(m, _ROWS)
    if n * rows <= _ONE_THREAD // 16:  # short and wide, as a weight's gradient is: cut the depth alone
        columns, depth = n, min(k, _ONE_THREAD // (n * rows))
    else:
        depth = min(k, _DEPTH)
        columns = min(n, max(1, _ONE_THREAD // (rows * depth)))
    return _spans(m, rows), _spans(n, columns), _spans(k, depth)


def _spans(length, step):
    parts = -(-length // step)
    return [(length * i // parts, length * (i + 1) // parts) for i in range(parts)]


_ints = {}


def _int(value):
    """The address of a C int; kept, because BLAS takes its sizes by reference."""
    kept = _ints.get(value)
    if kept is None:
        kept = _ints[value] = ctypes.c_int(value)
    return ctypes.addressof(kept)


_FLAGS = ctypes.create_string_buffer(b"NT")
_PLAIN = ctypes.addressof(_FLAGS)
_TRANSPOSED = _PLAIN + 1


def _routine(name, dtype):
    """(the C function, address of 1, address of 0) of a *gemm, or None where SciPy's does not look as we know it."""
    capsule = cython_blas.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = name_of(capsule)
    arguments = signature.decode().partition("(")[2].rstrip(")").split(", ")
    if [argument for argument in arguments if argument in ("char *", "int *")] != ["char *"] * 2 + ["int *"] * 6:
        return None
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(pointer_of(capsule, signature))
    constants = _constants.setdefault(name, np.array([1, 0], dtype))
    one = constants.__array_interface__["data"][0]
    return call, one, one + constants.itemsize


_constants = {}
_GEMM = {dtype: routine for dtype, name in zip("fdFD", ("sgemm", "dgemm", "cgemm", "zgemm"), strict=True)
         if (routine := _routine(name, dtype))}  # fmt: skip
