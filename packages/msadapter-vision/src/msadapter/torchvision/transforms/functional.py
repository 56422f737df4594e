"""The image operations: each takes a Pillow image or a tensor of shape (..., C, H, W) and gives its own kind back."""

import math
import numbers
import sys
import warnings
from enum import Enum

import numpy as np
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision.transforms import _functional_pil as F_pil
from msadapter.torchvision.transforms import _functional_tensor as F_t
from msadapter.torchvision.transforms._functional_pil import _is_pil_image

_NATIVE_16 = "I;16" if sys.byteorder == "little" else "I;16B"


class InterpolationMode(Enum):
    """How pixels between pixels are made. BOX, HAMMING and LANCZOS are for Pillow images alone."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


pil_modes_mapping = {
    InterpolationMode.NEAREST: Image.Resampling.NEAREST,
    InterpolationMode.BILINEAR: Image.Resampling.BILINEAR,
    InterpolationMode.BICUBIC: Image.Resampling.BICUBIC,
    InterpolationMode.NEAREST_EXACT: Image.Resampling.NEAREST,
    InterpolationMode.BOX: Image.Resampling.BOX,
    InterpolationMode.HAMMING: Image.Resampling.HAMMING,
    InterpolationMode.LANCZOS: Image.Resampling.LANCZOS,
}


def _interpolation_modes_from_int(number):
    modes = {int(code): mode for mode, code in pil_modes_mapping.items()}
    modes[int(Image.Resampling.NEAREST)] = InterpolationMode.NEAREST
    return modes[number]


def _checked_mode(interpolation):
    if isinstance(interpolation, int):
        interpolation = _interpolation_modes_from_int(interpolation)
    elif not isinstance(interpolation, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant. "
            f"Received: {interpolation!r}"
        )
    return interpolation


def _module_for(img):
    """Where the operations on this kind of image are; what is no tensor is for Pillow to refuse."""
    return F_t if isinstance(img, torch.Tensor) else F_pil


# --- what an image is -------------------------------------------------------------------------------------------------


def get_dimensions(img):
    """[channels, height, width] of an image."""
    return _module_for(img).get_dimensions(img)


def get_image_size(img):
    """[width, height] of an image."""
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img):
    """How many channels an image has."""
    return get_dimensions(img)[0]


# --- between pictures, arrays and tensors -----------------------------------------------------------------------------


def to_tensor(pic):
    """An image or array of shape (H, W[, C]) as a tensor of shape (C, H, W).

    Bytes become floats in [0, 1] of the default dtype; other values stay as they are. Raises TypeError for other types,
    ValueError for arrays of other ranks.
    """
    if not isinstance(pic, np.ndarray) and not _is_pil_image(pic):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    array = pic if isinstance(pic, np.ndarray) else _array_of(pic)
    if array.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
    planes = _channels_first(array)
    if array.dtype != np.uint8:
        return torch.from_numpy(np.ascontiguousarray(planes))
    # Divided on the way, in one pass: a loader does this for every picture.
    real = np.float64 if torch.get_default_dtype() == torch.float64 else np.float32
    values = torch.from_numpy(np.divide(planes, real(255), dtype=real, order="C"))
    return values.to(torch.get_default_dtype())


def _array_of(pic):
    """The pixels of a Pillow image as `to_tensor` reads them."""
    kinds = {"I": np.int32, _NATIVE_16: np.int16, "F": np.float32}
    array = np.array(pic, kinds.get(pic.mode, np.uint8))
    return array * np.uint8(255) if pic.mode == "1" else array


def _channels_first(array):
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


def pil_to_tensor(pic):
    """A Pillow image as a tensor of shape (C, H, W) with the same values. Raises TypeError for anything else."""
    if not _is_pil_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return torch.from_numpy(np.ascontiguousarray(_channels_first(np.array(pic))))


def convert_image_dtype(image, dtype=torch.float32):
    """A tensor image in `dtype`, its values scaled: white stays white.

    Raises TypeError for anything but a tensor, RuntimeError where floats cannot hold the integers of `dtype`.
    """
    if not isinstance(image, torch.Tensor):
        raise TypeError(f"Input img should be Tensor Image. Got {type(image)}")
    return F_t.convert_image_dtype(image, dtype)


_MODES_OF_CHANNELS = {2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"]}
_MODES_OF_DTYPES = {"uint8": "L", "int16": _NATIVE_16, "int32": "I", "float32": "F"}


def to_pil_image(pic, mode=None):
    """A tensor of shape ([C,] H, W) or array of shape (H, W[, C]) as a Pillow image.

    Args:
        mode: Pillow's mode; default: by channels and dtype. Floats are multiplied by 255, except for mode "F".

    Raises TypeError or ValueError for types, shapes and modes that make no image.
    """
    if isinstance(pic, torch.Tensor):
        array = pic.numpy(force=True)
        array = array.transpose(1, 2, 0) if array.ndim == 3 else array
    elif isinstance(pic, np.ndarray):
        array = pic
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if array.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
    array = array[..., None] if array.ndim == 2 else array
    channels = array.shape[-1]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if np.issubdtype(array.dtype, np.floating) and mode != "F":
        array = (array * 255).astype(np.uint8)
    mode = _mode_of_one(array.dtype, mode) if channels == 1 else _mode_of_several(channels, array.dtype, mode)
    if mode is None:
        raise TypeError(f"Input type {array.dtype} is not supported")
    return Image.frombytes(mode, (array.shape[1], array.shape[0]), np.ascontiguousarray(array).tobytes())


def _mode_of_one(dtype, mode):
    expected = _MODES_OF_DTYPES.get(dtype.name)
    if mode is not None and mode != expected:
        raise ValueError(f"Incorrect mode ({mode}) supplied for input type {dtype}. Should be {expected}")
    return expected


def _mode_of_several(channels, dtype, mode):
    permitted = _MODES_OF_CHANNELS[channels]
    if mode is not None and mode not in permitted:
        raise ValueError(f"Only modes {permitted} are supported for {channels}D inputs")
    return permitted[0] if mode is None and dtype == np.uint8 else mode


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std, channel by channel; floats of shape (..., C, H, W).

    Raises TypeError for anything but a tensor of floats, ValueError for fewer dimensions or a std of zero.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    return F_t.normalize(tensor, mean, std, inplace)


# --- size and place ---------------------------------------------------------------------------------------------------


def _compute_resized_output_size(image_size, size, max_size=None):
    """[height, width] after resizing: with one number in `size`, that is the shorter edge."""
    if len(size) != 1:
        return list(size)
    height, width = image_size
    short, long = sorted((height, width))
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None:
        if max_size <= size[0]:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge "
                f"size = {size}"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if width <= height else [new_short, new_long]


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """`img` resized.

    Args:
        size: (height, width), or the length of the shorter edge, with which the other keeps the proportions.
        interpolation: one of InterpolationMode.
        max_size: what the longer edge may be at most, where `size` is the shorter one.
        antialias: whether shrinking a tensor looks at all its pixels, as it always does for Pillow images.

    Raises TypeError or ValueError for sizes and modes that make no sense.
    """
    interpolation = _checked_mode(interpolation)
    if isinstance(size, (list, tuple)):
        if len(size) not in (1, 2):
            raise ValueError(
                f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list"
            )
        if max_size is not None and len(size) != 1:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge, i.e. size should be an "
                f"int or a sequence of length 1 in torchscript mode. Received: size={size}"
            )
    elif not isinstance(size, numbers.Integral):
        raise TypeError(f"Size should be int or sequence. Got {type(size)}")
    _, height, width = get_dimensions(img)
    output = _compute_resized_output_size(
        (height, width), [size] if isinstance(size, numbers.Integral) else list(size), max_size
    )
    if [height, width] == output:
        return img
    if not isinstance(img, torch.Tensor):
        if antialias is False and interpolation in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC):
            warnings.warn(
                "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.",
                stacklevel=2,
            )
        return F_pil.resize(img, output, interpolation=pil_modes_mapping[interpolation])
    return F_t.resize(img, output, interpolation=interpolation.value, antialias=antialias)


_PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def pad(img, padding, fill=0, padding_mode="constant"):
    """`img` with more pixels around it.

    Args:
        padding: one number for all sides, two for left/right and top/bottom, or left, top, right, bottom; negative ones
            cut off.
        fill: the value for "constant"; for Pillow images also one per channel.
        padding_mode: "constant", "edge" (the last pixel again), "reflect" (mirrored without it) or "symmetric" (with it).

    Raises TypeError or ValueError for other arguments.
    """
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"Padding mode should be either constant, edge, reflect or symmetric. Received: {padding_mode!r}"
        )
    return _module_for(img).pad(img, padding, fill, padding_mode)


def crop(img, top, left, height, width):
    """The part of `height` and `width` from (top, left) on; beyond the image it is black."""
    return _module_for(img).crop(img, top, left, height, width)


def center_crop(img, output_size):
    """The middle of `img`, of (height, width) or a square; a smaller image is padded with zeros."""
    if isinstance(output_size, numbers.Number):
        output_size = (int(output_size), int(output_size))
    elif len(output_size) == 1:
        output_size = (output_size[0], output_size[0])
    crop_height, crop_width = output_size
    _, height, width = get_dimensions(img)
    if crop_width > width or crop_height > height:
        missing = [max(crop_width - width, 0), max(crop_height - height, 0)]
        img = pad(img, [missing[0] // 2, missing[1] // 2, (missing[0] + 1) // 2, (missing[1] + 1) // 2])
        _, height, width = get_dimensions(img)
        if crop_width == width and crop_height == height:
            return img
    top, left = int(round((height - crop_height) / 2.0)), int(round((width - crop_width) / 2.0))
    return crop(img, top, left, crop_height, crop_width)


def resized_crop(
    img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True
):
    """A part of `img`, resized to `size`."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img):
    """`img` mirrored, left for right."""
    return _module_for(img).hflip(img)


