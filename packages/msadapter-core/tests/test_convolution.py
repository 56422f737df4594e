"""Convolutions; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


VALUES = [
    (
        lambda: functional.conv1d(wave(1, 2, 5), wave(2, 2, 3), wave(2), 2, 1),
        [[[2.35891, 0.450624, -1.92229], [1.10357, -0.406651, 1.60885]]],
    ),
    (
        lambda: functional.conv1d(wave(2, 5), wave(2, 1, 2), groups=2, dilation=2),
        [[0.843053, 0.117755, -0.662925], [-0.243569, -0.656757, -0.761061]],
    ),
    (
        lambda: functional.conv2d(wave(1, 2, 3, 4), wave(2, 2, 2, 2), wave(2), (1, 2), (1, 0), (2, 1)),
        [
            [
                [[2.00287, 0.677584], [2.55671, 1.257], [-1.6479, -0.341688]],
                [[-0.42892, -0.475729], [4.12347, 1.72684], [-2.43315, -0.42892]],
            ]
        ],
    ),
    (
        lambda: functional.conv2d(wave(1, 1, 3, 3), wave(1, 1, 2, 2), padding="same"),
        [[[[2.03636, 1.15854, -0.021178], [-1.56262, -2.12615, -0.875141], [0.0517597, 0.94871, 0.886054]]]],
    ),
    (
        lambda: functional.conv2d(wave(1, 1, 3, 3), wave(1, 1, 2, 2), padding="valid"),
        [[[[2.03636, 1.15854], [-1.56262, -2.12615]]]],
    ),
    (
        lambda: functional.conv2d(wave(1, 3, 3), wave(2, 1, 2, 2)),
        [[[2.03636, 1.15854], [-1.56262, -2.12615]], [[-1.69454, -0.597891], [1.79098, 1.95968]]],
    ),
    (
        lambda: functional.conv3d(wave(1, 1, 2, 3, 3), wave(1, 1, 2, 2, 2), wave(1), 1, (0, 1, 0)),
        [[[[[0.480002, 0.801667], [1.31561, 1.54836], [1.19885, 0.780959], [0.81898, 0.682685]]]]],
    ),
    (
        lambda: functional.conv_transpose1d(wave(1, 2, 3), wave(2, 2, 2), wave(2), 2, 1, 1),
        [
            [
                [2.05476, 2.46978, 2.03755, 1.62253, 1.51135],
                [-0.509638, 0.681301, -0.326225, 0.723636, 0.26473],
            ]
        ],
    ),
    (
        lambda: functional.conv_transpose1d(wave(1, 1, 3), wave(1, 1, 3), output_padding=1, dilation=2),
        [[[0.912668, 0.516171, 0.393081, 0.291927, -0.192705, -0.069615, 0.0166009, 0.0]]],
    ),
    (
        lambda: functional.conv_transpose2d(wave(1, 2, 2, 2), wave(2, 1, 2, 2), groups=2, stride=(1, 2)),
        [
            [
                [
                    [0.912668, 0.516171, 0.516171, 0.291927],
                    [-0.24618, -0.774074, -0.774074, -0.796831],
                    [0.0166009, 0.0950091, 0.0950091, 0.543749],
                ],
                [
                    [0.998271, 0.790284, 0.790284, 0.62563],
                    [0.421227, -0.301379, -0.301379, -0.741163],
                    [0.0444349, -0.0987613, -0.0987613, 0.219508],
                ],
            ]
        ],
    ),
    (
        lambda: functional.conv_transpose3d(wave(1, 1, 1, 2, 2), wave(1, 1, 1, 2, 2), wave(1)),
        [[[[[1.868, 1.98768, 1.24726], [0.709157, -0.592812, 0.158505], [0.971937, 1.14535, 1.49909]]]]],
    ),
    (
        lambda: torch.conv_tbc(wave(3, 1, 2), wave(2, 2, 2), wave(2), 1),
        [[[-0.113067, 0.0378026]], [[2.08256, 0.414488]], [[2.09226, 1.43414]], [[0.102738, 0.583722]]],
    ),
    (
        lambda: torch.convolution(wave(1, 2, 3), wave(2, 1, 2), None, [2], [0], [1], True, [1], 1),
        [[[1.00768, 1.05992, 0.644904, 1.02868, -0.021178, 0.51364, 0.0]]],
    ),
    (
        lambda: functional.conv2d(
            wave(1, 1, 3, 3).mul(9).to(torch.int64), wave(1, 1, 2, 2).mul(9).to(torch.int64)
        ),
        [[[[134, 78], [-103, -144]]]],
    ),
    (
        lambda: functional.conv2d(
            wave(1, 2, 3, 3, dtype=torch.float16), wave(1, 2, 2, 2, dtype=torch.float16)
        ).double(),
        [[[[0.361084, 0.593262], [0.243042, -0.174561]]]],
    ),
    (
        lambda: functional.conv2d(
            wave(1, 2, 3, 3, dtype=torch.bfloat16), wave(1, 2, 2, 2, dtype=torch.bfloat16)
        ).double(),
        [[[[0.363281, 0.589844], [0.241211, -0.173828]]]],
    ),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]
)
def test_the_result_has_the_dtype_of_the_input(dtype):
    x, w, b = (wave(*shape, dtype=dtype) for shape in ((1, 2, 4, 4), (3, 2, 2, 2), (3,)))
    assert functional.conv2d(x, w, b).dtype == dtype
    assert functional.conv_transpose2d(x, w.transpose(0, 1)).dtype == dtype


def test_views_are_read_where_they_lie():
    x, w = wave(2, 5, 4, 2), wave(2, 2, 2, 3)
    whole = functional.conv2d(x.permute(0, 3, 2, 1).contiguous(), w.transpose(0, 3).contiguous())
    assert torch.equal(functional.conv2d(x.permute(0, 3, 2, 1), w.transpose(0, 3)), whole)


GRADIENTS = {
    "conv1d, groups": (lambda x, w, b: functional.conv1d(x, w, b, 2, 1, 1, 2), [(1, 2, 3), (2, 1, 2), (2,)]),
    "conv2d": (
        lambda x, w, b: functional.conv2d(x, w, b, (2, 1), (1, 0), (1, 2)),
        [(1, 1, 2, 3), (1, 1, 2, 2), (1,)],
    ),
    "conv2d, same": (lambda x, w: functional.conv2d(x, w, padding="same"), [(1, 1, 2, 2), (1, 1, 2, 1)]),
    "conv3d": (lambda x, w: functional.conv3d(x, w), [(1, 1, 1, 2, 2), (1, 1, 1, 2, 2)]),
    "conv_transpose2d": (
        lambda x, w, b: functional.conv_transpose2d(x, w, b, 2, 1, 1),
        [(1, 1, 2, 1), (1, 1, 3, 2), (1,)],
    ),
    "conv_transpose1d, long output": (
        lambda x, w: functional.conv_transpose1d(x, w, stride=1, output_padding=1, dilation=2),
        [(1, 1, 3), (1, 1, 2)],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    run, shapes = GRADIENTS[name]
    inputs = tuple(wave(*shape, grad=True) for shape in shapes)
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


def test_gradients_of_complex_numbers():
    x = torch.complex(wave(1, 2, 4), wave(1, 2, 4) * 2).requires_grad_()
    w = torch.complex(wave(2, 2, 2) + 1, wave(2, 2, 2)).requires_grad_()
    assert gradcheck(functional.conv1d, (x, w))
    assert gradcheck(functional.conv_transpose1d, (x, w))


def test_no_gradient_is_computed_for_an_input_that_asks_for_none():
    x, w = wave(1, 1, 3, 3), wave(1, 1, 2, 2, grad=True)
    functional.conv2d(x, w).sum().backward()
    assert x.grad is None and w.grad.shape == w.shape


def test_an_empty_batch_gives_an_empty_result():
    assert functional.conv2d(wave(0, 2, 4, 4), wave(3, 2, 2, 2)).shape == (0, 3, 3, 3)
    assert functional.conv_transpose2d(wave(0, 2, 4, 4), wave(2, 3, 2, 2)).shape == (0, 3, 5, 5)


X, W = (2, 3, 8, 8), (4, 3, 3, 3)
REFUSED = [
    ({"x": (2, 3), "w": W}, RuntimeError, r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got input of size: \[2, 3\]"),
    ({"x": X, "w": (4, 2, 3, 3)}, RuntimeError, r"Given groups=1, weight of size \[4, 2, 3, 3\], expected input\[2, 3, 8, 8\] to have 2 channels, but got 3"),
    ({"x": X, "w": (4, 3, 9, 9)}, RuntimeError, r"Calculated padded input size per channel: \(8 x 8\). Kernel size: \(9 x 9\)"),
    ({"x": X, "w": W, "bias": 5}, RuntimeError, r"expected bias to be 1-dimensional with 4 elements, but got bias of size \[5\]"),
    ({"x": X, "w": W, "stride": 0}, RuntimeError, "non-positive stride is not supported"),
    ({"x": X, "w": W, "stride": (1, 2, 3)}, RuntimeError, "expected stride to be a single integer value or a list of 2 values"),
    ({"x": X, "w": W, "padding": -1}, RuntimeError, "negative padding is not supported"),
    ({"x": X, "w": W, "dilation": 0}, RuntimeError, "non-positive dilation is not supported"),
    ({"x": X, "w": W, "padding": "same", "stride": 2}, RuntimeError, "padding='same' is not supported for strided convolutions"),
    ({"x": X, "w": W, "padding": "full"}, RuntimeError, "Invalid padding string: 'full'"),
    ({"x": X, "w": (4, 1, 3, 3), "groups": 3}, RuntimeError, "Given groups=3, expected weight to be divisible by 3"),
    ({"x": X, "w": W, "stride": 1.5}, TypeError, "argument 'stride' must be tuple of ints, not float"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "message"), REFUSED)
def test_refusals(arguments, error, message):
    arguments = dict(arguments)
    x, w = wave(*arguments.pop("x")), wave(*arguments.pop("w"))
    bias = wave(arguments.pop("bias")) if "bias" in arguments else None
    with pytest.raises(error, match=message):
        functional.conv2d(x, w, bias, **arguments)


def test_dtypes_must_agree():
    with pytest.raises(
        RuntimeError, match=r"Input type \(torch.FloatTensor\) and weight type \(torch.DoubleTensor\)"
    ):
        functional.conv2d(wave(*X, dtype=torch.float32), wave(*W))
    with pytest.raises(RuntimeError, match="and bias type"):
        functional.conv2d(wave(*X), wave(*W), wave(4, dtype=torch.float32))
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        functional.conv2d(wave(*X, dtype=torch.bool), wave(*W, dtype=torch.bool))


def test_output_padding_must_be_smaller_than_a_step():
    with pytest.raises(RuntimeError, match="output padding must be smaller than either stride or dilation"):
        functional.conv_transpose2d(wave(1, 2, 3, 3), wave(2, 1, 2, 2), output_padding=1)
    with pytest.raises(RuntimeError, match="Output size is too small"):
        functional.conv_transpose2d(wave(1, 2, 3, 3), wave(2, 1, 2, 2), padding=3)
