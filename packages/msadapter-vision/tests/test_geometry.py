"""Turning, shearing and bending; values and draws are those of real torchvision 0.28."""

import numpy as np
import pytest
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision import transforms as T
from msadapter.torchvision.transforms import functional as F

BILINEAR, BICUBIC = T.InterpolationMode.BILINEAR, T.InterpolationMode.BICUBIC


@pytest.fixture
def tensor():
    return torch.arange(20.0).reshape(1, 4, 5)


@pytest.fixture
def picture():
    return Image.fromarray((np.arange(20).reshape(4, 5) * 10).astype(np.uint8))


def close_to(expected):
    return pytest.approx(np.array(expected), abs=6e-4)


def test_right_angle(tensor):
    turned = F.rotate(tensor, 90, expand=True)
    assert turned.shape == (1, 6, 5)
    assert turned[0, ::2].tolist() == [
        [4.0, 4.0, 14.0, 14.0, 0.0],
        [2.0, 2.0, 12.0, 12.0, 0.0],
        [0.0, 0.0, 10.0, 10.0, 0.0],
    ]


def test_rotate_with_a_fill(tensor, picture):
    turned = F.rotate(tensor, 30, interpolation=BILINEAR, fill=[-1.0])
    assert turned[0, :2].numpy() == close_to(
        [[-0.758, 0.627, 3.755, 7.121, 2.202], [0.853, 4.219, 7.585, 10.951, 14.317]]
    )
    assert np.array(F.rotate(picture, 30, center=(0, 0), fill=7)).tolist() == [
        [0, 60, 60, 120, 130],
        [7, 100, 110, 170, 180],
        [7, 100, 150, 160, 7],
        [7, 7, 7, 7, 7],
    ]


def test_affine(tensor, picture):
    moved = F.affine(tensor, 20, [1, 0], 1.2, [5.0, 0.0], interpolation=BILINEAR)
    assert moved[0, :2].numpy() == close_to(
        [[1.153, 4.269, 3.764, 3.097, 2.43], [5.388, 8.699, 8.032, 7.366, 6.699]]
    )
    assert np.array(F.affine(picture, 20, [1, 0], 1.2, [5.0])).tolist() == [
        [0, 50, 60, 10, 20],
        [100, 100, 60, 70, 80],
        [150, 110, 110, 120, 130],
        [150, 160, 170, 180, 130],
    ]


def test_perspective(tensor):
    seen = F.perspective(tensor, [[0, 0], [4, 0], [4, 3], [0, 3]], [[1, 0], [4, 1], [3, 3], [0, 2]])
    assert seen[0, :2].numpy() == close_to([[0.383, 0.332, 0.75, 0.189, 0.0], [6.454, 7.0, 6.0, 5.0, 2.388]])


def test_elastic(tensor, picture):
    shift = torch.zeros(1, 4, 5, 2)
    shift[..., 0] = 0.4  # one pixel of five, from -1 to 1
    assert F.elastic_transform(tensor, shift)[0].numpy() == close_to(
        [[5.0 * row + column for column in (1, 2, 3, 4)] + [0.0] for row in range(4)]
    )
    assert np.array(F.elastic_transform(picture, shift))[0].tolist() == [10, 20, 30, 40, 0]


def test_bytes_and_batches(tensor):
    batch = torch.stack([tensor, tensor]).to(torch.uint8)
    turned = F.rotate(batch, 30, interpolation=BILINEAR)
    assert turned.dtype == torch.uint8 and turned.shape == batch.shape
    assert turned[1, 0, 1].tolist() == [1, 4, 8, 11, 14]


def test_rotation_has_a_gradient(tensor):
    tensor.requires_grad_()
    F.rotate(tensor, 180, interpolation=BILINEAR).sum().backward()
    assert tensor.grad.numpy() == close_to(np.ones((1, 4, 5)))


