"""Variances, medians, quantiles, modes, running sums and histograms against values of real PyTorch."""

import math

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
MATRIX = [[1.0, -2.0, 3.0], [4.0, 0.0, -6.0]]


def leaf(data):
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


# --- variance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reduce, expected",
    [
        (lambda x: x.var(), 13.2),
        (lambda x: x.var(False), 11.0),
        (lambda x: x.var(0), [4.5, 2.0, 40.5]),
        (lambda x: x.var(1, unbiased=False), [38 / 9, 152 / 9]),
        (lambda x: x.var(dim=1, correction=0, keepdim=True), [[38 / 9], [152 / 9]]),
        (lambda x: x.var((0, 1), True, True), [[13.2]]),
        (lambda x: x.std(), 3.633180),
        (lambda x: torch.var_mean(x, 0)[1], [2.5, -1.0, -1.5]),
        (lambda x: torch.std_mean(x, False)[0], 3.316625),
    ],
)
def test_variance(same, reduce, expected):
    same(reduce(torch.tensor(MATRIX)), expected)


@pytest.mark.filterwarnings("ignore:var")
def test_variance_of_special_values(same):
    same(torch.tensor([1e30, -1e30]).std(), 1.4142135e30)
    assert math.isnan(torch.tensor([INF, 1.0]).var().item()) and math.isnan(torch.ones(1).var().item())
    same(torch.tensor([[1.0], [2.0]]).var(0, correction=2), [INF])
    same(torch.tensor([1 + 1j, 2]).var(), 1.0, torch.float32)
    with pytest.raises(RuntimeError, match="std and var only support floating point and complex dtypes"):
        torch.tensor([1, 2]).var()


def test_too_few_for_a_variance_warns():
    with pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0"):
        torch.ones(1).var()


def test_gradient_of_std_where_all_are_equal(same):
    x = leaf([1.0, 1.0])
    x.std().backward()
    same(x.grad, [0.0, 0.0])


# --- medians and modes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reduce, data, value, index",
    [
        (lambda x: x.median(0), [3.0, 1.0, 2.0, 4.0], 2.0, 2),
        (lambda x: x.median(0), [3.0, NAN, 1.0, NAN], NAN, 1),
        (lambda x: x.nanmedian(0), [3.0, NAN, 1.0, NAN], 1.0, 2),
        (lambda x: x.nanmedian(0), [NAN, NAN], NAN, 0),
        (lambda x: x.mode(), [1.0, 2.0, 2.0, 1.0], 1.0, 3),
        (lambda x: x.kthvalue(3), [3.0, 1.0, 2.0, 4.0], 3.0, 0),
        (lambda x: x.kthvalue(2), [NAN, 1.0, 2.0], 2.0, 2),
    ],
)
def test_ranked_elements(same, reduce, data, value, index):
    result = reduce(torch.tensor(data))
    same(result.values, value)
    assert result.indices.item() == index


def test_medians_of_all(same):
    x = leaf([3.0, 3.0, 1.0])
    x.median().backward()
    same(x.grad, [0.5, 0.5, 0.0])
    assert torch.tensor([4, 1, 3, 2], dtype=torch.uint8).median().item() == 2
    assert math.isnan(torch.zeros(0).median().item())
    same(torch.tensor(MATRIX).median(1, keepdim=True).values, [[1.0], [0.0]])


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode", "kthvalue"])
def test_ranks_of_no_elements(name):
    with pytest.raises(IndexError, match="Expected reduction dim 0 to have non-zero size"):
        getattr(torch.zeros(0, 3), name)(*((1, 0) if name == "kthvalue" else (0,)))


# --- quantiles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "interpolation, expected",
    [("linear", 0.8), ("lower", 0.0), ("higher", 1.0), ("midpoint", 0.5), ("nearest", 1.0)],
)
def test_quantile_interpolations(same, interpolation, expected):
    x = torch.tensor([3.0, -2.0, 0.0, 1.0, 4.0])
    same(x.quantile(0.45, interpolation=interpolation), expected)


