"""LU and LDL decompositions: factors, packed forms, and systems solved by them."""

import numpy as np
from scipy.linalg import get_lapack_funcs

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.factories import eye
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.matrices import (
    check_dtype,
    check_fits,
    check_kernel_dtype,
    check_same_dtype,
    check_square,
    matrix_by_matrix,
    raise_on,
    with_one_batch,
)
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.solving import triangular_solution

Lu = named_result("linalg_lu", "P L U")
LuUnpack = named_result("lu_unpack", "P L U")
LuFactor = named_result("linalg_lu_factor", "LU pivots")
LuFactorEx = named_result("linalg_lu_factor_ex", "LU pivots info")
LdlFactor = named_result("linalg_ldl_factor", "LD pivots")
LdlFactorEx = named_result("linalg_ldl_factor_ex", "LD pivots info")


# --- LU -------------------------------------------------------------------------------------------------------------


@kernel(
    reason="MindSpore's has no gradient, and refuses complex dtypes and zero elements", saves=("out", "out1")
)
def _lu_factor(A):
    """(L below and U on and above the diagonal, LAPACK's pivots counted from 1, number of the zero pivot or 0)."""
    m, n = A.shape[-2:]
    batch = A.shape[:-2]
    LU = np.empty(A.shape, A.dtype)
    pivots = np.empty((*batch, min(m, n)), np.int32)
    info = np.zeros(batch, np.int32)
    if LU.size:
        getrf = get_lapack_funcs("getrf", dtype=A.dtype)

        def factor(a):
            lu, pivot, code = getrf(a)
            return lu, pivot + 1, code

        matrix_by_matrix(factor, (A,), (LU, pivots, info))
    return LU, pivots, info


@_lu_factor.gradient
def _(ctx, grad, _, __):
    LU, pivots = ctx.saved
    m, n = shape_of(LU)[-2:]
    k = min(m, n)
    P = _permutations(pivots, m, LU.dtype)
    L, U = _lower(LU), _upper(LU)
    grad_L, grad_U = grad[..., :k].tril(-1), grad[..., :k, :].triu()
    L1, U1 = L[..., :k, :], U[..., :k]
    if m > n:  # the rows below are L2 = A2 U^-1
        below = _times_inverse_adjoint(grad_L[..., k:, :], U1)
        grad_U = (grad_U - L[..., k:, :].mH @ below).triu()
    if n > m:  # the columns beside are U2 = L^-1 A2
        beside = triangular_solution(L1.mH, grad_U[..., k:], True, True)
        grad_L = (grad_L - beside @ U[..., k:].mH).tril(-1)
    inner = (L1.mH @ grad_L[..., :k, :]).tril(-1) + (grad_U[..., :k] @ U1.mH).triu()
    gradient = _times_inverse_adjoint(triangular_solution(L1.mH, inner, True, True), U1)
    if m > n:
        gradient = cat((gradient, below), -2)
    if n > m:
        gradient = cat((gradient, beside), -1)
    return P @ gradient


def _times_inverse_adjoint(matrix, U):
    """`matrix` U^-H for an upper U."""
    return triangular_solution(U, matrix.mH, True, False).mH


def _lower(LU):
    """L [..., m, k] of a packed LU [..., m, n]."""
    m, n = shape_of(LU)[-2:]
    k = min(m, n)
    return LU[..., :k].tril(-1) + eye(m, k, dtype=LU.dtype)


def _upper(LU):
    """U [..., k, n] of a packed LU [..., m, n]."""
    return LU[..., : min(shape_of(LU)[-2:]), :].triu()


@kernel(reason="MindSpore has none")
def _permutations(pivots, m, dtype):
    """The matrices P of A = PLU from LAPACK's row swaps."""
    batch = pivots.shape[:-1]
    P = np.zeros((*batch, m, m), _dtype.NUMPY[dtype])
    for index in np.ndindex(batch):
        order = np.arange(m)
        for row, pivot in enumerate(pivots[index]):
            order[[row, pivot - 1]] = order[[pivot - 1, row]]
        P[index][order, np.arange(m)] = 1
    return P


