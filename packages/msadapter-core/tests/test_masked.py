"""torch.masked against values of real PyTorch."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch import masked
from msadapter.pytorch.autograd import gradcheck

INF, NAN = math.inf, math.nan
X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
MASK = [[True, False, True], [False, False, False]]

# Over dimension 1 (whose second row is masked altogether), over both, and without a mask over dimension 1.
REDUCTIONS = [
    ("sum", [4.0, 0.0], 4.0, [6.0, 15.0]),
    ("prod", [3.0, 1.0], 3.0, [6.0, 120.0]),
    ("amax", [3.0, -INF], 3.0, [3.0, 6.0]),
    ("amin", [1.0, INF], 1.0, [1.0, 4.0]),
    ("mean", [2.0, NAN], 2.0, [2.0, 5.0]),
    ("std", [math.sqrt(2), NAN], math.sqrt(2), [1.0, 1.0]),
    ("var", [2.0, NAN], 2.0, [1.0, 1.0]),
    ("logsumexp", [3.126928, -INF], 3.126928, [3.407606, 6.407606]),
]


@pytest.mark.parametrize("name,by_row,overall,unmasked", REDUCTIONS)
def test_reductions(name, by_row, overall, unmasked):
    reduce, x, mask = getattr(masked, name), torch.tensor(X), torch.tensor(MASK)
    assert np.allclose(reduce(x, 1, mask=mask).numpy(), by_row, equal_nan=True)
    assert math.isclose(reduce(x, mask=mask).item(), overall, rel_tol=1e-6)
    kept = reduce(x, dim=(0, 1), mask=mask, keepdim=True, dtype=torch.float64)
    assert kept.shape == (1, 1) and kept.dtype == torch.float64
    assert np.allclose(reduce(x, 1).numpy(), unmasked)


@pytest.mark.parametrize(
    "order,expected", [(2.0, [math.sqrt(10), 0.0]), (0, [2.0, 0.0]), (INF, [3.0, 0.0]), (-INF, [1.0, INF])]
)
def test_norm(order, expected):
    result = masked.norm(torch.tensor(X), order, 1, mask=torch.tensor(MASK))
    assert np.allclose(result.numpy(), expected)


def test_places_have_the_dtype_of_the_input():
    x, mask = torch.tensor(X), torch.tensor(MASK)
    for function, expected in ((masked.argmax, [2.0, 0.0]), (masked.argmin, [0.0, 0.0])):
        result = function(x, 1, mask=mask)
        assert result.dtype == torch.float32 and result.tolist() == expected
    assert masked.argmax(x, mask=mask).item() == 2


def test_median():
    x, mask = torch.tensor(X), torch.tensor(MASK)
    assert np.allclose(masked.median(x, 1, mask=mask).numpy(), [1.0, NAN], equal_nan=True)
    assert masked.median(x.long(), 1).tolist() == [2, 5]
    with pytest.raises(ValueError, match="^masked median expects no fully masked out rows"):
        masked.median(x.long(), 1, mask=mask)


@pytest.mark.parametrize(
    "name,expected",
    [
        ("softmax", [[0.1192029, 0.0, 0.8807971], [NAN] * 3]),
        ("log_softmax", [[-2.126928, -INF, -0.126928], [NAN] * 3]),
        ("softmin", [[0.8807971, 0.0, 0.1192029], [NAN] * 3]),
        ("cumsum", [[1.0, 1.0, 4.0], [0.0] * 3]),
        ("cumprod", [[1.0, 1.0, 3.0], [1.0] * 3]),
    ],
)
def test_what_keeps_the_shape(name, expected):
    result = getattr(masked, name)(torch.tensor(X), 1, mask=torch.tensor(MASK))
    assert np.allclose(result.numpy(), expected, equal_nan=True, atol=1e-6)


def test_normalize():
    result = masked.normalize(torch.tensor(X), 2.0, 1, mask=torch.tensor(MASK))
    assert np.allclose(result.numpy(), [[0.3162278, 0.0, 0.9486833], [0.0] * 3])


def test_logaddexp():
    x, mask = torch.tensor(X), torch.tensor(MASK)
    assert torch.equal(masked.logaddexp(x, x, input_mask=mask, other_mask=~mask), x)
    assert torch.allclose(masked.logaddexp(x, x), x + math.log(2))


def test_integers():
    x, mask = torch.tensor(X).int(), torch.tensor(MASK)
    assert masked.sum(x, 1, mask=mask).dtype == torch.int64
    assert masked.cumsum(x, 1, mask=mask).dtype == torch.int32
    assert masked.amax(x, 1, mask=mask).tolist() == [3, -(2**31)]
    assert masked.amin(x, 1, mask=mask).tolist() == [1, 2**31 - 1]
    assert masked.var(x[:1], 1, mask=mask[:1]).tolist() == [2.0]
    assert masked.sum(x > 2, 1, mask=mask).tolist() == [1, 0]


def test_var_of_the_population():
    x, mask = torch.tensor(X), torch.tensor(MASK)
    for options in ({"unbiased": False}, {"correction": 0}):
        assert masked.var(x, 0, mask=mask, **options).tolist()[::2] == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="^Only one of unbiased and correction"):
        masked.var(x, 0, True, correction=1)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "amax", "logsumexp", "softmax", "cumprod"])
def test_masked_elements_have_no_derivative(name):
    mask = torch.tensor([[True, False, True], [True, True, False]])
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)

    def function(x):
        return getattr(masked, name)(x, 1, mask=mask)

    assert gradcheck(function, (x,))
    (function(x) ** 2).sum().backward()
    assert x.grad[~mask].tolist() == [0.0, 0.0]


def test_masks_broadcast():
    x = torch.tensor(X)
    assert masked.sum(x, 1, mask=torch.tensor([1, 0, 1])).tolist() == [4.0, 10.0]


@pytest.mark.parametrize(
    "call,error,message",
    [
        (
            lambda x: masked.sum(x, 1, mask=torch.ones(1, 2, 3)),
            IndexError,
            "_input_mask expected broadcastable",
        ),
        (lambda x: masked.sum(x, 1, mask=torch.ones(4)), RuntimeError, "The expanded size of the tensor"),
        (lambda x: masked.sum(x, 5), IndexError, "Dimension out of range"),
        (lambda x: masked.mean(x.int(), 1), ValueError, r"mean\(\): Could not infer output dtype"),
        (
            lambda x: masked.amax(x > 0, 1, mask=x > 1),
            NotImplementedError,
            "identity of amax on torch.bool input",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match="^" + message):
        call(torch.tensor(X))