def test_quantiles_of_rows(same):
    x = torch.tensor(MATRIX)
    q = torch.tensor([0.25, 0.5])
    same(x.quantile(q, 1), [[-0.5, -3.0], [1.0, 0.0]])
    same(x.quantile(q, 1, keepdim=True), [[[-0.5], [-3.0]], [[1.0], [0.0]]])
    same(x.quantile(0.5, keepdim=True), [[0.5]])
    same(torch.tensor([NAN, 1.0, 3.0]).quantile(0.5), NAN)
    same(torch.tensor([NAN, 1.0, 3.0]).nanquantile(0.5), 2.0)
    same(torch.tensor([[NAN, NAN], [1.0, 2.0]]).nanquantile(0.5, 1), [NAN, 1.5])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: x.quantile(1.5), r"quantile\(\) q must be in the range \[0, 1\] but got 1.5"),
        (lambda x: x.half().quantile(0.5), r"quantile\(\) input tensor must be either float or double dtype"),
        (
            lambda x: x.quantile(torch.tensor(0.5, dtype=torch.float64)),
            "q tensor must be same dtype as the input",
        ),
        (lambda x: x[:0].quantile(0.5), r"quantile\(\) input tensor must be non-empty"),
        (lambda x: x.quantile(0.5, interpolation="cubic"), r"quantile\(\) interpolation must be one of"),
    ],
)
def test_quantile_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(torch.tensor(MATRIX))


# --- running sums ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run, expected",
    [
        (lambda x: x.cumsum(1), [[1.0, -1.0, 2.0], [4.0, 4.0, -2.0]]),
        (lambda x: x.cumprod(0), [[1.0, -2.0, 3.0], [4.0, 0.0, -18.0]]),
        (lambda x: x.cummax(1).values, [[1.0, 1.0, 3.0], [4.0, 4.0, 4.0]]),
        (lambda x: x.cummin(1).indices, [[0, 1, 1], [0, 1, 2]]),
        (lambda x: x.logcumsumexp(1), [[1.0, 1.048587, 3.132845], [4.0, 4.01815, 4.018195]]),
        (lambda x: x.diff(), [[-3.0, 5.0], [-4.0, -6.0]]),
        (lambda x: x.diff(n=2, dim=1), [[8.0], [-2.0]]),
        (lambda x: x.diff(dim=0, prepend=x[:1]), [[0.0, 0.0, 0.0], [3.0, 2.0, -9.0]]),
        (lambda x: x.clone().cumsum_(0), [[1.0, -2.0, 3.0], [5.0, -2.0, -3.0]]),
    ],
)
def test_running(same, run, expected):
    same(run(torch.tensor(MATRIX)), expected)


def test_running_over_special_values(same):
    same(torch.tensor([1.0, NAN, 3.0]).cummax(0).indices, [0, 1, 1])
    same(torch.tensor([1, 1, 1]).cummax(0).indices, [0, 1, 2])
    same(torch.tensor([-INF, -INF, 1.0]).logcumsumexp(0), [-INF, -INF, 1.0])
    same(torch.tensor([1e5, 1e5]).logcumsumexp(0), [1e5, 100000.6953])
    same(torch.tensor([True, True]).cumsum(0), [1, 2], torch.int64)
    same(torch.tensor([True, False, True]).diff(), [True, True], torch.bool)
    assert torch.full((1_000_000,), 0.1).cumsum(0)[-1].item() == pytest.approx(1e5, rel=1e-6)
    assert torch.zeros(0).cummax(0).indices.dtype == torch.int64


