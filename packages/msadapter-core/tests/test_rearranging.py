"""Elements in other places: values, errors and gradients as PyTorch's."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck
from msadapter.pytorch.nn import functional as F

A = torch.arange(3.0)
B = torch.arange(6.0).reshape(2, 3)
C = torch.arange(24.0).reshape(2, 3, 4)
M = torch.arange(9.0).reshape(3, 3)
EMPTY = torch.zeros(0, 3)

VALUES = [
    (lambda: B.flip(0, 1), [[5, 4, 3], [2, 1, 0]]),
    (lambda: torch.flip(EMPTY, (0,)), []),
    (lambda: torch.fliplr(B), [[2, 1, 0], [5, 4, 3]]),
    (lambda: torch.rot90(B), [[2, 5], [1, 4], [0, 3]]),
    (lambda: torch.rot90(B, -1), [[3, 0], [4, 1], [5, 2]]),
    (lambda: torch.roll(B, 1), [[5, 0, 1], [2, 3, 4]]),
    (lambda: torch.roll(B, (1, -1), (0, 1)), [[4, 5, 3], [1, 2, 0]]),
    (lambda: A.repeat(2, 1), [[0, 1, 2], [0, 1, 2]]),
    (lambda: torch.tile(B, (2,)), [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]),
    (lambda: torch.repeat_interleave(A, 2), [0, 0, 1, 1, 2, 2]),
    (lambda: B.repeat_interleave(torch.tensor([0, 2]), 0), [[3, 4, 5], [3, 4, 5]]),
    (lambda: torch.repeat_interleave(torch.tensor([1, 0, 3])), [0, 2, 2, 2]),
    (lambda: torch.tril(M), [[0, 0, 0], [3, 4, 0], [6, 7, 8]]),
    (lambda: M.triu(1), [[0, 1, 2], [0, 0, 5], [0, 0, 0]]),
    (lambda: torch.diag(A[1:], 1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    (lambda: torch.diag(B, 1), [1, 5]),
    (lambda: torch.diag_embed(B[:, :1], -1, 0, 2), [[[0, 0], [0, 0]], [[0, 0], [3, 0]]]),
    (lambda: torch.diagflat(B[:, :1]), [[0, 0], [0, 3]]),
    (lambda: torch.trace(M), 12),
    (lambda: torch.kron(A[1:], B[:, 1:]), [[1, 2, 2, 4], [4, 5, 8, 10]]),
    (lambda: F.pad(B, (1, -1, 0, 1), value=7), [[7, 0, 1], [7, 3, 4], [7, 7, 7]]),
    (lambda: F.pad(B, (1, 2), "reflect"), [[1, 0, 1, 2, 1, 0], [4, 3, 4, 5, 4, 3]]),
    (lambda: F.pad(B, (1, 2), "replicate"), [[0, 0, 1, 2, 2, 2], [3, 3, 4, 5, 5, 5]]),
    (lambda: F.pad(B, (2, 1), "circular"), [[1, 2, 0, 1, 2, 0], [4, 5, 3, 4, 5, 3]]),
    (lambda: F.pad(B, (-1, 1), "circular"), [[1, 2, 1], [4, 5, 4]]),
    (lambda: F.pad(torch.ones(1, dtype=torch.bool), (1, 1)), [False, True, False]),
    (lambda: torch.pixel_shuffle(torch.arange(8.0).reshape(4, 1, 2), 2), [[[0, 2, 1, 3], [4, 6, 5, 7]]]),
    (lambda: F.pixel_unshuffle(torch.arange(4.0).reshape(1, 2, 2), 2), [[[0]], [[1]], [[2]], [[3]]]),
    (lambda: torch.channel_shuffle(torch.arange(4.0).reshape(1, 4, 1), 2), [[[0], [2], [1], [3]]]),
    (lambda: torch.select_scatter(B, A + 7, 0, 1), [[0, 1, 2], [7, 8, 9]]),
    (lambda: torch.slice_scatter(B, torch.zeros(2, 2), 1, 0, 3, 2), [[0, 1, 0], [0, 4, 0]]),
    (lambda: torch.diagonal_scatter(B, torch.tensor([8.0, 9]), 1), [[0, 8, 2], [3, 4, 9]]),
]


@pytest.mark.parametrize(("make", "values"), VALUES)
def test_values(make, values):
    assert make().tolist() == values


def test_results_are_copies():
    x = torch.ones(1, 1)
    for copy in (x.flip(0), x.roll(1), x.repeat(1, 1), x.tril(), torch.diag(x), F.pad(x, (0, 0)), x.rot90(4)):
        copy.zero_()
    assert x.item() == 1


def test_triangles_in_place():
    x = M.clone()
    assert x.tril_().triu_() is x
    assert x.tolist() == [[0, 0, 0], [0, 4, 0], [0, 0, 8]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.flip(0, 2),
        lambda x: torch.rot90(x, 1, (1, 2)),
        lambda x: torch.roll(x, (1, -2), (0, 2)),
        lambda x: x.repeat(2, 1, 2, 1),
        lambda x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1),
        lambda x: x.tril(-1),
        lambda x: torch.diag_embed(x, 1, 0, 2),
        lambda x: torch.diag(x[0, 0]),
        lambda x: torch.kron(x[0], x[1, :2]),
        lambda x: F.pad(x, (1, -1, 0, 2)),
        lambda x: F.pad(x, (2, 1), "reflect"),
        lambda x: F.pad(x, (2, 1, 1, 2), "reflect"),
        lambda x: F.pad(x, (2, 5), "replicate"),
        lambda x: F.pad(x, (2, 3), "circular"),
        lambda x: F.pixel_unshuffle(x[:, :2], 2),
    ],
)
def test_gradients(function):
    x = torch.linspace(-1, 1.5, 24, dtype=torch.float64).reshape(2, 3, 4).requires_grad_()
    assert gradcheck(function, (x,))
    assert gradgradcheck(lambda x: function(x) ** 2, (x,))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: B.flip(0, 0), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda: torch.fliplr(A), RuntimeError, "Input must be >= 2-d"),
        (lambda: torch.rot90(B, 1, [0, 0]), RuntimeError, "expected rotation dims to be different"),
        (lambda: torch.roll(B, (1, 2), 0), RuntimeError, "shifts and dimensions must align. shifts: 2, dims:1"),
        (lambda: B.repeat(2), RuntimeError, "Number of dimensions of repeat dims can not be smaller"),
        (lambda: B.repeat_interleave(torch.tensor([1, 2, 3]), 0), RuntimeError, "repeats must have the same size as input"),
        (lambda: torch.repeat_interleave(A, -1), RuntimeError, "Repeats must be non-negative"),
        (lambda: torch.tril(A), RuntimeError, "tril: input tensor must have at least 2 dimensions"),
        (lambda: torch.diag(C), RuntimeError, r"diag\(\): Supports 1D or 2D tensors. Got 3D"),
        (lambda: torch.diag_embed(B, 0, 1, 1), RuntimeError, "diagonal dimensions cannot be identical 1, 1"),
        (lambda: torch.trace(A), RuntimeError, "trace: expected a matrix, but got tensor with dim 1"),
        (lambda: F.pad(B, (1,)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: F.pad(C, (4, 0), "reflect"), RuntimeError, "Padding size should be less than the corresponding input dim"),
        (lambda: F.pad(A, (1, 1), "reflect"), NotImplementedError, "Padding size 2 is not supported for 1D input tensor"),
        (lambda: F.pad(C, (5, 0), "circular"), RuntimeError, "Padding value causes wrapping around more than once"),
        (lambda: F.pad(C, (1, 1), "foo"), NotImplementedError, "Unrecognised padding mode foo"),
        (lambda: torch.pixel_shuffle(C, 2), RuntimeError, "pixel_shuffle expects its input's 'channel' dimension"),
        (lambda: torch.channel_shuffle(C, 2), RuntimeError, "Number of channels must be divisible by groups"),
        (lambda: torch.select_scatter(B, A[:2], 0, 1), RuntimeError, "expected src to have a size equal to the slice"),
    ],
)  # fmt: skip
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_integers_keep_their_bits():
    big = torch.tensor([2**60 + 1, 3])
    assert F.pad(big, (0, 1)).tolist() == [2**60 + 1, 3, 0]
    assert big.flip(0).roll(1).repeat(2)[:2].tolist() == [2**60 + 1, 3]
