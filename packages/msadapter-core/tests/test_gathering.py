"""Gather, scatter and their kind against values of real PyTorch."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

X = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
LONG = [[0, 2], [1, 1]]
WIDE = [[0, 2, 0], [1, 1, 0]]
DTYPES = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64, torch.complex64]


def long(*values):
    return torch.tensor(list(values), dtype=torch.int64)


@pytest.mark.parametrize(
    "pick, expected",
    [
        (lambda x: x.gather(1, torch.tensor(LONG)), [[0, 2], [4, 4]]),
        (lambda x: x.gather(0, long([1, 0])), [[3, 1]]),
        (lambda x: torch.tensor(3.0).gather(0, long(0, 0)), [3, 3]),
        (lambda x: x.gather(1, long()), []),
        (lambda x: x.index_select(1, long(2, 2, 0)), [[2, 2, 0], [5, 5, 3]]),
        (lambda x: x.index_select(0, torch.tensor(1)), [[3, 4, 5]]),
        (lambda x: x.take(long([0, -1])), [[0, 5]]),
        (lambda x: torch.take_along_dim(x, long([-1], [0]), 1), [[2], [3]]),
        (lambda x: torch.take_along_dim(x, long(4, 1)), [4, 1]),
        (lambda x: torch.take_along_dim(x, x.argsort(1, True), dim=1), [[2, 1, 0], [5, 4, 3]]),
        (lambda x: x.masked_select(x > 3), [4, 5]),
        (lambda x: x[0].masked_select(x > 2), [0, 1, 2]),
        (lambda x: (x > 3).nonzero(), [[1, 1], [1, 2]]),
        (lambda x: (x > 3).nonzero(as_tuple=True)[1], [1, 2]),
        (lambda x: x.argwhere()[0], [0, 1]),
        (lambda x: torch.nonzero_static(x, size=7, fill_value=-7)[5:], [[-7, -7], [-7, -7]]),
        (lambda x: torch.unravel_index(long(5, 0), (2, 3))[1], [2, 0]),
        (lambda x: x.scatter(1, torch.tensor(LONG), 9.0), [[9, 1, 9], [3, 9, 5]]),
        (lambda x: x.scatter(0, long([1, 0, 1]), -x), [[0, -1, 2], [0, 4, -2]]),
        (lambda x: x.scatter(1, torch.tensor(LONG), x, reduce="add"), [[0, 1, 3], [3, 11, 5]]),
        (lambda x: x.scatter(1, long([2]), 3.0, reduce="multiply"), [[0, 1, 6], [3, 4, 5]]),
        (lambda x: x.scatter_add(1, long([0, 0], [2, 2]), x), [[1, 1, 2], [3, 4, 12]]),
        (lambda x: x.scatter_reduce(1, long([0, 0], [2, 2]), x, "amax"), [[1, 1, 2], [3, 4, 5]]),
        (lambda x: x.scatter_reduce(1, long([0, 0], [2, 2]), x, "mean"), [[1 / 3, 1, 2], [3, 4, 4]]),
        (lambda x: x.scatter_reduce(1, long([0, 0]), x, "prod", include_self=False), [[0, 1, 2], [3, 4, 5]]),
        (lambda x: x.index_add(0, long(1, 1), x, alpha=2), [[0, 1, 2], [9, 14, 19]]),
        (lambda x: x.index_copy(1, long(2, 0), x[:, :2]), [[1, 1, 0], [4, 4, 3]]),
        (lambda x: x.index_fill(1, long(0, -1), 7.0), [[7, 1, 7], [7, 4, 7]]),
        (lambda x: x.index_reduce(0, long(0, 0), x, "mean"), [[1, 2, 3], [3, 4, 5]]),
        (lambda x: x.put(long(5, 0), torch.tensor([7.0, 8.0])), [[8, 1, 2], [3, 4, 7]]),
        (lambda x: x.put(long(1, 1), torch.tensor([7.0, 8.0]), accumulate=True), [[0, 16, 2], [3, 4, 5]]),
        (lambda x: x.masked_scatter(x > 2, torch.tensor([7.0, 8.0, 9.0, 0.0])), [[0, 1, 2], [7, 8, 9]]),
    ],
)
@pytest.mark.filterwarnings("ignore:index_reduce", "ignore:The reduce argument of torch.scatter")
def test_values(same, pick, expected):
    same(pick(torch.tensor(X)), [float(e) for e in expected] if expected == [] else expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x = torch.tensor([[1, 0, 1], [0, 1, 0]]).to(dtype)
    index = torch.tensor([[2, 0], [1, 1]])
    assert x.gather(1, index).tolist() == [[1, 1], [1, 1]]
    assert x.scatter(1, index, x[:, :2]).dtype == dtype
    added = x.scatter_add(1, index, x[:, :2])
    assert added.tolist() == ([[1, 0, 1], [0, 1, 0]] if dtype == torch.bool else [[1, 0, 2], [0, 2, 0]])
    assert x.index_select(0, long(1)).tolist() == [[0, 1, 0]]
    assert x.masked_select(x == 1).tolist() == [1, 1, 1]
    assert x.index_fill(0, long(0), 0).tolist()[0] == [0, 0, 0]


def test_halves_accumulate_in_float32():
    x = torch.zeros(1, dtype=torch.float16)
    total = x.scatter_add(0, torch.zeros(4000, dtype=torch.int64), torch.ones(4000, dtype=torch.float16))
    assert total.item() == 4000


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda x: x.gather(1, long([3])),
            RuntimeError,
            "index 3 is out of bounds for dimension 1 with size 3",
        ),
        (
            lambda x: x.gather(1, long([-1])),
            RuntimeError,
            "index -1 is out of bounds for dimension 1 with size 3",
        ),
        (
            lambda x: x.gather(1, long(0)),
            RuntimeError,
            "must have the same number of dimensions as input tensor",
        ),
        (
            lambda x: x.gather(0, long([0] * 4)),
            RuntimeError,
            r"Size does not match at dimension 1 expected index \[1, 4\]",
        ),
        (
            lambda x: x.scatter(1, long([0]), x.long()),
            RuntimeError,
            r"scatter\(\): Expected self.dtype to be equal to src",
        ),
        (
            lambda x: x.scatter(1, long([0, 1]), x[:1, :1]),
            RuntimeError,
            r"Expected index \[1, 2\] to be no larger than self",
        ),
        (
            lambda x: x.scatter_reduce(1, long([0]), x, "bad"),
            RuntimeError,
            "reduce argument must be either sum, prod",
        ),
        (lambda x: x.index_select(0, long(2)), IndexError, "index out of range in self"),
        (
            lambda x: x.index_add(0, long(0), x),
            RuntimeError,
            r"Number of indices \(1\) should be equal to source.size",
        ),
        (
            lambda x: x.index_add(0, long(5), x[:1]),
            RuntimeError,
            "index 5 is out of bounds for dimension 0 with size 2",
        ),
        (
            lambda x: x.index_copy(0, long(-1), x[:1]),
            IndexError,
            r"index_copy_\(\): index -1 is out of bounds",
        ),
        (
            lambda x: x.index_fill(0, long(2), 0.0),
            IndexError,
            "index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            lambda x: x.take(long(6)),
            IndexError,
            "out of range: tried to access index 6 on a tensor of 6 elements",
        ),
        (
            lambda x: x.masked_select(long(1, 0, 1)),
            RuntimeError,
            "masked_select: expected BoolTensor for mask",
        ),
        (
            lambda x: x.masked_scatter(x > 0, x[0]),
            RuntimeError,
            "Number of elements of source < number of ones in mask",
        ),
        (
            lambda x: torch.take_along_dim(x, long(0), 1),
            RuntimeError,
            "input and indices should have the same number",
        ),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.tensor(X))


def test_in_place():
    x = torch.tensor(X)
    view = x[0]
    assert x.scatter_(1, long([1]), 9.0) is x and view.tolist() == [0, 9, 2]
    x.index_fill_(0, long(0), 5.0).index_add_(0, long(0), x[1:].clone())
    assert view.tolist() == [8, 9, 10]
    x.masked_scatter_(x > 8, torch.zeros(2))
    assert view.tolist() == [8, 0, 0]
    x.put_(long(0), torch.tensor([1.0]))
    assert view.tolist() == [1, 0, 0]


def test_out():
    out = torch.empty(0)
    assert torch.gather(torch.tensor(X), 1, torch.tensor(LONG), out=out) is out
    assert out.tolist() == [[0, 2], [4, 4]]


def test_the_index_may_change_before_backward():
    # PyTorch raises here, as it saves the index tensor; a copy is saved instead.
    x = torch.tensor(X, requires_grad=True)
    index = torch.tensor(LONG)
    y = x.gather(1, index)
    index.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [[1, 0, 1], [0, 2, 0]]


# --- gradients ------------------------------------------------------------------------------------------------------


def wave(*shape, start=0.0):
    return torch.from_numpy(np.sin(np.arange(math.prod(shape)) * 1.3 + start).reshape(shape)).requires_grad_()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x.gather(1, torch.tensor(LONG)),
        lambda x, y: x.index_select(1, long(2, 2, 0)),
        lambda x, y: x.take(long(5, 5, 0)),
        lambda x, y: x.masked_select(x > 0),
        lambda x, y: x.scatter(1, long([1, 0, 2], [2, 0, 1]), y),
        lambda x, y: x.scatter(1, torch.tensor(LONG), 2.0),
        lambda x, y: x.scatter_add(1, torch.tensor(WIDE), y),
        lambda x, y: x.scatter_reduce(1, torch.tensor(WIDE), y, "mean"),
        lambda x, y: x.scatter_reduce(1, torch.tensor(WIDE), y, "amax"),
        lambda x, y: x.scatter_reduce(1, torch.tensor(WIDE), y, "prod", include_self=False),
        lambda x, y: x.index_add(0, long(1, 1), y, alpha=2),
        lambda x, y: x.index_copy(0, long(1, 0), y),
        lambda x, y: x.index_fill(0, long(1), y[0, 0]),
        lambda x, y: x.index_reduce(0, long(1, 1), y, "prod"),
        lambda x, y: x.put(long(1, 1, 0, 2, 3, 5), y, accumulate=True),
        lambda x, y: x.masked_scatter(x > 0, y),
    ],
)
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_first_and_second_order(function):
    x, y = wave(2, 3, start=1.0), wave(2, 3, start=2.0)
    assert gradcheck(lambda x, y: function(x, y) + (x.sum() + y.sum()) * 0, (x, y))
    assert gradgradcheck(lambda x, y: function(x, y) ** 2 + y.sum() ** 2, (x, y))


@pytest.mark.parametrize("reduce", ["amax", "mean", "prod"])
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_in_place_reductions_keep_what_their_gradient_reads(reduce):
    x, y = wave(2, 3, start=1.0), wave(2, 3, start=2.0)
    assert gradcheck(lambda x, y: (x * 1).scatter_reduce_(1, torch.tensor(WIDE), y, reduce), (x, y))
    assert gradcheck(lambda x, y: (x * 1).index_reduce_(0, long(1, 0), y, reduce), (x, y))


@pytest.mark.parametrize("zeros", [1, 2])
def test_gradient_of_scattered_products_with_zeros(zeros):
    x = torch.tensor([2.0, 0.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.0] * zeros + [3.0], dtype=torch.float64, requires_grad=True)
    index = torch.zeros(zeros + 1, dtype=torch.int64)
    assert gradcheck(lambda x, y: x.scatter_reduce(0, index, y, "prod"), (x, y))
