"""Matrix products that write into or add to strided arrays.

Why not np.matmul: it cannot accumulate, and the OpenBLAS in NumPy 1.26's wheels falls back to SSE on CPUs newer than
itself (26 GFLOP/s per core measured, against 80 to 100 by the newer one that SciPy ships and publishes for Cython code).
For float32, oneDNN's sgemm (100 to 150) where the process has loaded one that keeps to the calling thread.
"""

import ctypes
import functools
import itertools
import math

import numpy as np
from scipy.linalg import cython_blas

# OpenBLAS multiplies matrices of less than a million products without packing them, on one thread. Thin ones are cut to
# that size: packing would take longer than the product, and starting its threads longer still.
_THIN = 32
_UNPACKED = 1 << 19


def matmul_into(out, a, b, accumulate=False):
    """out = a @ b, or out += a @ b, for each matrix of the leading dimensions, which broadcast.

    out [..., M, N] with unit stride in N, a [..., M, K], b [..., K, N], all of one dtype. Where `out` lacks a leading
    dimension of a and b, the products add up (accumulating only).
    """
    char = out.dtype.char
    if char not in _ROUTINES or out.size == 0 or a.size == 0:
        _matmul_by_numpy(out, a, b, accumulate)
        return
    (a, *a_layout), (b, *b_layout), (same, *out_layout) = _layout(a), _layout(b), _layout(out)
    if out_layout[0] != b"N" or same is not out:
        raise ValueError(f"matmul_into: out needs a unit stride in its last dimension, got {out.strides}")
    sizes = *out.shape[-2:], a.shape[-1]
    starts = _starts(out, a, b)
    multiply = _by_onednn if char == "f" and _onednn_sgemm() is not None else _by_scipy
    multiply(char, starts, sizes, out_layout, a_layout, b_layout, accumulate)


def _by_onednn(char, starts, sizes, out_layout, a_layout, b_layout, accumulate):
    sgemm, beta = _onednn_sgemm(), 1.0 if accumulate else 0.0
    (_, out_lead, *_), (a_flag, a_lead, *_), (b_flag, b_lead, *_) = out_layout, a_layout, b_layout
    for c, left, right in starts:
        sgemm(a_flag, b_flag, *sizes, 1.0, left, a_lead, right, b_lead, beta, c, out_lead)


@functools.cache
def _onednn_sgemm():
    """oneDNN's public dnnl_sgemm (row-major, sizes by value) if MindSpore, or anyone, has loaded the library; else None."""
    path = _loaded_library("/libdnnl.so")
    if path is None:
        return None
    try:
        library = ctypes.CDLL(path)
        library.dnnl_version.restype = ctypes.POINTER(_OneDnnVersion)
        sgemm = library.dnnl_sgemm
    except (OSError, AttributeError):
        return None
    if library.dnnl_version().contents.cpu_runtime not in _OF_THE_CALLER:
        return None
    size, scalar, pointer = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    flag = ctypes.c_char
    sgemm.argtypes = [
        flag,
        flag,
        size,
        size,
        size,
        scalar,
        pointer,
        size,
        pointer,
        size,
        scalar,
        pointer,
        size,
    ]
    return sgemm


def _loaded_library(name):
    """The path of a shared library of this process whose file name begins with `name`; None where there is none."""
    try:
        with open("/proc/self/maps") as maps:
            fields = (line.split(maxsplit=5) for line in maps)
            return next((f[5].strip() for f in fields if len(f) == 6 and name in f[5]), None)
    except OSError:
        return None


class _OneDnnVersion(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
    ]


# oneDNN's runtimes that compute on the calling thread: sequential, and a pool that the caller brings (we bring none).
_OF_THE_CALLER = (1, 8)


def _by_scipy(char, starts, sizes, out_layout, a_layout, b_layout, accumulate):
    routine, one, zero = _ROUTINES[char]
    (_, out_lead, out_down, out_across), (a_flag, a_lead, a_down, a_across) = out_layout, a_layout
    b_flag, b_lead, b_down, b_across = b_layout
    a_flag, b_flag = _FLAGS[a_flag], _FLAGS[b_flag]
    a_lead, b_lead, out_lead = _int(a_lead), _int(b_lead), _int(out_lead)
    for i, j, k, rows, columns, depth in _blocks(*sizes):
        beta = one if accumulate or k else zero
        to_out, to_a, to_b = (
            i * out_down + j * out_across,
            i * a_down + k * a_across,
            k * b_down + j * b_across,
        )
        # This BLAS is column-major: it sees the transposes, and out^T = b^T a^T.
        for c, left, right in starts:
            routine(b_flag, a_flag, columns, rows, depth, one, right + to_b, b_lead, left + to_a, a_lead, beta, c + to_out, out_lead)  # fmt: skip


