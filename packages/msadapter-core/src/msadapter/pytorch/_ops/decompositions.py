"""Decompositions of matrices: Cholesky, QR, singular values, eigenvalues."""

import numpy as np
from scipy.linalg import get_lapack_funcs

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.factories import eye
from msadapter.pytorch._ops.matrices import (
    LinAlgError,
    check_dtype,
    check_kernel_dtype,
    check_matrices,
    check_same_dtype,
    check_square,
    matrix_by_matrix,
    raise_on,
)
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.solving import solution, triangular_solution

CholeskyEx = named_result("linalg_cholesky_ex", "L info")
LinalgQr, Qr = named_result("linalg_qr", "Q R"), named_result("qr", "Q R")
Geqrf = named_result("geqrf", "a tau")
LinalgSvd, Svd = named_result("linalg_svd", "U S Vh"), named_result("svd", "U S V")
Eigh = named_result("linalg_eigh", "eigenvalues eigenvectors")
Eig = named_result("linalg_eig", "eigenvalues eigenvectors")


# --- Cholesky -------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's has no gradient and no complex dtypes", saves=("out",))
def _cholesky(A):
    """(lower factor, per matrix the order of the leading minor that is not positive-definite, or 0)."""
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        out = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        potrf = get_lapack_funcs("potrf", dtype=A.dtype)
        out = np.empty(A.shape, A.dtype)
        matrix_by_matrix(lambda a: potrf(a, lower=True, clean=True), (A,), (out, info))
    unknown = np.isnan(out.diagonal(0, -2, -1))  # which LAPACK may take for positive
    return out, np.where((info == 0) & unknown.any(-1), _first(unknown) + 1, info).astype(np.int32)


def _first(mask):
    """The index of the first True along the last dimension."""
    return mask.argmax(-1) if mask.shape[-1] else 0


@_cholesky.gradient
def _(ctx, grad, _):
    (L,) = ctx.saved
    inner = (L.mH @ grad).tril()
    inner = 0.5 * (inner + inner.tril(-1).mH)
    right = triangular_solution(L.mH, inner, True, False)  # L^-H inner, then inner L^-1 from the other side
    return triangular_solution(L.mT, right.mT, True, False).mT


_NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite "
    "(the leading minor of order {} is not positive-definite)."
)


def _factor(A, upper):
    if not upper:
        return CholeskyEx(*_cholesky(A))
    L, info = _cholesky(A.mH)
    return CholeskyEx(L.mH, info)


@op(namespace="torch.linalg", method=False, node="LinalgCholeskyExBackward0")
def cholesky_ex(input, *, upper=False, check_errors=False):
    """(L, info) of Hermitian positive-definite matrices; info is the order of the minor that is not, or 0."""
    check_square("linalg.cholesky", input)
    check_dtype("linalg.cholesky", input, "cholesky_cpu")
    result = _factor(input, upper)
    if check_errors:
        raise_on(result.info, "linalg.cholesky_ex", _NOT_POSITIVE)
    return result


@op(name="cholesky", namespace="torch.linalg", method=False, node="LinalgCholeskyExBackward0")
def linalg_cholesky(input, *, upper=False):
    """Lower L with L L^H = `input` [..., n, n], of which the lower triangle is read; `upper`: its adjoint, from the upper.

    Raises LinAlgError for an input that is not positive-definite.
    """
    L, info = cholesky_ex.record.body(input, upper=upper)
    raise_on(info, "linalg.cholesky", _NOT_POSITIVE)
    return L


@op(node="CholeskyBackward0")
def cholesky(input, upper=False):
    """`torch.linalg.cholesky`."""
    check_square("cholesky", input)
    check_kernel_dtype("cholesky_cpu", input)
    L, info = _factor(input, upper)
    raise_on(info, "cholesky", _NOT_POSITIVE)
    return L


