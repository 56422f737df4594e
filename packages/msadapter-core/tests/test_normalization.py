"""Normalization; expected values are those of real PyTorch 2.13."""

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
        lambda: functional.layer_norm(wave(2, 3), (3,)),
        [[1.11883, 0.189639, -1.30847], [0.930614, -1.38688, 0.456263]],
    ),
    (
        lambda: functional.layer_norm(wave(2, 2, 2), [2, 2], wave(2, 2), wave(2, 2), eps=0.1),
        [[[2.01612, 0.828212], [-0.0775345, 0.18067]], [[0.0527911, 0.202343], [-0.16289, -1.70044]]],
    ),
    (
        lambda: torch.layer_norm(wave(2, 3), (3,), wave(3)),
        [[1.06886, 0.102462, 0.168589], [0.88905, -0.749333, -0.058787]],
    ),
    (lambda: list(torch.native_layer_norm(wave(2, 3), (3,), None, None, 1e-5))[2], [[2.23884], [8.85413]]),
    (
        lambda: functional.group_norm(wave(1, 4, 2), 2, wave(4), wave(4)),
        [[[2.13661, 1.52223], [0.300696, -0.208789], [0.0103408, -0.0366916], [-0.960187, -1.83858]]],
    ),
    (
        lambda: list(torch.native_group_norm(wave(1, 4, 2), None, None, 1, 4, 2, 2, 1e-5))[1],
        [[0.15735, -0.383095]],
    ),
    (
        lambda: functional.instance_norm(wave(1, 2, 3), weight=wave(2), bias=wave(2)),
        [[[2.0242, 1.13651, -0.294695], [1.04312, -0.209031, 0.786822]]],
    ),
    (
        lambda: functional.batch_norm(wave(2, 2, 2), None, None, wave(2), wave(2), True),
        [[[2.12881, 1.65548], [0.569716, -0.199021]], [[-0.100172, 0.137233], [0.466193, 1.32432]]],
    ),
    (
        lambda: functional.batch_norm(wave(2, 2), wave(2), wave(2) ** 2, wave(2)),
        [[1.79205e-17, 3.74218e-17], [-1.08418, -1.27767]],
    ),
    (
        lambda: list(torch.native_batch_norm(wave(2, 2, 2), None, None, None, None, True, 0.1, 1e-5))[2],
        [1.19377, 2.33801],
    ),
    (
        lambda: functional.rms_norm(wave(2, 3), (3,), wave(3)),
        [[1.43048, 0.457553, 0.0260196], [-0.828747, -0.635078, 0.119892]],
    ),
    (
        lambda: functional.rms_norm(wave(2, 3) * 1e-8, (3,), eps=1e-16),
        [[0.805377, 0.455491, -0.10862], [-0.561841, -0.761269, -0.602661]],
    ),
    (
        lambda: functional.normalize(wave(2, 3)),
        [[0.864498, 0.488927, -0.116593], [-0.500847, -0.678625, -0.537235]],
    ),
    (
        lambda: functional.normalize(wave(2, 3), 1, 0),
        [[0.564376, 0.350974, -0.140077], [-0.435624, -0.649026, -0.859923]],
    ),
    (lambda: functional.normalize(torch.zeros(1, 2)), [[0.0, 0.0]]),
    (
        lambda: functional.local_response_norm(wave(1, 4, 2), 3, alpha=0.5, beta=0.8, k=1.5),
        [[[0.638474, 0.363843], [-0.079757, -0.472663], [-0.660832, -0.509829], [-0.139605, 0.31526]]],
    ),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


def test_running_statistics_move_by_momentum_with_the_unbiased_variance(same):
    mean, var = torch.zeros(2), torch.ones(2)
    view = mean[1:]
    functional.batch_norm(wave(3, 2, 2, dtype=torch.float32), mean, var, training=True, momentum=0.3)
    same(mean, [0.0791624, -0.011397])
    same(var, [0.950433, 0.766814])
    same(view, [0.0791624, -0.011397][1:])
    functional.batch_norm(wave(3, 2, 2, dtype=torch.float32), mean, var)
    same(mean, [0.0791624, -0.011397])


def test_running_statistics_of_instance_norm_are_means_over_the_batch(same):
    mean, var = torch.zeros(2), torch.ones(2)
    functional.instance_norm(wave(2, 2, 3, dtype=torch.float32), mean, var, momentum=0.5)
    same(mean, [0.212666, -0.0997239])
    same(var, [0.656802, 0.581094])


