"""The transforms; values, order of draws and texts are those of real torchvision 0.28."""

import random

import numpy as np
import pytest
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision import transforms as T
from msadapter.torchvision.transforms import functional as F

ARRAY = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3) * 3


@pytest.fixture
def picture():
    return Image.fromarray(ARRAY)


@pytest.fixture
def tensor():
    return torch.from_numpy(ARRAY.transpose(2, 0, 1).copy())


def seeded(transform, img):
    torch.manual_seed(3)
    random.seed(3)
    return transform(img)


# --- between pictures, arrays and tensors ---


def test_to_tensor_scales_bytes_and_nothing_else(picture):
    tensor = T.ToTensor()(picture)
    assert tensor.dtype == torch.float32 and tensor.shape == (3, 4, 6) and tensor.is_contiguous()
    assert (tensor.numpy() == ARRAY.transpose(2, 0, 1).astype(np.float32) / np.float32(255)).all()
    assert T.ToTensor()(np.array([[255, 0]], np.uint8)).tolist() == [[[1.0, 0.0]]]
    assert T.ToTensor()(np.full((1, 1, 2), 300, np.int64)).tolist() == [[[300]], [[300]]]
    assert T.ToTensor()(Image.fromarray(np.array([[True, False]]))).tolist() == [[[1.0, 0.0]]]


def test_to_tensor_does_not_share_memory_with_an_array_of_bytes():
    array = np.zeros((1, 1), np.uint8)
    tensor = F.to_tensor(array)
    array[0] = 255
    assert tensor.item() == 0


def test_pil_to_tensor_keeps_the_values(picture, tensor):
    assert (T.PILToTensor()(picture) == tensor).all()


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "CMYK", "F", "I"])
def test_there_and_back(mode):
    picture = Image.fromarray(ARRAY).convert(mode)
    back = F.to_pil_image(F.pil_to_tensor(picture), mode)
    assert back.mode == mode and back.tobytes() == picture.tobytes()


def test_to_pil_image_multiplies_floats():
    assert np.asarray(T.ToPILImage()(torch.tensor([[0.0, 0.5, 1.0]]))).tolist() == [[0, 127, 255]]
    assert T.ToPILImage("F")(torch.tensor([[0.25]])).getpixel((0, 0)) == 0.25


@pytest.mark.parametrize(
    ("values", "source", "target", "expected"),
    [
        ([0.0, 0.5, 1.0], torch.float32, torch.uint8, [0, 127, 255]),
        ([0, 128, 255], torch.uint8, torch.int16, [0, 16384, 32640]),
        ([0, 1000, 32767], torch.int16, torch.uint8, [0, 7, 255]),
        ([0, 51, 255], torch.uint8, torch.float64, [0.0, 0.2, 1.0]),
    ],
)
def test_convert_image_dtype(values, source, target, expected):
    converted = T.ConvertImageDtype(target)(torch.tensor(values, dtype=source))
    assert converted.dtype == target
    assert converted.tolist() == pytest.approx(expected)


def test_normalize():
    tensor = torch.tensor([[[0.0, 1.0]], [[0.5, 0.25]]])
    result = T.Normalize((0.5, 0.5), (0.5, 0.25))(tensor)
    assert result.tolist() == [[[-1.0, 1.0]], [[0.0, -1.0]]]
    assert tensor.tolist() == [[[0.0, 1.0]], [[0.5, 0.25]]]
    T.Normalize((0.5, 0.5), (0.5, 0.25), inplace=True)(tensor)
    assert tensor.tolist() == result.tolist()


# --- size and place ---


def test_resize_of_pictures_and_tensors(picture, tensor):
    assert np.array(T.Resize((2, 3))(picture))[..., 0].tolist() == [[45, 62, 78], [129, 146, 162]]
    assert T.Resize((2, 3))(tensor)[0].tolist() == [[45, 61, 77], [130, 146, 162]]
    assert F.resize(tensor, [2, 3], antialias=False)[0].tolist() == [[32, 50, 68], [140, 158, 176]]
    nearest = F.resize(tensor, 3, interpolation=T.InterpolationMode.NEAREST)
    assert nearest[0].tolist() == [[0, 9, 27, 36], [54, 63, 81, 90], [108, 117, 135, 144]]


@pytest.mark.parametrize("mode", list(T.InterpolationMode))
def test_every_mode_resizes_pictures(mode, picture):
    assert T.Resize((2, 3), interpolation=mode)(picture).size == (3, 2)


def test_one_size_is_the_shorter_edge():
    assert F.resize(torch.zeros(3, 60, 40), 20).shape == (3, 30, 20)
    assert F.resize(torch.zeros(3, 40, 60), 20, max_size=25).shape == (3, 16, 25)
    same = torch.zeros(3, 40, 60)
    assert F.resize(same, 40) is same


