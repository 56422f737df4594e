"""Sums, products, extremes and norms against values of real PyTorch."""

import math

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
MATRIX = [[1.0, -2.0, 3.0], [4.0, 0.0, -6.0]]


def leaf(data, dtype=torch.float64):
    return torch.tensor(data, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize(
    "reduce, expected",
    [
        (lambda x: x.sum(), 0.0),
        (lambda x: x.sum(1), [2.0, -2.0]),
        (lambda x: x.sum((0, 1), keepdim=True), [[0.0]]),
        (lambda x: x.sum(axis=0, keepdims=True), [[5.0, -2.0, -3.0]]),
        (lambda x: x.sum(()), 0.0),
        (lambda x: x.mean(-1), [2 / 3, -2 / 3]),
        (lambda x: x.prod(), 0.0),
        (lambda x: x.prod(0), [4.0, 0.0, -18.0]),
        (lambda x: x.amax(1), [3.0, 4.0]),
        (lambda x: x.amin((0, 1)), -6.0),
        (lambda x: x.max(), 4.0),
        (lambda x: x.max(0).values, [4.0, 0.0, 3.0]),
        (lambda x: x.max(0).indices, [1, 1, 0]),
        (lambda x: x.min(1, keepdim=True)[1], [[1], [2]]),
        (lambda x: torch.max(x, -x), [[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]]),
        (lambda x: x.aminmax().min, -6.0),
        (lambda x: x.aminmax(dim=1).max, [3.0, 4.0]),
        (lambda x: x.argmax(), 3),
        (lambda x: x.argmin(0), [0, 0, 1]),
        (lambda x: x.argmax(1, keepdim=True), [[2], [0]]),
        (lambda x: x.count_nonzero(), 5),
        (lambda x: x.count_nonzero(0), [2, 1, 2]),
        (lambda x: x.all(), False),
        (lambda x: x.any(1), [True, True]),
        (lambda x: x.logsumexp(1), [3.132845, 4.018207]),
        (lambda x: x.nansum(1), [2.0, -2.0]),
        (lambda x: x.nanmean(0), [2.5, -1.0, -1.5]),
        (lambda x: x.norm(), 8.124039),
        (lambda x: x.norm(1, dim=0), [5.0, 2.0, 9.0]),
        (lambda x: x.norm(INF), 6.0),
        (lambda x: x.norm(0), 5.0),
        (lambda x: x.norm(3, 1), [3.301927, 6.542133]),
        (lambda x: torch.dist(x, x + 1), 2.4494898),
        (lambda x: torch.linalg.norm(x, 1), 9.0),
        (lambda x: torch.linalg.norm(x, dim=1), [3.741657, 7.211103]),
        (lambda x: torch.linalg.matrix_norm(x, -INF, keepdim=True), [[6.0]]),
        (lambda x: x.renorm(2, 0, 5), [[1.0, -2.0, 3.0], [2.773501, 0.0, -4.160251]]),
    ],
)
def test_values(same, reduce, expected):
    same(reduce(torch.tensor(MATRIX)), expected)


def test_named_results():
    result = torch.tensor(MATRIX).max(1)
    assert repr(result) == "torch.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([2, 0]))"
    values, indices = result
    assert values is result.values and indices.dtype == torch.int64


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
)
def test_integers_add_up_in_int64(same, dtype):
    x = torch.tensor([1, 1, 1], dtype=dtype)
    same(x.sum(), 3, torch.int64)
    same(x.prod(), 1, torch.int64)
    assert x.sum(dtype=torch.uint8).dtype == torch.uint8
    assert x.max().dtype == dtype and x.amin().dtype == dtype


def test_integer_sums_are_exact_and_wrap():
    big = torch.tensor([2**62, 1, 1])
    assert big.sum().item() == 2**62 + 2
    assert torch.tensor([2**62, 2**62]).sum().item() == -(2**63)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_add_up_in_float32(dtype):
    x = torch.ones(5000, dtype=dtype)
    assert x.sum().item() == pytest.approx(5000, rel=4e-3) and x.sum().dtype == dtype
    assert x.mean().item() == 1.0


def test_long_sums_lose_nothing(same):
    x = torch.full((200_000, 2), 0.1)
    same(x.sum(0), [20000.0, 20000.0])
    assert x.t().contiguous().sum(1)[0].item() == pytest.approx(20000.0, rel=1e-5)


def test_complex():
    x = torch.tensor([3 + 4j, 1j])
    assert x.sum().item() == 3 + 5j and x.mean().item() == 1.5 + 2.5j and x.prod().item() == -4 + 3j
    assert x.norm().item() == pytest.approx(math.sqrt(26)) and x.norm().dtype == torch.float32
    for refused in (torch.amax, torch.max, torch.argmax, torch.nansum):
        with pytest.raises(RuntimeError, match="omplex"):
            refused(x)


# --- no elements, NaN, infinities ---------------------------------------------------------------------------------


def test_no_elements(same):
    nothing = torch.zeros(0, 3)
    assert nothing.sum().item() == 0 and nothing.prod().item() == 1 and math.isnan(nothing.mean().item())
    same(nothing.sum(0), [0.0, 0.0, 0.0])
    same(nothing.any(0), [False] * 3)
    assert nothing.all().item() is True and nothing.any().item() is False
    assert nothing.logsumexp(0).tolist() == [-INF] * 3
    assert nothing.norm().item() == 0 and nothing.count_nonzero().item() == 0
    assert nothing.amax(1).shape == (0,) and nothing.max(1).indices.dtype == torch.int64