GRADIENTS = {
    "layer_norm": (lambda x, w, b: functional.layer_norm(x, (3,), w, b), [(2, 3), (3,), (3,)]),
    "group_norm": (lambda x, w: functional.group_norm(x, 2, w), [(1, 4, 2), (4,)]),
    "instance_norm": (lambda x, w: functional.instance_norm(x, weight=w), [(1, 2, 3), (2,)]),
    "batch_norm": (lambda x, w, b: functional.batch_norm(x, None, None, w, b, True), [(3, 2), (2,), (2,)]),
    "batch_norm, fixed statistics": (
        lambda x, w: functional.batch_norm(x, torch.zeros(2).double(), torch.ones(2).double(), w),
        [(2, 2), (2,)],
    ),
    "rms_norm": (lambda x, w: functional.rms_norm(x, (3,), w), [(2, 3), (3,)]),
    "normalize": (functional.normalize, [(2, 3)]),
    "local_response_norm": (lambda x: functional.local_response_norm(x, 2), [(1, 3, 2)]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    run, shapes = GRADIENTS[name]
    inputs = tuple(wave(*shape, grad=True) for shape in shapes)
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


def test_statistics_of_native_group_norm_have_gradients():
    x = wave(1, 4, 2, grad=True)
    for number in (0, 1, 2):
        assert gradcheck(
            lambda x, i=number: torch.native_group_norm(x, None, None, 1, 4, 2, 2, 1e-5)[i], (x,)
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_go_with_float32_parameters(dtype):
    x = wave(2, 4, dtype=dtype).requires_grad_()
    w, b = wave(4, dtype=torch.float32, grad=True), wave(4, dtype=torch.float32)
    result = functional.layer_norm(x, (4,), w, b)
    assert result.dtype == dtype
    grads = torch.autograd.grad(result.sum(), (x, w))
    assert [g.dtype for g in grads] == [dtype, torch.float32]
    exact = functional.layer_norm(wave(2, 4), (4,), wave(4), wave(4))
    assert torch.allclose(result.double(), exact, atol=0.02)


def test_a_large_mean_does_not_cost_the_variance():
    x = wave(2, 64, dtype=torch.float32) + 1e4
    assert functional.layer_norm(x, (64,)).std().item() == pytest.approx(1, abs=0.02)


def test_zero_elements():
    assert functional.layer_norm(wave(0, 3), (3,)).shape == (0, 3)
    assert functional.batch_norm(wave(0, 2, 3), None, None, training=True).shape == (0, 2, 3)


REFUSED = [
    (lambda: functional.layer_norm(wave(2, 3), (4,)), RuntimeError, r"Given normalized_shape=\[4\], expected input with shape \[\*, 4\]"),
    (lambda: functional.layer_norm(wave(2, 3), (3,), wave(2)), RuntimeError, "Expected weight to be of same shape as normalized_shape"),
    (lambda: functional.layer_norm(wave(2, 3), 3), TypeError, "argument 'normalized_shape'"),
    (lambda: functional.layer_norm(wave(2, 3).long(), (3,)), NotImplementedError, "\"LayerNormKernelImpl\" not implemented for 'Long'"),
    (lambda: functional.layer_norm(wave(2, 3), (3,), wave(3, dtype=torch.float32)), RuntimeError, "mixed dtype"),
    (lambda: functional.group_norm(wave(2, 3), 2), RuntimeError, "Expected number of channels in input to be divisible by num_groups"),
    (lambda: functional.group_norm(wave(1, 3), 3), ValueError, r"Expected more than 1 value per channel when training, got input size \[1, 3\]"),
    (lambda: functional.batch_norm(wave(1, 3), None, None, training=True), ValueError, "Expected more than 1 value per channel when training"),
    (lambda: functional.batch_norm(wave(2, 3), None, None), RuntimeError, "running_mean must be defined in evaluation mode"),
    (lambda: functional.batch_norm(wave(2, 3), wave(2), wave(2)), RuntimeError, "running_mean should contain 3 elements not 2"),
    (lambda: functional.batch_norm(wave(2, 3), wave(3), None), ValueError, "must either both be None or neither"),
    (lambda: functional.instance_norm(wave(2, 3, 1)), ValueError, "Expected more than 1 spatial element when training"),
    (lambda: functional.instance_norm(wave(2, 3, 2), use_input_stats=False), RuntimeError, "Expected running_mean and running_var to be defined"),
    (lambda: functional.local_response_norm(wave(2, 3), 2), ValueError, "Expected 3D or higher dimensionality"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), REFUSED)
def test_refusals(run, error, message):
    with pytest.raises(error, match=message):
        run()