def vflip(img):
    """`img` upside down."""
    return _module_for(img).vflip(img)


def five_crop(img, size):
    """The four corners and the middle, each of (height, width) or a square: top left, top right, bottom left, bottom
    right, centre. Raises ValueError where the image is smaller."""
    if isinstance(size, numbers.Number):
        size = (int(size), int(size))
    elif len(size) == 1:
        size = (size[0], size[0])
    if len(size) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    _, height, width = get_dimensions(img)
    crop_height, crop_width = size
    if crop_width > width or crop_height > height:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(height, width)}")
    corners = [
        crop(img, top, left, crop_height, crop_width)
        for top in (0, height - crop_height)
        for left in (0, width - crop_width)
    ]
    return (*corners, center_crop(img, [crop_height, crop_width]))


def ten_crop(img, size, vertical_flip=False):
    """`five_crop` of the image and of its mirror image (upside down with `vertical_flip`)."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


# --- geometry ---------------------------------------------------------------------------------------------------------


def _get_inverse_affine_matrix(center, angle, translate, scale, shear, inverted=True):
    """The six numbers that lead from a place of the result to the one in the image (with `inverted=False`, back).

    The way there: move the centre to the origin, shear, rotate, scale, and move to the centre plus `translate`.
    """
    turn, (shear_x, shear_y) = math.radians(angle), map(math.radians, shear)
    (centre_x, centre_y), (move_x, move_y) = center, translate
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    if inverted:  # the determinant of the four is 1
        a, b, c, d = (value / scale for value in (d, -b, -c, a))
        from_x, from_y, to_x, to_y = centre_x + move_x, centre_y + move_y, centre_x, centre_y
    else:
        a, b, c, d = (value * scale for value in (a, b, c, d))
        from_x, from_y, to_x, to_y = centre_x, centre_y, centre_x + move_x, centre_y + move_y
    return [a, b, to_x - a * from_x - b * from_y, c, d, to_y - c * from_x - d * from_y]


def _from_the_middle(center, img):
    """A centre, counted from the corner or None, counted from the middle of the image."""
    _, height, width = get_dimensions(img)
    return [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """`img` turned counter-clockwise by `angle` degrees around `center`, (x, y), by default its middle.

    Args:
        expand: whether the result is large enough for all of it; for the default centre.
        fill: the value outside of the image, or one per channel.

    Raises TypeError or ValueError for other kinds of argument.
    """
    interpolation = _checked_mode(interpolation)
    _check_is(angle, (int, float), "angle should be int or float")
    if center is not None:
        _check_is(center, (list, tuple), "center should be a sequence")
    if not isinstance(img, torch.Tensor):
        return F_pil.rotate(img, angle, pil_modes_mapping[interpolation], expand, center, fill)
    # Counted from the middle, the way back of a clockwise turn.
    matrix = _get_inverse_affine_matrix(_from_the_middle(center, img), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    return F_t.rotate(img, matrix, interpolation.value, expand, fill)


def affine(
    img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None
):
    """`img` turned clockwise by `angle` degrees around `center`, scaled, sheared by `shear` degrees (x, or x and y), and
    moved by `translate`, (x, y) in pixels. Raises TypeError or ValueError for other kinds of argument."""
    interpolation = _checked_mode(interpolation)
    _check_is(angle, (int, float), "angle should be int or float")
    _check_is(translate, (list, tuple), "translate should be a sequence")
    _check_is(
        shear,
        (numbers.Number, list, tuple),
        "shear should be either a single value or a sequence of two values",
    )
    if len(translate) != 2:
        raise ValueError(f"Argument translate should be a sequence of length 2. Received: {translate}")
    if scale <= 0.0:
        raise ValueError(f"Argument scale should be positive. Received: {scale}")
    shear = [shear, 0.0] if isinstance(shear, numbers.Number) else list(shear) * (2 if len(shear) == 1 else 1)
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    if center is not None:
        _check_is(center, (list, tuple), "center should be a sequence")
    if not isinstance(img, torch.Tensor):
        _, height, width = get_dimensions(img)
        around = [width * 0.5, height * 0.5] if center is None else center
        matrix = _get_inverse_affine_matrix(around, angle, translate, scale, shear)
        return F_pil.affine(img, matrix, pil_modes_mapping[interpolation], fill)
    matrix = _get_inverse_affine_matrix(_from_the_middle(center, img), angle, translate, scale, shear)
    return F_t.affine(img, matrix, interpolation.value, fill)


def _check_is(value, kinds, rule):
    if not isinstance(value, kinds):
        raise TypeError(f"Argument {rule}. Received: {type(value).__name__}")


def _get_perspective_coeffs(startpoints, endpoints):
    """The eight numbers that lead from `endpoints` to `startpoints`, four corners (x, y) each; ValueError for others."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and {len(endpoints)} endpoints."
        )
    rows = []
    for (from_x, from_y), (to_x, to_y) in zip(endpoints, startpoints):
        rows.append([from_x, from_y, 1, 0, 0, 0, -to_x * from_x, -to_x * from_y])
        rows.append([0, 0, 0, from_x, from_y, 1, -to_y * from_x, -to_y * from_y])
    targets = np.array(startpoints, np.float64).reshape(8)
    return np.linalg.solve(np.array(rows, np.float64), targets).astype(np.float32).tolist()


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """`img` with its four corners `startpoints` moved to `endpoints`; both (x, y), from top left clockwise."""
    interpolation = _checked_mode(interpolation)
    coeffs = _get_perspective_coeffs(startpoints, endpoints)
    if not isinstance(img, torch.Tensor):
        return F_pil.perspective(img, coeffs, pil_modes_mapping[interpolation], fill)
    return F_t.perspective(img, coeffs, interpolation.value, fill)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Each pixel of `img` taken from where `displacement`, a tensor of shape (1, H, W, 2), leads from its own place.

    Raises TypeError for anything but a tensor, ValueError for another shape.
    """
    interpolation = _checked_mode(interpolation)
    _check_is(displacement, torch.Tensor, "displacement should be a Tensor")
    if not isinstance(img, torch.Tensor) and not _is_pil_image(img):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
    pixels = img if isinstance(img, torch.Tensor) else pil_to_tensor(img)
    expected = (1, *pixels.shape[-2:], 2)
    if tuple(displacement.shape) != expected:
        raise ValueError(
            f"Argument displacement shape should be {expected}, but given {tuple(displacement.shape)}"
        )
    result = F_t.elastic_transform(pixels, displacement, interpolation.value, fill)
    return result if pixels is img else to_pil_image(result, mode=img.mode)


# --- light and colour -------------------------------------------------------------------------------------------------


def adjust_brightness(img, brightness_factor):
    """Factor 0 is black, 1 the image, 2 twice as bright."""
    return _module_for(img).adjust_brightness(img, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Factor 0 is plain gray, 1 the image."""
    return _module_for(img).adjust_contrast(img, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Factor 0 is black and white, 1 the image."""
    return _module_for(img).adjust_saturation(img, saturation_factor)


def adjust_hue(img, hue_factor):
    """The hue turned by `hue_factor` of a circle, in [-0.5, 0.5]; ValueError outside."""
    return _module_for(img).adjust_hue(img, hue_factor)


def adjust_gamma(img, gamma, gain=1):
    """255 * gain * (img / 255) ** gamma; ValueError for a negative gamma."""
    return _module_for(img).adjust_gamma(img, gamma, gain)


def adjust_sharpness(img, sharpness_factor):
    """Factor 0 is blurred, 1 the image, 2 sharper."""
    return _module_for(img).adjust_sharpness(img, sharpness_factor)


def to_grayscale(img, num_output_channels=1):
    """A Pillow image in gray, with 1 or 3 channels."""
    if not _is_pil_image(img):
        raise TypeError(f"Input should be PIL Image. Got {type(img)}")
    return F_pil.to_grayscale(img, num_output_channels)


def rgb_to_grayscale(img, num_output_channels=1):
    """An image in gray, with 1 or 3 channels."""
    if isinstance(img, torch.Tensor):
        return F_t.rgb_to_grayscale(img, num_output_channels)
    return F_pil.to_grayscale(img, num_output_channels)


def invert(img):
    """The negative."""
    return _module_for(img).invert(img)


def posterize(img, bits):
    """Only the upper `bits` of each value, 0 to 8; tensors must be uint8."""
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    return _module_for(img).posterize(img, bits)


def solarize(img, threshold):
    """Values from `threshold` on inverted."""
    return _module_for(img).solarize(img, threshold)


def autocontrast(img):
    """Each channel stretched to the whole range."""
    return _module_for(img).autocontrast(img)


def equalize(img):
    """Each channel with its values equally frequent; tensors must be uint8."""
    return _module_for(img).equalize(img)


def gaussian_blur(img, kernel_size, sigma=None):
    """`img` blurred.

    Args:
        kernel_size: an odd number of pixels, or [x, y].
        sigma: the width of the bell, or [x, y]; default: 0.3 * ((kernel_size - 1) * 0.5 - 1) + 0.8.

    Raises TypeError or ValueError for other arguments.
    """
    kernel_size = _pair(kernel_size, "kernel_size", int)
    if any(size % 2 == 0 or size < 0 for size in kernel_size):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in kernel_size]
    sigma = _pair(sigma, "sigma", (int, float))
    if any(spread <= 0.0 for spread in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    if isinstance(img, torch.Tensor):
        return F_t.gaussian_blur(img, kernel_size, sigma)
    if not _is_pil_image(img):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
    return to_pil_image(F_t.gaussian_blur(pil_to_tensor(img), kernel_size, sigma), mode=img.mode)


def _pair(value, name, kinds):
    if not isinstance(value, (*(kinds if isinstance(kinds, tuple) else (kinds,)), list, tuple)):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(value)}")
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) not in (1, 2):
        raise ValueError(f"If {name} is a sequence, it should have length 1 or 2. Got {len(values)}")
    return values * (2 // len(values))


def erase(img, i, j, h, w, v, inplace=False):
    """A tensor image with the part of height `h` and width `w` from (i, j) on set to `v`. Raises TypeError for others."""
    if not isinstance(img, torch.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    return F_t.erase(img, i, j, h, w, v, inplace=inplace)
