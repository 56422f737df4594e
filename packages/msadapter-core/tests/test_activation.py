"""Activation functions against values of real PyTorch."""

import math
from types import SimpleNamespace

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

# nn.functional itself is in the package msadapter-nn.
functional = SimpleNamespace(**exports("torch.nn.functional"))
INF, NAN = math.inf, math.nan
X = [-2.5, -0.5, 0.0, 0.25, 3.0]

VALUES = [
    ("relu", {}, [0.0, 0.0, 0.0, 0.25, 3.0]),
    ("relu6", {}, [0.0, 0.0, 0.0, 0.25, 3.0]),
    ("elu", {"alpha": 2.0}, [-1.83583, -0.7869387, 0.0, 0.25, 3.0]),
    ("selu", {}, [-1.613786, -0.6917582, 0.0, 0.2626753, 3.152103]),
    ("celu", {"alpha": 0.5}, [-0.496631, -0.3160603, 0.0, 0.25, 3.0]),
    ("gelu", {}, [-0.01552418, -0.1542688, 0.0, 0.1496766, 2.99595]),
    ("gelu", {"approximate": "tanh"}, [-0.0150843, -0.154286, 0.0, 0.1496754, 2.996363]),
    ("silu", {}, [-0.1896455, -0.1887703, 0.0, 0.1405441, 2.857723]),
    ("mish", {}, [-0.1968162, -0.2207438, 0.0, 0.1695724, 2.986535]),
    ("softplus", {"beta": 2, "threshold": 5}, [0.003357674, 0.1566308, 0.3465736, 0.4870385, 3.0]),
    ("softsign", {}, [-0.7142857, -0.3333333, 0.0, 0.2, 0.75]),
    ("hardswish", {}, [-0.2083333, -0.2083333, 0.0, 0.1354167, 3.0]),
    ("hardsigmoid", {}, [0.08333334, 0.4166667, 0.5, 0.5416667, 1.0]),
    ("hardtanh", {"min_val": -0.5, "max_val": 2.0}, [-0.5, -0.5, 0.0, 0.25, 2.0]),
    ("hardshrink", {"lambd": 0.3}, [-2.5, -0.5, 0.0, 0.0, 3.0]),
    ("softshrink", {"lambd": 0.3}, [-2.2, -0.2, 0.0, 0.0, 2.7]),
    ("tanhshrink", {}, [-1.513386, -0.03788283, 0.0, 0.005081341, 2.004945]),
    ("logsigmoid", {}, [-2.57889, -0.974077, -0.6931472, -0.5759394, -0.04858735]),
    ("leaky_relu", {"negative_slope": 0.1}, [-0.25, -0.05, 0.0, 0.25, 3.0]),
    ("threshold", {"threshold": 0.1, "value": -7.0}, [-7.0, -7.0, -7.0, 0.25, 3.0]),
    ("sigmoid", {}, [0.07585818, 0.3775407, 0.5, 0.5621765, 0.9525741]),
    ("tanh", {}, [-0.9866143, -0.4621172, 0.0, 0.2449187, 0.9950548]),
]
IN_PLACE = [
    v for v in VALUES
    if v[0] in "relu relu6 elu selu celu silu mish hardswish hardsigmoid hardtanh leaky_relu threshold".split()
]  # fmt: skip


def ids(values):
    return [name + "".join(f"-{v}" for v in options.values()) for name, options, _ in values]


def leaf(data):
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("name, options, expected", VALUES, ids=ids(VALUES))
def test_values_dtypes_and_shapes(same, name, options, expected):
    function, x = getattr(functional, name), torch.tensor(X)
    same(function(x, **options), expected, torch.float32)
    same(function(x.double(), **options), expected, torch.float64)
    same(function(x[1], **options), expected[1], torch.float32)
    assert function(x[:0], **options).shape == (0,)
    for dtype in (torch.float16, torch.bfloat16):
        half = x.to(dtype)
        wide = function(half.float(), **options).to(dtype)
        assert torch.allclose(function(half, **options), wide, rtol=1e-2, atol=1e-3)
        assert function(half, **options).dtype == dtype


@pytest.mark.parametrize("name, options, expected", VALUES, ids=ids(VALUES))
def test_first_and_second_derivatives(name, options, expected):
    function = getattr(functional, name)
    x = leaf([-2.7, -0.6, 0.2, 0.4, 1.7, 3.3])
    assert gradcheck(lambda x: function(x, **options), (x,))
    assert gradgradcheck(lambda x: function(x, **options), (x,))


