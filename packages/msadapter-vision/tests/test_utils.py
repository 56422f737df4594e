"""make_grid and save_image; values are those of real torchvision 0.28."""

import io

import numpy as np
import pytest
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision.utils import make_grid, save_image


def test_grid_of_gray_pictures():
    grid = make_grid(torch.arange(12.0).reshape(3, 1, 2, 2), nrow=2, padding=1, pad_value=-1)
    assert grid.shape == (3, 7, 7)
    assert grid[0].tolist() == grid[2].tolist()
    assert grid[1, :5].tolist() == [
        [-1.0] * 7,
        [-1.0, 0.0, 1.0, -1.0, 4.0, 5.0, -1.0],
        [-1.0, 2.0, 3.0, -1.0, 6.0, 7.0, -1.0],
        [-1.0] * 7,
        [-1.0, 8.0, 9.0, -1.0, -1.0, -1.0, -1.0],
    ]


def test_normalized_together_or_each():
    pictures = torch.tensor([[[[0.0, 2.0]]], [[[4.0, 8.0]]]])
    together = make_grid(pictures, padding=0, normalize=True)
    assert together[0].tolist() == [[0.0, 0.25, 0.5, 1.0]]
    each = make_grid(pictures, padding=0, normalize=True, scale_each=True)
    assert each[0].tolist() == [[0.0, 1.0, 0.0, 1.0]]
    cut = make_grid(pictures, padding=0, normalize=True, value_range=(1, 5))
    assert cut[0].tolist() == [[0.0, 0.25, 0.75, 1.0]]
    assert pictures.tolist() == [[[[0.0, 2.0]]], [[[4.0, 8.0]]]]


def test_one_picture_and_lists():
    assert make_grid(torch.ones(2, 2)).shape == (3, 2, 2)
    assert make_grid([torch.ones(3, 2, 2)] * 2, padding=0).shape == (3, 2, 4)
    with pytest.raises(TypeError, match="tensor or list of tensors expected, got <class 'str'>"):
        make_grid("x")


def test_saved_values_are_rounded():
    file = io.BytesIO()
    save_image(torch.tensor([[0.0, 0.5, 1.0]]), file, format="png")
    assert np.array(Image.open(file))[0].tolist() == [[0, 0, 0], [128, 128, 128], [255, 255, 255]]
