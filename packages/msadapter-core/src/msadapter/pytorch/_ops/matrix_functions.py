"""Functions of matrices: determinants, pseudoinverse and least squares, powers, exponential, rank, condition."""

import math

import numpy as np
from scipy import linalg as scipy_linalg

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import TensorPy, shape_of
from msadapter.pytorch._ops.casting import constant
from msadapter.pytorch._ops.decompositions import eigvalsh, linalg_svd, singular_values, svdvals
from msadapter.pytorch._ops.factories import eye
from msadapter.pytorch._ops.joining import cat, stack
from msadapter.pytorch._ops.matrices import (
    check_dtype,
    check_same_dtype,
    check_square,
    matrix_by_matrix,
    with_one_batch,
)
from msadapter.pytorch._ops.norms import matrix_norm
from msadapter.pytorch._ops.products import matmul
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.results import named_result
from msadapter.pytorch._ops.rules import halves_in_float32
from msadapter.pytorch._ops.solving import inv, inv_ex, inverse_of

LinalgSlogdet = named_result("linalg_slogdet", "sign logabsdet")
Slogdet = named_result("slogdet", "sign logabsdet")
Lstsq = named_result("linalg_lstsq", "solution residuals rank singular_values")


# --- determinants ---------------------------------------------------------------------------------------------------


@kernel(
    reason="MindSpore's gradient is zero for singular matrices, and it refuses zero elements",
    saves=("A", "out"),
)
def _det(A):
    return np.linalg.det(A)


@_det.gradient
def _(ctx, grad):
    A, det = ctx.saved
    if (det.detach() != 0).all():
        cofactors = det.conj().unsqueeze(-1).unsqueeze(-1) * inverse_of(A)[0].mH
    else:
        cofactors = _cofactors(A)
    return grad.unsqueeze(-1).unsqueeze(-1) * cofactors


def _cofactors(A):
    """The derivatives of the determinant from the singular values: also of singular matrices."""
    U, S, Vh = linalg_svd.record.body(A)
    n = shape_of(S)[-1]
    others = stack([cat((S[..., :i], S[..., i + 1 :]), -1).prod(-1) for i in range(n)], -1)
    phase = (_det(U) * _det(Vh)).conj().unsqueeze(-1).unsqueeze(-1)
    return phase * ((U * others.unsqueeze(-2)) @ Vh)


@op(name="det", namespace="torch.linalg", method=False, node="LinalgDetBackward0")
def linalg_det(A):
    """The determinants of square matrices [..., n, n]."""
    check_square("linalg.det", A)
    check_dtype("linalg.det", A, "lu_cpu")
    return _det(A)


@op(out=False, node="LinalgDetBackward0")
def det(input):
    """`torch.linalg.det`."""
    return linalg_det.record.body(input)


@kernel(reason="MindSpore's returns complex logarithms", saves=("A", "out"))
def _slogdet(A):
    sign, logarithm = np.linalg.slogdet(A)
    return np.where(np.isnan(logarithm), 0, sign).astype(A.dtype), logarithm


@_slogdet.gradient
def _(ctx, grad_sign, grad_log):
    A, sign = ctx.saved
    if A.is_complex():
        grad_log = _with_phase(grad_log, grad_sign, sign)
    inverse, _ = inverse_of(A)
    return grad_log.unsqueeze(-1).unsqueeze(-1) * inverse.mH


def _with_phase(grad_log, grad_sign, sign):
    """The gradient of log det whose real part is that of log|det|, and the imaginary part that of the sign's angle."""
    import msadapter.pytorch as torch

    return torch.complex(grad_log, -(grad_sign.conj() * sign).imag)


def _checked_slogdet(name, A):
    check_square(name, A)
    check_dtype(name, A)
    return _slogdet(A)


_SLOGDET_NODE = "LinalgSlogdetBackward0"


