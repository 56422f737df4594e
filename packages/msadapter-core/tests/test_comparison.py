"""Comparisons, predicates, logic, bits, and choices between values, against real PyTorch."""

import math
import operator

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan
T, F = True, False


def leaf(data):
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


# --- comparisons ----------------------------------------------------------------------------------------------------

COMPARISONS = [
    ("eq", [F, T, F, F], operator.eq),
    ("ne", [T, F, T, T], operator.ne),
    ("lt", [T, F, F, F], operator.lt),
    ("le", [T, T, F, F], operator.le),
    ("gt", [F, F, T, F], operator.gt),
    ("ge", [F, T, T, F], operator.ge),
]


@pytest.mark.parametrize("name, expected, symbol", COMPARISONS, ids=[c[0] for c in COMPARISONS])
def test_comparisons_in_every_form(same, name, expected, symbol):
    a, b = torch.tensor([1.0, 2.0, 3.0, NAN]), torch.tensor([2.0, 2.0, 2.0, NAN])
    same(getattr(torch, name)(a, b), expected, torch.bool)
    same(symbol(a, b), expected, torch.bool)
    same(symbol(a, 2.0), expected, torch.bool)
    same(getattr(a, name)(b), expected)
    out = torch.empty(4)
    same(getattr(torch, name)(a, b, out=out), [float(e) for e in expected], torch.float32)
    same(getattr(a.clone(), name + "_")(b), [float(e) for e in expected], torch.float32)
    for dtype in (torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float64):
        same(symbol(a[:3].to(dtype), b[:3].to(dtype)), expected[:3], torch.bool)
    assert not symbol(leaf([1.0]), 1.0).requires_grad


def test_numbers_compare_exactly():
    assert (torch.tensor([0.1], dtype=torch.float64) == 0.1).item()
    assert (torch.tensor([0.1]) == 0.1).item() and (torch.tensor([0.1]).half() == 0.1).item()
    assert (torch.tensor([2**53 + 1]) == 2**53 + 1).item() and (torch.tensor([2]) < 2.5).item()
    assert (1 == torch.tensor([1.0])).item() and (1 < torch.tensor([2.0])).item()


def test_other_objects():
    x = torch.ones(1)
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError, match="not supported between instances"):
        x < "a"  # noqa: B015
    assert (torch.tensor([1j, 2.0]) == 2).tolist() == [F, T]
    with pytest.raises(NotImplementedError, match="\"lt_cpu\" not implemented for 'ComplexFloat'"):
        torch.tensor([1j]) < torch.tensor([2j])  # noqa: B015


def test_closeness(same):
    a = torch.tensor([1.0, NAN, INF, 100.0])
    same(torch.isclose(a, torch.tensor([1.000001, NAN, INF, 101.0])), [T, F, T, F])
    same(torch.isclose(a, a, equal_nan=True), [T, T, T, T])
    same(torch.isclose(torch.tensor([10]), torch.tensor([12]), rtol=0.2), [T])
    assert torch.allclose(a[:1], a[:1] + 1e-7) is True and torch.allclose(a, a) is False
    assert torch.equal(a[:1], a[:1].double()) is True
    assert torch.equal(a, a) is False and torch.equal(a[:1], torch.ones(2)) is False
    with pytest.raises(RuntimeError, match="Float did not match Double"):
        torch.isclose(a, a.double())
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero, but got -1"):
        torch.allclose(a, a, rtol=-1)


def test_predicates(same):
    x = torch.tensor([1.0, -0.0, INF, -INF, NAN])
    expected = {
        "isnan": [F, F, F, F, T], "isinf": [F, F, T, T, F], "isfinite": [T, T, F, F, F], "isposinf": [F, F, T, F, F],
        "isneginf": [F, F, F, T, F], "signbit": [F, T, F, T, F], "isreal": [T, T, T, T, T],
    }  # fmt: skip
    for name, values in expected.items():
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            same(getattr(torch, name)(x.to(dtype)), values, torch.bool)
        assert getattr(torch, name)(torch.tensor([-3, 0])).tolist() in ([F, F], [T, T], [T, F])
    same(torch.isreal(torch.tensor([1j, 2.0])), [F, T])
    same(torch.isnan(torch.tensor([complex(NAN, 1), 2.0])), [T, F])
    assert torch.is_complex(torch.tensor([1j])) and not torch.is_floating_point(torch.tensor([1]))
    with pytest.raises(RuntimeError, match="isposinf does not support complex inputs."):
        torch.isposinf(torch.tensor([1j]))


# --- logic and bits -------------------------------------------------------------------------------------------------


