"""Tensors joined: values, dtypes, errors and gradients as PyTorch's."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

A = torch.arange(3.0)
B = torch.arange(6.0).reshape(2, 3)
I = torch.arange(3)  # noqa: E741
S = torch.tensor(2.0)

VALUES = [
    (lambda: torch.cat((B, B), -1), [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]),
    (lambda: torch.concatenate((B, B[:1]), axis=0), [[0, 1, 2], [3, 4, 5], [0, 1, 2]]),
    (lambda: torch.cat([B, torch.zeros(0)]), [[0, 1, 2], [3, 4, 5]]),
    (lambda: torch.cat([torch.zeros(2, 0), B], 1), [[0, 1, 2], [3, 4, 5]]),
    (lambda: torch.stack([A, A + 3], -1), [[0, 3], [1, 4], [2, 5]]),
    (lambda: torch.hstack([B, B]), [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]),
    (lambda: torch.vstack([A, B]), [[0, 1, 2], [0, 1, 2], [3, 4, 5]]),
    (lambda: torch.dstack([A, A]), [[[0, 0], [1, 1], [2, 2]]]),
    (lambda: torch.column_stack([A[:2], B]), [[0, 0, 1, 2], [1, 3, 4, 5]]),
    (
        lambda: torch.block_diag(A, B, S),
        [[0, 1, 2, 0, 0, 0, 0], [0, 0, 0, 0, 1, 2, 0], [0, 0, 0, 3, 4, 5, 0], [0, 0, 0, 0, 0, 0, 2]],
    ),
    (lambda: torch.cartesian_prod(A[:2], A[1:]), [[0, 1], [0, 2], [1, 1], [1, 2]]),
    (lambda: torch.combinations(I), [[0, 1], [0, 2], [1, 2]]),
    (lambda: torch.combinations(I[:2], 2, True), [[0, 0], [0, 1], [1, 1]]),
    (lambda: torch.meshgrid(A, A[:2], indexing="ij")[1], [[0, 1], [0, 1], [0, 1]]),
    (lambda: torch.meshgrid(A, A[:2], indexing="xy")[0], [[0, 1, 2], [0, 1, 2]]),
    (lambda: torch.atleast_2d(S), [[2]]),
    (lambda: torch.atleast_3d(A), [[[0], [1], [2]]]),
]


@pytest.mark.parametrize(("make", "values"), VALUES)
def test_values(make, values):
    assert make().tolist() == values


def test_dtypes_are_promoted():
    assert torch.cat([A, I]).dtype == torch.float32
    assert torch.cat([I, torch.zeros(0)]).dtype == torch.float32
    assert torch.stack([I, torch.tensor([True, False, True])]).dtype == torch.int64
    assert torch.block_diag(A, torch.zeros(1, dtype=torch.complex64)).dtype == torch.complex64


def test_atleast_gives_one_or_a_tuple():
    assert torch.atleast_1d(A) is A
    assert [t.shape for t in torch.atleast_1d(S, A)] == [(1,), (3,)]
    assert [t.shape for t in torch.atleast_2d([S, A])] == [(1, 1), (1, 3)]


def test_grids_are_views():
    assert torch.meshgrid(A, A, indexing="ij")[0].stride() == (1, 0)
    with pytest.warns(UserWarning, match="required to pass the indexing argument"):
        torch.meshgrid(A)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: torch.cat([]), ValueError, r"torch.cat\(\): expected a non-empty list of Tensors"),
        (lambda: torch.cat(A), TypeError, r"cat\(\): argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor"),
        (lambda: torch.cat([A, 1]), TypeError, "expected Tensor as element 1 in argument 0, but got int"),
        (lambda: torch.cat([A, S]), RuntimeError, r"zero-dimensional tensor \(at position 1\) cannot be concatenated"),
        (lambda: torch.cat([B, torch.zeros(3, 3)], 1), RuntimeError, "Sizes of tensors must match except in dimension 1"),
        (lambda: torch.cat([B, A]), RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"),
        (lambda: torch.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
        (lambda: torch.stack([A, B]), RuntimeError, "stack expects each tensor to be equal size"),
        (lambda: torch.block_diag(torch.zeros(1, 1, 1)), RuntimeError, "Input tensors must have 2 or fewer dimensions"),
        (lambda: torch.meshgrid(A, I, indexing="ij"), RuntimeError, "meshgrid expects all tensors to have the same dtype"),
        (lambda: torch.meshgrid(A, indexing="zz"), RuntimeError, 'indexing must be one of "xy" or "ij"'),
        (lambda: torch.combinations(B), RuntimeError, "Expect a 1D vector, but got shape"),
    ],
)  # fmt: skip
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: torch.cat([x, y * 2, x], 1),
        lambda x, y: torch.stack([x, y], 1),
        lambda x, y: torch.block_diag(x, y),
        lambda x, y: torch.cartesian_prod(x[0], y[1]),
        lambda x, y: torch.combinations(x[0] * y[0]),
    ],
)
def test_gradients(function):
    x, y = (torch.arange(6.0, dtype=torch.float64).reshape(2, 3).add(v).requires_grad_() for v in (0.5, 2))
    assert gradcheck(function, (x, y))
    assert gradgradcheck(lambda x, y: function(x, y) ** 2, (x, y))


def test_gradients_of_joined_leaves_have_memory_of_their_own():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.cat([x, y]).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1, 1]


def test_out():
    out = torch.zeros(0)
    assert torch.cat([A, A], out=out) is out
    assert out.tolist() == [0, 1, 2, 0, 1, 2]