@op(name="slogdet", namespace="torch.linalg", method=False, node=_SLOGDET_NODE)
def linalg_slogdet(A):
    """(sign, log|det|) of square matrices; the sign of complex ones has modulus 1, of singular ones 0."""
    return LinalgSlogdet(*_checked_slogdet("linalg.slogdet", A))


@op(node=_SLOGDET_NODE)
def slogdet(input):
    """`torch.linalg.slogdet`."""
    return Slogdet(*_checked_slogdet("linalg.slogdet", input))


@op(out=False)
def logdet(input):
    """The logarithm of the determinant: NaN for a negative one, complex for complex matrices."""
    sign, logarithm = _checked_slogdet("logdet", input)
    if input.is_complex():
        return sign.log() + logarithm
    return logarithm.masked_fill(sign == -1, math.nan)


# --- powers, exponential --------------------------------------------------------------------------------------------


@op(also=("torch.linalg",))
def matrix_power(input, n):
    """The product of `n` factors `input` [..., m, m]; of inverses for a negative `n`. Raises LinAlgError for singular ones."""
    check_square("linalg.matrix_power", input)
    if n < 0:
        return matrix_power.record.body(inv.record.body(input), -n)
    if n == 0:
        nothing = input.masked_fill(constant(True, _dtype.bool), 0)  # zeros with a gradient, of zeros
        return nothing + eye(shape_of(input)[-1], dtype=input.dtype)
    result = None
    while True:
        n, odd = divmod(n, 2)
        if odd:
            result = input if result is None else matmul(result, input)
        if n == 0:
            return result
        input = matmul(input, input)


@kernel(reason="MindSpore's has no CPU kernel", saves=("A",))
def _matrix_exp(A):
    return scipy_linalg.expm(A).astype(A.dtype) if A.size else A.copy()


@_matrix_exp.gradient
def _(ctx, grad):
    # The exponential of [[A^H, G], [0, A^H]] has the derivative of exp at A^H in the direction G beside its diagonal.
    (A,) = ctx.saved
    n = shape_of(A)[-1]
    adjoint = A.mH
    upper = cat((adjoint, grad), -1)
    lower = cat((grad.new_zeros(shape_of(grad)), adjoint), -1)
    return _matrix_exp(cat((upper, lower), -2))[..., :n, n:]


@halves_in_float32
def _exponential(input):
    check_dtype("linalg.matrix_exp", input)
    return _matrix_exp(input)


@op(also=("torch.linalg",), out=False, node="LinalgMatrixExpBackward0")
def matrix_exp(input):
    """The exponential series of square matrices [..., n, n]."""
    check_square("linalg.matrix_exp", input)
    return _exponential(input)


# --- singular values within a tolerance -----------------------------------------------------------------------------


def _tolerances(A, atol, rtol):
    """(atol, rtol) as numbers or arrays; by default rtol is eps * max(m, n), but 0 beside a positive atol."""
    atol, rtol = (
        value.detach().numpy()[..., None] if isinstance(value, TensorPy) else value for value in (atol, rtol)
    )
    if rtol is None:
        default = _dtype.finfo(A.dtype).eps * max(shape_of(A)[-2:])
        rtol = default if atol is None else np.where(np.asarray(atol) > 0, 0.0, default)
    return 0.0 if atol is None else atol, rtol


def _significant(sizes, atol, rtol):
    """Which of the sizes (along the last dimension) exceed both tolerances."""
    return sizes > np.maximum(atol, rtol * sizes.max(-1, keepdims=True, initial=0))


@kernel(reason="MindSpore's takes 7 ms, and refuses complex dtypes and zero elements", saves=("A", "out"))
def _pinv(A, atol, rtol, hermitian):
    if hermitian:
        S, U = np.linalg.eigh(A)
        V = U
    else:
        U, S, Vh = singular_values(A)
        V = Vh.conj().swapaxes(-1, -2)
    with np.errstate(divide="ignore"):
        inverted = np.where(_significant(np.abs(S), atol, rtol), 1 / S, 0).astype(A.dtype)
    return (V * inverted[..., None, :]) @ U.conj().swapaxes(-1, -2)


