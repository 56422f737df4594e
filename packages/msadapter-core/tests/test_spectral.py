"""Fourier transforms against values of real PyTorch, and their first and second derivatives."""

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch import fft
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

X = [1.0, 2.0, 4.0, 3.0, 0.0]
HALF = [2 + 1j, 1 - 1j, 3 + 2j]

VALUES = [
    (
        "fft",
        X,
        {},
        [
            10.0,
            -4.045085 - 2.489898j,
            1.545085 - 0.224514j,
            1.545085 + 0.224514j,
            -4.045085 + 2.489898j,
        ],
    ),
    ("rfft", X, {"n": 4, "norm": "ortho"}, [5.0, -1.5 + 0.5j, 0.0]),
    ("irfft", HALF, {}, [1.75, 0.25, 0.75, -0.75]),
    ("irfft", HALF, {"n": 3}, [1.333333, 0.910684, -0.244017]),
    ("hfft", HALF, {"n": 5}, [10.0, -1.787040, -2.743728, 7.215864, -2.685096]),
    ("ihfft", X, {}, [2.0, -0.809017 + 0.497980j, 0.309017 + 0.044903j]),
    ("fft2", [[0.0, 1, 2], [3, 4, 5]], {}, [[15, -3 + 1.732051j, -3 - 1.732051j], [-9, 0, 0]]),
    (
        "irfftn",
        [[1 + 1j, 2], [3, 4 - 1j]],
        {"s": (2, 3)},
        [[2.666667, -0.044658, -0.622009], [-1.0, -0.288675, 0.288675]],
    ),
]


@pytest.mark.parametrize("name,x,options,expected", VALUES)
def test_values(name, x, options, expected):
    result = getattr(fft, name)(torch.tensor(x), **options)
    assert np.allclose(result.numpy(), expected, atol=2e-6)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_inverses(norm):
    x = torch.tensor(np.random.default_rng(0).standard_normal((3, 4, 5)))
    assert torch.allclose(fft.ifftn(fft.fftn(x, norm=norm), norm=norm).real, x)
    assert torch.allclose(fft.irfft2(fft.rfft2(x, norm=norm), (4, 5), norm=norm), x)
    assert torch.allclose(fft.hfftn(fft.ihfftn(x, norm=norm), x.shape, norm=norm), x)


@pytest.mark.parametrize(
    "dtype,expected",
    [("float32", "complex64"), ("float64", "complex128"), ("int64", "complex64"), ("bool", "complex64")],
)
def test_dtypes(dtype, expected):
    x = torch.ones(4, dtype=getattr(torch, dtype))
    assert fft.rfft(x).dtype == fft.fft(x).dtype == getattr(torch, expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fft.fft(x, 4, norm="ortho"),
        lambda x: fft.rfftn(x, (1, 5)),
        lambda x: fft.irfft(x, 4, dim=0),
        lambda x: fft.irfft2(x, norm="forward"),
        lambda x: fft.ihfft2(x),
        lambda x: fft.hfftn(x, (2, 3), norm="ortho"),
        lambda x: fft.fftshift(x, 1),
    ],
)
def test_derivatives_of_real_input(call):
    x = torch.tensor(np.random.default_rng(1).standard_normal((2, 3)), requires_grad=True)
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


@pytest.mark.parametrize(
    "call", [lambda x: fft.ifft2(x, (2, 5)), lambda x: fft.irfft(x, 5), lambda x: fft.hfft2(x)]
)
def test_derivatives_of_complex_input(call):
    rng = np.random.default_rng(1)
    x = torch.tensor(rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3)), requires_grad=True)
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


def test_graph_nodes():
    x = torch.ones(4, requires_grad=True)
    names = [f(x).grad_fn.name() for f in (fft.rfft, fft.irfft, fft.fftshift)]
    assert names == ["FftR2CBackward0", "FftC2RBackward0", "RollBackward0"]


def test_frequencies_and_shifts():
    assert np.allclose(fft.fftfreq(5, 0.5).numpy(), [0.0, 0.4, 0.8, -0.8, -0.4])
    assert np.allclose(fft.rfftfreq(5, dtype=torch.float64).numpy(), [0.0, 0.2, 0.4])
    x = torch.arange(10).reshape(2, 5)
    assert fft.fftshift(x).tolist() == [[8, 9, 5, 6, 7], [3, 4, 0, 1, 2]]
    assert torch.equal(fft.ifftshift(fft.fftshift(x)), x)


