"""Sorting and searching against values of real PyTorch: NaN last, stable order, int64 places."""

import math

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
DTYPES = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float64]


def test_sort_of_special_values(same):
    x = torch.tensor([2.5, NAN, -7.0, INF, 0.0, -INF, 3.0])
    same(x.sort().values, [-INF, -7.0, 0.0, 2.5, 3.0, INF, NAN])
    same(x.sort().indices, [5, 2, 4, 0, 6, 3, 1], torch.int64)
    same(x.sort(descending=True).indices, [1, 3, 6, 0, 4, 2, 5])
    same(x.topk(2).values, [NAN, INF])
    same(x.topk(3, largest=False).indices, [5, 2, 4])


def test_equal_elements_keep_their_order(same):
    x = torch.tensor([2, 1, 2, 1])
    same(x.argsort(stable=True), [1, 3, 0, 2])
    same(torch.sort(x, stable=True, descending=True).indices, [0, 2, 1, 3])


def test_float64_is_not_compared_as_float32(same):
    x = torch.tensor([1.0 + 1e-12, 1.0], dtype=torch.float64)
    same(x.argsort(), [1, 0])
    assert torch.tensor([2**53 + 1, 2**53]).sort().values.tolist() == [2**53, 2**53 + 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(same, dtype):
    x = torch.tensor([[1, 0], [0, 1]]).to(dtype)
    assert x.sort(0).values.dtype == dtype
    same(x.sort(1).indices, [[1, 0], [0, 1]])
    same(x.msort().long(), [[0, 0], [1, 1]])


def test_shapes(same):
    same(torch.tensor(3.0).sort(0).indices, 0)
    assert torch.zeros(0, 3).sort(0).values.shape == (0, 3)
    assert torch.zeros(3).topk(0).indices.shape == (0,)
    same(torch.tensor([[3.0, 1.0], [0.0, 2.0]]).sort(0).values, [[0.0, 1.0], [3.0, 2.0]])


@pytest.mark.parametrize("largest, expected", [(True, [999, 998]), (False, [0, 1])])
def test_few_of_many(same, largest, expected):
    x = torch.arange(1000)
    shuffled = x[(x * 7) % 1000]
    result = shuffled.topk(2, largest=largest)
    same(result.values, expected)
    same(shuffled[result.indices], expected)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.topk(5), RuntimeError, "selected index k out of range"),
        (
            lambda x: x.kthvalue(0),
            RuntimeError,
            r"kthvalue\(\): selected number k out of range for dimension 0",
        ),
        (
            lambda x: x.sort(2),
            IndexError,
            r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 2\)",
        ),
        (lambda x: (x * 1j).sort(), RuntimeError, "Sort does not support complex dtypes on CPU"),
        (lambda x: x.bool().topk(1), RuntimeError, "topk does not support bool dtypes on CPU"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.tensor([1.0, 2.0]))


@pytest.mark.parametrize(
    "function",
    [lambda x: x.sort(0).values, lambda x: x.topk(2, 1)[0], lambda x: x.kthvalue(2).values, torch.msort],
)
def test_gradients(function):
    x = torch.tensor([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


# --- searching ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "search, expected",
    [
        (lambda b: torch.searchsorted(b, torch.tensor([0.0, 3.0, 9.0, NAN])), [0, 1, 3, 3]),
        (lambda b: torch.searchsorted(b, 3, right=True), 2),
        (lambda b: torch.searchsorted(b, torch.tensor(3.0), side="right"), 2),
        (lambda b: torch.bucketize(torch.tensor([[1.0, 2.0]]), b), [[0, 1]]),
        (lambda b: torch.searchsorted(torch.stack([b, b + 1]), torch.tensor([[3.0], [3.0]])), [[1], [1]]),
        (lambda b: torch.searchsorted(b.flip(0), torch.tensor([3.0]), sorter=torch.tensor([2, 1, 0])), [1]),
        (
            lambda b: torch.searchsorted(torch.tensor([1.0, 2.0, NAN]), torch.tensor([NAN, 3.0, 0.0])),
            [3, 3, 0],
        ),
        (lambda b: torch.searchsorted(b[:0], torch.tensor([3.0])), [0]),
    ],
)
def test_places(same, search, expected):
    same(search(torch.tensor([1.0, 3.0, 5.0])), expected, torch.int64)


def test_places_as_int32():
    places = torch.searchsorted(torch.tensor([1.0, 3.0]), torch.tensor([2.0]), out_int32=True)
    assert places.dtype == torch.int32


@pytest.mark.parametrize(
    "search, message",
    [
        (
            lambda b: torch.searchsorted(b, b, side="left", right=True),
            "side and right can't be set to opposites",
        ),
        (
            lambda b: torch.searchsorted(b[None], b),
            "boundaries tensor should be 1 dimension or the first N-1 dimensions",
        ),
        (lambda b: torch.bucketize(b, b[None]), r"boundaries tensor must be 1 dimension, but got dim\(2\)"),
    ],
)
def test_refused_searches(search, message):
    with pytest.raises(RuntimeError, match=message):
        search(torch.tensor([1.0, 3.0, 5.0]))


def test_isin(same):
    x = torch.tensor([[1, 2], [3, 4]])
    same(torch.isin(x, torch.tensor([2, 3])), [[False, True], [True, False]])
    same(torch.isin(x, 2, invert=True), [[True, False], [True, True]])
    same(torch.isin(1, x), True)
    same(torch.isin(torch.tensor([NAN]), torch.tensor([NAN])), [False])


def test_unique(same):
    values, inverse, counts = torch.tensor([3, 1, 2, 1]).unique(return_inverse=True, return_counts=True)
    same(values, [1, 2, 3])
    same(inverse, [2, 0, 1, 0], torch.int64)
    same(counts, [2, 1, 1])
    same(torch.tensor([NAN, 1.0, NAN]).unique(), [1.0, NAN, NAN])
    same(torch.tensor([[3, 1], [3, 1], [1, 2]]).unique(dim=0), [[1, 2], [3, 1]])
    same(torch.tensor([[3, 1], [3, 1], [1, 2]]).unique(dim=1, return_inverse=True)[1], [1, 0])
    assert torch.zeros(0).unique().shape == (0,)
    assert torch.tensor([1.5, 0.5], dtype=torch.bfloat16).unique().tolist() == [0.5, 1.5]


def test_unique_consecutive(same):
    values, inverse, counts = torch.tensor([1, 1, 2, 2, 1]).unique_consecutive(True, True)
    same(values, [1, 2, 1])
    same(inverse, [0, 0, 1, 1, 2])
    same(counts, [2, 2, 1])
    same(torch.tensor([[1, 1], [1, 1], [2, 1]]).unique_consecutive(dim=0), [[1, 1], [2, 1]])


def test_distinct_slices_of_nothing():
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions, and they aren't selected"):
        torch.zeros(2, 0).unique(dim=0)
