"""Systems of linear equations and inverses."""

import math

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
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
from msadapter.pytorch._ops.shapes import wrap_dim

InvEx = named_result("linalg_inv_ex", "inverse info")
SolveEx = named_result("linalg_solve_ex", "result info")
TriangularSolve = named_result("triangular_solve", "solution cloned_coefficient")

_SINGULAR = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."


# --- triangular -----------------------------------------------------------------------------------------------------


@kernel(reason="mint's has no CPU kernel", saves=("A", "out"))
def triangular_solution(A, B, upper, unitriangular):
    """X of AX = B, A triangular; the other triangle (and the diagonal, for `unitriangular`) is not read."""
    A, B = with_one_batch(A, B)
    out = np.empty(B.shape, B.dtype)
    if out.size:
        trsm = get_blas_funcs("trsm", dtype=B.dtype)
        matrix_by_matrix(
            lambda a, b: (trsm(1, a, b, lower=not upper, diag=bool(unitriangular)),), (A, B), (out,)
        )
    return out


@triangular_solution.gradient
def _(ctx, grad):
    _, _, upper, unitriangular = ctx.args
    A, X = ctx.saved
    grad_B = triangular_solution(A.mH, grad, not upper, unitriangular)
    if not ctx.needs[0]:
        return None, grad_B
    grad_A = -(grad_B @ X.mH)
    skipped = 1 if unitriangular else 0
    return grad_A.triu(skipped) if upper else grad_A.tril(-skipped), grad_B


@op(namespace="torch.linalg", method=False, node="LinalgSolveTriangularBackward0")
def solve_triangular(input, B, *, upper, left=True, unitriangular=False):
    """X of AX = B (XA = B for `left=False`) for triangular A = `input`, [..., n, n]; batches broadcast.

    Raises RuntimeError for shapes that do not fit; a singular A gives inf and NaN.
    """
    check_square("linalg.solve_triangular", input)
    check_fits("linalg.solve_triangular", input, B, left)
    check_kernel_dtype("triangular_solve_cpu", input)
    check_same_dtype("linalg.solve_triangular", input, B)
    if left:
        return triangular_solution(input, B, bool(upper), bool(unitriangular))
    return triangular_solution(input.mT, B.mT, not upper, bool(unitriangular)).mT


@op(node="TriangularSolveBackward0")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """(X of AX = `input` for triangular A, a copy of A); of the transpose of A for `transpose`."""
    for name, tensor in (("b", input), ("A", A)):
        rank = len(shape_of(tensor))
        if rank < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {rank} dimensions instead"
            )
    check_square("torch.triangular_solve", A)
    check_fits("torch.triangular_solve", A, input)
    check_kernel_dtype("triangular_solve_cpu", A)
    check_same_dtype("torch.triangular_solve", A, input)
    batch = np.broadcast_shapes(shape_of(A)[:-2], shape_of(input)[:-2])
    matrix, above = (A.mT, not upper) if transpose else (A, bool(upper))
    X = triangular_solution(matrix, input, above, bool(unitriangular))
    return TriangularSolve(X, A.expand(*batch, *shape_of(A)[-2:]).clone())


# --- general --------------------------------------------------------------------------------------------------------


def _despite_zero_pivots(a, b):
    """(X of aX = b, with inf where `a` is singular; the number of the zero pivot or 0)."""
    getrf, getrs = get_lapack_funcs(("getrf", "getrs"), dtype=a.dtype)
    packed, pivots, info = getrf(a)
    return getrs(packed, pivots, b)[0], info


@kernel(reason="MindSpore's does not say which matrix of a batch is singular", saves=("A", "out"))
def solution(A, B):
    """(X of AX = B, per matrix the number of A's zero pivot or 0)."""
    A, B = with_one_batch(A, B)
    info = np.zeros(B.shape[:-2], np.int32)
    try:
        return np.linalg.solve(A, B), info
    except np.linalg.LinAlgError:
        out = np.empty(B.shape, B.dtype)
        matrix_by_matrix(_despite_zero_pivots, (A, B), (out, info))
        return out, info


@solution.gradient
def _(ctx, grad, _):
    A, X = ctx.saved
    grad_B, _ = solution(A.mH, grad)
    return -(grad_B @ X.mH) if ctx.needs[0] else None, grad_B