@pytest.mark.parametrize(
    "reduce, error, message",
    [
        (
            lambda x: x.max(),
            RuntimeError,
            r"max\(\): Expected reduction dim to be specified for input.numel\(\) == 0",
        ),
        (lambda x: x.amin(), RuntimeError, r"amin\(\): Expected reduction dim to be specified"),
        (lambda x: x.argmax(), IndexError, r"argmax\(\): Expected reduction dim to be specified"),
        (lambda x: x.min(0), IndexError, r"min\(\): Expected reduction dim 0 to have non-zero size"),
        (lambda x: x.amax(0), IndexError, r"amax\(\): Expected reduction dim 0 to have non-zero size"),
        (
            lambda x: x.norm(INF),
            RuntimeError,
            "linalg.vector_norm cannot compute the inf norm on an empty tensor",
        ),
        (
            lambda x: x.sum(5),
            IndexError,
            r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)",
        ),
        (lambda x: x.sum((0, 0)), RuntimeError, "dim 0 appears multiple times"),
        (lambda x: x.long().mean(), RuntimeError, r"mean\(\): could not infer output dtype"),
        (lambda x: x.long().norm(), RuntimeError, "Expected a floating point or complex tensor"),
        (lambda x: x.bool().argmax(1), RuntimeError, r"argmax\(\): does not support bool input"),
    ],
)
def test_refused(reduce, error, message):
    with pytest.raises(error, match=message):
        reduce(torch.zeros(0, 3))


def test_nan_is_the_extreme():
    x = torch.tensor([1.0, NAN, 3.0, NAN])
    for value in (x.max(), x.min(), x.amax(), x.amin(), x.max(0).values, x.sum(), x.aminmax().max):
        assert math.isnan(value.item())
    assert x.max(0).indices.item() == 1 and x.argmin().item() == 1
    assert x.nansum().item() == 4 and x.nanmean().item() == 2
    assert torch.tensor([-INF, -INF]).logsumexp(0).item() == -INF
    assert torch.tensor([INF, 1.0]).logsumexp(0).item() == INF


# --- gradients ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reduce, data, expected",
    [
        (lambda x: x.max(), [3.0, 3.0, 1.0], [0.5, 0.5, 0.0]),
        (lambda x: x.max(0).values, [3.0, 3.0, 1.0], [1.0, 0.0, 0.0]),
        (lambda x: x.amax(), [3.0, 3.0, 1.0], [0.5, 0.5, 0.0]),
        (lambda x: x.max(), [1.0, NAN, 3.0], [0.0, 1.0, 0.0]),
        (lambda x: x.amax(), [1.0, NAN, 3.0], [NAN, NAN, NAN]),
        (lambda x: x.prod(), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
        (lambda x: x.prod(), [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]),
        (lambda x: x.nansum(), [1.0, NAN], [1.0, 0.0]),
        (lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: x.norm(INF), [3.0, -3.0, 1.0], [0.5, -0.5, 0.0]),
        (lambda x: x.norm(1), [0.0, -2.0], [0.0, -1.0]),
        (lambda x: x.logsumexp(0), [0.0, 0.0], [0.5, 0.5]),
    ],
)
def test_gradients_at_ties_zeros_and_nan(same, reduce, data, expected):
    x = leaf(data)
    reduce(x).backward()
    same(x.grad, expected)


@pytest.mark.parametrize(
    "reduce",
    [
        lambda x: x.sum(0),
        lambda x: x.mean((0, 1), keepdim=True),
        lambda x: x.prod(1),
        lambda x: x.prod(),
        lambda x: x.logsumexp(1),
        lambda x: x.norm(),
        lambda x: x.norm(3, 0),
        lambda x: x.norm(1.5),
        lambda x: x.renorm(2, 0, 5),
        lambda x: x.amax(0),
        lambda x: x.min(1).values,
        lambda x: x.nanmean(0),
    ],
)
def test_first_and_second_order(reduce):
    x = leaf([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
    assert gradcheck(reduce, (x,))
    assert gradgradcheck(reduce, (x,))


def test_second_order_of_a_product_with_a_zero():
    x = leaf([2.0, 0.0, 3.0])
    assert gradgradcheck(lambda x: x.prod(0), (x,))


def test_the_gradient_has_a_memory_of_its_own(same):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    x.sum().backward()
    x.grad.add_(torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64))
    same(x.grad, [[2.0, 3.0], [4.0, 5.0]])


def test_gradient_in_the_dtype_of_the_input():
    x = leaf([1.0, 2.0], torch.float32)
    x.sum(dtype=torch.float64).backward()
    assert x.grad.dtype == torch.float32


# --- out=, sum_to_size ----------------------------------------------------------------------------------------------


def test_out(same):
    x = torch.tensor(MATRIX)
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    result = torch.max(x, 1, out=(values, indices))
    assert result.values is values and result.indices is indices
    same(values, [3.0, 4.0])
    total = torch.empty(3)
    assert torch.sum(x, 0, out=total) is total
    same(total, [5.0, -2.0, -3.0])


def test_sum_to_size(same):
    x = torch.tensor(MATRIX)
    same(x.sum_to_size(1, 3), [[5.0, -2.0, -3.0]])
    same(x.sum_to_size(3), [5.0, -2.0, -3.0])
    with pytest.raises(RuntimeError, match="is not expandable to size"):
        x.sum_to_size(2)
