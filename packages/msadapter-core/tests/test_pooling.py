"""Pooling; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))
INF, NAN = math.inf, math.nan


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


VALUES = [
    (lambda: functional.max_pool1d(wave(1, 2, 5), 2), [[[0.955336, -0.128844], [-0.210796, 0.927478]]]),
    (
        lambda: functional.max_pool2d(wave(1, 1, 5, 4), (3, 2), 2, 1),
        [[[[0.955336, 0.540302, 0.468517], [0.927478, 0.950233, 0.468517], [0.483305, 0.94486, 0.511704]]]],
    ),
    (
        lambda: functional.max_pool2d(wave(1, 1, 5, 5), 3, 2, 1, 1, True),
        [[[[0.955336, 0.927478, 0.950233], [0.526078, 0.94486, 0.950233], [0.483305, 0.94486, 0.94486]]]],
    ),
    (
        lambda: functional.max_pool2d(wave(1, 5, 5), 2, 1, 0, 2),
        [[[0.955336, 0.540302, -0.128844], [0.933634, 0.94486, 0.950233], [0.526078, -0.1455, -0.177809]]],
    ),
    (lambda: functional.max_pool2d(wave(1, 1, 4, 4).mul(9).to(torch.int64), 2), [[[[8, 4], [8, 4]]]]),
    (
        lambda: functional.max_pool3d(wave(1, 1, 2, 4, 4), 2),
        [[[[[0.955336, 0.94486], [0.950233, 0.939525]]]]],
    ),
    (
        lambda: functional.max_pool2d_with_indices(wave(1, 1, 5, 4), (3, 2), 2, 1)[1],
        [[[[0, 1, 7], [8, 9, 7], [16, 18, 19]]]],
    ),
    (lambda: functional.max_pool3d(wave(1, 1, 2, 4, 4), 2, return_indices=True)[1], [[[[[0, 18], [9, 26]]]]]),
    (
        lambda: functional.max_pool2d(torch.tensor([[[1.0, NAN, 3.0, 2.0], [2.0, 5.0, NAN, NAN]]]), 2),
        [[[NAN, NAN]]],
    ),
    (
        lambda: functional.max_pool2d(
            torch.tensor([[[1.0, NAN, 3.0, 2.0], [2.0, 5.0, NAN, NAN]]]), 2, return_indices=True
        )[1],
        [[[1, 7]]],
    ),
    (
        lambda: functional.max_pool2d(torch.full((1, 2, 2), -INF), 2, padding=1, return_indices=True)[1],
        [[[0, 1], [2, 3]]],
    ),
    (
        lambda: functional.avg_pool1d(wave(1, 2, 5), 2, 1, 1),
        [
            [
                [0.477668, 0.747819, 0.205729, -0.433119, -0.868264, -0.499568],
                [-0.395484, -0.500882, 0.12886, 0.697998, 0.938856, 0.475116],
            ]
        ],
    ),
    (
        lambda: functional.avg_pool2d(wave(1, 1, 4, 5), 3, 2, 1),
        [[[[0.054875, 0.0954737, 0.0156869], [-0.0369124, 0.183684, 0.172668]]]],
    ),
    (
        lambda: functional.avg_pool2d(wave(1, 1, 4, 4), 3, 2, 1, True, False),
        [
            [
                [
                    [-0.073616, -0.143197, -0.134439],
                    [-0.276789, -0.130781, 0.0428956],
                    [-0.87417, -0.658197, -0.19433],
                ]
            ]
        ],
    ),
    (
        lambda: functional.avg_pool2d(wave(1, 4, 4), 2, divisor_override=3),
        [[[-0.0981547, -0.202839], [0.0431238, -0.198107]]],
    ),
    (lambda: functional.avg_pool2d(wave(1, 4, 4).mul(9).to(torch.int64), 2), [[[0, -1], [0, -1]]]),
    (lambda: functional.avg_pool3d(wave(1, 1, 2, 4, 2), 2), [[[[[0.360961], [-0.531952]]]]]),
    (
        lambda: functional.adaptive_avg_pool1d(wave(1, 2, 5), 3),
        [[[0.747819, -0.108645, -0.868264], [-0.500882, 0.395066, 0.938856]]],
    ),
    (
        lambda: functional.adaptive_avg_pool2d(wave(1, 1, 4, 5), (None, 2)),
        [[[[0.455598, -0.621791], [-0.177749, 0.782076], [-0.12269, -0.842969], [0.407536, 0.796733]]]],
    ),
    (
        lambda: functional.adaptive_avg_pool3d(wave(1, 1, 2, 3, 4), (1, 2, 3)),
        [[[[[-0.0782332, -0.0615092, -0.0158564], [0.072843, 0.074173, 0.0406183]]]]],
    ),
    (
        lambda: functional.adaptive_max_pool1d(wave(1, 2, 5), 3),
        [[[0.955336, 0.540302, -0.737394], [-0.210796, 0.927478, 0.950233]]],
    ),
    (
        lambda: functional.adaptive_max_pool2d(wave(1, 1, 4, 5), (3, 2), True)[1],
        [[[[0, 9], [10, 9], [17, 18]]]],
    ),
    (
        lambda: functional.adaptive_max_pool2d(
            torch.tensor([[[1.0, NAN], [NAN, 5.0]]]), 1, return_indices=True
        )[1],
        [[[2]]],
    ),
    (
        lambda: functional.adaptive_max_pool3d(wave(1, 1, 2, 3, 4), (1, 2, 3)),
        [[[[[0.955336, 0.94486, 0.94486], [0.950233, 0.950233, 0.94486]]]]],
    ),
    (lambda: functional.lp_pool1d(wave(1, 2, 5), 2, 2), [[[1.09754, 0.748566], [0.818575, 1.0391]]]),
    (
        lambda: functional.lp_pool2d(wave(1, 1, 4, 4), 3.0, (2, 3), 1),
        [[[[NAN, NAN], [0.669288, 0.843031], [NAN, NAN]]]],
    ),
    (
        lambda: functional.lp_pool2d(wave(1, 1, 4, 4), INF, 2),
        [[[[0.999135, 0.737394], [0.999693, 0.780568]]]],
    ),
    (lambda: functional.lp_pool3d(wave(1, 1, 2, 4, 2), 2, 2), [[[[[1.95602], [2.02355]]]]]),
    (
        lambda: functional.max_unpool1d(torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1, 2]]]), 2),
        [[[0.0, 1.0, 2.0, 0.0]]],
    ),
    (
        lambda: functional.max_unpool2d(
            torch.tensor([[[[1.0, 2.0]]]]), torch.tensor([[[[1, 7]]]]), 2, output_size=(1, 1, 2, 5)
        ),
        [[[[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0, 0.0]]]],
    ),
    (
        lambda: functional.max_unpool3d(torch.tensor([[[[[3.0]]]]]), torch.tensor([[[[[6]]]]]), 2),
        [[[[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [3.0, 0.0]]]]],
    ),
    (
        lambda: functional.fractional_max_pool2d(
            wave(1, 1, 5, 6), 2, (3, 4), _random_samples=torch.tensor([[[0.3, 0.8]]], dtype=torch.float64)
        ),
        [
            [
                [
                    [0.955336, 0.927478, 0.950233, 0.526078],
                    [0.468517, 0.927478, 0.950233, 0.933634],
                    [0.94486, 0.939525, 0.93922, 0.497186],
                ]
            ]
        ],
    ),
    (
        lambda: functional.fractional_max_pool3d(
            wave(1, 4, 4, 4),
            2,
            output_ratio=(0.7, 0.5, 0.5),
            _random_samples=torch.tensor([[[0.3, 0.8, 0.1]]], dtype=torch.float64),
        ),
        [[[[0.955336, 0.94486], [0.950233, 0.939525]], [[0.955599, 0.945151], [0.950509, 0.960418]]]],
    ),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


def test_fractional_pooling_draws_as_pytorch(same):
    torch.manual_seed(5)
    same(
        functional.fractional_max_pool2d(wave(1, 2, 5, 5, dtype=torch.float32), 2, 3),
        [
            [
                [
                    [0.955337, 0.540302, 0.950233],
                    [0.526078, 0.468517, 0.950233],
                    [0.483305, 0.933634, 0.94486],
                ],
                [
                    [0.939525, 0.939525, 0.512467],
                    [0.94515, 0.933315, 0.512467],
                    [0.927146, 0.467732, 0.950509],
                ],
            ]
        ],
    )


GRADIENTS = {
    "max, windows that overlap": (lambda x: functional.max_pool2d(x, 3, 2, 1), (1, 1, 4, 3)),
    "max, windows that do not": (lambda x: functional.max_pool2d(x, 2), (1, 1, 4, 4)),
    "avg": (lambda x: functional.avg_pool2d(x, 3, 2, 1, True, False), (1, 1, 4, 3)),
    "adaptive avg": (lambda x: functional.adaptive_avg_pool2d(x, (3, 2)), (1, 1, 4, 3)),
    "adaptive max": (lambda x: functional.adaptive_max_pool2d(x, (3, 2)), (1, 1, 4, 3)),
    "lp": (lambda x: functional.lp_pool1d(x.abs(), 3, 2), (1, 1, 4)),
    "unpool": (lambda x: functional.max_unpool1d(x, torch.tensor([[[1, 2]]]), 2), (1, 1, 2)),
    "fractional": (
        lambda x: functional.fractional_max_pool2d(x, 2, 2, _random_samples=torch.tensor([[[0.3, 0.8]]])),
        (1, 1, 4, 4),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    run, shape = GRADIENTS[name]
    assert gradcheck(run, (wave(*shape, grad=True),))
    assert gradgradcheck(lambda x: run(x) ** 2, (wave(*shape, grad=True),))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes_stay(dtype):
    x = wave(1, 1, 4, 4, dtype=dtype).requires_grad_()
    for pool in (functional.max_pool2d, functional.avg_pool2d, functional.adaptive_avg_pool2d):
        result = pool(x, 2)
        assert result.dtype == dtype
        assert torch.autograd.grad(result.sum(), x)[0].dtype == dtype


def test_an_empty_batch_gives_an_empty_result():
    x = wave(0, 2, 4, 4)
    assert functional.max_pool2d(x, 2).shape == (0, 2, 2, 2)
    assert functional.avg_pool2d(x, 2).shape == (0, 2, 2, 2)
    assert functional.adaptive_max_pool2d(x, 3).shape == (0, 2, 3, 3)


IMAGE = (1, 3, 6, 7)
REFUSED = [
    (lambda x: functional.max_pool2d(x, 2, padding=2), RuntimeError, "pad should be at most half of effective kernel size"),
    (lambda x: functional.max_pool2d(x, 2, stride=0), RuntimeError, "stride should not be zero"),
    (lambda x: functional.max_pool2d(x, 8), RuntimeError, r"Given input size: \(3x6x7\). Calculated output size: \(3x0x0\)"),
    (lambda x: functional.max_pool2d(x, (2, 2, 2)), RuntimeError, "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"),
    (lambda x: functional.max_pool2d(x, "2"), TypeError, "argument 'kernel_size' must be tuple of ints, not str"),
    (lambda x: functional.max_pool2d(x[0, 0], 2), RuntimeError, r"Expected 3D or 4D \(batch mode\) tensor"),
    (lambda x: functional.max_pool2d(x > 0, 2), NotImplementedError, "\"max_pool2d\" not implemented for 'Bool'"),
    (lambda x: functional.avg_pool2d(x, 2, divisor_override=0), RuntimeError, "divisor must be not zero"),
    (lambda x: functional.avg_pool2d(x.int(), 2), NotImplementedError, "\"avg_pool2d\" not implemented for 'Int'"),
    (lambda x: functional.adaptive_avg_pool2d(x, -1), RuntimeError, "elements of output_size must be greater than or equal to 0"),
    (lambda x: functional.adaptive_avg_pool2d(x[:, :, :0], 1), RuntimeError, "Expected input to have non-zero size for non-batch dimensions"),
    (lambda x: functional.max_unpool2d(x, torch.zeros(IMAGE).long() + 99, 1), RuntimeError, "Found an invalid max index: 99"),
    (lambda x: functional.max_unpool2d(x, torch.zeros(IMAGE), 1), RuntimeError, "elements in indices should be type int64 but got: Float"),
    (lambda x: functional.max_unpool2d(x, torch.zeros(IMAGE).long(), 2, output_size=(90, 14)), ValueError, "invalid output_size"),
    (lambda x: functional.fractional_max_pool2d(x, 2, 9), RuntimeError, "pool height 2 too large relative to input height 6"),
    (lambda x: functional.fractional_max_pool2d(x, 2), ValueError, "requires specifying either an output_size or an output_ratio"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), REFUSED)
def test_refusals(run, error, message):
    with pytest.raises(error, match=message):
        run(wave(*IMAGE))
