"""Special functions against values of real PyTorch, and their derivatives."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch import special
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan

AT_POINTS = [
    ("airy_ai", [0.291164, 0.1352924, 0.01572592, 0.5177726]),
    ("bessel_j0", [0.9844359, 0.7651977, -0.04838378, 0.8642423]),
    ("bessel_j1", [0.124026, 0.4400506, 0.4970941, -0.3492436]),
    ("bessel_y0", [-0.931573, 0.08825696, 0.4980704, NAN]),
    ("bessel_y1", [-2.704105, -0.7812128, 0.1459181, NAN]),
    ("digamma", [-4.227454, -0.5772157, 0.7031566, -2.89412]),
    ("entr", [0.3465736, -0.0, -2.290727, -INF]),
    ("erfcx", [0.7703465, 0.4275836, 0.2108064, 3.003172]),
    ("i0", [1.015686, 1.266066, 3.289839, 1.145647]),
    ("i0e", [0.7910172, 0.4657596, 0.2700464, 0.5411652]),
    ("i1", [0.1259791, 0.5651591, 2.516716, -0.4019925]),
    ("i1e", [0.09811263, 0.2079104, 0.2065846, -0.1898878]),
    ("log_ndtr", [-0.5129841, -0.1727538, -0.006229025, -1.484448]),
    ("modified_bessel_k0", [1.541507, 0.4210244, 0.06234755, NAN]),
    ("modified_bessel_k1", [3.747026, 0.6019072, 0.07389082, NAN]),
    ("ndtr", [0.5987063, 0.8413447, 0.9937903, 0.2266274]),
    ("ndtri", [-0.6744898, INF, NAN, NAN]),
    ("scaled_modified_bessel_k0", [1.979334, 1.144463, 0.7595487, NAN]),
    ("scaled_modified_bessel_k1", [4.811277, 1.636153, 0.9001744, NAN]),
    ("spherical_bessel_j0", [0.9896158, 0.841471, 0.2393889, 0.9088517]),
    ("gammaln", [1.288023, 0.0, 0.2846829, 1.575705]),
    ("expit", [0.5621765, 0.7310586, 0.9241418, 0.3208213]),
]

BY_DEGREE = [
    ("chebyshev_polynomial_t", [0.0, 1.0, 0.7, -0.02, -0.67088]),
    ("chebyshev_polynomial_u", [0.0, 1.0, 1.4, 0.96, -1.39776]),
    ("chebyshev_polynomial_v", [0.0, 1.0, 0.4, -0.44, -0.35936]),
    ("chebyshev_polynomial_w", [0.0, 1.0, 2.4, 2.36, -2.43616]),
    ("hermite_polynomial_h", [0.0, 1.0, 1.4, -0.04, 34.49824]),
    ("hermite_polynomial_he", [0.0, 1.0, 0.7, -0.51, 7.23807]),
    ("laguerre_polynomial_l", [0.0, 1.0, 0.3, -0.155, -0.5730464]),
    ("legendre_polynomial_p", [0.0, 1.0, 0.7, 0.235, -0.3651987]),
    ("shifted_chebyshev_polynomial_t", [0.0, 1.0, 0.4, -0.68, 0.88384]),
    ("shifted_chebyshev_polynomial_u", [0.0, 1.0, 0.8, -0.36, 0.67968]),
    ("shifted_chebyshev_polynomial_v", [0.0, 1.0, -0.2, -1.16, 1.19008]),
    ("shifted_chebyshev_polynomial_w", [0.0, 1.0, 1.8, 0.44, 0.16928]),
]


@pytest.mark.parametrize("name,expected", AT_POINTS)
def test_values(name, expected):
    x = torch.tensor([0.25, 1.0, 2.5, -0.75], dtype=torch.float64)
    result = getattr(special, name)(x)
    assert result.dtype == torch.float64
    assert np.allclose(result.numpy(), expected, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("name,expected", BY_DEGREE)
def test_polynomials(name, expected):
    """Degrees are cut to whole numbers; below zero the polynomial is zero."""
    polynomial = getattr(special, name)
    degrees = torch.tensor([-1, 0, 1, 2.7, 5])
    result = polynomial(torch.full((5,), 0.7, dtype=torch.float64), degrees)
    assert np.allclose(result.numpy(), expected, atol=1e-6)
    assert math.isclose(polynomial(torch.tensor([0.7]), 5).item(), expected[4], rel_tol=1e-5)


@pytest.mark.parametrize(
    "name,expected",
    [
        ("gammainc", [1.0, 0.198748, 0.7618967]),
        ("gammaincc", [0.0, 0.801252, 0.2381033]),
        ("xlog1py", [0.0, 0.6081977, 4.828314]),
        ("zeta", [NAN, 4.776538, 0.04001987]),
    ],
)
def test_functions_of_two_arguments(name, expected):
    a, b = torch.tensor([0.0, 1.5, 3.0]), torch.tensor([2.0, 0.5, 4.0])
    result = getattr(special, name)(a, b)
    assert result.dtype == torch.float32
    assert np.allclose(result.numpy(), expected, rtol=1e-5, equal_nan=True)


def test_gamma_functions_of_torch():
    x = torch.tensor([0.25, 1.0, 2.5, -0.75])
    second = [-129.3277, -2.4041, -0.2362, -124.5870]
    assert np.allclose(torch.polygamma(2, x).numpy(), second, rtol=1e-4)
    assert np.allclose(x.polygamma(2).numpy(), second, rtol=1e-4)
    assert torch.allclose(x.polygamma(0), x.digamma())
    assert np.allclose(torch.mvlgamma(x + 3, 3).numpy(), [3.2530, 5.4030, 11.3067, 1.6593], atol=1e-4)
    y = x.clone()
    assert y.lgamma_() is y and np.allclose(y.numpy(), [1.288023, 0.0, 0.2846829, 1.575705], atol=1e-6)
    assert torch.lgamma(torch.tensor([0.0, -1.0, -INF, INF])).tolist() == [INF] * 4


def test_names_of_torch_special_are_those_of_torch():
    x = torch.tensor([0.5, 2.0])
    assert torch.equal(special.gammaln(x), torch.lgamma(x))
    assert torch.equal(special.psi(x), torch.digamma(x))
    assert torch.equal(special.multigammaln(x + 1, 2), torch.mvlgamma(x + 1, 2))
    assert torch.equal(special.i0(x), torch.i0(x))
    assert not hasattr(torch.Tensor, "gammaln")


@pytest.mark.parametrize("name", "digamma entr erfcx i0 i0e i1 i1e log_ndtr ndtr gammaln".split())
def test_derivatives(name):
    x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(getattr(special, name), (x,)) and gradgradcheck(getattr(special, name), (x,))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: special.ndtri(x / 4),
        lambda x: torch.polygamma(2, x),
        lambda x: torch.mvlgamma(x + 2, 2),
        lambda x: torch.igamma(torch.tensor([1.5, 2.5], dtype=torch.float64), x),
        lambda x: torch.igammac(torch.tensor([1.5, 2.5], dtype=torch.float64), x),
        lambda x: special.zeta(3.0, x),
        lambda x: special.xlog1py(x, x * 2),
    ],
)
def test_derivatives_of_further_functions(call):
    x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


def test_derivatives_at_zero():
    x = torch.zeros(1, requires_grad=True)
    (special.i1(x) + special.i1e(x)).backward()
    assert x.grad.item() == 1.0


def test_what_has_no_derivative():
    x = torch.tensor([1.0], requires_grad=True)
    assert not special.bessel_j0(x).requires_grad
    assert not special.legendre_polynomial_p(x, 2).requires_grad
    with pytest.raises(NotImplementedError, match="^the derivative for 'igamma: input' is not implemented"):
        torch.igamma(x, torch.ones(1)).backward()


@pytest.mark.parametrize("name", ["digamma", "gammaln", "i0e", "ndtr", "entr"])
def test_halves_and_integers(name):
    function = getattr(special, name)
    expected = function(torch.tensor([1.0, 2.0]))
    assert torch.equal(function(torch.tensor([1, 2])), expected)
    for dtype in (torch.float16, torch.bfloat16):
        assert torch.equal(function(torch.tensor([1, 2], dtype=dtype)), expected.to(dtype))


@pytest.mark.parametrize(
    "call,error,message",
    [
        (lambda x: special.erfcx(x.half()), NotImplementedError, "\"erfcx_cpu\" not implemented for 'Half'"),
        (lambda x: special.zeta(x.half(), 2), NotImplementedError, "\"zeta_cpu\" not implemented for 'Half'"),
        (lambda x: torch.lgamma(x + 1j), NotImplementedError, '"lgamma_vml_cpu" not implemented'),
        (lambda x: torch.igamma(x.int(), x.int()), NotImplementedError, '"igamma_cpu" not implemented'),
        (lambda x: torch.polygamma(-1, x), RuntimeError, r"polygamma\(n, x\) does not support negative n"),
        (
            lambda x: torch.polygamma(x, 1),
            TypeError,
            r"polygamma\(\): argument 'n' \(position 1\) must be int",
        ),
        (lambda x: torch.mvlgamma(x, 0), RuntimeError, "p has to be greater than or equal to 1"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match="^" + message):
        call(torch.ones(2))