def test_draws_are_torchvisions():
    def seeded(draw, *arguments):
        torch.manual_seed(3)
        return draw(*arguments)

    assert seeded(T.RandomRotation.get_params, [-30, 40]) == pytest.approx(-29.701553344726562)
    angle, moved, factor, sheared = seeded(
        T.RandomAffine.get_params, [-10, 10], (0.2, 0.3), (0.5, 2.0), [-5, 5, -3, 3], [50, 40]
    )
    assert (angle, moved, factor) == (pytest.approx(-9.914730072), (-8, -5), pytest.approx(0.540432214))
    assert sheared == pytest.approx((-0.2838563919, -2.639302253))
    corners = [[0, 0], [49, 0], [49, 39], [0, 39]]
    moved = [[2, 8], [42, 3], [37, 35], [5, 32]]
    assert seeded(T.RandomPerspective.get_params, 50, 40, 0.5) == (corners, moved)


@pytest.mark.parametrize(
    "transform",
    [
        T.RandomRotation(30, fill=(1,)),
        T.RandomAffine(30, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5),
        T.RandomPerspective(p=1),
        T.ElasticTransform(sigma=0.2),
    ],
)
def test_transforms_take_pictures_and_tensors(transform, tensor, picture):
    assert transform(picture).size == (5, 4)
    assert transform(tensor).shape == (1, 4, 5)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (
            T.RandomRotation(3),
            "RandomRotation(degrees=[-3.0, 3.0], interpolation=nearest, expand=False, fill=0)",
        ),
        (T.RandomAffine(3), "RandomAffine(degrees=[-3.0, 3.0])"),
        (
            T.RandomAffine((1, 2), (0.1, 0.2), (1, 2), (3, 4), BILINEAR, 3, (1, 2)),
            "RandomAffine(degrees=[1.0, 2.0], translate=(0.1, 0.2), scale=(1, 2), shear=[3.0, 4.0], "
            "interpolation=bilinear, fill=3, center=(1, 2))",
        ),
        (T.RandomPerspective(), "RandomPerspective(p=0.5)"),
        (
            T.ElasticTransform(),
            "ElasticTransform(alpha=[50.0, 50.0], sigma=[5.0, 5.0], interpolation=InterpolationMode.BILINEAR, fill=[0.0])",
        ),
    ],
)
def test_texts(transform, text):
    assert repr(transform) == text


IMAGE = np.zeros((1, 4, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: F.rotate(x, "a"), TypeError, "angle should be int or float"),
        (lambda x: F.rotate(x, 1, interpolation=BICUBIC), ValueError, "'bicubic' is unsupported with Tensor"),
        (lambda x: F.rotate(x, 1, center=3), TypeError, "center should be a sequence"),
        (
            lambda x: F.rotate(x, 1, fill=[1.0, 2.0]),
            ValueError,
            r"number of channels of the image \(2 != 1\)",
        ),
        (lambda x: F.affine(x, 1, [1], 1, [0]), ValueError, "translate should be a sequence of length 2"),
        (lambda x: F.affine(x, 1, 3, 1, [0]), TypeError, "translate should be a sequence"),
        (lambda x: F.affine(x, 1, [1, 1], 0, [0]), ValueError, "scale should be positive"),
        (lambda x: F.perspective(x, [[0, 0]], [[0, 0]]), ValueError, "provide exactly four corners, got 1"),
        (lambda x: F.elastic_transform(x, 3), TypeError, "displacement should be a Tensor"),
        (lambda x: F.elastic_transform(x, torch.zeros(1, 1, 5, 2)), ValueError, r"should be \(1, 4, 5, 2\)"),
        (lambda x: T.RandomRotation([1]), ValueError, "degrees should be a sequence of length 2"),
        (lambda x: T.RandomRotation(-1), ValueError, "must be positive"),
        (lambda x: T.RandomAffine(3, shear=[1]), ValueError, "shear should be a sequence of length 2 or 4"),
        (lambda x: T.RandomAffine(3, translate=(2, 0)), ValueError, "should be between 0 and 1"),
        (lambda x: T.RandomPerspective(fill={}), TypeError, "Fill should be either a sequence or a number"),
        (lambda x: T.ElasticTransform(alpha=3), TypeError, "alpha should be float or a sequence of floats"),
    ],
)
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.from_numpy(IMAGE))