@kernel(reason="MindSpore's has no complex dtypes, and its inverse a wrong gradient", saves=("L", "out"))
def _solve_by_factor(L, B, upper):
    """X of L L^H X = B (L^H L X = B for `upper`); the other triangle of L is not read."""
    adjoint = L.swapaxes(-1, -2).conj()
    first, second = (adjoint, L) if upper else (L, adjoint)
    solve = triangular_solution.function
    return solve(second, solve(first, B, False, False), True, False)


@_solve_by_factor.gradient
def _(ctx, grad):
    upper = ctx.args[2]
    L, X = ctx.saved
    grad_B = _solve_by_factor(L, grad, upper)
    if not ctx.needs[0]:
        return None, grad_B
    both = grad_B @ X.mH
    both = both + both.mH
    return -(L @ both if upper else both @ L), grad_B  # as in PyTorch, not reduced to the triangle


@op(node="CholeskySolveBackward0")
def cholesky_solve(input, input2, upper=False):
    """X of AX = `input`, where `input2` is the Cholesky factor of A (the upper one for `upper`)."""
    for name, tensor in (("b", input), ("u", input2)):
        rank = len(shape_of(tensor))
        if rank < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {rank} dimensions instead")
    check_square("cholesky_solve", input2)
    if shape_of(input2)[-1] != shape_of(input)[-2]:
        n, m = shape_of(input2)[-1], shape_of(input)[-2:]
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is {m[0]} by {m[1]}"
        )
    check_kernel_dtype("cholesky_solve_cpu", input2)
    check_same_dtype("cholesky_solve", input2, input)
    return _solve_by_factor(input2, input, bool(upper))


