"""Matrix products on both sides of the size where MindSpore takes over from NumPy; contractions; what is refused."""

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.contractions import bilinear
from msadapter.pytorch._ops.products import linear

# Shapes of two operands; the last of each kind is large enough for MindSpore's kernel.
SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)), ((60, 50), (50, 70)), ((4, 40, 30), (30, 60)), ((4, 40, 30), (4, 30, 60)),
]  # fmt: skip


def made(shape, dtype=np.float64, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.default_rng(seed + 9).standard_normal(shape)
    return torch.from_numpy(np.asarray(values, dtype))


@pytest.mark.parametrize("left, right", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_matmul_is_numpys(left, right, dtype):
    a, b = made(left, dtype), made(right, dtype, 1)
    found = torch.matmul(a, b)
    assert found.dtype == a.dtype
    assert np.allclose(found.numpy(), np.matmul(a.numpy(), b.numpy()), rtol=1e-4, atol=1e-4)
    assert (a @ b).equal(found)


@pytest.mark.parametrize("left, right", SHAPES)
def test_gradients_of_matmul_are_matrix_products(left, right):
    a, b = made(left).requires_grad_(), made(right, seed=1).requires_grad_()
    by_arrays = [t.detach().numpy() for t in (a, b)]
    torch.matmul(a, b).sum().backward()
    step = 1e-6
    for position, tensor in enumerate((a, b)):
        direction = np.random.default_rng(5).standard_normal(tensor.shape)
        moved = [
            [x + s * step * direction if i == position else x for i, x in enumerate(by_arrays)]
            for s in (1, -1)
        ]
        slope = (np.matmul(*moved[0]).sum() - np.matmul(*moved[1]).sum()) / (2 * step)
        assert (tensor.grad.numpy() * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("left, right", SHAPES[:7])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives_of_both_orders(left, right, dtype):
    inputs = (made(left, dtype).requires_grad_(), made(right, dtype, 1).requires_grad_())
    assert torch.autograd.gradcheck(torch.matmul, inputs)
    assert torch.autograd.gradgradcheck(torch.matmul, inputs)


def test_second_derivative_beyond_the_size_of_numpys():
    x = made((40, 45)).requires_grad_()
    w = made((45, 50), seed=1).requires_grad_()
    (first,) = torch.autograd.grad((torch.matmul(x, w) ** 2).sum(), x, create_graph=True)
    first.sum().backward()
    expected = 2 * np.ones((40, 45)) @ w.detach().numpy() @ w.detach().numpy().T
    assert np.allclose(x.grad.numpy(), expected)


@pytest.mark.parametrize("batch", [(), (2,), (4, 3), (1,), (0,)])
@pytest.mark.parametrize("features", [(3, 4), (60, 70)])
def test_linear(batch, features):
    x, w, b = made((*batch, features[0])), made(features[::-1], seed=1), made(features[1:], seed=2)
    found = linear(x, w, b)
    assert found.shape == (*batch, features[1])
    assert np.allclose(found.numpy(), x.numpy() @ w.numpy().T + b.numpy())
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    linear(*leaves).sum().backward()
    assert np.allclose(leaves[2].grad.numpy(), np.full(features[1], np.prod(batch)))
    assert np.allclose(leaves[0].grad.numpy(), np.broadcast_to(w.numpy().sum(0), x.shape))


def test_a_gradient_of_linear_is_nobody_elses():
    x, w, b = made((1, 3)).requires_grad_(), made((4, 3)).requires_grad_(), made((4,)).requires_grad_()
    y = linear(x, w, b)
    y.retain_grad()
    y.sum().backward()
    b.grad.mul_(5)
    assert y.grad.tolist() == [[1.0, 1.0, 1.0, 1.0]]


def test_other_dtypes_and_no_elements():
    assert (torch.tensor([[1, 2]]) @ torch.tensor([[3], [4]])).tolist() == [[11]]
    half = torch.ones(2, 3, dtype=torch.float16) @ torch.ones(3, 2, dtype=torch.float16)
    assert half.dtype == torch.float16 and half.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert (torch.ones(2, 0) @ torch.ones(0, 3)).tolist() == [[0.0] * 3] * 2
    assert torch.ones(0, 3).matmul(torch.ones(3, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: torch.ones(2, 3) @ torch.ones(2, 3),
            r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)",
        ),
        (lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(), "same dtype"),
        (lambda: torch.tensor(1.0) @ torch.ones(2), "need to be at least 1D"),
        (lambda: torch.dot(torch.ones(2, 2), torch.ones(2)), "1D tensors expected"),
        (lambda: linear(torch.ones(2, 3), torch.ones(4, 5)), r"cannot be multiplied \(2x3 and 5x4\)"),
        (lambda: torch.outer(torch.ones(2, 2), torch.ones(2)), "Expected 1-D argument self, but got 2-D"),
        (
            lambda: torch.einsum("ij,jk->iz", torch.ones(2, 2), torch.ones(2, 2)),
            "does not appear in the equation",
        ),
        (lambda: torch.einsum("ij,jk", torch.ones(2, 3), torch.ones(2, 3)), "do not broadcast"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("...ij->...ji", [(2, 3, 4)]),
        ("a...,...a->...", [(3, 2, 2), (2, 2, 3)]),
        ("i,j,k->kij", [(2,), (3,), (4,)]),
        ("ba,dca,bd->c", [(2, 5), (3, 4, 5), (2, 3)]),
    ],
)
def test_einsum_is_numpys(equation, shapes):
    operands = [made(shape, seed=i) for i, shape in enumerate(shapes)]
    expected = np.einsum(equation, *(o.numpy() for o in operands))
    assert np.allclose(torch.einsum(equation, *operands).numpy(), expected)


def test_einsum_from_sublists():
    a, b = made((2, 3)), made((3, 4), seed=1)
    assert torch.einsum(a, [0, 1], b, [1, 2], [0, 2]).equal(a @ b)


def test_sums_of_products():
    m, a, b = made((2, 4)), made((2, 3), seed=1), made((3, 4), seed=2)
    assert np.allclose(
        torch.addmm(m, a, b, beta=0.5, alpha=2).numpy(), 0.5 * m.numpy() + 2 * a.numpy() @ b.numpy()
    )
    nan = torch.full((2, 4), float("nan"), dtype=torch.float64)
    assert np.allclose(torch.addmm(nan, a, b, beta=0).numpy(), a.numpy() @ b.numpy())
    assert torch.addmm(torch.tensor([[1]]), torch.tensor([[2]]), torch.tensor([[3]]), alpha=1.9).tolist() == [
        [7]
    ]


def test_tensordot_and_chains():
    a, b = made((2, 3, 4)), made((4, 3, 5), seed=1)
    expected = np.tensordot(a.numpy(), b.numpy(), ([1, 2], [1, 0]))
    assert np.allclose(torch.tensordot(a, b, dims=([1, 2], [1, 0])).numpy(), expected)
    chain = [made((2, 9)), made((9, 3), seed=1), made((3, 5), seed=2)]
    assert np.allclose(torch.linalg.multi_dot(chain).numpy(), np.linalg.multi_dot([c.numpy() for c in chain]))


def test_bilinear():
    x, y, w, b = made((4, 2)), made((4, 3), seed=1), made((5, 2, 3), seed=2), made((5,), seed=3)
    expected = np.einsum("bi,nij,bj->bn", x.numpy(), w.numpy(), y.numpy()) + b.numpy()
    assert np.allclose(bilinear(x, y, w, b).numpy(), expected)
