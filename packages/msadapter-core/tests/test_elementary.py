"""Elementary functions, powers and roots against values of real PyTorch."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan
X = [-2.5, -0.5, 0.0, 0.25, 3.0]
SMALL = [-0.625, -0.125, 0.0, 0.0625, 0.75]
POSITIVE = [2.5, 0.5, 0.0, 0.25, 3.0]

VALUES = [
    ("exp", X, [0.082085, 0.6065307, 1.0, 1.284025, 20.08554]),
    ("exp2", X, [0.1767767, 0.7071068, 1.0, 1.189207, 8.0]),
    ("expm1", X, [-0.917915, -0.3934693, 0.0, 0.2840254, 19.08554]),
    ("log", POSITIVE, [0.9162908, -0.6931472, -INF, -1.386294, 1.098612]),
    ("log2", POSITIVE, [1.321928, -1.0, -INF, -2.0, 1.584962]),
    ("log10", POSITIVE, [0.39794, -0.30103, -INF, -0.60206, 0.4771213]),
    ("log1p", POSITIVE, [1.252763, 0.4054651, 0.0, 0.2231435, 1.386294]),
    ("sin", X, [-0.5984721, -0.4794255, 0.0, 0.247404, 0.14112]),
    ("cos", X, [-0.8011436, 0.8775826, 1.0, 0.9689124, -0.9899925]),
    ("tan", X, [0.7470223, -0.5463025, 0.0, 0.2553419, -0.1425465]),
    ("asin", SMALL, [-0.6751316, -0.1253278, 0.0, 0.06254076, 0.8480621]),
    ("acos", SMALL, [2.245928, 1.696124, 1.570796, 1.508256, 0.7227343]),
    ("atan", X, [-1.19029, -0.4636476, 0.0, 0.2449787, 1.249046]),
    ("sinh", X, [-6.050205, -0.5210953, 0.0, 0.2526123, 10.01787]),
    ("cosh", X, [6.132289, 1.127626, 1.0, 1.031413, 10.06766]),
    ("tanh", X, [-0.9866143, -0.4621172, 0.0, 0.2449187, 0.9950548]),
    ("asinh", X, [-1.647231, -0.4812118, 0.0, 0.2474665, 1.818447]),
    ("acosh", [3.5, 1.5, 1.0, 1.25, 4.0], [1.924847, 0.9624237, 0.0, 0.6931472, 2.063437]),
    ("atanh", SMALL, [-0.7331685, -0.1256572, 0.0, 0.06258158, 0.9729551]),
    ("sinc", [-2.5, -0.5, 0.0, 0.25, 0.75], [0.127324, 0.6366197, 1.0, 0.9003163, 0.3001054]),
    ("deg2rad", X, [-0.04363323, -0.008726646, 0.0, 0.004363323, 0.05235988]),
    ("rad2deg", X, [-143.2395, -28.64789, 0.0, 14.32395, 171.8873]),
    ("sigmoid", X, [0.07585818, 0.3775407, 0.5, 0.5621765, 0.9525741]),
    ("erf", X, [-0.999593, -0.5204999, 0.0, 0.2763264, 0.9999779]),
    ("erfc", X, [1.999593, 1.5205, 1.0, 0.7236736, 2.20905e-05]),
    ("erfinv", SMALL, [-0.6273074, -0.1112355, 0.0, 0.05544595, 0.8134198]),
    ("sqrt", POSITIVE, [1.581139, 0.7071068, 0.0, 0.5, 1.732051]),
    ("rsqrt", POSITIVE, [0.6324555, 1.414214, INF, 2.0, 0.5773503]),
    ("reciprocal", X, [-0.4, -2.0, INF, 4.0, 0.3333333]),
    ("square", X, [6.25, 0.25, 0.0, 0.0625, 9.0]),
]
NAMES = [name for name, _, _ in VALUES]
COMPLEX = [n for n in NAMES if n not in ("deg2rad", "rad2deg", "erf", "erfc", "erfinv")]


@pytest.mark.parametrize("name, given, expected", VALUES, ids=NAMES)
def test_values_in_every_form(same, name, given, expected):
    function = getattr(torch, name)
    x = torch.tensor(given)
    same(function(x), expected, torch.float32)
    same(getattr(x, name)(), expected)
    if name != "erfinv":  # the one that PyTorch has no torch.erfinv_ of
        same(getattr(torch, name + "_")(x.clone()), expected)
    out = torch.empty(0)
    assert function(x, out=out) is out
    same(out, expected)
    written = x.clone()
    assert getattr(written, name + "_")() is written
    same(written, expected)
    same(function(x[3]), expected[3])
    assert function(x[:0]).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name):
    function = getattr(torch, name)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        assert function(torch.tensor([0.5], dtype=dtype)).dtype == dtype
    for dtype in (torch.uint8, torch.int8, torch.int64):
        result = function(torch.tensor([0, 1], dtype=dtype))
        assert result.dtype == (dtype if name == "square" else torch.float32)
    assert function(torch.tensor([True])).dtype == (torch.int64 if name == "square" else torch.float32)


def test_halves_compute_in_float32_and_round_once(same):
    x = torch.tensor([0.1, 1.7, -3.3])
    for dtype in (torch.float16, torch.bfloat16):
        half = x.to(dtype)
        same(torch.sin(half), torch.sin(half.float()).to(dtype).tolist())


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("acosh", "sinc")])
def test_first_and_second_derivatives(name):
    x = torch.tensor([0.3, 0.9, 0.15], dtype=torch.float64, requires_grad=True)
    assert gradcheck(getattr(torch, name), (x,))
    assert gradgradcheck(getattr(torch, name), (x,))


def test_derivatives_of_acosh_and_sinc():
    x = torch.tensor([1.3, 2.9], dtype=torch.float64, requires_grad=True)
    for function in (torch.acosh, torch.sinc):
        assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))
    zero = torch.zeros(2, requires_grad=True)
    torch.sinc(zero).sum().backward()
    assert zero.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients_are_pytorchs(name):
    x = torch.tensor([0.3 + 0.4j, -0.7 + 0.2j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(getattr(torch, name), (x,))


def test_a_complex_gradient_is_multiplied_by_the_conjugate(same):
    x = torch.tensor([1 + 2j, -0.5j], requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.exp(x), x, torch.tensor([1 + 1j, 2.0 + 0j]))
    same(gradient.real, [1.340522, 1.755165])
    same(gradient.imag, [-3.602931, 0.958851], torch.float32)


@pytest.mark.parametrize(
    "name, message",
    [
        ("erf", "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"),
        ("deg2rad", "deg2rad is not supported for complex tensors."),
        ("logit", "\"logit_cpu\" not implemented for 'ComplexFloat'"),
    ],
)
def test_complex_refused(name, message):
    with pytest.raises(RuntimeError, match=message):
        getattr(torch, name)(torch.tensor([1j]))


def test_edges(same):
    edge = torch.tensor([-0.0, INF, -INF, NAN, 1e-10, -100.0])
    same(torch.expm1(edge), [-0.0, INF, -1.0, NAN, 1e-10, -1.0])
    same(torch.log1p(edge[:5]), [0.0, INF, NAN, NAN, 1e-10])
    same(torch.tanh(edge), [0.0, 1.0, -1.0, NAN, 1e-10, -1.0])
    assert torch.signbit(torch.erfinv(edge[:1])).item()
    same(torch.reciprocal(edge[:2]), [-INF, 0.0])


def test_logit(same):
    x = torch.tensor([-0.1, 0.0, 0.25, 1.0])
    same(torch.logit(x), [NAN, -INF, -1.098612, INF])
    same(torch.logit(x, eps=0.1), [-2.197225, -2.197225, -1.098612, 2.197225])
    y = torch.tensor([0.05, 0.25, 0.95], dtype=torch.float64, requires_grad=True)
    torch.logit(y, 0.1).sum().backward()
    same(y.grad, [0.0, 5.333333, 0.0])


def test_an_in_place_function_does_not_fit_an_integer():
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.tensor([1]).exp_()


# --- powers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exponent, expected",
    [
        (2, [4.0, 0.25, 0.0]),
        (3, [-8.0, 0.125, 0.0]),
        (0, [1.0, 1.0, 1.0]),
        (0.5, [NAN, 0.7071068, 0.0]),
        (-1, [-0.5, 2.0, INF]),
        (-0.5, [NAN, 1.414214, INF]),
        (-2, [0.25, 4.0, INF]),
    ],
)
def test_pow_with_a_number(same, exponent, expected):
    x = torch.tensor([-2.0, 0.5, 0.0])
    same(x**exponent, expected, torch.float32)
    same(torch.pow(x, torch.tensor(float(exponent))), expected)
    same(x.clone().pow_(exponent), expected)
    same((x.double() ** exponent), expected, torch.float64)


def test_pow_of_numbers_and_tensors(same):
    same(2 ** torch.tensor([1.0, -1.0]), [2.0, 0.5])
    same(torch.pow(2.5, torch.tensor([1, 2])), [2.5, 6.25], torch.float32)
    same(torch.tensor([True, False]) ** 2, [1, 0], torch.int64)
    same(torch.tensor([3], dtype=torch.int8) ** 6, [-39], torch.int8)
    same(torch.tensor([1, -1, 0, 2]) ** torch.tensor([-3, -3, -2, -1]), [1, -1, 0, 0], torch.int64)
    x = torch.tensor([2])
    x **= 3
    same(x, [8])


def test_pow_refuses():
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed."):
        torch.tensor([2]) ** -1
    with pytest.raises(NotImplementedError, match="\"pow\" not implemented for 'Bool'"):
        torch.tensor([True]) ** torch.tensor([True])


def test_derivatives_of_pow(same):
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.5, -0.7], dtype=torch.float64, requires_grad=True)
    assert gradcheck(torch.pow, (x, y)) and gradgradcheck(torch.pow, (x, y))
    assert gradgradcheck(lambda x: x**3 + 2**x, (x,))
    zero = torch.zeros(2, requires_grad=True)
    exponent = torch.tensor([0.0, 2.0], requires_grad=True)
    (zero**exponent).sum().backward()
    same(zero.grad, [0.0, 0.0])
    same(exponent.grad, [0.0, 0.0])


def test_float_power_computes_in_double(same):
    same(torch.float_power(torch.tensor([2]), 3), [8.0], torch.float64)
    same(torch.float_power(2, torch.tensor([0.5])), [1.414214], torch.float64)
    with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype Float but"):
        torch.ones(2).float_power_(2)
    same(torch.tensor([3.0], dtype=torch.float64).float_power_(2), [9.0])


def test_ldexp_and_frexp(same):
    same(torch.ldexp(torch.tensor([1.0, 3.0]), torch.tensor([3, -1])), [8.0, 1.5], torch.float32)
    same(torch.ldexp(torch.tensor([1]), torch.tensor([3])), [8.0], torch.float32)
    same(torch.ldexp(torch.tensor([0.0]), torch.tensor([200])), [0.0])
    result = torch.frexp(torch.tensor([8.0, -3.0, 0.0], requires_grad=True))
    same(result.mantissa, [0.5, -0.75, 0.0])
    same(result.exponent, [4, 2, 0], torch.int32)
    x = torch.tensor([8.0, -3.0], requires_grad=True)
    torch.frexp(x).mantissa.sum().backward()
    same(x.grad, [0.0625, 0.25])
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.tensor([1]))


def test_numpys_error_state_stays_the_users():
    with np.errstate(divide="raise"):
        before = np.geterr()
        assert torch.log(torch.zeros(1)).item() == -INF
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


def test_large_tensors_go_block_by_block(same):
    x = torch.linspace(-6, 6, 300_000).reshape(300, 1000)
    for function in (torch.sin, torch.erf, torch.sigmoid, lambda v: torch.atan2(v, v + 1)):
        whole = function(x.clone().requires_grad_())
        whole.sum().backward()
        rows = torch.stack([function(row) for row in x])
        assert torch.equal(whole, rows)
    leaf = x.clone().requires_grad_()
    (leaf.tanh() * 2).sum().backward()
    assert torch.allclose(leaf.grad, 2 - 2 * x.tanh() ** 2, atol=1e-6)
    same(torch.erf(torch.tensor([-4.5, -1e-6, 0.3, 3.9])), [-1.0, -1.1283792e-06, 0.3286268, 1.0])
