"""unfold and fold, distances and angles; expected values are those of real PyTorch 2.13."""

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
        lambda: functional.unfold(wave(1, 1, 3, 3), 2),
        [
            [
                [0.955336, 0.540302, -0.737394, -0.999135],
                [0.540302, -0.128844, -0.999135, -0.790968],
                [-0.737394, -0.999135, -0.210796, 0.468517],
                [-0.999135, -0.790968, 0.468517, 0.927478],
            ]
        ],
    ),
    (
        lambda: functional.unfold(wave(2, 3, 3), (2, 1), dilation=2, padding=(0, 1), stride=(1, 2)),
        [[0.0, 0.540302, 0.0], [0.0, 0.468517, 0.0], [0.0, 0.526078, 0.0], [0.0, 0.483305, 0.0]],
    ),
    (lambda: functional.unfold(wave(1, 1, 2, 2) > 0, 2), [[[True], [True], [False], [False]]]),
    (
        lambda: functional.fold(wave(1, 4, 4), (3, 3), 2),
        [
            [
                [
                    [0.955336, -0.458833, -0.790968],
                    [0.798634, -0.746604, -0.531176],
                    [0.526078, -0.926068, -0.19433],
                ]
            ]
        ],
    ),
    (
        lambda: functional.fold(wave(2, 4), (3, 5), (2, 1), dilation=(2, 1), padding=(0, 1), stride=(1, 2)),
        [
            [
                [0.0, 0.540302, 0.0, -0.128844, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, -0.790968, 0.0, -0.210796, 0.0],
            ]
        ],
    ),
    (lambda: functional.cosine_similarity(wave(2, 3), wave(2, 3) + 0.3), [0.970953, 0.997411]),
    (lambda: functional.cosine_similarity(wave(2, 3), wave(3), dim=-1), [1.0, -0.702141]),
    (lambda: functional.cosine_similarity(wave(2), torch.zeros(2).double(), dim=0), 0.0),
    (lambda: functional.pairwise_distance(wave(2, 3), wave(3) * 2), [1.10508, 3.4091]),
    (
        lambda: functional.pairwise_distance(wave(2, 3), wave(2, 3) * 2, p=1, keepdim=True),
        [[1.62448], [2.5275]],
    ),
    (lambda: functional.pdist(wave(3, 2)), [1.6757, 2.36479, 0.871938]),
    (lambda: functional.pdist(wave(3, 2), math.inf), [1.2777, 1.95447, 0.870291]),
    (lambda: functional.pdist(wave(1, 2)), []),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


GRADIENTS = {
    "unfold": (lambda x: functional.unfold(x, 2, 1, 1, 2) ** 2, [(1, 1, 3, 2)]),
    "fold": (lambda x: functional.fold(x, (2, 3), 2) ** 2, [(1, 4, 2)]),
    "cosine_similarity": (functional.cosine_similarity, [(2, 2), (2, 2)]),
    "pairwise_distance": (lambda x: functional.pairwise_distance(x, x * x), [(2, 2)]),
    "pdist": (functional.pdist, [(3, 2)]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    run, shapes = GRADIENTS[name]
    inputs = tuple(wave(*shape, grad=True) + 0.1 * i for i, shape in enumerate(shapes))
    inputs = tuple(t.detach().requires_grad_() for t in inputs)
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


def test_the_gradient_of_a_distance_of_zero_is_zero():
    x = torch.zeros(2, 3, requires_grad=True)
    functional.pairwise_distance(x, torch.zeros(2, 3), eps=0.0).sum().backward()
    assert not x.grad.any()


def test_the_gradient_passes_a_norm_that_counts_as_eps(same):
    x = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
    functional.cosine_similarity(x, torch.ones(1, 2).double(), eps=0.01).sum().backward()
    same(x.grad, [[70.7107, 70.7107]])


def test_zero_elements():
    assert functional.unfold(wave(0, 1, 3, 3), 2).shape == (0, 4, 4)
    assert functional.fold(wave(0, 4, 4), 3, 2).shape == (0, 1, 3, 3)
    assert functional.pdist(wave(3, 0)).tolist() == [0.0, 0.0, 0.0]


REFUSED = [
    (lambda: functional.unfold(wave(1, 1, 3, 3), 4), RuntimeError, "calculated shape of the array of sliding blocks"),
    (lambda: functional.unfold(wave(1, 1, 3, 3), 0), RuntimeError, "kernel size should be greater than zero"),
    (lambda: functional.unfold(wave(1, 1, 3, 3).long(), 2), NotImplementedError, "\"im2col_out_cpu\" not implemented for 'Long'"),
    (lambda: functional.fold(wave(1, 7, 4), 3, 2), RuntimeError, "Expected size of input's dimension 1 to be divisible by the product of kernel_size"),
    (lambda: functional.fold(wave(1, 4, 5), 3, 2), RuntimeError, r"match the calculated number of sliding blocks 2 \* 2 = 4"),
    (lambda: functional.cosine_similarity(wave(2, 2).long(), wave(2, 2).long()), RuntimeError, "expected common dtype to be floating point"),
    (lambda: functional.pdist(wave(3)), RuntimeError, "pdist only supports 2D tensors, got: 1D"),
    (lambda: functional.pdist(wave(3, 2), -1), RuntimeError, "pdist only supports non-negative p values"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), REFUSED)
def test_refusals(run, error, message):
    with pytest.raises(error, match=message):
        run()
