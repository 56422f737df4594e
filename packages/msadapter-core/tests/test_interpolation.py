"""interpolate; expected values are those of real PyTorch 2.13."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.interpolation import interpolate, upsample, upsample_bilinear, upsample_nearest


def picture(dtype=torch.float64):
    values = (np.arange(12.0) ** 1.5).reshape(1, 1, 3, 4)
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"size": (2, 5), "mode": "bilinear"},
            [[2.0, 3.0816, 4.6703, 6.615, 8.5272], [18.9706, 21.8227, 25.2182, 28.7716, 31.9922]],
        ),
        (
            {"size": (2, 5), "mode": "bilinear", "align_corners": True},
            [[0.0, 0.75, 1.9142, 3.4204, 5.1962], [22.6274, 25.9069, 29.3114, 32.8378, 36.4829]],
        ),
        ({"size": 2, "mode": "bilinear", "antialias": True}, [[4.3903, 8.1762], [19.9864, 26.5907]]),
        (
            {"size": (2, 5), "mode": "bicubic"},
            [[1.21, 2.1057, 3.723, 5.9042, 7.7451], [19.3408, 22.1192, 25.9429, 29.9986, 33.1657]],
        ),
        ({"size": 2, "mode": "bicubic", "antialias": True}, [[3.2316, 7.4703], [20.2048, 28.0607]]),
        ({"size": (2, 3), "mode": "area"}, [[5.0451, 7.4264, 10.3104], [17.2019, 21.125, 25.3307]]),
        ({"size": (2, 5)}, [[0.0, 0.0, 1.0, 2.8284, 5.1962], [8.0, 8.0, 11.1803, 14.6969, 18.5203]]),
        (
            {"size": (2, 5), "mode": "nearest-exact"},
            [[0.0, 1.0, 2.8284, 2.8284, 5.1962], [22.6274, 27.0, 31.6228, 31.6228, 36.4829]],
        ),
        (
            {"scale_factor": (1.7, 0.6), "mode": "bilinear"},
            [
                [0.3333, 2.8284],
                [3.67, 7.3664],
                [8.8034, 14.3479],
                [17.4563, 24.1555],
                [24.0849, 31.6228],
            ],
        ),
        (
            {"scale_factor": (1.7, 0.6), "mode": "bilinear", "recompute_scale_factor": True},
            [
                [0.5, 4.0123],
                [4.1361, 9.0508],
                [9.5902, 16.6086],
                [18.7243, 27.0751],
                [24.8137, 34.0528],
            ],
        ),
    ],
)
def test_values(arguments, expected):
    for dtype in (torch.float64, torch.float32):
        result = interpolate(picture(dtype), **arguments)
        assert result.dtype == dtype
        np.testing.assert_allclose(result.numpy()[0, 0], expected, atol=5.1e-5, rtol=1e-6)


def test_bytes_are_rounded_and_cut_off():
    levels = (torch.arange(12) * 20).to(torch.uint8).reshape(1, 1, 3, 4)
    result = interpolate(levels, (2, 3), mode="bicubic", antialias=True)
    assert result.dtype == torch.uint8
    assert result.tolist() == [[[[29, 55, 81], [139, 165, 191]]]]
    edge = torch.tensor([0, 0, 255, 255], dtype=torch.uint8).reshape(1, 1, 1, 4)
    assert interpolate(edge, (1, 8), mode="bicubic").tolist()[0][0][0][:2] == [0, 0]


def test_dimensions_without_change_stay_bit_for_bit():
    source = picture(torch.float32)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        assert (interpolate(source, (3, 4), mode=mode) == source).all()


def test_not_a_number_stays_where_it_is():
    source = torch.zeros(1, 1, 1, 8)
    source[0, 0, 0, 0] = math.nan
    result = interpolate(source, (1, 4), mode="bilinear", antialias=True)
    assert [math.isnan(v) for v in result.tolist()[0][0][0]] == [True, False, False, False]


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_gradient_is_the_transposed_product(mode):
    source = picture().requires_grad_()
    weights = torch.tensor(np.cos(np.arange(10.0)).reshape(1, 1, 2, 5))
    (interpolate(source, (2, 5), mode=mode) * weights).sum().backward()
    rows = []
    for place in range(12):  # the operator is linear: its matrix by unit pictures
        unit = np.zeros(12)
        unit[place] = 1
        rows.append(
            (interpolate(torch.tensor(unit.reshape(1, 1, 3, 4)), (2, 5), mode=mode) * weights).sum().item()
        )
    np.testing.assert_allclose(source.grad.numpy().ravel(), rows, atol=1e-12)


def test_one_and_three_dimensions():
    line = torch.tensor([[[0.0, 1.0]]])
    assert interpolate(line, 4, mode="linear").tolist() == [[[0.0, 0.25, 0.75, 1.0]]]
    volume = torch.arange(8.0).reshape(1, 1, 2, 2, 2)
    assert interpolate(volume, 1, mode="trilinear").item() == 3.5
    assert interpolate(volume, 1, mode="area").item() == 3.5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "either size or scale_factor should be defined"),
        ({"size": 2, "scale_factor": 2}, ValueError, "only one of size or scale_factor"),
        ({"size": (2,)}, ValueError, r"spatial dimensions of \[3, 4\] and output size of \(2,\)"),
        ({"size": 2, "mode": "linear"}, NotImplementedError, "Got 4D input, but linear mode needs 3D input"),
        ({"size": 2, "mode": "cubic"}, NotImplementedError, r"\(got cubic\)"),
        ({"size": 2, "align_corners": True}, ValueError, "align_corners option can only be set"),
        ({"size": 2, "antialias": True}, ValueError, "Anti-alias option is restricted to"),
        ({"size": 2, "recompute_scale_factor": True}, ValueError, "not meaningful with an explicit size"),
        ({"size": 0, "mode": "bilinear"}, RuntimeError, "sizes should be greater than 0"),
        ({"size": (2.0, 2)}, TypeError, "expected size to be one of int"),
    ],
)
def test_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        interpolate(picture(), **arguments)


def test_integers_are_refused():
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        interpolate(torch.ones(1, 1, 2, 2, dtype=torch.int64), 2, mode="bilinear")


@pytest.mark.parametrize("old", [upsample, upsample_nearest])
def test_old_names(old):
    with pytest.warns(UserWarning, match="deprecated"):
        result = old(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    assert result.tolist() == [[[1.0, 1.0, 2.0, 2.0]]]


def test_old_bilinear_aligns_corners():
    with pytest.warns(UserWarning, match="deprecated"):
        result = upsample_bilinear(torch.tensor([[[[0.0, 2.0]]]]), size=(1, 3))
    assert result.tolist() == [[[[0.0, 1.0, 2.0]]]]