@op(node="CholeskyInverseBackward0")
def cholesky_inverse(input, upper=False):
    """The inverse of the matrix whose Cholesky factor is `input`. Raises LinAlgError for a zero on its diagonal."""
    check_square("cholesky_inverse", input)
    check_kernel_dtype("cholesky_inverse_out_cpu", input)
    zeros = (input.detach().diagonal(0, -2, -1) == 0).numpy()
    if zeros.any():
        first = np.argwhere(zeros)[0]
        place = f"(Batch element {np.flatnonzero(zeros.any(-1))[0]}): " if zeros.ndim > 1 else ""
        raise LinAlgError(
            f"cholesky_inverse: {place}The diagonal element {first[-1] + 1} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    identity = eye(shape_of(input)[-1], dtype=input.dtype).expand(shape_of(input))
    return _solve_by_factor(input, identity, bool(upper))


# --- QR -------------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's has no gradient", saves=("out", "out1"))
def _qr(A, mode):
    if mode == "r":
        return np.empty(0, A.dtype), np.linalg.qr(A, "r")
    return tuple(np.linalg.qr(A, mode))


@_qr.gradient
def _(ctx, grad_Q, grad_R):
    mode = ctx.args[1]
    Q, R = ctx.saved
    m, n = ctx.shapes[0][-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. "
            f"Received: {m} rows and {n} columns"
        )
    if m >= n:
        return _qr_gradient(Q, R, grad_Q, grad_R)
    # A = [A1, A2] with A1 = Q R1 square and R2 = Q^H A2.
    R1, R2 = R[..., :m], R[..., m:]
    grad_R1, grad_R2 = grad_R[..., :m], grad_R[..., m:]
    grad_A1 = _qr_gradient(Q, R1, grad_Q + Q @ (R2 @ grad_R2.mH), grad_R1)
    return _joined(grad_A1, Q @ grad_R2)


def _qr_gradient(Q, R, grad_Q, grad_R):
    inner = (grad_R @ R.mH - Q.mH @ grad_Q).triu()
    inner = inner + inner.mH
    halved = inner - 0.5 * _diagonal_matrix(inner)
    return triangular_solution(R, (grad_Q + Q @ halved).mH, True, False).mH


def _diagonal_matrix(matrix):
    return matrix.diagonal(0, -2, -1).diag_embed()


def _joined(left, right):
    import msadapter.pytorch as torch

    return torch.cat((left, right), -1)


@op(name="qr", namespace="torch.linalg", method=False, node="LinalgQrBackward0")
def linalg_qr(A, mode="reduced"):
    """(Q, R) of matrices [..., m, n]: "reduced" Q has min(m, n) columns, "complete" m; "r" leaves Q empty."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    check_matrices("linalg.qr", A)
    check_dtype("linalg.qr", A, "geqrf_cpu")
    return LinalgQr(*_qr(A, mode))


@op(node="LinalgQrBackward0")
def qr(input, some=True):
    """`torch.linalg.qr`, reduced or (`some=False`) complete."""
    return Qr(*linalg_qr.record.body(input, "reduced" if some else "complete"))


@kernel(reason="MindSpore's crashes on zero elements and has no complex dtypes")
def _geqrf(A):
    reflectors, tau = np.linalg.qr(A, "raw")
    return np.ascontiguousarray(reflectors.swapaxes(-1, -2)), tau


@_geqrf.gradient
def _(ctx, *grads):
    raise NotImplementedError("the derivative for 'geqrf' is not implemented. Use torch.linalg.qr")


@op
def geqrf(input):
    """(R above and the reflectors below the diagonal, tau): the QR decomposition as LAPACK stores it. Not differentiable."""
    if len(shape_of(input)) < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel_dtype("geqrf_cpu", input)
    return Geqrf(*_geqrf(input))


def _reflectors(input, tau):
    """(V, T) with the product of the reflectors I - V T V^H; T is triangular."""
    import msadapter.pytorch as torch

    m, k = shape_of(input)[-2], shape_of(tau)[-1]
    V = input[..., :k].tril(-1) + eye(m, k, dtype=input.dtype)
    scaled = tau.unsqueeze(-1) * (V.mH @ V).triu(1)
    return V, triangular_solution(scaled, torch.diag_embed(tau), True, True)


def _check_tau(name, input, tau):
    rank = len(shape_of(input))
    if rank < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.dtype != tau.dtype:
        names = _dtype.SCALAR_NAMES
        raise RuntimeError(
            f"{name}: tau dtype {names[tau.dtype]} does not match input dtype {names[input.dtype]}"
        )
    if len(shape_of(tau)) != rank - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{len(shape_of(tau))} and input.ndim is equal to {rank}"
        )
    if shape_of(input)[-1] < shape_of(tau)[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")


@op(namespace="torch.linalg", method=False, node="LinalgHouseholderProductBackward0")
def householder_product(input, tau):
    """The first n columns of the product of the reflectors that `torch.geqrf` returns, [..., m, n]."""
    name = "torch.linalg.householder_product"
    _check_tau(name, input, tau)
    m, n = shape_of(input)[-2:]
    if m < n:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    check_kernel_dtype("orgqr_cpu", input)
    V, T = _reflectors(input, tau)
    return eye(m, n, dtype=input.dtype) - V @ (T @ V[..., :n, :].mH)


@op(node="LinalgHouseholderProductBackward0")
def orgqr(input, input2):
    """`torch.linalg.householder_product`."""
    return householder_product.record.body(input, input2)


@op(node="OrmqrBackward0")
def ormqr(input, input2, input3, left=True, transpose=False):
    """Q @ `input3` (or `input3` @ Q) with the whole Q of the reflectors `input` and tau `input2`; Q^H for `transpose`."""
    _check_tau("torch.ormqr", input, input2)
    size = shape_of(input3)[-2 if left else -1]
    if size != shape_of(input)[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]. "
            f"Received: {size} and {shape_of(input)[-2]}"
        )
    check_kernel_dtype("ormqr_cpu", input)
    V, T = _reflectors(input, input2)
    if transpose:
        T = T.mH
    return input3 - (V @ (T @ (V.mH @ input3)) if left else ((input3 @ V) @ T) @ V.mH)


# --- singular values ------------------------------------------------------------------------------------------------


def singular_values(A, full_matrices=False):
    """NumPy's (U, S, Vh) of arrays; LinAlgError for values that are not finite."""
    if not np.isfinite(A).all():
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    return np.linalg.svd(A, full_matrices)


@kernel(reason="MindSpore's is wrong for complex and refuses zero elements", saves=("out", "out1", "out2"))
def _svd(A, full_matrices):
    return tuple(singular_values(A, full_matrices))


@_svd.gradient
def _(ctx, grad_U, grad_S, grad_Vh):
    U, S, Vh = ctx.saved
    k = shape_of(S)[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]
    if is_absent(grad_U) and is_absent(grad_Vh):
        return U @ (grad_S.unsqueeze(-1) * Vh)
    # As in PyTorch, what full_matrices adds to the factors has no gradient.
    grad_U, grad_V = grad_U[..., :k], grad_Vh[..., :k, :].mH
    m, n = ctx.shapes[0][-2:]
    V = Vh.mH
    left, right = U.mH @ grad_U, V.mH @ grad_V
    row, column = S.unsqueeze(-2), S.unsqueeze(-1)
    inner = (left - left.mH) * row + column * (right - right.mH)
    inner = over_gaps(inner, (row - column) * (row + column))
    diagonal = grad_S
    if U.is_complex():
        phase = left.diagonal(0, -2, -1).imag
        total = phase + right.diagonal(0, -2, -1).imag
        check_phase("svd_backward", "singular vectors", "this phase term, making it", total)
        diagonal = as_complex(grad_S, phase / S)
    gradient = U @ (inner + diagonal.diag_embed()) @ Vh
    if m > k:
        gradient = gradient + ((grad_U - U @ left) / row) @ Vh
    if n > k:
        gradient = gradient + U @ ((grad_V - V @ right) / row).mH
    return gradient


def is_absent(grad):
    """Whether the loss does not depend on this output: the engine then sends constant zeros."""
    return not native.requires_grad(grad) and not grad.any()


def over_gaps(matrix, gap):
    """`matrix / gap` off the diagonal, 0 on it; equal values have no such gradient, and give NaN or inf."""
    on_diagonal = eye(shape_of(gap)[-1], dtype=_dtype.bool)
    return matrix.masked_fill(on_diagonal, 0) / gap.masked_fill(on_diagonal, 1)


def as_complex(real, imaginary):
    import msadapter.pytorch as torch

    return torch.complex(real, imaginary)


def check_phase(name, vectors, quantity, imaginary):
    """Raise RuntimeError where a loss depends on the phase of complex vectors, which is arbitrary."""
    size = np.abs(imaginary.detach().numpy())
    tolerance = 1e-2 if size.dtype == np.float32 else 1e-6
    if size.size and size.max() > tolerance:
        raise RuntimeError(
            f"{name}: The {vectors} in the complex case are specified up to multiplication by e^{{i phi}}. "
            f"The specified loss function depends on {quantity} ill-defined."
        )


def _check_svd(A, driver):
    check_matrices("linalg.svd", A)
    check_dtype("linalg.svd", A, "linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@op(name="svd", namespace="torch.linalg", method=False, node="LinalgSvdBackward0")
def linalg_svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh) with A = U diag(S) Vh for [..., m, n]; U and Vh square for `full_matrices`, S in descending order.

    Raises LinAlgError for inputs that are not finite.
    """
    _check_svd(A, driver)
    return LinalgSvd(*_svd(A, bool(full_matrices)))


@op(namespace="torch.linalg", method=False, node="LinalgSvdBackward0")
def svdvals(A, *, driver=None):
    """The singular values [..., min(m, n)] in descending order."""
    _check_svd(A, driver)
    return _svd(A, False)[1]


@op(node="LinalgSvdBackward0")
def svd(input, some=True, compute_uv=True):
    """(U, S, V), V not adjoint, unlike `torch.linalg.svd`; `compute_uv=False`: zeros for U and V."""
    if len(shape_of(input)) < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {len(shape_of(input))} dimensions instead"
        )
    _check_svd(input, None)
    U, S, Vh = _svd(input, not some if compute_uv else False)
    if compute_uv:
        return Svd(U, S, Vh.mH)
    m, n = shape_of(input)[-2:]
    batch = shape_of(input)[:-2]
    return Svd(input.new_zeros((*batch, m, m)), S, input.new_zeros((*batch, n, n)))


# --- eigenvalues ----------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's gives gradients of zero, and is wrong for complex", saves=("out", "out1"))
def _eigh(A, UPLO):
    if not np.isfinite(np.tril(A) if UPLO == "L" else np.triu(A)).all():
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues. Received values that are not finite"
        )
    return tuple(np.linalg.eigh(A, UPLO))


_EIG_PHASE = "this quantity, so it is"


@_eigh.gradient
def _(ctx, grad_L, grad_V):
    L, V = ctx.saved
    if is_absent(grad_V):
        return (V * grad_L.unsqueeze(-2)) @ V.mH
    inner = V.mH @ grad_V
    if V.is_complex():
        check_phase("linalg_eigh_backward", "eigenvectors", _EIG_PHASE, inner.diagonal(0, -2, -1).imag)
    inner = over_gaps(inner, L.unsqueeze(-2) - L.unsqueeze(-1)) + grad_L.to(V.dtype).diag_embed()
    return V @ inner @ V.mH


@op(namespace="torch.linalg", method=False, node="LinalgEighBackward0")
def eigh(input, UPLO="L"):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian matrices, of which one triangle is read."""
    if UPLO not in ("L", "U", "l", "u"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_square("linalg.eigh", input)
    check_kernel_dtype("linalg_eigh_cpu", input)
    return Eigh(*_eigh(input, UPLO.upper()))


@op(namespace="torch.linalg", method=False, node="LinalgEighBackward0")
def eigvalsh(input, UPLO="L"):
    """The eigenvalues of Hermitian matrices, ascending."""
    return eigh.record.body(input, UPLO)[0]


@kernel(reason="MindSpore's has no gradient", saves=("out", "out1"))
def _eig(A):
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    dtype = np.result_type(A.dtype, np.complex64)
    values, vectors = np.linalg.eig(A)
    return values.astype(dtype), vectors.astype(dtype)


@_eig.gradient
def _(ctx, grad_L, grad_V):
    L, V = ctx.saved
    if is_absent(grad_V):
        return solution(V.mH, grad_L.unsqueeze(-1) * V.mH)[0]
    inner = V.mH @ grad_V
    diagonal = inner.diagonal(0, -2, -1)
    check_phase("linalg_eig_backward", "eigenvectors", _EIG_PHASE, diagonal.imag)
    inner = inner - V.mH @ (V * diagonal.real.unsqueeze(-2))
    gap = (L.unsqueeze(-2) - L.unsqueeze(-1)).conj()
    inner = over_gaps(inner, gap) + grad_L.diag_embed()
    gradient, _ = solution(V.mH, inner @ V.mH)
    return gradient


def _check_eig(name, input):
    check_square(name, input)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise RuntimeError(f"Unknown Complex ScalarType for {_dtype.SCALAR_NAMES[input.dtype]}")
    check_kernel_dtype("linalg_eig_out_cpu", input)


@op(namespace="torch.linalg", method=False, node="LinalgEigBackward0")
def eig(input):
    """(eigenvalues, eigenvectors in columns of norm 1) of square matrices, both complex, in no particular order."""
    _check_eig("linalg.eig", input)
    return Eig(*_eig(input))


@op(namespace="torch.linalg", method=False, node="LinalgEigBackward0")
def eigvals(input):
    """The eigenvalues of square matrices, complex."""
    _check_eig("linalg.eigvals", input)
    return _eig(input)[0]