@_pinv.gradient
def _(ctx, grad):
    A, pinv = ctx.saved
    return _pinv_gradient(A, pinv, grad)


def _pinv_gradient(A, pinv, grad):
    """The gradient where the rank stays; small products first."""
    adjoint, G = pinv.mH, grad.mH
    through_rows = G @ (pinv @ adjoint)
    through_columns = (adjoint @ pinv) @ G
    return (
        -(adjoint @ grad @ adjoint)
        + through_rows
        - A @ (pinv @ through_rows)
        + through_columns
        - (through_columns @ pinv) @ A
    )


@kernel(reason="MindSpore has none")
def _significant_of(sizes, atol, rtol):
    return _significant(sizes, atol, rtol)


@op(namespace="torch.linalg", method=False, node="LinalgPinvBackward0")
def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudoinverse [..., n, m] of matrices [..., m, n]; singular values up to max(atol, rtol * largest) count as 0.

    `rcond` is the old name of `rtol`; the tolerances may be tensors with one value per matrix.
    """
    dtype = input.dtype
    wide = (_dtype.float32, _dtype.float64, _dtype.complex64, _dtype.complex128)
    if dtype not in wide or len(shape_of(input)) < 2:
        raise RuntimeError(
            f"linalg.pinv({_dtype.SCALAR_NAMES[dtype]}{{{list(shape_of(input))}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if rcond is not None:
        atol, rtol = 0.0, rcond
    atol, rtol = _tolerances(input, atol, rtol)
    if hermitian:
        check_square("linalg.pinv", input)
    return _pinv(input, atol, rtol, bool(hermitian))


@op(out=False, node="LinalgPinvBackward0")
def pinverse(input, rcond=1e-15):
    """`torch.linalg.pinv` with `rtol=rcond`."""
    return pinv.record.body(input, rcond)


@op(namespace="torch.linalg", method=False)
def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None):
    """How many singular values exceed max(atol, rtol * largest), int64; `tol` is the old name of `atol`, with rtol 0."""
    if len(shape_of(input)) < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise RuntimeError(
            f"This function doesn't handle types other than float and double. Got {_dtype.SCALAR_NAMES[input.dtype]}"
        )
    if tol is not None:
        atol, rtol = tol, 0.0
    input = input.detach()
    atol, rtol = _tolerances(input, atol, rtol)
    sizes = eigvalsh.record.body(input).abs() if hermitian else svdvals.record.body(input)
    return _significant_of(sizes, atol, rtol).sum(-1)


@op(namespace="torch.linalg", method=False)
def cond(input, p=None):
    """The condition number for the norm `p` (2 by default): that of the matrix times that of its inverse.

    inf for singular matrices. Raises RuntimeError for other norms, and where one that needs the inverse meets no square.
    """
    if len(shape_of(input)) < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    empty = 0 in shape_of(input)[-2:]
    if p in (None, 2, -2):
        values = svdvals.record.body(input)
        if empty:
            return values.sum(-1)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    check_square(f"linalg.cond(ord={p})", input)
    inverse, info = inv_ex.record.body(input)
    inverse = inverse.masked_fill((info != 0).unsqueeze(-1).unsqueeze(-1), 0)
    norms = (matrix_norm.record.body(matrix, p) for matrix in (input, inverse))
    product = next(norms) * next(norms)
    return product.masked_fill(info != 0, math.inf)


# --- least squares --------------------------------------------------------------------------------------------------


@kernel(reason="mindspore.scipy's is wrong for zero elements", saves=("A", "B", "out"))
def _least_squares(A, B, rcond, driver):
    """(X that minimizes AX - B, rank, singular values: empty where the driver has none)."""
    A, B = with_one_batch(A, B)
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    X = np.zeros((*batch, n, B.shape[-1]), B.dtype)
    rank = np.zeros(batch, np.int64)
    values = np.zeros((*batch, min(m, n)), B.real.dtype)

    def solve(a, b):
        x, _, found, singular = scipy_linalg.lstsq(a, b, rcond, check_finite=False, lapack_driver=driver)
        return x, found, 0 if singular is None else singular

    if A.size and X.size:
        matrix_by_matrix(solve, (A, B), (X, rank, values))
    return X, rank, values


@_least_squares.gradient
def _(ctx, grad, _, __):
    A, B, _ = ctx.saved
    rcond = ctx.args[2]
    inverted = _pinv(A, 0.0, rcond, False)
    grad_A = _pinv_gradient(A, inverted, grad @ B.mH) if ctx.needs[0] else None
    return grad_A, inverted.mH @ grad


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@op(namespace="torch.linalg", method=False, out=False, node="LinalgLstsqBackward0")
def lstsq(input, b, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of the least squares problem `input` X = `b`.

    As LAPACK's drivers have them: "gels" takes the rank for full and leaves `rank` empty, "gelsy" (the default) has no
    residuals, "gelsd" and "gelss" have singular values.
    """
    name = "torch.linalg.lstsq"
    a_shape, b_shape = shape_of(input), shape_of(b)
    if len(a_shape) < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if not b_shape:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    driver = driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    check_dtype(name, input, "linalg_lstsq_cpu")
    check_same_dtype(name, input, b)
    if not 0 <= len(a_shape) - len(b_shape) <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1. "
            f"Received: {len(a_shape)} and {len(b_shape)}"
        )
    is_vector = len(b_shape) == len(a_shape) - 1
    if is_vector:
        b = b.unsqueeze(-1)
    m, n = a_shape[-2:]
    if shape_of(b)[-2] != m:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({-1 if is_vector else -2})")
    if rcond is None:
        rcond = _dtype.finfo(input.dtype).eps * max(m, n)
    X, rank, values = _least_squares(input, b, float(rcond), "gelsy" if driver == "gels" else driver)
    full = driver == "gels" or (rank == n).all()
    residuals = values.new_empty((0,))
    if m > n and driver != "gelsy" and full:
        residuals = (input @ X - b).abs().square().sum(-2)
    return Lstsq(
        X.squeeze(-1) if is_vector else X,
        residuals,
        rank.new_empty((0,)) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else values.new_empty((0,)),
    )


