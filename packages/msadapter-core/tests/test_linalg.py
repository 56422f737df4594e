"""torch.linalg and the torch-level names of it, held against PyTorch's values and gradients."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch import linalg
from msadapter.pytorch.autograd import gradcheck, gradgradcheck


def double(rows):
    return torch.tensor(rows, dtype=torch.float64)


SYMMETRIC = double([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
SQUARE = double([[2.0, 1, 0], [-1, 3, 1], [0, 2, 1]])
TALL = double([[1.0, 2], [3, 4], [5, 7]])
WIDE = TALL.mT.contiguous()
SINGULAR = torch.tensor([[1.0, 2], [2, 4]])
COMPLEX = torch.tensor([[2 + 1j, 1], [1j, 3 - 1j]], dtype=torch.complex128)
TAU = double([1.2, 0.7])

FUNCTIONS = {
    "inv": (linalg.inv, SQUARE),
    "det": (linalg.det, SQUARE),
    "slogdet": (lambda a: linalg.slogdet(a).logabsdet, SQUARE),
    "logdet": (torch.logdet, SQUARE),
    "cholesky": (linalg.cholesky, SYMMETRIC),
    "cholesky_upper": (lambda a: linalg.cholesky(a, upper=True), SYMMETRIC),
    "solve": (lambda a: linalg.solve(a, TALL), SQUARE),
    "solve_right": (lambda a: linalg.solve(a, WIDE, left=False), SQUARE),
    "solve_triangular": (lambda a: linalg.solve_triangular(a, TALL, upper=True), SQUARE),
    "cholesky_inverse": (torch.cholesky_inverse, SQUARE),
    "cholesky_solve": (lambda a: torch.cholesky_solve(TALL, a), SQUARE),
    "qr_r": (lambda a: linalg.qr(a).R, TALL),
    "qr_q": (lambda a: linalg.qr(a).Q, TALL),
    "qr_wide": (lambda a: linalg.qr(a).R, WIDE),
    "svdvals": (linalg.svdvals, TALL),
    "eigvalsh": (linalg.eigvalsh, SYMMETRIC),
    "pinv": (linalg.pinv, TALL),
    "pinv_hermitian": (lambda a: linalg.pinv(a, hermitian=True), SYMMETRIC),
    "lstsq": (lambda a: linalg.lstsq(a, SYMMETRIC).solution, TALL),
    "matrix_exp": (linalg.matrix_exp, SQUARE),
    "matrix_power": (lambda a: linalg.matrix_power(a, -2), SQUARE),
    "nuc": (lambda a: linalg.norm(a, "nuc"), TALL),
    "spectral": (lambda a: linalg.norm(a, 2), TALL),
    "cond": (linalg.cond, SQUARE),
    "lu_l": (lambda a: linalg.lu(a).L, SQUARE),
    "lu_u": (lambda a: linalg.lu(a).U, SQUARE),
    "lu_solve": (lambda a: linalg.lu_solve(*linalg.lu_factor(a), TALL), SQUARE),
    "householder": (lambda a: linalg.householder_product(a, TAU), TALL),
    "ormqr": (lambda a: torch.ormqr(a, TAU, SYMMETRIC), TALL),
    "tensorinv": (lambda a: linalg.tensorinv(a, ind=1), SQUARE),
    "vander": (linalg.vander, double([1.0, 2, 3])),
}
# The result, and the gradient of its elements weighted 1, 2, 3, ...
EXPECTED = {
    "inv": (
        [0.333333, -0.333333, 0.333333, 0.333333, 0.666667, -0.666667, -0.666667, -1.333333, 2.333333],
        [1.0, 1.0, 1.0, 2.666667, 1.666667, 5.666667, -5.333333, -3.333333, -11.333333],
    ),
    "det": ([3.0], [1.0, 1.0, -2.0, -1.0, 2.0, -4.0, 1.0, -2.0, 7.0]),
    "slogdet": (
        [1.098612],
        [0.333333, 0.333333, -0.666667, -0.333333, 0.666667, -1.333333, 0.333333, -0.666667, 2.333333],
    ),
    "logdet": (
        [1.098612],
        [0.333333, 0.333333, -0.666667, -0.333333, 0.666667, -1.333333, 0.333333, -0.666667, 2.333333],
    ),
    "cholesky": (
        [2.0, 0.0, 0.0, 0.5, 1.658312, 0.0, 1.0, -0.301511, 1.977142],
        [0.526816, -0.918295, -0.094484, -0.918295, 2.021359, 2.825911, -0.094484, 2.825911, 2.276012],
    ),
    "cholesky_upper": (
        [2.0, 0.5, 1.0, 0.0, 1.658312, -0.301511, 0.0, 0.0, 1.977142],
        [0.994208, -1.089374, -0.943728, -1.089374, 1.911718, 2.222889, -0.943728, 2.222889, 2.276012],
    ),
    "solve": (
        [1.0, 1.666667, -1.0, -1.333333, 7.0, 9.666667],
        [5.333333, -4.666667, 33.333333, 15.0, -13.0, 93.0, -30.0, 26.0, -186.0],
    ),
    "solve_right": (
        [-2.0, -5.0, 10.0, -2.666667, -7.333333, 14.333333],
        [5.777778, 1.111111, 19.777778, 15.555556, 3.222222, 52.555556, -30.555556, -6.222222, -103.555556],
    ),
    "solve_triangular": (
        [0.833333, 1.5, -0.666667, -1.0, 5.0, 7.0],
        [-1.916667, 1.333333, -9.5, 0.0, 1.555556, -11.166667, 0.0, 0.0, -55.833333],
    ),
    "cholesky_inverse": (
        [0.388889, 0.277778, -0.333333, 0.277778, 0.555556, -0.666667, -0.333333, -0.666667, 1.0],
        [0.444444, 0.814815, -0.592593, 1.388889, 2.351852, 0.092593, -2.666667, -4.444444, -0.888889],
    ),
    "cholesky_solve": (
        [-0.444444, -0.444444, -1.388889, -1.888889, 2.666667, 3.666667],
        [1.0, 1.469136, 1.975309, 4.5, 6.438272, 8.450617, -9.0, -12.814815, -16.851852],
    ),
    "qr_r": (
        [-5.91608, -8.282512, 0.0, 0.632456],
        [-5.684494, 3.456671, 1.331395, -2.279096, -0.845154, -1.690309],
    ),
    "qr_q": (
        [-0.169031, 0.948683, -0.507093, -0.316228, -0.845154, 0.0],
        [-1.508858, 0.225877, -0.55114, 0.677631, 0.632456, -0.451754],
    ),
    "qr_wide": (
        [-2.236068, -4.91935, -8.497058, 0.0, -0.894427, -1.341641],
        [27.458915, -5.366563, -6.708204, -14.847491, 0.447214, 0.0],
    ),
    "svdvals": ([10.191428, 0.367138], [-1.404373, 1.265321, 0.840787, 0.003689, 0.558993, 0.638193]),
    "eigvalsh": (
        [1.854897, 3.476024, 6.669079],
        [1.936921, 0.511571, 0.770824, 0.511571, 1.677667, -0.126159, 0.770824, -0.126159, 2.385412],
    ),
    "pinv": (
        [-2.071429, 0.785714, 0.142857, 1.5, -0.5, 0.0],
        [3.704082, -3.214286, -5.887755, 4.357143, 2.806122, -2.071429],
    ),
    "pinv_hermitian": (
        [0.348837, -0.116279, -0.139535, -0.116279, 0.372093, 0.046512, -0.139535, 0.046512, 0.255814],
        [0.138453, 0.287182, 0.126014, -0.038399, -0.653867, -0.445105, -0.106544, -0.631152, -0.389941],
    ),
    "lstsq": (
        [-7.214286, 0.285714, -3.428571, 5.5, -0.0, 3.0],
        [33.081633, -27.214286, -22.255102, 16.857143, 10.122449, -7.571429],
    ),
    "matrix_exp": (
        [1.754027, 14.046172, 4.285338, -14.046172, 24.370875, 9.760835, -8.570675, 19.521669, 9.134543],
        [
            -41.674644,
            -42.528308,
            -46.537806,
            199.656083,
            246.657762,
            252.546134,
            116.949341,
            138.651869,
            140.343473,
        ],
    ),
    "matrix_power": (
        [-0.222222, -0.777778, 1.111111, 0.777778, 1.222222, -1.888889, -2.222222, -3.777778, 6.111111],
        [5.111111, 3.444444, 10.111111, 10.777778, 3.444444, 27.777778, -18.333333, -5.0, -48.333333],
    ),
    "nuc": ([10.558566], [-0.639346, 0.720977, 0.562564, 0.201653, 0.524174, 0.662969]),
    "spectral": ([10.191428], [0.125681, 0.176634, 0.284342, 0.399618, 0.489354, 0.687744]),
    "cond": (
        [11.806839],
        [0.95708, -2.199507, 7.829313, 1.937427, -3.601142, 17.504816, -3.783617, 10.997533, -26.473684],
    ),
    "lu_l": (
        [1.0, 0.0, 0.0, -0.5, 1.0, 0.0, 0.0, 0.571429, 1.0],
        [1.326531, -0.653061, 0.0, 2.653061, -1.306122, 0.0, 2.357143, 2.285714, 0.0],
    ),
    "lu_u": (
        [2.0, 1.0, 0.0, 0.0, 3.5, 1.0, 0.0, 0.0, 0.428571],
        [-0.617347, 5.234694, 3.428571, -3.234694, 6.469388, 0.857143, 1.285714, -2.571429, 9.0],
    ),
    "lu_solve": (
        [1.0, 1.666667, -1.0, -1.333333, 7.0, 9.666667],
        [5.333333, -4.666667, 33.333333, 15.0, -13.0, 93.0, -30.0, 26.0, -186.0],
    ),
    "householder": ([-0.2, 28.32, -3.6, 85.26, -6.0, 136.7], [0.0, 0.0, 93.84, 0.0, 422.64, 180.6]),
    "ormqr": (
        [462.4, 84.76, 1086.8, 1365.7, 252.18, 3229.9, 2220.5, 404.1, 5257.5],
        [0.0, 0.0, 11187.24, 0.0, 31952.76, 26415.62],
    ),
    "tensorinv": (
        [0.333333, -0.333333, 0.333333, 0.333333, 0.666667, -0.666667, -0.666667, -1.333333, 2.333333],
        [1.0, 1.0, 1.0, 2.666667, 1.666667, 5.666667, -5.333333, -3.333333, -11.333333],
    ),
    "vander": ([1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 3.0, 9.0], [8.0, 29.0, 62.0]),
}


def flat(tensor):
    return tensor.detach().reshape(-1).tolist()


def close(tensor, values):
    assert flat(tensor) == pytest.approx(values, rel=1e-4, abs=2e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_gradient(name):
    function, argument = FUNCTIONS[name]
    value, gradient = EXPECTED[name]
    x = argument.clone().requires_grad_()
    result = function(x)
    close(result, value)
    weights = torch.arange(1.0, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
    close(torch.autograd.grad((result * weights).sum(), x)[0], gradient)


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky", "qr_r", "svdvals", "eigvalsh", "pinv", "det"])
def test_float32_and_batches(name):
    function, argument = FUNCTIONS[name]
    if name != "solve":  # whose right-hand side is float64
        single = function(argument.float())
        assert single.dtype == torch.float32
        assert flat(single) == pytest.approx(EXPECTED[name][0], rel=1e-4, abs=1e-4)
    batch = function(torch.stack([argument, argument * 2])[:, None])
    assert batch.shape[:2] == (2, 1)
    close(batch[0, 0], EXPECTED[name][0])


@pytest.mark.parametrize(
    ("function", "value", "gradient"),
    [
        (
            linalg.inv,
            [0.428571 - 0.142857j, -0.142857, -0.142857j, 0.285714 + 0.142857j],
            [0.204082 - 0.306122j, 0.040816 - 0.326531j, -0.102041 - 0.102041j, -0.122449 - 0.040816j],
        ),
        (linalg.det, [7], [1 + 7j, -2 + 1j, -1 - 2j, 4 + 3j]),
        (
            lambda x: linalg.slogdet(x).sign,
            [1],
            [-0.285714 + 0.857143j, -0.285714, -0.285714j, 0.285714 + 0.571429j],
        ),
        (
            linalg.svdvals,
            [3.649908, 1.917857],
            [0.898027 + 0.359211j, 0.179605 + 0.179605j, -0.179605 + 0.179605j, 0.898027 - 0.359211j],
        ),
        (
            linalg.matrix_exp,
            [2.534653 + 10.715778j, 10.715778, 10.715778j, 13.250432 - 10.715778j],
            [39.098799 - 6.876133j, 34.029493 + 5.069307j, 27.078029 + 44.745271j, 8.833621 + 49.162082j],
        ),
    ],
)
def test_complex_gradients(function, value, gradient):
    x = COMPLEX.clone().requires_grad_()
    result = function(x)
    np.testing.assert_allclose(flat(result), value, atol=1e-5)
    loss = result.sum()
    loss = loss.real + 2 * loss.imag if loss.is_complex() else loss
    np.testing.assert_allclose(flat(torch.autograd.grad(loss, x)[0]), gradient, atol=1e-5)


def _of_svd(a):
    U, S, Vh = linalg.svd(a, full_matrices=False)
    return (U * S.square()) @ Vh


def _of_eigh(a):
    values, vectors = linalg.eigh(a + a.mT)
    return (vectors * values.sin()) @ vectors.mT


SECOND_ORDER = {
    "inv": (linalg.inv, SQUARE[:2, :2]),
    "det": (linalg.det, SQUARE[:2, :2]),
    "slogdet": (lambda a: linalg.slogdet(a).logabsdet, SQUARE[:2, :2]),
    "solve": (lambda a: linalg.solve(a, TALL[:2, 0]), SQUARE[:2, :2]),
    "solve_triangular": (lambda a: linalg.solve_triangular(a, TALL[:2], upper=False), SQUARE[:2, :2]),
    "cholesky": (linalg.cholesky, SYMMETRIC[:2, :2]),
    "cholesky_solve": (lambda a: torch.cholesky_solve(TALL[:2, :1], linalg.cholesky(a)), SYMMETRIC[:2, :2]),
    "qr": (lambda a: linalg.qr(a)[1], TALL),
    "qr_wide": (lambda a: linalg.qr(a)[0], WIDE),
    "svd": (_of_svd, TALL),
    "eigh": (_of_eigh, SQUARE[:2, :2]),
    "eigvals": (lambda a: linalg.eigvals(a).abs(), COMPLEX),
    "lu": (lambda a: linalg.lu(a)[1:], TALL),
    "pinv": (linalg.pinv, WIDE),
    "matrix_exp": (linalg.matrix_exp, SQUARE[:2, :2]),
}


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_both_orders(name):
    function, argument = SECOND_ORDER[name]
    # Cholesky is defined on symmetric matrices: nudge both triangles.
    run = (lambda a: function((a + a.mT) / 2)) if name.startswith("cholesky") else function
    x = argument.clone().requires_grad_()
    assert gradcheck(run, (x,))
    assert gradgradcheck(run, (x,))


def test_svd_shapes_and_reconstruction():
    U, S, Vh = linalg.svd(TALL)
    assert (U.shape, S.shape, Vh.shape) == ((3, 3), (2,), (2, 2))
    close(U[:, :2] @ S.diag() @ Vh, flat(TALL))
    U, S, V = torch.svd(TALL)
    close(U @ S.diag() @ V.mT, flat(TALL))
    nothing = torch.svd(TALL, compute_uv=False)
    assert nothing.U.shape == (3, 3) and not nothing.U.any() and not nothing.V.any()
    close(nothing.S, flat(S))


def test_equal_singular_and_eigenvalues_have_gradients_themselves():
    for function in (linalg.svdvals, linalg.eigvalsh, lambda a: linalg.norm(a, "nuc")):
        x = torch.eye(3).requires_grad_()
        function(x).sum().backward()
        assert x.grad.tolist() == torch.eye(3).tolist()
    x = torch.eye(2).requires_grad_()
    linalg.svd(x).U.sum().backward()
    assert x.grad.isnan().all()


def test_eigenvalues():
    values, vectors = linalg.eigh(torch.tensor([[0, -1j], [1j, 0]]))
    assert values.dtype == torch.float32 and flat(values) == pytest.approx([-1, 1])
    assert flat(linalg.eigvalsh(torch.tensor([[1.0, 9], [2, 1]]))) == pytest.approx([-1, 3])
    assert flat(linalg.eigvalsh(torch.tensor([[1.0, 9], [2, 1]]), UPLO="U")) == pytest.approx([-8, 10])
    values, vectors = linalg.eig(torch.tensor([[0.0, -1], [1, 0]]))
    assert values.dtype == torch.complex64
    assert sorted(v.imag for v in values.tolist()) == pytest.approx([-1, 1])


def test_qr_modes_and_reflectors():
    assert [tuple(t.shape) for t in linalg.qr(TALL, "complete")] == [(3, 3), (3, 2)]
    assert [tuple(t.shape) for t in linalg.qr(TALL, "r")] == [(0,), (2, 2)]
    a, tau = torch.geqrf(TALL)
    close(a, [-5.91608, -8.282512, 0.433772, 0.632456, 0.722953, 0.396966])
    close(tau, [1.169031, 1.72774])
    Q = linalg.qr(TALL, "complete").Q
    close(torch.orgqr(a, tau), flat(Q[:, :2]))
    close(torch.ormqr(a, tau, SQUARE), flat(Q @ SQUARE))
    close(torch.ormqr(a, tau, SQUARE, False, True), flat(SQUARE @ Q.mT))


def test_lu_forms():
    LU, pivots = linalg.lu_factor(SQUARE)
    close(LU, [2, 1, 0, -0.5, 3.5, 1, 0, 0.571429, 0.428571])
    assert pivots.dtype == torch.int32 and pivots.tolist() == [1, 2, 3]
    swapped = SQUARE.flip(0)
    for P, L, U in (linalg.lu(swapped), torch.lu_unpack(*linalg.lu_factor(swapped))):
        close(P @ L @ U, flat(swapped))
    packed = linalg.lu_factor(swapped)
    close(swapped.mT @ linalg.lu_solve(*packed, TALL, adjoint=True), flat(TALL))
    close(linalg.lu_solve(*packed, WIDE, left=False) @ swapped, flat(WIDE))
    close(swapped @ torch.lu_solve(TALL, *packed), flat(TALL))
    assert torch.lu_unpack(*packed, unpack_data=False).L.shape == (0,)
    assert linalg.lu_factor_ex(torch.zeros(2, 2)).info.item() == 1


def test_ldl():
    A = torch.tensor([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
    LD, pivots = linalg.ldl_factor(A)
    assert LD.tolist() == [[0, 0, 0], [2, 0, 0], [1.5, 0.5, -3]] and pivots.tolist() == [-3, -3, 3]
    B = torch.tensor([[1.0], [2], [3]])
    assert flat(A @ linalg.ldl_solve(LD, pivots, B)) == pytest.approx([1, 2, 3], abs=1e-5)


def test_least_squares_drivers():
    default = linalg.lstsq(TALL, SYMMETRIC)
    assert default.rank.item() == 2 and default.rank.dtype == torch.int64
    assert default.residuals.numel() == 0 and default.singular_values.numel() == 0
    full = linalg.lstsq(TALL, SYMMETRIC, driver="gelsd")
    close(full.solution, flat(default.solution))
    close(full.singular_values, [10.191428, 0.367138])
    close(full.residuals, flat((TALL @ full.solution - SYMMETRIC).square().sum(0)))
    assert linalg.lstsq(TALL, SYMMETRIC, driver="gels").rank.numel() == 0
    vectors = linalg.lstsq(TALL.expand(2, 3, 2), SYMMETRIC[:2]).solution
    close(vectors, flat(default.solution[:, :2].mT))


def test_tolerances():
    batch = SYMMETRIC.expand(2, 3, 3)
    assert linalg.matrix_rank(SINGULAR).item() == 1
    assert linalg.matrix_rank(batch, rtol=torch.tensor([0.0, 0.9])).tolist() == [3, 1]
    assert linalg.matrix_rank(SYMMETRIC, 2.0).item() == 2
    assert linalg.matrix_rank(SYMMETRIC, hermitian=True, atol=5.0).item() == 1
    assert flat(linalg.pinv(SINGULAR)) == pytest.approx([0.04, 0.08, 0.08, 0.16])
    cut = linalg.pinv(batch, atol=torch.tensor([0.0, 10.0]))
    close(cut[0], EXPECTED["pinv_hermitian"][0])
    assert not cut[1].any()


def test_condition_numbers():
    assert linalg.cond(torch.zeros(2, 2), 1).item() == math.inf
    assert linalg.cond(torch.zeros(2, 2)).isnan()
    diagonal = torch.tensor([[2.0, 0], [0, 8]])
    found = [linalg.cond(diagonal, p).item() for p in (None, 1, -2, math.inf, "nuc")]
    assert found == pytest.approx([4, 4, 0.25, 4, 6.25])


def test_determinants_of_singular_matrices():
    x = SINGULAR.clone().requires_grad_()
    linalg.det(x).backward()
    assert flat(x.grad) == pytest.approx([4, -2, -2, 1], abs=1e-5)  # the cofactors
    assert gradgradcheck(linalg.det, (SINGULAR.double().requires_grad_(),))
    sign, logarithm = torch.slogdet(torch.zeros(2, 2))
    assert sign.item() == 0 and logarithm.item() == -math.inf
    assert torch.logdet(-torch.eye(3)).isnan()
    assert torch.logdet(1j * torch.eye(2)).item() == pytest.approx(math.pi * 1j, abs=1e-6)


def test_info_in_place_of_errors():
    both = torch.stack([torch.eye(2), SINGULAR])
    inverse, info = linalg.inv_ex(both)
    assert info.tolist() == [0, 2] and inverse[0].tolist() == [[1, 0], [0, 1]] and inverse[1].isinf().all()
    solution, info = linalg.solve_ex(both, torch.ones(2, 2))
    assert info.tolist() == [0, 2] and solution[0].tolist() == [1, 1]
    L, info = linalg.cholesky_ex(torch.stack([torch.eye(2), torch.tensor([[1.0, 2], [2, 1]])]))
    assert info.tolist() == [0, 2] and info.dtype == torch.int32 and L[0].tolist() == [[1, 0], [0, 1]]
    assert linalg.cholesky_ex(torch.full((2, 2), math.nan)).info.item() == 1


def test_only_one_triangle_is_read():
    above = torch.tensor([[4.0, math.nan], [2, 5]])
    assert linalg.cholesky(above).tolist() == [[2, 0], [1, 2]]
    assert flat(linalg.eigvalsh(above)) == pytest.approx([2.438447, 6.561553])
    assert linalg.solve_triangular(above, torch.ones(2, 1), upper=False).isfinite().all()


SOLVER = "torch.linalg.solve: The solver failed because the input matrix is singular."


@pytest.mark.parametrize(
    ("call", "error", "start"),
    [
        (
            lambda: linalg.cholesky(torch.stack([torch.eye(2), -torch.eye(2)])),
            linalg.LinAlgError,
            "linalg.cholesky: (Batch element 1): The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 1 is not positive-definite).",
        ),
        (
            lambda: linalg.inv(SINGULAR),
            linalg.LinAlgError,
            "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input matrix "
            "is singular.",
        ),
        (lambda: linalg.solve(SINGULAR, torch.ones(2)), linalg.LinAlgError, SOLVER),
        (
            lambda: linalg.svd(torch.full((2, 2), math.nan)),
            linalg.LinAlgError,
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.",
        ),
        (
            lambda: linalg.inv(torch.ones(2, 3)),
            RuntimeError,
            "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices",
        ),
        (
            lambda: linalg.det(torch.ones(3)),
            RuntimeError,
            "linalg.det: The input tensor A must have at least 2 dimensions.",
        ),
        (
            lambda: linalg.qr(torch.ones(2, 2, dtype=torch.int64)),
            RuntimeError,
            "linalg.qr: Expected a floating point or complex tensor as input. Got Long",
        ),
        (
            lambda: linalg.svd(torch.ones(2, 2, dtype=torch.float16)),
            NotImplementedError,
            "\"linalg_svd_cpu\" not implemented for 'Half'",
        ),
        (
            lambda: linalg.solve(torch.eye(3), torch.ones(2, 2)),
            RuntimeError,
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x2)",
        ),
        (
            lambda: linalg.solve(torch.eye(2), double([1, 2])),
            RuntimeError,
            "linalg.solve: Expected A and B to have the same dtype, but found A of type Float and B of type Double",
        ),
        (
            lambda: linalg.lu_factor(torch.zeros(2, 2)),
            RuntimeError,
            "torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve would result in a division by zero.",
        ),
        (
            lambda: torch.cholesky_inverse(torch.zeros(2, 2)),
            linalg.LinAlgError,
            "cholesky_inverse: The diagonal element 1 is zero",
        ),
        (
            lambda: linalg.qr(TALL.clone().requires_grad_(), "complete").R.sum().backward(),
            RuntimeError,
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
        ),
        (
            lambda: linalg.svd(COMPLEX.clone().requires_grad_()).U.real.sum().backward(),
            RuntimeError,
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}.",
        ),
    ],
)
def test_errors(call, error, start):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (linalg.inv, [(2, 0, 0)]),
        (linalg.svd, [(0, 0), (0,), (3, 3)]),
        (linalg.qr, [(0, 0), (0, 3)]),
        (linalg.lu, [(0, 0), (0, 0), (0, 3)]),
        (linalg.pinv, [(3, 0)]),
        (linalg.matrix_exp, [(2, 0, 0)]),
    ],
)
def test_no_elements(function, shapes):
    result = function(torch.zeros(2, 0, 0) if len(shapes[0]) == 3 else torch.zeros(0, 3))
    results = result if isinstance(result, tuple) else (result,)
    assert [tuple(r.shape) for r in results] == shapes


def test_names_methods_and_out():
    assert linalg.det(torch.zeros(0, 0)).item() == 1
    A = SYMMETRIC
    pairs = [
        (A.inverse(), linalg.inv(A=A)),
        (A.det(), torch.det(input=A)),
        (A.cholesky(), linalg.cholesky(A)),
        (A.pinverse(), linalg.pinv(A)),
        (A.matrix_power(2), A @ A),
        (linalg.matmul(A, TALL), A @ TALL),
        (A.qr().R, linalg.qr(A).R),
        (TALL.triangular_solve(A).solution, linalg.solve_triangular(A, TALL, upper=True)),
        (torch.vander(TAU, 3), linalg.vander(TAU, N=3).flip(1)),
        (linalg.tensorsolve(A.reshape(3, 3, 1), TALL[:, 0].reshape(3)), linalg.solve(A, TALL[:, :1])),
    ]
    for one, other in pairs:
        close(one, flat(other))
    out = torch.empty(3, 3, dtype=torch.float64)
    assert linalg.inv(A, out=out) is out
    close(out, flat(linalg.inv(A)))
    assert repr(linalg.slogdet(torch.eye(2))).startswith(
        "torch.return_types.linalg_slogdet(\nsign=tensor(1.)"
    )
    assert linalg.inv(A.clone().requires_grad_()).grad_fn.name() == "LinalgInvExBackward0"