# --- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.var(0),
        lambda x: x.std(correction=0),
        lambda x: x.median(1).values,
        lambda x: x.quantile(0.3, 1),
        lambda x: x.cumsum(0),
        lambda x: x.cumprod(1),
        lambda x: x.cummax(1).values,
        lambda x: x.logcumsumexp(1),
        lambda x: x.diff(dim=1),
        torch.cov,
        torch.corrcoef,
        lambda x: torch.gradient(x, dim=1, edge_order=2)[0],
    ],
)
def test_first_and_second_order(function):
    x = leaf([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.parametrize("data", [[2.0, 0.0, 3.0], [0.0, 2.0, 0.0]])
def test_cumprod_at_zeros(data):
    x = leaf(data)
    assert gradcheck(lambda x: x.cumprod(0), (x,))
    assert gradgradcheck(lambda x: x.cumprod(0), (x,))


def test_quantile_by_its_level():
    q = leaf([0.3, 0.6])
    x = torch.tensor([1.0, 5.0, 2.0, 9.0], dtype=torch.float64)
    assert gradcheck(lambda q: x.quantile(q), (q,))


# --- covariance, integrals, derivatives -----------------------------------------------------------------------------

SQUARES = [[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]]


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: x.cov(), [[4.333333, 16.333333], [16.333333, 64.333333]]),
        (
            lambda x: torch.cov(x, fweights=torch.tensor([1, 2, 3])),
            [[3.466667, 12.266667], [12.266667, 45.066667]],
        ),
        (
            lambda x: torch.cov(x, aweights=torch.tensor([1.0, 2, 3])),
            [[4.727273, 16.727273], [16.727273, 61.454545]],
        ),
        (lambda x: torch.cov(x[0].long()), 4.333333),
        (lambda x: x.corrcoef(), [[1.0, 0.978241], [0.978241, 1.0]]),
        (lambda x: torch.trapezoid(x, dim=0), [4.5, 8.5, 14.5]),
        (lambda x: torch.trapz(x, torch.tensor([0.0, 1.0, 3.0])), [5.5, 53.5]),
        (lambda x: torch.cumulative_trapezoid(x, dx=2), [[1.0, 6.0], [25.0, 66.0]]),
        (lambda x: torch.gradient(x)[1], [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]]),
        (lambda x: torch.gradient(x, dim=1, edge_order=2)[0], [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]),
        (lambda x: torch.gradient(x, spacing=[torch.tensor([0.0, 1, 3])], dim=1)[0][0], [1.0, 7 / 6, 1.5]),
    ],
)
def test_covariance_integrals_and_derivatives(same, function, expected):
    same(function(torch.tensor(SQUARES)), expected)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda x: torch.cov(x, fweights=torch.ones(3)),
            "expected fweights to have integral dtype but got fweights",
        ),
        (lambda x: torch.cov(x.bool()), "bool dtype is not supported for input"),
        (lambda x: torch.trapezoid(x, x[0, :2]), "There must be one `x` value for each sample point"),
        (
            lambda x: torch.gradient(x, edge_order=2),
            "expected each dimension size to be at least edge_order.1",
        ),
    ],
)
def test_refused_samples(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(torch.tensor(SQUARES))


# --- histograms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count, expected",
    [
        (lambda: torch.tensor([1, 2, 2]).bincount(), [0, 1, 2]),
        (lambda: torch.tensor([1, 2, 2]).bincount(torch.tensor([0.5, 1.0, 1.0]), 4), [0.0, 0.5, 2.0, 0.0]),
        (lambda: torch.tensor([1.0, 2.0, 1.0]).histc(4, 0, 3), [0.0, 2.0, 1.0, 0.0]),
        (lambda: torch.tensor([1.0, 1.0]).histc(2), [0.0, 2.0]),
        (lambda: torch.tensor([1.0, 5.0, -1.0]).histc(2, 0, 2), [0.0, 1.0]),
        (lambda: torch.tensor([1.0, 2.0, 1.0]).histogram(2).bin_edges, [1.0, 1.5, 2.0]),
        (lambda: torch.histogram(torch.tensor([1.0, 2.0, 1.0]), 2, density=True).hist, [4 / 3, 2 / 3]),
        (
            lambda: torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 2]).hist,
            [[0.0, 1.0], [1.0, 1.0]],
        ),
    ],
)
def test_counts(same, count, expected):
    same(count(), expected)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: torch.tensor([-1]).bincount(),
            RuntimeError,
            "bincount only supports 1-d non-negative integral",
        ),
        (
            lambda: torch.tensor([1.0]).bincount(),
            NotImplementedError,
            "\"bincount_cpu\" not implemented for 'Float'",
        ),
        (
            lambda: torch.tensor([1]).histc(),
            NotImplementedError,
            "\"histogram_cpu\" not implemented for 'Long'",
        ),
        (lambda: torch.tensor([NAN, 1.0]).histc(3), RuntimeError, "torch.histc: range of .* is not finite"),
        (lambda: torch.ones(2).histc(2, 3, 1), RuntimeError, "max must be larger than min"),
    ],
)
def test_refused_counts(call, error, message):
    with pytest.raises(error, match=message):
        call()