@pytest.mark.parametrize("kind", ["picture", "tensor"])
def test_crops(kind, request):
    img = request.getfixturevalue(kind)

    def values(part):
        return np.array(part)[..., 0].tolist() if kind == "picture" else part[0].tolist()

    assert values(T.CenterCrop(2)(img)) == [[72, 81], [126, 135]]
    assert values(F.crop(img, -1, 4, 2, 3)) == [[0, 0, 0], [36, 45, 0]]
    assert [values(part) for part in T.FiveCrop(1)(img)] == [[[0]], [[45]], [[162]], [[207]], [[126]]]
    assert [F.get_dimensions(part) for part in T.TenCrop((2, 3))(img)] == [[3, 2, 3]] * 10
    assert F.get_dimensions(T.CenterCrop((6, 4))(img)) == [3, 6, 4]


@pytest.mark.parametrize(
    ("mode", "first_rows"),
    [
        ("edge", [[0.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 2.0, 3.0]]),
        ("reflect", [[9.0, 8.0, 9.0, 10.0, 11.0], [5.0, 4.0, 5.0, 6.0, 7.0], [1.0, 0.0, 1.0, 2.0, 3.0]]),
        ("symmetric", [[4.0, 4.0, 5.0, 6.0, 7.0], [0.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 2.0, 3.0]]),
    ],
)
def test_padding_modes(mode, first_rows):
    tensor = torch.arange(12.0).reshape(1, 3, 4)
    padded = T.Pad([1, 2, 0, 1], padding_mode=mode)(tensor)
    assert padded.shape == (1, 6, 5) and padded[0, :3].tolist() == first_rows
    picture = T.Pad([1, 2, 0, 1], padding_mode=mode)(Image.fromarray(tensor[0].numpy()))
    assert np.array(picture)[:3].tolist() == first_rows


def test_constant_and_negative_padding(picture, tensor):
    padded = F.pad(tensor, [1, 0], fill=9)
    assert padded.shape == (3, 4, 8) and padded[0, 0].tolist() == [9, 0, 9, 18, 27, 36, 45, 9]
    assert np.array(F.pad(picture, (1, 0), fill=(9, 8, 7)))[0, 0].tolist() == [9, 8, 7]
    assert F.pad(tensor, [-1, -2, 0, 0])[0].tolist() == [[117, 126, 135, 144, 153], [171, 180, 189, 198, 207]]
    assert F.pad(picture, [-1, -2, 0, 0]).size == (5, 2)


def test_padding_has_a_gradient():
    tensor = torch.ones(1, 2, 2, requires_grad=True)
    F.pad(tensor, 1, padding_mode="edge").sum().backward()
    assert tensor.grad.tolist() == [[[4.0, 4.0], [4.0, 4.0]]]


def test_flips(picture, tensor):
    assert (F.hflip(tensor).numpy() == ARRAY.transpose(2, 0, 1)[..., ::-1]).all()
    assert (F.vflip(tensor).numpy() == ARRAY.transpose(2, 0, 1)[:, ::-1]).all()
    assert (np.array(F.hflip(picture)) == ARRAY[:, ::-1]).all()
    assert (np.array(F.vflip(picture)) == ARRAY[::-1]).all()


# --- chance ---


def test_draws_are_torchvisions(tensor):
    assert seeded(T.RandomCrop(2), tensor)[0].tolist() == [[81, 90], [135, 144]]
    assert seeded(T.RandomCrop(3, padding=1), tensor)[0].tolist() == [
        [63, 72, 81],
        [117, 126, 135],
        [171, 180, 189],
    ]
    part = seeded(lambda img: T.RandomResizedCrop.get_params(img, (0.1, 0.9), (0.5, 2.0)), tensor)
    assert part == (1, 3, 2, 1)
    assert seeded(T.RandomResizedCrop(2), tensor)[0].tolist() == [[81, 81], [135, 135]]
    flip = T.RandomHorizontalFlip()
    flipped = seeded(lambda img: [bool((flip(img) != img).any()) for _ in range(8)], tensor)
    assert flipped == [True] * 6 + [False] * 2


def test_jitter_draws_an_order_and_factors():
    order, *factors = seeded(
        lambda _: T.ColorJitter.get_params((0.5, 1.5), (0.6, 1.4), None, (-0.1, 0.1)), None
    )
    assert order.tolist() == [2, 3, 1, 0]
    assert factors[:2] == pytest.approx([0.5269548296928406, 0.977291464805603])
    assert factors[2] is None and factors[3] == pytest.approx(-0.08797674626111984)


