"""The convolution kernels: PyTorch's values, a plain sum over kernel positions, and each other's derivatives."""

import itertools

import numpy as np
import pytest

from msadapter.pytorch._kernels import conv as module
from msadapter.pytorch._kernels import parallel
from msadapter.pytorch._kernels.conv import conv, conv_input_grad, conv_weight_grad

# samples, groups, channels per group, size, outputs per group, kernel, stride, padding, dilation
GEOMETRIES = {
    "line": (3, 1, 2, (9,), 3, (3,), (1,), ((1, 1),), (1,)),
    "strided dilated line": (2, 2, 3, (11,), 2, (3,), (2,), ((2, 0),), (2,)),
    "image": (5, 1, 3, (8, 7), 4, (3, 2), (1, 1), ((1, 1), (0, 1)), (1, 1)),
    "one sample": (1, 1, 3, (6, 6), 2, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "stride over the kernel": (2, 1, 2, (9, 10), 3, (2, 2), (3, 4), ((0, 0), (1, 0)), (1, 1)),
    "stride and dilation": (2, 1, 2, (9, 10), 3, (3, 3), (2, 2), ((1, 1), (2, 2)), (1, 3)),
    "single elements": (3, 2, 2, (4, 5), 3, (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    "single elements, strided": (3, 1, 4, (5, 5), 2, (1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1)),
    "depthwise": (2, 6, 1, (7, 6), 1, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "depthwise, two outputs each": (2, 3, 1, (7, 6), 2, (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    "volume": (2, 1, 2, (4, 5, 6), 2, (2, 3, 2), (1, 2, 1), ((1, 0), (1, 1), (0, 1)), (2, 1, 2)),
}
ONE = ((1, 1), ((0, 0), (0, 0)), (1, 1), 1)


@pytest.fixture(params=["whole", "in pieces"])
def pieces(request, monkeypatch):
    """The same results are due whether the work is done at once, or cut small over threads with no scratch kept."""
    if request.param == "in pieces":
        monkeypatch.setattr(module, "_CACHE", 500)
        monkeypatch.setattr(module, "_WORTH_A_THREAD", 1)
        monkeypatch.setattr(parallel, "_KEEP", 0)
        monkeypatch.setattr(parallel, "_threads", 3)


def case(geometry, dtype=np.float64):
    n, groups, channels, size, outputs, kernel, *rest = GEOMETRIES[geometry]
    random = np.random.default_rng(0)
    x = random.standard_normal((n, groups * channels, *size)).astype(dtype)
    weight = random.standard_normal((groups * outputs, channels, *kernel)).astype(dtype)
    return x, weight, (*rest, groups)


def by_positions(x, weight, stride, padding, dilation, groups):
    """The convolution as a sum over kernel positions of shifted inputs."""
    padded = np.pad(x, ((0, 0), (0, 0), *padding))
    kernel = weight.shape[2:]
    sides = list(zip(padded.shape[2:], kernel, stride, dilation, strict=True))
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in sides]
    y = np.zeros((len(x), groups, len(weight) // groups, *out), x.dtype)
    for position in itertools.product(*map(range, kernel)):
        read = [slice(p * d, p * d + (m - 1) * s + 1, s) for p, m, (_, _, s, d) in zip(position, out, sides, strict=True)]  # fmt: skip
        part = padded[(slice(None), slice(None), *read)].reshape(len(x), groups, -1, *out)
        tap = weight[(slice(None), slice(None), *position)].reshape(groups, -1, weight.shape[1])
        y += np.einsum("goc,ngc...->ngo...", tap, part)
    return y.reshape(len(x), len(weight), *out)


def test_values_are_pytorchs():
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    weight = np.array([[[[1, -1], [2, 0]], [[0, 1], [-2, 1]]], [[[0.5, 0], [1, 1]], [[1, 2], [0, -1]]]], np.float32)  # fmt: skip
    plan = (1, 2), ((0, 0), (1, 1)), (1, 1), 1
    y = conv(x, weight, np.array([0.5, -1], np.float32), *plan)
    assert y.dtype == np.float32
    assert y.tolist() == [[[[28.5, 7.5, -20.5], [32.5, 15.5, -16.5]], [[11, 33.5, 22.5], [19, 51.5, 32.5]]]]
    grad = np.arange(1, 13, dtype=np.float32).reshape(y.shape)
    assert conv_input_grad(grad, weight, (3, 4), *plan).tolist() == [
        [
            [[-1, 6, -2, 7.5], [3, 22.5, 3, 27], [10, 21, 11, 24]],
            [[15, 8, 18, 9], [18, 7, 21, 6], [-6, -10, -6, -12]],
        ]
    ]
    assert conv_weight_grad(grad, x, (2, 2), *plan).tolist() == [
        [[[78, 50], [142, 98]], [[270, 194], [334, 242]]],
        [[[174, 122], [334, 266]], [[654, 554], [814, 698]]],
    ]


def test_values_of_a_grouped_line_are_pytorchs():
    x = np.arange(12.0).reshape(1, 2, 6)
    weight = np.array([[[1.0, 2]], [[0, -1]], [[3, 1]], [[1, 1]]])
    y = conv(x, weight, None, (2,), ((0, 0),), (3,), 2)
    assert y.tolist() == [[[6, 12], [-3, -5], [27, 35], [15, 19]]]


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_conv_sums_over_kernel_positions(geometry, pieces):
    x, weight, plan = case(geometry)
    expected = by_positions(x, weight, *plan)
    np.testing.assert_allclose(conv(x, weight, None, *plan), expected, atol=1e-12)
    bias = np.arange(len(weight), dtype=np.float64)
    expected += bias.reshape(-1, *(1,) * (x.ndim - 2))
    np.testing.assert_allclose(conv(x, weight, bias, *plan), expected, atol=1e-12)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_gradients_are_the_adjoints(geometry, pieces):
    """conv is linear in both arguments, so <conv(v, w), g> = <v, input_grad> and <conv(x, u), g> = <u, weight_grad>."""
    x, weight, plan = case(geometry)
    random = np.random.default_rng(1)
    grad = random.standard_normal(by_positions(x, weight, *plan).shape)
    input_grad = conv_input_grad(grad, weight, x.shape[2:], *plan)
    weight_grad = conv_weight_grad(grad, x, weight.shape[2:], *plan)
    for array in np.eye(x.size).reshape(-1, *x.shape)[:: max(1, x.size // 20)]:
        assert (by_positions(array, weight, *plan) * grad).sum() == pytest.approx((array * input_grad).sum())
    for array in np.eye(weight.size).reshape(-1, *weight.shape):
        assert (by_positions(x, array, *plan) * grad).sum() == pytest.approx((array * weight_grad).sum())


@pytest.mark.parametrize(
    "dtype, tolerance",
    [(np.float32, 2e-6), (np.float64, 1e-14), (np.complex64, 2e-6), (np.complex128, 1e-14), (np.int64, 0)],
)
def test_every_dtype_is_computed_in_itself(dtype, tolerance):
    x, weight, plan = case("image")
    x, weight = (10 * x).astype(dtype), (10 * weight).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x, weight = x + 1j * x[::-1], weight - 1j * weight[::-1]
    y = conv(x, weight, None, *plan)
    input_grad = conv_input_grad(y, weight, x.shape[2:], *plan)
    weight_grad = conv_weight_grad(y, x, weight.shape[2:], *plan)
    assert y.dtype == input_grad.dtype == weight_grad.dtype == dtype
    expected = by_positions(x, weight, *plan)
    assert np.abs(y - expected).max() <= tolerance * np.abs(expected).max()
    # <y, y> three ways, without conjugates
    total = (expected * expected).sum()
    assert abs((input_grad * x).sum() - total) <= 20 * tolerance * abs(total)
    assert abs((weight_grad * weight).sum() - total) <= 20 * tolerance * abs(total)


def test_int64_is_exact_above_2_to_the_53():
    x = np.full((1, 1, 2, 2), 2**61 + 1)
    assert conv(x, np.ones((1, 1, 1, 1), np.int64), None, *ONE)[0, 0, 0, 0] == 2**61 + 1


def test_input_that_no_window_reads_has_a_zero_gradient():
    grad = conv_input_grad(np.ones((1, 1, 2, 1)), np.ones((1, 1, 2, 2)), (5, 3), (2, 2), ((0, 0), (0, 0)), (1, 1), 1)  # fmt: skip
    assert grad[0, 0].tolist() == [[1, 1, 0]] * 4 + [[0, 0, 0]]


@pytest.mark.parametrize("samples, channels, outputs", [(0, 2, 3), (2, 0, 3), (2, 3, 0)])
def test_empty_arrays(samples, channels, outputs):
    x, weight = np.ones((samples, channels, 5, 4)), np.ones((outputs, channels, 3, 3))
    plan = (1, 1), ((1, 1), (1, 1)), (1, 1), 1
    y = conv(x, weight, None, *plan)
    assert y.shape == (samples, outputs, 5, 4) and not y.any()
    x_grad = conv_input_grad(y, weight, (5, 4), *plan)
    assert x_grad.shape == x.shape and not x_grad.any()
    weight_grad = conv_weight_grad(y, x, (3, 3), *plan)
    assert weight_grad.shape == weight.shape and not weight_grad.any()


def test_nan_reaches_the_outputs_that_read_it_and_no_others(pieces):
    x, weight, plan = case("image")
    x[1, 2, 0, 0] = np.nan
    y = conv(x, weight, None, *plan)
    # the kernel [3, 2] reads row 0 from rows 0 and 1 of the outputs (padding 1), column 0 from column 0 alone
    assert np.argwhere(np.isnan(y[:, 0])).tolist() == [[1, 0, 0], [1, 1, 0]]


def test_arguments_need_not_be_contiguous_and_are_not_written():
    x, weight, plan = case("image")
    far = np.zeros((*x.shape[:3], 2 * x.shape[3]))[..., ::2]
    far[...] = x
    y = conv(far, weight, None, *plan)
    np.testing.assert_array_equal(y, conv(x, weight, None, *plan))
    turned = np.asfortranarray(y)
    np.testing.assert_array_equal(
        conv_input_grad(turned, weight, x.shape[2:], *plan), conv_input_grad(y, weight, x.shape[2:], *plan)
    )
    np.testing.assert_array_equal(
        conv_weight_grad(turned, far, weight.shape[2:], *plan),
        conv_weight_grad(y, x, weight.shape[2:], *plan),
    )
    np.testing.assert_array_equal(far, x)
    np.testing.assert_array_equal(turned, y)