@kernel(reason="MindSpore's inverse answers singular matrices with junk", saves=("out",))
def inverse_of(A):
    """(the inverse, per matrix the number of the zero pivot or 0)."""
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        return np.linalg.inv(A), info
    except np.linalg.LinAlgError:
        out = np.empty(A.shape, A.dtype)
        identity = np.eye(A.shape[-1], dtype=A.dtype)
        matrix_by_matrix(lambda a: _despite_zero_pivots(a, identity), (A,), (out, info))
        return out, info


@inverse_of.gradient
def _(ctx, grad, _):
    (inverse,) = ctx.saved
    adjoint = inverse.mH
    return -(adjoint @ grad @ adjoint)


_INV_NODE = "LinalgInvExBackward0"


@op(namespace="torch.linalg", method=False, node=_INV_NODE)
def inv_ex(A, *, check_errors=False):
    """(inverse, info): info is 0, or the number of the pivot that is zero; the inverse then holds inf."""
    check_square("linalg.inv", A)
    check_dtype("linalg.inv", A)
    result = InvEx(*inverse_of(A))
    if check_errors:
        raise_on(result.info, "linalg.inv_ex", _SINGULAR)
    return result


@op(namespace="torch.linalg", method=False, node=_INV_NODE)
def inv(A):
    """The inverses of square matrices [..., n, n]. Raises LinAlgError for a singular one."""
    result, info = inv_ex.record.body(A)
    raise_on(info, "linalg.inv", _SINGULAR)
    return result


@op(node=_INV_NODE)
def inverse(input):
    """`torch.linalg.inv`."""
    return inv.record.body(input)


@op(namespace="torch.linalg", method=False, node="LinalgSolveExBackward0")
def solve_ex(A, B, *, left=True, check_errors=False):
    """(X, info) of AX = B; info is 0, or the number of the pivot of A that is zero; X then holds inf."""
    check_square("linalg.solve", A)
    check_dtype("linalg.solve", A, "lu_cpu" if A.dtype == B.dtype else None)
    check_same_dtype("linalg.solve", A, B)
    a, b = shape_of(A), shape_of(B)
    is_vector = len(b) == 1 or (len(b) == len(a) - 1 and b == a[:-1])
    if is_vector:
        B = B.unsqueeze(-1)
    check_fits("linalg.solve", A, B, left)
    if left:
        X, info = solution(A, B)
    else:
        X, info = solution(A.mT, B.mT)
        X = X.mT
    if check_errors:
        raise_on(info, "torch.linalg.solve_ex", "The solver failed because the input matrix is singular.")
    return SolveEx(X.squeeze(-1) if is_vector else X, info)


@op(namespace="torch.linalg", method=False, node="LinalgSolveExBackward0")
def solve(A, B, *, left=True):
    """X of AX = B (XA = B for `left=False`): A [..., n, n], B [..., n, k] or vectors [..., n]; batches broadcast.

    Raises LinAlgError for a singular A, RuntimeError for shapes or dtypes that do not fit.
    """
    result, info = solve_ex.record.body(A, B, left=left)
    raise_on(info, "torch.linalg.solve", "The solver failed because the input matrix is singular.")
    return result


# --- tensors as matrices --------------------------------------------------------------------------------------------


@op(namespace="torch.linalg", method=False)
def tensorinv(input, ind=2):
    """The inverse of the map from the dimensions after `ind` to those before it."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = shape_of(input)
    rows, columns = shape[:ind], shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(columns)} != {math.prod(rows)}"
        )
    inverted, info = inv_ex.record.body(input.reshape(math.prod(rows), math.prod(columns)))
    raise_on(info, "inv", _SINGULAR)
    return inverted.reshape(*columns, *rows)


@op(namespace="torch.linalg", method=False)
def tensorsolve(input, B, dims=None):
    """X with tensordot(`input`, X, X.ndim) = B; `dims` of `input` are moved to its end first."""
    if dims is not None:
        rank = len(shape_of(input))
        last = [wrap_dim(d, rank) for d in dims]
        input = input.permute(*(d for d in range(rank) if d not in last), *last)
    shape, given = shape_of(input), shape_of(B)
    unknown = shape[len(given) :]
    if math.prod(unknown) != math.prod(shape[: len(given)]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(unknown)} != {math.prod(shape[: len(given)])}"
        )
    size = math.prod(unknown)
    return solve.record.body(input.reshape(size, size), B.reshape(size)).reshape(unknown)