def _check_lu(name, A, pivot):
    if len(shape_of(A)) < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(shape_of(A))} instead"
        )
    check_kernel_dtype("lu_cpu", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def _raise_on_zero_pivot(info):
    codes = info.numpy()
    if codes.any():
        first = np.flatnonzero(codes)[0]
        place = f"(Batch element {first}): " if codes.ndim else ""
        code = codes.flat[first]
        raise RuntimeError(
            f"torch.linalg.lu_factor: {place}U[{code},{code}] is zero and using it on lu_solve would result in a division "
            "by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)"
        )


_FACTOR_NODE = "LinalgLuFactorExBackward0"


@op(namespace="torch.linalg", method=False, node=_FACTOR_NODE)
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU packed in one matrix, int32 pivots counted from 1, info: the number of the zero pivot or 0)."""
    _check_lu("torch.lu_factor", A, pivot)
    result = LuFactorEx(*_lu_factor(A))
    if check_errors:
        _raise_on_zero_pivot(result.info)
    return result


@op(namespace="torch.linalg", method=False, node=_FACTOR_NODE)
def lu_factor(A, *, pivot=True):
    """(LU packed in one matrix, int32 pivots counted from 1). Raises RuntimeError for a zero pivot."""
    LU, pivots, info = lu_factor_ex.record.body(A, pivot=pivot)
    _raise_on_zero_pivot(info)
    return LuFactor(LU, pivots)


@op(namespace="torch.linalg", method=False, node="LinalgLuBackward0")
def lu(A, *, pivot=True):
    """(P, L, U) with A = P L U of matrices [..., m, n]; L has ones on its diagonal."""
    _check_lu("linalg.lu", A, pivot)
    LU, pivots, _ = _lu_factor(A)
    return Lu(_permutations(pivots, shape_of(A)[-2], A.dtype), _lower(LU), _upper(LU))


@op(name="lu", out=False, node=_FACTOR_NODE)
def packed_lu(A, pivot=True, get_infos=False):
    """(LU, pivots) of `torch.linalg.lu_factor`; for `get_infos` the result of `lu_factor_ex`, zero pivots allowed."""
    result = lu_factor_ex.record.body(A, pivot=pivot, check_errors=not get_infos)
    return result if get_infos else tuple(result[:2])


@op(method=False, node="LuUnpackBackward0")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) of what `torch.linalg.lu_factor` returns; what is not unpacked is empty."""
    if unpack_pivots and LU_pivots.dtype != _dtype.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. "
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    empty = LU_data.new_empty((0,))
    P = _permutations(LU_pivots, shape_of(LU_data)[-2], LU_data.dtype) if unpack_pivots else empty
    return LuUnpack(P, _lower(LU_data), _upper(LU_data)) if unpack_data else LuUnpack(P, empty, empty)


def _solve_packed(LU, P, B, adjoint):
    L, U = LU.tril(-1), LU.triu()  # the ones on L's diagonal are implied
    if adjoint:
        inner = triangular_solution(U.mH, B, False, False)
        return P @ triangular_solution(L.mH, inner, True, True)
    return triangular_solution(U, triangular_solution(L, P.mT @ B, False, True), True, False)


@op(name="lu_solve", namespace="torch.linalg", method=False, node="LinalgLuSolveBackward0")
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X of AX = B (XA = B for `left=False`; A^H for `adjoint`) from A's `torch.linalg.lu_factor`."""
    check_square("torch.linalg.lu_solve", LU)
    check_kernel_dtype("lu_solve_cpu", LU)
    check_same_dtype("linalg.lu_solve", LU, B)
    if pivots.dtype != _dtype.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    check_fits("linalg.lu_solve", LU, B, left)
    P = _permutations(pivots, shape_of(LU)[-1], LU.dtype)
    if left:
        return _solve_packed(LU, P, B, adjoint)
    return _solve_packed(LU, P, B.mH, not adjoint).mH


