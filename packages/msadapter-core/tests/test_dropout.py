"""Dropout draws as PyTorch 2.13 does from the same seed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


def seeded(name, *args, **arguments):
    torch.manual_seed(7)
    return getattr(functional, name)(*args, **arguments)


VALUES = [
    (
        lambda: seeded("dropout", wave(2, 4, dtype=torch.float32), 0.4),
        [[1.59223, 0.900504, 0.0, 0.0], [0.0, 0.0, -0.351326, 0.780861]],
    ),
    (
        lambda: seeded("dropout", wave(4, 2, dtype=torch.float32).t(), 0.4),
        [[1.59223, 0.0, 0.0, -0.351326], [0.900504, 0.0, 0.0, 0.780861]],
    ),
    (
        lambda: seeded("dropout", wave(2, 4, dtype=torch.float16), 0.3),
        [[1.36523, 0.772461, 0.0, -1.05371], [0.0, 0.0, -0.30127, 0.669434]],
    ),
    (lambda: seeded("dropout", wave(3), 1.0), [0.0, 0.0, 0.0]),
    (lambda: seeded("dropout1d", wave(3, 2), 0.5), [[1.91067, 1.0806], [-0.257689, -1.47479], [0.0, 0.0]]),
    (
        lambda: seeded("dropout2d", wave(1, 3, 1, 2), 0.5),
        [[[[1.91067, 1.0806]], [[-0.257689, -1.47479]], [[0.0, 0.0]]]],
    ),
    (
        lambda: seeded("dropout3d", wave(1, 3, 1, 1, 2), 0.5),
        [[[[[1.91067, 1.0806]]], [[[-0.257689, -1.47479]]], [[[0.0, 0.0]]]]],
    ),
    (
        lambda: seeded("alpha_dropout", wave(2, 3, dtype=torch.float32), 0.4, True),
        [[1.43182, 1.07353, -0.910642], [-0.910642, -0.910642, -0.910642]],
    ),
    (
        lambda: seeded("feature_alpha_dropout", wave(2, 2, 2), 0.4, True),
        [[[1.43182, 1.07353], [0.495865, -0.0294845]], [[-0.910642, -0.910642], [-0.910642, -0.910642]]],
    ),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


NAMES = ["dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout"]


@pytest.mark.parametrize("name", NAMES)
def test_outside_training_the_input_itself_comes_back_and_nothing_is_drawn(name):
    x = wave(2, 3, 2, grad=True)
    state = torch.random.get_rng_state()
    drop = getattr(functional, name)
    assert drop(x, 0.5, training=False) is x
    assert drop(x, 0.0, training=True) is x
    assert drop(x, 0.5, training=False, inplace=True) is x
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("name", NAMES)
def test_in_place_writes_what_it_returns(name):
    x = wave(2, 3, 2)
    expected = seeded(name, wave(2, 3, 2), 0.4, True)
    view = x[1]
    assert seeded(name, x, 0.4, True, inplace=True) is x
    assert torch.equal(x, expected) and torch.equal(view, expected[1])


def test_the_gradient_is_dropped_where_the_element_was():
    x = wave(4, 3, grad=True)
    result = functional.dropout(x, 0.5)
    result.sum().backward()
    assert torch.equal(x.grad, (result != 0) * 2.0)
    assert gradgradcheck(lambda x: seeded("dropout", x, 0.5) ** 2, (wave(3, grad=True),))


def test_an_infinite_element_that_is_dropped_is_nan():
    assert functional.dropout(torch.tensor([math.inf]), 1.0).isnan().all()


@pytest.mark.parametrize("name", NAMES)
def test_refusals(name):
    drop = getattr(functional, name)
    for p in (-0.1, 1.5):
        with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
            drop(wave(2, 3), p)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        drop(wave(2, 3).long(), 0.5, True)
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexDouble'"):
        drop(torch.complex(wave(2, 3), wave(2, 3)), 0.5, True)
    with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1"):
        torch.dropout(wave(2), 1.5, True)


def test_ranks():
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 4D input"):
        functional.dropout1d(wave(1, 1, 1, 1))
    with pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        functional.feature_alpha_dropout(wave(2), 0.5, True)
    with pytest.warns(UserWarning, match="Received a 3D input to dropout2d"):
        functional.dropout2d(wave(1, 2, 3))
    with pytest.warns(UserWarning, match="Received a 2-D input to dropout3d"):
        functional.dropout3d(wave(2, 3))


def test_native_dropout_gives_its_mask():
    result, kept = torch.native_dropout(wave(3, 4), 0.5, True)
    assert kept.dtype == torch.bool and torch.equal(result, wave(3, 4) * kept * 2)
