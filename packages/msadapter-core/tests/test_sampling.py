"""grid_sample and affine_grid; expected values are those of real PyTorch 2.13."""

import math

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.sampling import affine_grid, grid_sample


def picture():
    return torch.tensor((np.arange(6.0) ** 1.5).reshape(1, 1, 2, 3))


GRID = torch.tensor([[[[-1.0, -1.0], [0.2, 0.1], [1.3, -0.4]]]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [0.0, 5.9919, 0.1832]),
        ({"align_corners": True}, [0.0, 5.3644, 3.7338]),
        ({"mode": "nearest"}, [0.0, 8.0, 0.0]),
        ({"mode": "bicubic"}, [-0.2746, 7.8086, 0.1515]),
        ({"padding_mode": "border"}, [0.0, 5.9919, 3.6636]),
        (
            {"mode": "bicubic", "padding_mode": "reflection", "align_corners": True},
            [0.0, 5.7399, 4.3403],
        ),
    ],
)
def test_values(arguments, expected):
    arguments = {"align_corners": False} | arguments
    result = grid_sample(picture(), GRID, **arguments)
    assert result.numpy()[0, 0, 0].tolist() == pytest.approx(expected, abs=5.1e-5)
    half = grid_sample(picture().to(torch.float16), GRID.to(torch.float16), **arguments)
    assert half.dtype == torch.float16 and half[0, 0, 0].tolist() == pytest.approx(expected, abs=2e-2)


def test_what_lies_outside_does_not_touch_the_result():
    source = torch.full((1, 1, 1, 2), math.inf, dtype=torch.float64)
    source[0, 0, 0, 1] = 1.0
    right = torch.tensor([[[[1.0, 0.0]]]], dtype=torch.float64)
    assert grid_sample(source, right, align_corners=True).item() == 1.0


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_gradients_are_differences(mode, padding_mode):
    source, grid = picture().requires_grad_(), GRID.clone().requires_grad_()
    weights = torch.tensor([[[[1.0, -2.0, 3.0]]]], dtype=torch.float64)

    def loss(source, grid):
        return (grid_sample(source, grid, mode, padding_mode, True) * weights).sum()

    loss(source, grid).backward()
    step = 1e-6
    for tensor, others in ((source, lambda t: (t, GRID)), (grid, lambda t: (picture(), t))):
        values = tensor.detach().numpy().copy()
        for place in np.ndindex(values.shape):
            if tensor is grid and place[-2] == 0:
                continue  # a corner of the picture: a kink
            sides = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] += sign * step
                sides.append(loss(*others(torch.tensor(moved))).item())
            assert tensor.grad.numpy()[place] == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-6)


def test_affine_grid():
    theta = torch.tensor([[[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]]], requires_grad=True)
    grid = affine_grid(theta, (1, 1, 2, 2), align_corners=False)
    assert grid.tolist() == [[[[0.0, -1.0], [1.0, -1.0]], [[0.0, 1.0], [1.0, 1.0]]]]
    aligned = affine_grid(theta, (1, 1, 2, 2), align_corners=True)
    assert aligned.tolist() == [[[[-0.5, -2.0], [1.5, -2.0]], [[-0.5, 2.0], [1.5, 2.0]]]]
    grid.sum().backward()
    assert theta.grad.tolist() == [[[0.0, 0.0, 4.0], [0.0, 0.0, 4.0]]]
    assert affine_grid(torch.zeros(2, 3, 4), (2, 1, 2, 3, 4), align_corners=True).shape == (2, 2, 3, 4, 3)


def test_the_default_of_the_corners_is_announced():
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        assert grid_sample(picture(), GRID)[0, 0, 0, 1].item() == pytest.approx(5.9919, abs=5.1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: grid_sample(picture(), GRID, mode="cubic"), ValueError, "expected mode to be"),
        (lambda: grid_sample(picture(), GRID, padding_mode="x"), ValueError, "expected padding_mode to be"),
        (lambda: grid_sample(picture(), GRID.to(torch.float32)), RuntimeError, "expected scalar type Double"),
        (lambda: grid_sample(picture(), torch.cat([GRID, GRID])), RuntimeError, "same batch size"),
        (lambda: grid_sample(picture(), GRID[..., :1]), RuntimeError, "size 2 in last dimension"),
        (lambda: grid_sample(picture()[:, :, :0], GRID), RuntimeError, "dimension 2 being empty"),
        (lambda: affine_grid(torch.ones(1, 3, 3), (1, 1, 2, 3)), ValueError, "shape Nx2x3 for size"),
        (lambda: affine_grid(torch.ones(1, 2, 3), (1, 2, 3)), NotImplementedError, "only supports 4D and 5D"),
        (
            lambda: affine_grid(torch.ones(1, 2, 3), (1, 0, 2, 3)),
            ValueError,
            "non-zero, positive output size",
        ),
    ],
)
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