def test_jitter_applies_its_factors(tensor):
    jitter = T.ColorJitter(brightness=(2, 2))
    assert (jitter(tensor) == F.adjust_brightness(tensor, 2)).all()


def test_erasing():
    erased = seeded(T.RandomErasing(p=1, value=7), torch.zeros(1, 6, 6))
    assert erased[0, 3].tolist() == [7.0, 7.0, 0.0, 0.0, 0.0, 0.0] and erased.sum().item() == 14
    noise = seeded(T.RandomErasing(p=1, value="random", scale=(0.3, 0.33)), torch.zeros(1, 6, 6))
    assert 0 < (noise != 0).sum().item() < 18
    untouched = torch.zeros(1, 6, 6)
    assert T.RandomErasing(p=0)(untouched) is untouched


def test_choice_order_and_application():
    add = [T.Lambda(lambda x, n=n: [*x, n]) for n in (1, 2, 3)]
    assert seeded(T.RandomOrder(add), []) == [2, 3, 1]
    assert seeded(T.RandomChoice(add[:2], p=[1, 3]), []) == [1]
    apply = T.RandomApply(add[:1], p=0.4)
    assert seeded(lambda x: [len(apply(x)) for _ in range(8)], []) == [1, 1, 1, 1, 0, 1, 0, 0]


# --- light and colour ---


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda t: F.adjust_hue(t, 0.2), [[[4, 13]], [[0, 9]], [[6, 15]]]),
        (lambda t: F.adjust_contrast(t, 0.5), [[[3, 7]], [[4, 9]], [[6, 10]]]),
        (lambda t: F.adjust_saturation(t, 0.5), [[[1, 10]], [[2, 11]], [[4, 13]]]),
        (lambda t: F.adjust_brightness(t, 1.5), [[[0, 13]], [[4, 18]], [[9, 22]]]),
        (lambda t: F.adjust_gamma(t, 0.5), [[[0, 48]], [[27, 55]], [[39, 62]]]),
        (lambda t: F.rgb_to_grayscale(t), [[[2, 11]]]),
        (lambda t: F.rgb_to_grayscale(t, 3), [[[2, 11]]] * 3),
        (lambda t: F.invert(t), [[[255, 246]], [[252, 243]], [[249, 240]]]),
        (lambda t: F.posterize(t, 5), [[[0, 8]], [[0, 8]], [[0, 8]]]),
        (lambda t: F.solarize(t, 12), [[[0, 9]], [[3, 243]], [[6, 240]]]),
    ],
)
def test_colours_of_tensors(change, expected, tensor):
    result = change(tensor[:, :1, :2])
    assert result.dtype == torch.uint8 and result.tolist() == expected


def test_neighbours_of_tensors(tensor, picture):
    blurred = [
        [35, 39, 48, 57, 66, 70],
        [59, 63, 72, 81, 90, 94],
        [113, 117, 126, 135, 144, 148],
        [137, 141, 150, 159, 168, 172],
    ]
    assert F.gaussian_blur(tensor, 3, 1.0)[0].tolist() == blurred
    assert np.array(F.gaussian_blur(picture, 3, 1.0))[..., 0].tolist() == blurred
    assert (F.adjust_sharpness(tensor, 2.0) == tensor).all()  # a slope is its own mean
    assert F.autocontrast(tensor[:, :1, :3]).tolist() == [[[0, 127, 255]]] * 3
    assert (F.equalize(tensor) == tensor).all()


def test_gray_pictures_stay_gray(picture):
    gray = T.Grayscale()(picture)
    assert gray.mode == "L" and T.Grayscale(3)(picture).mode == "RGB"
    assert seeded(T.RandomGrayscale(p=1), gray).mode == "L"