@op(node="LinalgLuSolveBackward0")
def lu_solve(input, LU_data, LU_pivots):
    """X of AX = `input` from A's `torch.linalg.lu_factor`."""
    return linalg_lu_solve.record.body(LU_data, LU_pivots, input)


# --- LDL ------------------------------------------------------------------------------------------------------------


def _routine(letters, hermitian, dtype):
    """LAPACK's routine for Hermitian complex matrices, or for symmetric ones."""
    return get_lapack_funcs(("he" if hermitian and dtype.kind == "c" else "sy") + letters, dtype=dtype)


@kernel(reason="MindSpore has none")
def _ldl_factor(A, hermitian):
    LD = np.empty(A.shape, A.dtype)
    pivots = np.empty(A.shape[:-1], np.int32)
    info = np.zeros(A.shape[:-2], np.int32)
    if LD.size:
        factorize = _routine("trf", hermitian, A.dtype)

        def factor(a):
            packed, pivot, code = factorize(a, lower=True)
            return np.tril(packed), pivot, code

        matrix_by_matrix(factor, (A,), (LD, pivots, info))
    return LD, pivots, info


@_ldl_factor.gradient
def _(ctx, *grads):
    raise RuntimeError("derivative for aten::linalg_ldl_factor_ex is not implemented")


@kernel(reason="MindSpore has none")
def _ldl_solve(LD, pivots, B, hermitian):
    LD, B = with_one_batch(LD, B)
    pivots = np.broadcast_to(pivots, LD.shape[:-1])
    out = np.empty(B.shape, B.dtype)
    if out.size:
        solve = _routine("trs", hermitian, LD.dtype)
        matrix_by_matrix(lambda ld, p, b: (solve(ld, p, b, lower=True)[0],), (LD, pivots, B), (out,))
    return out


@_ldl_solve.gradient
def _(ctx, *grads):
    raise RuntimeError("derivative for aten::linalg_ldl_solve is not implemented")


@op(namespace="torch.linalg", method=False)
def ldl_factor_ex(input, *, hermitian=False, check_errors=False):
    """(LD packed in one matrix, pivots, info) of symmetric or Hermitian matrices, read below the diagonal.

    The pivots are LAPACK's: a negative one marks a block of two rows; info is the number of a zero pivot, or 0.
    """
    check_square("torch.linalg.ldl_factor_ex", input)
    check_dtype("torch.linalg.ldl_factor_ex", input, "ldl_factor_kernel_cpu")
    result = LdlFactorEx(*_ldl_factor(input, bool(hermitian)))
    if check_errors:
        raise_on(result.info, "torch.linalg.ldl_factor", "The pivot {} is zero.")
    return result


@op(namespace="torch.linalg", method=False)
def ldl_factor(input, *, hermitian=False):
    """(LD, pivots) of `torch.linalg.ldl_factor_ex`. Raises LinAlgError for a zero pivot. Not differentiable."""
    LD, pivots, _ = ldl_factor_ex.record.body(input, hermitian=hermitian, check_errors=True)
    return LdlFactor(LD, pivots)


@op(namespace="torch.linalg", method=False)
def ldl_solve(LD, pivots, B, *, hermitian=False):
    """X of AX = B from A's `torch.linalg.ldl_factor`. Not differentiable."""
    name = "torch.linalg.ldl_solve"
    check_square(name, LD)
    check_dtype(name, LD, "ldl_solve_kernel_cpu")
    check_same_dtype(name, LD, B)
    check_fits(name, LD, B)
    if shape_of(pivots) != shape_of(LD)[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(shape_of(pivots))} instead"
        )
    return _ldl_solve(LD, pivots, B, bool(hermitian))
