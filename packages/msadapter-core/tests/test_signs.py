"""Signs, magnitudes, conjugates and rounding against values of real PyTorch."""

import math

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

INF, NAN = math.inf, math.nan
X = [-2.5, -0.5, 0.0, 1.5, 2.5, INF, NAN]

VALUES = {
    "abs": [2.5, 0.5, 0.0, 1.5, 2.5, INF, NAN],
    "neg": [2.5, 0.5, 0.0, -1.5, -2.5, -INF, NAN],
    "sign": [-1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
    "sgn": [-1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0],
    "floor": [-3.0, -1.0, 0.0, 1.0, 2.0, INF, NAN],
    "ceil": [-2.0, 0.0, 0.0, 2.0, 3.0, INF, NAN],
    "trunc": [-2.0, 0.0, 0.0, 1.0, 2.0, INF, NAN],
    "round": [-2.0, 0.0, 0.0, 2.0, 2.0, INF, NAN],
    "frac": [-0.5, -0.5, 0.0, 0.5, 0.5, NAN, NAN],
    "angle": [math.pi, math.pi, 0.0, 0.0, 0.0, 0.0, NAN],
    "nan_to_num": [-2.5, -0.5, 0.0, 1.5, 2.5, 3.4028235e38, 0.0],
}


@pytest.mark.parametrize("name, expected", VALUES.items(), ids=VALUES)
def test_values_in_every_form(same, name, expected):
    x = torch.tensor(X)
    same(getattr(torch, name)(x), expected, torch.float32)
    same(getattr(x, name)(), expected)
    same(getattr(torch, name)(x.double())[:5], expected[:5], torch.float64)
    same(getattr(torch, name)(x[1]), expected[1])
    for dtype in (torch.float16, torch.bfloat16):
        assert torch.allclose(
            getattr(torch, name)(x[:5].to(dtype)).float(), torch.tensor(expected[:5]), rtol=1e-2
        )
    if name != "angle":
        written = x.clone()
        assert getattr(written, name + "_")() is written
        same(written, expected)


def test_integers(same):
    i = torch.tensor([-3, 0, 5])
    for name in ("floor", "ceil", "trunc", "round", "nan_to_num", "conj_physical"):
        same(getattr(torch, name)(i), [-3, 0, 5], torch.int64)
    same(torch.abs(i), [3, 0, 5], torch.int64)
    same(torch.sign(i), [-1, 0, 1], torch.int64)
    same(torch.sign(torch.tensor([True, False])), [True, False], torch.bool)
    same(-torch.tensor([1, 2], dtype=torch.uint8), [255, 254], torch.uint8)
    same(torch.abs(torch.tensor([-128], dtype=torch.int8)), [-128], torch.int8)


def test_round_to_decimals(same):
    x = torch.tensor([2.125, -1.375, 1250.0])
    same(torch.round(x, decimals=2), [2.12, -1.38, 1250.0])
    same(x.round(decimals=-2), [0.0, 0.0, 1200.0])
    with pytest.raises(NotImplementedError, match="\"round_cpu\" not implemented for 'Long'"):
        torch.round(torch.tensor([125]), decimals=-1)


def test_nan_to_num(same):
    x = torch.tensor([NAN, INF, -INF])
    same(torch.nan_to_num(x, 1.5, posinf=2, neginf=-3), [1.5, 2.0, -3.0])
    same(torch.nan_to_num(x.half()), [0.0, 65504.0, -65504.0], torch.float16)
    assert torch.nan_to_num(torch.tensor([complex(NAN, INF)]), posinf=7).tolist() == [7j]
    y = torch.tensor([NAN, 1.0], requires_grad=True)
    torch.nan_to_num(y).sum().backward()
    same(y.grad, [0.0, 1.0])


def test_complex(same):
    z = torch.tensor([3 + 4j, 0j, -1j])
    same(abs(z), [5.0, 0.0, 1.0], torch.float32)
    same(torch.angle(z), [0.9272952, 0.0, -1.5707964], torch.float32)
    assert torch.sgn(z).tolist() == pytest.approx([0.6 + 0.8j, 0j, -1j])
    assert torch.conj(z).tolist() == torch.conj_physical(z).tolist() == [3 - 4j, 0j, 1j]
    x = torch.ones(1)
    assert torch.conj(x) is x
    with pytest.raises(NotImplementedError, match="torch.sign is not intended to support complex numbers"):
        torch.sign(z)
    with pytest.raises(NotImplementedError, match="floor is not supported for complex inputs"):
        torch.floor(z)


@pytest.mark.parametrize("name", ["abs", "sgn", "angle", "conj", "conj_physical"])
def test_complex_derivatives(name):
    z = torch.tensor([3 + 4j, -0.2 + 1j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(getattr(torch, name), (z,)) and gradgradcheck(getattr(torch, name), (z,))


def test_derivatives(same):
    x = torch.tensor([-2.3, 0.0, 1.7], requires_grad=True)
    for name, expected in {
        "abs": [-1.0, 0.0, 1.0], "neg": [-1.0, -1.0, -1.0], "sign": [0.0, 0.0, 0.0], "floor": [0.0, 0.0, 0.0],
        "round": [0.0, 0.0, 0.0], "trunc": [0.0, 0.0, 0.0], "frac": [1.0, 1.0, 1.0],
    }.items():  # fmt: skip
        (gradient,) = torch.autograd.grad(getattr(torch, name)(x).sum(), x)
        same(gradient, expected)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: torch.abs(torch.tensor([True])), "\"abs_cpu\" not implemented for 'Bool'"),
        (lambda: torch.frac(torch.tensor([1])), "\"frac_cpu\" not implemented for 'Long'"),
        (lambda: torch.round(torch.tensor([1j])), "\"round_vml_cpu\" not implemented for 'ComplexFloat'"),
        (lambda: torch.floor(torch.tensor([True])), "\"floor_vml_cpu\" not implemented for 'Bool'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(NotImplementedError, match=message):
        call()