def _matmul_by_numpy(out, a, b, accumulate):
    """The same for dtypes BLAS doesn't have, and for empty matrices."""
    batch = np.broadcast_shapes(out.shape[:-2], a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, batch + a.shape[-2:])
    b = np.broadcast_to(b, batch + b.shape[-2:])
    for index in np.ndindex(batch):
        target = out[index[len(index) - (out.ndim - 2) :]]
        product = np.matmul(a[index], b[index])
        np.add(target, product, out=target) if accumulate else np.copyto(target, product)


def _layout(array):
    """(array or a copy BLAS can read, transposition flag, leading dimension, bytes down, bytes across)."""
    rows, columns = array.shape[-2:]
    item = array.itemsize
    down, across = array.strides[-2:]
    if columns == 1:
        across = item
    if rows == 1:
        down = max(down, columns * item) if across == item else item
    if across == item and down >= columns * item and down % item == 0:
        return array, b"N", down // item, down, across
    if down == item and across >= rows * item and across % item == 0:
        return array, b"T", across // item, down, across
    return _layout(np.ascontiguousarray(array))


def _starts(*arrays):
    """The addresses of the arrays' matrices, together for each index of the leading dimensions, which broadcast."""
    addresses = [array.__array_interface__["data"][0] for array in arrays]
    leading = [array.shape[:-2] for array in arrays]
    if all(math.prod(shape) == 1 for shape in leading):
        return [addresses]
    batch = np.broadcast_shapes(*leading)
    lists = []
    for array, shape, address in zip(arrays, leading, addresses, strict=True):
        total = np.full(batch, address, np.int64)
        for axis, size in enumerate(shape):
            if size > 1:
                behind = len(shape) - 1 - axis
                total += (np.arange(size) * array.strides[axis]).reshape(-1, *(1,) * behind)
        lists.append(total.ravel().tolist())
    return list(zip(*lists, strict=True))


@functools.lru_cache
def _blocks(m, n, k):
    """(first row, column and depth, then the size of each) of the pieces to cut a product into."""
    columns, depth = n, k
    if min(m, n) < _THIN and m * n * k > _UNPACKED:
        if n < _THIN or n * m <= _UNPACKED // 16:
            depth = min(k, max(1, _UNPACKED // (m * n)))
        if m * depth * n > _UNPACKED:
            columns = min(n, max(1, _UNPACKED // (m * depth)))
    spans = itertools.product([(0, m)], _spans(n, columns), _spans(k, depth))
    return [(i, j, d, _int(i1 - i), _int(j1 - j), _int(d1 - d)) for (i, i1), (j, j1), (d, d1) in spans]


def _spans(length, step):
    parts = -(-length // step)
    return [(length * i // parts, length * (i + 1) // parts) for i in range(parts)]


_ints = {}


def _int(value):
    """The address of a C int; kept, because this BLAS takes its sizes by reference."""
    kept = _ints.get(value)
    if kept is None:
        kept = _ints[value] = ctypes.c_int(value)
    return ctypes.addressof(kept)


_FLAG_BYTES = ctypes.create_string_buffer(b"NT")
_FLAGS = {b"N": ctypes.addressof(_FLAG_BYTES), b"T": ctypes.addressof(_FLAG_BYTES) + 1}


def _routine(name, dtype):
    """(the C function, address of 1, address of 0) of a *gemm, or None where SciPy's does not look as we know it."""
    capsule = cython_blas.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = name_of(capsule)
    arguments = signature.decode().partition("(")[2].rstrip(")").split(", ")
    if [argument for argument in arguments if argument in ("char *", "int *")] != ["char *"] * 2 + [
        "int *"
    ] * 6:
        return None
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(pointer_of(capsule, signature))
    constants = _constants.setdefault(name, np.array([1, 0], dtype))
    one = constants.__array_interface__["data"][0]
    return call, one, one + constants.itemsize


_constants = {}
_ROUTINES = {
    dtype: routine
    for dtype, name in zip("fdFD", ("sgemm", "dgemm", "cgemm", "zgemm"), strict=True)
    if (routine := _routine(name, dtype))
}