def test_logic(same):
    a, b = torch.tensor([0.0, 1.0, 0.0, NAN]), torch.tensor([0, 0, 2, 3])
    same(torch.logical_and(a, b), [F, F, F, T], torch.bool)
    same(a.logical_or(b), [F, T, T, T], torch.bool)
    same(torch.logical_xor(a, b), [F, T, T, F], torch.bool)
    same(torch.logical_not(a.bfloat16()), [T, F, T, F], torch.bool)
    same(a.clone().logical_not_(), [1.0, 0.0, 1.0, 0.0], torch.float32)
    with pytest.raises(
        TypeError, match=r"logical_and\(\): argument 'other' \(position 2\) must be Tensor, not int"
    ):
        torch.logical_and(a, 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
def test_bits(same, dtype):
    x = torch.tensor([5, 12], dtype=dtype)
    for result, expected in [
        (x & 6, [4, 4]), (6 & x, [4, 4]), (x | 3, [7, 15]), (3 | x, [7, 15]), (x ^ x, [0, 0]), (1 ^ x, [4, 13]),
        (x << 1, [10, 24]), (1 << x, [32, 4096 if dtype in (torch.int64, torch.int32) else 0]), (x >> 2, [1, 3]),
        (64 >> x, [2, 0]), (x << 64, [0, 0]), (x >> 64, [0, 0]), (x & True, [1, 0]),
    ]:  # fmt: skip
        same(result, expected, dtype)
    same(~x, [250, 243] if dtype == torch.uint8 else [-6, -13], dtype)
    x &= 4
    same(x, [4, 4])


def test_bits_of_bool_and_signs(same):
    b = torch.tensor([T, F])
    same(~b, [F, T], torch.bool)
    same(b & True, [T, F], torch.bool)
    same(b | 2, [3, 2], torch.int64)
    same(torch.tensor([-8, -1]) >> 70, [-1, -1])
    for call in (lambda: torch.ones(1) & torch.ones(1), lambda: torch.ones(1) & 1):
        with pytest.raises(NotImplementedError, match="\"bitwise_and_cpu\" not implemented for 'Float'"):
            call()
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~torch.ones(1)
    with pytest.raises(NotImplementedError, match="\"lshift_cpu\" not implemented for 'Bool'"):
        b << b


# --- choices --------------------------------------------------------------------------------------------------------

MASK = torch.tensor([T, F, T])


@pytest.mark.parametrize(
    "input, other, expected, dtype",
    [
        ([1.0, 2.0, 3.0], 0, [1.0, 0.0, 3.0], torch.float32),
        (1, 0, [1, 0, 1], torch.int64),
        (1.5, 0, [1.5, 0.0, 1.5], torch.float32),
        (True, False, [T, F, T], torch.bool),
        ([1, 2, 3], [0.5, 0.5, 0.5], [1.0, 0.5, 3.0], torch.float32),
        ([1, 2, 3], 0.5, [1.0, 0.5, 3.0], torch.float32),
    ],
)
def test_where(same, input, other, expected, dtype):
    input, other = (torch.tensor(v) if isinstance(v, list) else v for v in (input, other))
    same(torch.where(MASK, input, other), expected, dtype)
    if isinstance(input, torch.Tensor):
        same(input.where(MASK, other), expected, dtype)


def test_where_on_large_tensors_and_halves(same):
    x = torch.arange(10000.0).reshape(100, 100) - 5000
    for dtype in (torch.float32, torch.float64, torch.int32, torch.bfloat16):
        y = x.to(dtype)
        assert torch.equal(torch.where(y > 0, y, -y), abs(y))
        assert torch.equal(torch.where(y > 0, y, 0), (y + abs(y)) / 2)
    same(torch.where(MASK, torch.ones(3).bfloat16(), 2.5), [1.0, 2.5, 1.0], torch.bfloat16)
    same(torch.where(MASK[:, None], torch.ones(3, 1), torch.zeros(2)), [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])


def test_where_gives_indices_and_refuses():
    assert [i.tolist() for i in torch.where(MASK)] == [[0, 2]]
    with pytest.raises(
        RuntimeError, match="where expected condition to be a boolean tensor, but got a tensor with"
    ):
        torch.where(torch.ones(3), 1, 2)
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        torch.where(MASK, torch.ones(3, dtype=torch.uint8), 300)
    with pytest.raises(TypeError, match="argument 'condition'"):
        torch.where(True, 1, 2)


def test_masked_fill(same):
    x = torch.tensor([1.0, 2.0, 3.0])
    same(x.masked_fill(MASK, -INF), [-INF, 2.0, -INF])
    same(torch.masked_fill(x, MASK[:, None], 0)[0], [0.0, 0.0, 0.0])
    same(torch.tensor([1, 2, 3]).masked_fill(MASK, 2.7), [2, 2, 2], torch.int64)
    same(x.half().masked_fill_(MASK, torch.tensor(0.5)), [0.5, 2.0, 0.5], torch.float16)
    written = x.clone()
    written[:2].masked_fill_(MASK[:2], 9)
    same(written, [9.0, 2.0, 3.0])
    value, source = leaf(4.0), leaf([1.0, 2.0, 3.0])
    source.masked_fill(MASK, value).sum().backward()
    same(value.grad, 2.0)
    same(source.grad, [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "mask, value, message",
    [
        (
            torch.ones(3, dtype=torch.uint8),
            0,
            "masked_fill_ only supports boolean masks, but got mask with dtype",
        ),
        (MASK, 1e9, "value cannot be converted to type .* without overflow"),
        (
            MASK,
            torch.ones(1),
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1",
        ),
        (MASK[:2], 0, r"The size of tensor a \(\d\) must match the size of tensor b"),
    ],
)
def test_masked_fill_refuses(mask, value, message):
    with pytest.raises(RuntimeError, match=message):
        torch.ones(3, dtype=torch.float16).masked_fill(mask, value)


def test_clamp(same):
    x = torch.tensor([-2.0, 0.5, 3.0, NAN])
    same(torch.clamp(x, 0, 1), [0.0, 0.5, 1.0, NAN])
    same(x.clip(max=1), [-2.0, 0.5, 1.0, NAN])
    same(torch.clamp(x, min=2, max=1), [1.0, 1.0, 1.0, NAN])
    same(torch.clamp(x, torch.tensor([0.0, 1.0, NAN, 0.0])), [0.0, 1.0, NAN, NAN])
    same(torch.clamp(x[:3], torch.zeros(3), torch.ones(3)), [0.0, 0.5, 1.0])
    same(torch.clamp(torch.tensor([1, 5]), 1.5), [1.5, 5.0], torch.float32)
    same(torch.clamp(x.half(), max=0.1)[:3], [-2.0, 0.09997559, 0.09997559], torch.float16)
    same(torch.clamp_min(x, 0), [0.0, 0.5, 3.0, NAN])
    same(x.clamp_max(torch.tensor(0.0)), [-2.0, 0.0, 0.0, NAN])
    same(x.clone().clamp_(-1, 1), [-1.0, 0.5, 1.0, NAN])
    assert torch.signbit(torch.clamp(torch.tensor([-0.0]), min=0)).item()


def test_clamp_refuses():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="torch.clamp: At least one of 'min' or 'max' must not be None"):
        x.clamp()
    with pytest.raises(TypeError, match=r"clamp\(\) received an invalid combination of arguments"):
        x.clamp(0, torch.ones(2))
    with pytest.raises(NotImplementedError, match="clamp is not supported for complex types"):
        torch.clamp(torch.tensor([1j]), 0, 1)
    with pytest.raises(TypeError, match="argument 'min'"):
        torch.clamp_min(x, None)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        torch.tensor([1]).clamp_(0.5, 1.5)


def test_extremes_of_two(same):
    a, b = torch.tensor([1.0, NAN, 3.0, -0.0]), torch.tensor([2.0, 1.0, NAN, 0.0])
    same(torch.maximum(a, b), [2.0, NAN, NAN, 0.0])
    same(torch.minimum(a, b), [1.0, NAN, NAN, 0.0])
    same(torch.fmax(a, b), [2.0, 1.0, 3.0, 0.0])
    same(torch.fmin(a, b), [1.0, 1.0, 3.0, 0.0])
    same(torch.maximum(torch.tensor([1, 5]), torch.tensor([2.5])), [2.5, 5.0], torch.float32)
    with pytest.raises(
        TypeError, match=r"maximum\(\): argument 'other' \(position 2\) must be Tensor, not int"
    ):
        torch.maximum(a, 1)
    with pytest.raises(RuntimeError, match="maximum not implemented for complex tensors."):
        torch.maximum(torch.tensor([1j]), torch.tensor([1j]))


def test_heaviside(same):
    x = torch.tensor([-1.0, 0.0, 2.0, NAN])
    same(torch.heaviside(x, torch.tensor(0.5)), [0.0, 0.5, 1.0, 0.0])
    same(torch.heaviside(torch.tensor([0, 3]), torch.tensor([7])), [7, 1], torch.int64)
    with pytest.raises(
        RuntimeError, match="heaviside is not yet implemented for tensors with different dtypes."
    ):
        torch.heaviside(x, torch.tensor(1))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: torch.where(torch.tensor([T, F]), a, b) * b,
        lambda a, b: torch.maximum(a, b) * torch.minimum(a, b),
        lambda a, b: torch.fmax(a, b) * torch.fmin(a, b),
        lambda a, b: torch.clamp(a * a, b, b + 1) * a,
        lambda a, b: torch.clamp(a, -0.2, 0.5) * b,
        lambda a, b: torch.clamp_max(a, b) * b,
        lambda a, b: a.masked_fill(torch.tensor([T, F]), 2.0) * b,
    ],
)
def test_first_and_second_derivatives(function):
    a, b = leaf([0.3, -1.2]), leaf([0.1, 0.7])
    assert gradcheck(function, (a, b)) and gradgradcheck(function, (a, b))


def test_ties_share_the_gradient(same):
    a, b = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    torch.maximum(a, b).sum().backward()
    same(a.grad, [0.5, 1.0])
    same(b.grad, [0.5, 0.0])
    x = leaf([0.0, 1.0, 2.0])
    x.clamp(0, 1).sum().backward()
    same(x.grad, [1.0, 1.0, 0.0])