# --- texts and errors ---


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (T.Compose([]), "Compose(\n)"),
        (
            T.Compose([T.CenterCrop(3), T.ToTensor()]),
            "Compose(\n    CenterCrop(size=(3, 3))\n    ToTensor()\n)",
        ),
        (T.Resize(4), "Resize(size=4, interpolation=bilinear, max_size=None, antialias=True)"),
        (T.Normalize([0.5], [0.2]), "Normalize(mean=[0.5], std=[0.2])"),
        (T.Pad(2, (1, 2, 3), "reflect"), "Pad(padding=2, fill=(1, 2, 3), padding_mode=reflect)"),
        (T.RandomApply([T.ToTensor()], 0.3), "RandomApply(\n    p=0.3\n    ToTensor()\n)"),
        (T.RandomChoice([T.ToTensor()]), "RandomChoice(\n    ToTensor()\n)(p=None)"),
        (T.RandomCrop(3, padding=2), "RandomCrop(size=(3, 3), padding=2)"),
        (T.RandomVerticalFlip(0.2), "RandomVerticalFlip(p=0.2)"),
        (
            T.RandomResizedCrop(8),
            "RandomResizedCrop(size=(8, 8), scale=(0.08, 1.0), ratio=(0.75, 1.3333), interpolation=bilinear, antialias=True)",
        ),
        (T.TenCrop(3), "TenCrop(size=(3, 3), vertical_flip=False)"),
        (
            T.ColorJitter(0.5, (0.2, 0.3)),
            "ColorJitter(brightness=(0.5, 1.5), contrast=(0.2, 0.3), saturation=None, hue=None)",
        ),
        (T.RandomPosterize(3), "RandomPosterize(bits=3,p=0.5)"),
        (T.ToPILImage("L"), "ToPILImage(mode=L)"),
        (T.GaussianBlur(3, 2.0), "GaussianBlur(kernel_size=(3, 3), sigma=(2.0, 2.0))"),
        (
            T.RandomErasing(),
            "RandomErasing(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False)",
        ),
    ],
)
def test_texts(transform, text):
    assert repr(transform) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.to_tensor("x"), TypeError, "pic should be PIL Image or ndarray. Got <class 'str'>"),
        (lambda: F.to_tensor(np.zeros(3)), ValueError, "pic should be 2/3 dimensional. Got 1 dimensions."),
        (lambda: F.to_pil_image(torch.zeros(5, 2, 2)), ValueError, "should not have > 4 channels. Got 5"),
        (lambda: F.to_pil_image(torch.zeros(2, 2, 2), "RGB"), ValueError, "Only modes .'LA'. are supported"),
        (lambda: F.to_pil_image(np.zeros((2, 2), np.int64)), TypeError, "Input type int64 is not supported"),
        (
            lambda: F.convert_image_dtype(torch.ones(1), torch.int64),
            RuntimeError,
            "cannot be performed safely",
        ),
        (
            lambda: F.normalize(torch.ones(1, 1, 1, dtype=torch.uint8), [0], [1]),
            TypeError,
            "should be a float tensor",
        ),
        (lambda: F.normalize(torch.ones(1, 1, 1), [0.0], [0.0]), ValueError, "std evaluated to zero"),
        (lambda: F.resize(torch.ones(1, 2, 2), [1, 2, 3]), ValueError, "not a 3 element tuple/list"),
        (
            lambda: F.resize(torch.ones(1, 2, 2), 1, interpolation="bilinear"),
            TypeError,
            "should be a InterpolationMode",
        ),
        (lambda: F.resize(torch.ones(1, 4, 4), 3, max_size=2), ValueError, "must be strictly greater"),
        (
            lambda: F.pad(torch.ones(1, 2, 2), 1, padding_mode="x"),
            ValueError,
            "Padding mode should be either",
        ),
        (
            lambda: F.pad(torch.ones(1, 2, 2), 2, padding_mode="reflect"),
            RuntimeError,
            "less than the corresponding",
        ),
        (lambda: F.hflip("x"), TypeError, "img should be PIL Image. Got <class 'str'>"),
        (lambda: F.five_crop(torch.ones(1, 2, 2), 3), ValueError, "bigger than input size"),
        (lambda: F.posterize(torch.ones(1, 2, 2), 3), TypeError, "Only torch.uint8 image tensors"),
        (lambda: F.adjust_hue(torch.ones(3, 2, 2), 0.7), ValueError, r"hue_factor \(0.7\) is not in"),
        (lambda: T.RandomCrop(9)(torch.ones(1, 2, 2)), ValueError, r"Required crop size \(9, 9\) is larger"),
        (lambda: T.Lambda(3), TypeError, "Argument lambd should be callable, got 'int'"),
        (lambda: T.CenterCrop([1, 2, 3]), ValueError, "Please provide only two dimensions"),
        (lambda: T.ColorJitter(hue=2), ValueError, r"hue values should be between \(-0.5, 0.5\)"),
        (lambda: T.RandomErasing(value="x"), ValueError, "If value is str, it should be 'random'"),
        (lambda: T.GaussianBlur(2), ValueError, "should be an odd and positive number"),
        (lambda: T.LinearTransformation(torch.ones(2, 3), torch.ones(2)), ValueError, "should be square"),
    ],
)
def test_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_linear_transformation():
    whiten = T.LinearTransformation(torch.tensor([[0.0, 2.0], [1.0, 0.0]]), torch.tensor([1.0, 1.0]))
    assert whiten(torch.tensor([[[3.0, 5.0]]])).tolist() == [[[4.0, 4.0]]]