def test_out_takes_the_result():
    out = torch.empty(5, dtype=torch.complex64)
    assert fft.fft(torch.tensor(X), out=out) is out
    assert out[0].item() == 10


@pytest.mark.parametrize(
    "call,error,message",
    [
        (lambda x: fft.fft(x, 0), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda x: fft.fft(x, norm="foo"), RuntimeError, 'Invalid normalization mode: "foo"'),
        (lambda x: fft.fft(x, dim=5), IndexError, "Dimension out of range"),
        (lambda x: fft.rfft(x + 1j), RuntimeError, "rfft expects a real input tensor, but got ComplexFloat"),
        (lambda x: fft.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
        (lambda x: fft.fftn(x, dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda x: fft.fftn(x, (2, 2), dim=(0,)), RuntimeError, "When given, dim and shape arguments must"),
        (
            lambda x: fft.fftn(x, (2, 2, 2)),
            RuntimeError,
            "Got shape with 3 values but input tensor only has 2",
        ),
        (lambda x: fft.rfftn(x, dim=()), RuntimeError, "rfftn must transform at least one axis"),
        (lambda x: fft.fft(x.sum()), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
        (lambda x: fft.fftfreq(3, dtype=torch.int64), RuntimeError, "fftfreq requires a floating point"),
        (
            lambda x: torch.stft(x[0], 2, 1, window=torch.ones(2)),
            RuntimeError,
            "stft requires the return_complex",
        ),
        (
            lambda x: torch.stft(x[0], 2, window=torch.ones(3), return_complex=True),
            RuntimeError,
            r"stft\(torch.FloatTensor\[6\], n_fft=2, hop_length=0, .* : expected hop_length > 0",
        ),
        (lambda x: torch.istft(x, 4, window=torch.ones(4)), RuntimeError, "istft requires a complex-valued"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match="^" + message):
        call(torch.ones(3, 4))


def test_stft_values():
    window = torch.tensor([0.0, 0.5, 1.0, 0.5])
    spectrum = torch.stft(torch.arange(8.0), 4, window=window, return_complex=True)
    expected = [
        [1, 2, 4, 6, 8, 10, 12, 13, 12],
        [0, -1 + 1j, -2 + 1j, -3 + 1j, -4 + 1j, -5 + 1j, -6 + 1j, -7, -6 - 1j],
        [-1, 0, 0, 0, 0, 0, 0, 1, 0],
    ]
    assert np.allclose(spectrum.numpy(), expected, atol=1e-5)
    assert torch.allclose(torch.istft(spectrum, 4, window=window), torch.arange(8.0), atol=1e-5)
    pairs = torch.stft(
        torch.arange(8.0), 4, 2, 2, torch.tensor([1.0, 2.0]), center=False, return_complex=False
    )
    assert pairs[1].tolist() == [[-4, -1], [-8, -3], [-12, -5]]


def test_aligned_windows_start_with_the_signal():
    aligned = torch.stft(
        torch.arange(8.0), 6, 3, 4, torch.ones(4), False, return_complex=True, align_to_window=True
    )
    expected = [[6, 18], [-4 + 1.732051j, -8.5 - 0.866025j], [-1.732051j, -1.5 - 4.330127j], [2, 2]]
    assert np.allclose(aligned.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"win_length": 4}, {"normalized": True, "hop_length": 3}])
def test_istft_inverts_stft_and_both_have_derivatives(options):
    rng = np.random.default_rng(0)
    signal = torch.tensor(rng.standard_normal((1, 18)), requires_grad=True)
    window = torch.tensor(rng.random(options.get("win_length", 6)) + 0.5)

    def there(x):
        return torch.stft(x, 6, window=window, return_complex=True, **options)

    def back(x):
        return torch.istft(there(x), 6, window=window, length=18, **options)

    assert torch.allclose(back(signal), signal)
    assert gradcheck(there, (signal,)) and gradcheck(back, (signal,))


def test_windows_that_leave_a_gap_are_refused():
    spectrum = torch.ones(3, 4, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        torch.istft(spectrum, 4, window=torch.zeros(4))


def test_a_missing_window_warns():
    with pytest.warns(UserWarning, match="A window was not provided"):
        torch.stft(torch.ones(8), 4, return_complex=True)