@pytest.mark.parametrize("name, options, expected", IN_PLACE, ids=ids(IN_PLACE))
def test_the_argument_inplace(same, name, options, expected):
    function, x = getattr(functional, name), torch.tensor(X)
    written = x.clone()
    assert function(written, inplace=True, **options) is written
    same(written, expected)
    written = x.clone()
    assert function(written, *options.values(), True) is written
    same(written, expected)
    assert function(x, inplace=False, **options) is not x
    source = leaf(X)
    result = function(source * 1, inplace=True, **options)
    result.sum().backward()
    other = leaf(X)
    function(other, **options).sum().backward()
    same(source.grad, other.grad.tolist())


@pytest.mark.parametrize(
    "name", [n for n in dict.fromkeys(n for n, _, _ in VALUES) if n not in ("softshrink", "hardshrink", "threshold")]
)  # fmt: skip
def test_nan_stays(name):
    assert math.isnan(getattr(functional, name)(torch.tensor([NAN])).item())


def test_large_input(same):
    x = torch.tensor([100.0, -100.0])
    same(functional.softplus(x), [100.0, 0.0])
    same(functional.logsigmoid(x), [0.0, -100.0])
    same(functional.mish(x), [100.0, 0.0])
    y = leaf([200.0, -200.0])
    (gradient,) = torch.autograd.grad(functional.elu(y).sum(), y, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), y)
    same(gradient, [1.0, 0.0])
    same(second, [0.0, 0.0])


def test_integers(same):
    i = torch.tensor([-1, 2, 9])
    same(functional.relu(i), [0, 2, 9], torch.int64)
    same(functional.relu6(i), [0, 2, 6], torch.int64)
    same(functional.hardtanh(i), [-1, 1, 1], torch.int64)
    same(functional.threshold(i, 1, 7.5), [7, 2, 9], torch.int64)
    same(functional.softsign(i), [-0.5, 0.6666667, 0.9], torch.float32)


def test_torch_has_some_of_them_too(same):
    x = torch.tensor(X)
    same(torch.relu(x), [0.0, 0.0, 0.0, 0.25, 3.0])
    same(x.clone().relu_(), [0.0, 0.0, 0.0, 0.25, 3.0])
    same(torch.selu(x), [-1.613786, -0.6917582, 0.0, 0.2626753, 3.152103])
    same(torch.celu(x), [-0.917915, -0.3934693, 0.0, 0.25, 3.0])
    same(torch.threshold(x, 0.1, 9), [9.0, 9.0, 9.0, 0.25, 3.0])
    same(x.hardshrink(0.3), [-2.5, -0.5, 0.0, 0.0, 3.0])
    assert not hasattr(torch.Tensor, "celu_")
    same(functional.elu_(x[:2].clone()), [-0.917915, -0.3934693])


def test_prelu(same):
    x = torch.tensor([[-1.0, 2.0, -3.0], [4.0, -5.0, 6.0]])
    same(functional.prelu(x, torch.tensor(0.1)), [[-0.1, 2.0, -0.3], [4.0, -0.5, 6.0]])
    same(x.prelu(torch.tensor([0.1, 0.2, 0.3])), [[-0.1, 2.0, -0.9], [4.0, -1.0, 6.0]])
    assert gradcheck(functional.prelu, (leaf([[[-1.0, 2.0], [-3.0, 1.0]]]), leaf([0.1, 0.2])))
    for weight, message in [
        (
            torch.ones(2),
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and",
        ),
        (torch.ones(1, 3), "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2"),
        (torch.ones(3).double(), "prelu: Type promoting not supported. Got Float and Double"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            functional.prelu(x, weight)


def test_glu(same):
    x = torch.tensor([[1.0, 2.0, 0.0, -1.0]])
    same(functional.glu(x), [[0.5, 0.5378828]])
    same(functional.glu(x.reshape(4, 1), 0), [[0.5], [0.5378828]])
    assert gradgradcheck(functional.glu, (leaf([[1.0, 2.0, 0.5, -1.0]]),))
    with pytest.raises(RuntimeError, match="Halving dimension must be even, but dimension 1 is size 3"):
        functional.glu(torch.ones(2, 3))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: torch.relu(torch.tensor([True])), RuntimeError, "Boolean inputs not supported for relu"),
        (lambda: functional.elu(torch.tensor([1])), NotImplementedError, "\"elu_cpu\" not implemented for 'Long'"),
        (lambda: functional.gelu(torch.tensor([1j])), NotImplementedError, "\"GeluKernelImpl\" not implemented for"),
        (lambda: functional.gelu(torch.ones(1), approximate="x"), RuntimeError, "approximate argument must be either"),
        (lambda: functional.celu(torch.ones(1), 0.0), RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),
        (lambda: functional.hardtanh(torch.ones(1), 2, 1), ValueError, "min_val cannot be greater than max_val"),
        (lambda: functional.softshrink(torch.ones(1), -1), RuntimeError, "lambda must be in range"),
        (lambda: functional.relu(3), TypeError, r"relu\(\): argument 'input' \(position 1\) must be Tensor, not int"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
