"""Cross products and distances, held against PyTorch's values."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

A = torch.arange(6.0).reshape(2, 3)
B = torch.tensor([[2.5, 3.0, 3.5], [1.0, 1.5, 2.0]])
ROWS = torch.arange(12.0).reshape(4, 3) * 0.3


def test_cross():
    expected = [[-2.5, 5.0, -2.5], [0.5, -1.0, 0.5]]
    assert torch.cross(A, B).tolist() == expected
    assert torch.linalg.cross(A.t(), B.t(), dim=0).t().tolist() == expected
    assert torch.cross(torch.arange(3), torch.arange(1, 4)).tolist() == [-1, 2, -1]
    assert torch.linalg.cross(A, B[:1]).shape == (2, 3)


@pytest.mark.parametrize(
    ("p", "row"),
    [
        (0, [2, 3, 3, 3]),
        (1, [2.1, 1.6, 3.3, 6.0]),
        (2, [1.5652475, 1.0488089, 2.1470912, 3.602777]),
        (3, [1.4560586, 0.9517052, 1.9333895, 3.1030841]),
        (float("inf"), [1.4, 0.9, 1.8, 2.7]),
    ],
)
def test_distances(p, row):
    assert torch.cdist(A, ROWS, p=p)[0].tolist() == pytest.approx(row, rel=1e-6)
    assert torch.cdist(A.expand(5, 2, 3), ROWS, p).shape == (5, 2, 4)


def test_distances_without_elements():
    assert torch.cdist(torch.zeros(2, 0), torch.zeros(3, 0)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert torch.cdist(torch.zeros(0, 3), ROWS).shape == (0, 4)


def test_gradient_at_distance_zero_is_zero():
    x = A.clone().requires_grad_()
    torch.cdist(x, x).sum().backward()
    assert x.grad.numpy() == pytest.approx(3**-0.5 * 2 * torch.tensor([[-1.0] * 3, [1.0] * 3]).numpy())


MODE = "use_mm_for_euclid_dist"


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: torch.cross(x, y[:2]),
        lambda x, y: torch.cdist(x, y),
        lambda x, y: torch.cdist(x, y, 1.0),
        lambda x, y: torch.cdist(x, y, 1.5),
        lambda x, y: torch.cdist(x, y, 3.0),
        lambda x, y: torch.cdist(x, y, float("inf")),
        lambda x, y: torch.cdist(x, y, compute_mode=MODE),
        lambda x, y: torch.view_as_real(torch.cross(torch.complex(x, x * 2), torch.complex(y[:2], y[2:]))),
    ],
)
def test_gradients(function):
    x, y = A.double().sin().requires_grad_(), ROWS.double().cos().requires_grad_()
    assert gradcheck(function, (x, y))
    assert gradgradcheck(function, (x, y))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: torch.cross(A, B, 0), RuntimeError, "linalg.cross: inputs dimension 0 must have length 3. Got 2 and 2"),
        (lambda: torch.cross(A[0], B), RuntimeError, "linalg.cross: inputs must have the same number of dimensions"),
        (lambda: torch.cross(A[:, :2], B[:, :2]), RuntimeError, "no dimension of size 3 in input"),
        (lambda: torch.cross(A[0], torch.arange(3)), RuntimeError, "expected scalar type Float but found Long"),
        (lambda: torch.cdist(A, ROWS, p=-1), RuntimeError, "cdist only supports non-negative p values"),
        (lambda: torch.cdist(A, ROWS[:, :2]), RuntimeError, "X1 and X2 must have the same number of columns. X1: 3 X2: 2"),
        (lambda: torch.cdist(A[0], ROWS), RuntimeError, "cdist only supports at least 2D tensors, X1 got: 1D"),
        (lambda: torch.cdist(A.long(), ROWS), RuntimeError, "cdist only supports floating-point dtypes, X1 got: Long"),
        (lambda: torch.cdist(A.half(), ROWS.half()), NotImplementedError, "\"cdist\" not implemented for 'Half'"),
        (lambda: torch.cdist(A, ROWS, compute_mode="foo"), ValueError, "foo is not a valid value for compute_mode"),
    ],
)  # fmt: skip
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