# --- Vandermonde ----------------------------------------------------------------------------------------------------


def _powers(x, count):
    """The powers 0 ... count - 1 of each element, along a new last dimension."""
    ones = x.new_ones((*shape_of(x), 1))
    if count <= 1:
        return ones[..., :count]
    return cat((ones, x.unsqueeze(-1).expand(*shape_of(x), count - 1)), -1).cumprod(-1)


@op(name="vander", namespace="torch.linalg", method=False, out=False)
def linalg_vander(x, *, N=None):
    """The powers 0 ... N - 1 (default: as many as elements) of the elements of vectors [..., n]: [..., n, N]."""
    if x.dtype in (_dtype.float16, _dtype.bool):
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{_dtype.SCALAR_NAMES[x.dtype]}"
        )
    if not shape_of(x):
        x = x.unsqueeze(0)
    count = shape_of(x)[-1] if N is None else N
    if N is not None and N <= 1:
        raise RuntimeError(f"N must be greater than 1. Received: {N}")
    return _powers(x, count)


@op(method=False, out=False)
def vander(x, N=None, increasing=False):
    """The powers N - 1 ... 0 (0 ... N - 1 for `increasing`) of the elements of a vector: [n, N]."""
    if len(shape_of(x)) != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = shape_of(x)[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    powers = _powers(x, count)
    return powers if increasing else powers.flip(1)
