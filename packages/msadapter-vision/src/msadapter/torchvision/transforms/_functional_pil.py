"""The image operations on Pillow images."""

import numbers

import numpy as np
from PIL import Image, ImageEnhance, ImageOps


def _is_pil_image(img):
    return isinstance(img, Image.Image)


def _check(img):
    if not _is_pil_image(img):
        raise TypeError(f"img should be PIL Image. Got {type(img)}")


def get_dimensions(img):
    """[channels, height, width]."""
    if not _is_pil_image(img):
        raise TypeError(f"Unexpected type {type(img)}")
    return [len(img.getbands()), img.height, img.width]


def hflip(img):
    _check(img)
    return img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    _check(img)
    return img.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img, brightness_factor):
    _check(img)
    return ImageEnhance.Brightness(img).enhance(brightness_factor)


def adjust_contrast(img, contrast_factor):
    _check(img)
    return ImageEnhance.Contrast(img).enhance(contrast_factor)


def adjust_saturation(img, saturation_factor):
    _check(img)
    return ImageEnhance.Color(img).enhance(saturation_factor)


def adjust_sharpness(img, sharpness_factor):
    _check(img)
    return ImageEnhance.Sharpness(img).enhance(sharpness_factor)


def adjust_hue(img, hue_factor):
    """The hue turned by `hue_factor` of a circle; other modes than colours stay as they are."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    _check(img)
    mode = img.mode
    if mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    # Added modulo 256, as the hue is an angle.
    turned = np.array(hue, np.uint8) + np.array(int(hue_factor * 255)).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert(mode)


def adjust_gamma(img, gamma, gain=1):
    _check(img)
    if gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number. Received: {gamma}")
    table = [int((255 + 1 - 1e-3) * gain * pow(level / 255.0, gamma)) for level in range(256)]
    # Pillow cuts the table off at 255.
    rgb = img.convert("RGB")
    return rgb.point(table * 3).convert(img.mode)


def pad(img, padding, fill=0, padding_mode="constant"):
    """See `functional.pad`. Constant padding is Pillow's, the other modes are NumPy's."""
    _check(img)
    left, top, right, bottom = four_sides(padding)
    if fill is not None and not isinstance(fill, (numbers.Number, tuple, list)):
        raise TypeError(f"Got inappropriate fill arg. Received: {type(fill).__name__}")
    if padding_mode == "constant":
        padded = ImageOps.expand(img, border=(left, top, right, bottom), fill=_fill_of(fill, img))
    else:
        padded = Image.fromarray(_padded(np.asarray(img), left, top, right, bottom, padding_mode))
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded


def _padded(array, left, top, right, bottom, mode):
    # A negative padding cuts off, which NumPy's pad does not know.
    height, width = array.shape[:2]
    array = array[max(-top, 0) : height - max(-bottom, 0), max(-left, 0) : width - max(-right, 0)]
    sides = ((max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0)))
    return np.pad(array, sides + ((0, 0),) * (array.ndim - 2), mode=mode)


def four_sides(padding):
    """Left, top, right and bottom of a padding in any of its forms."""
    if not isinstance(padding, (numbers.Number, tuple, list)):
        raise TypeError(f"Got inappropriate padding arg. Received: {type(padding).__name__}")
    sides = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,)
    if len(sides) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(sides)} element tuple"
        )
    return sides * (4 // len(sides))


def _fill_of(fill, img):
    """A fill as Pillow takes it: a number, or one for each of several channels."""
    channels = len(img.getbands())
    values = (0,) if fill is None else tuple(fill) if isinstance(fill, (list, tuple)) else (fill,)
    if len(values) == 1:
        values *= channels
    if len(values) != channels:
        raise ValueError(
            "The number of elements in 'fill' does not match the number of channels of the image "
            f"({len(values)} != {channels})"
        )
    if img.mode != "F":
        values = tuple(map(int, values))
    return values if channels > 1 else values[0]


def crop(img, top, left, height, width):
    _check(img)
    return img.crop((left, top, left + width, top + height))


def resize(img, size, interpolation=Image.Resampling.BILINEAR):
    """`size` is [height, width]."""
    _check(img)
    if not (isinstance(size, (list, tuple)) and len(size) == 2):
        raise TypeError(f"Got inappropriate size arg: {size}")
    return img.resize(tuple(size[::-1]), interpolation)


def affine(img, matrix, interpolation=Image.Resampling.NEAREST, fill=None):
    _check(img)
    return img.transform(
        img.size, Image.Transform.AFFINE, matrix, interpolation, fillcolor=_fill_of(fill, img)
    )


def rotate(img, angle, interpolation=Image.Resampling.NEAREST, expand=False, center=None, fill=None):
    _check(img)
    return img.rotate(angle, interpolation, expand, center, fillcolor=_fill_of(fill, img))


def perspective(img, perspective_coeffs, interpolation=Image.Resampling.BICUBIC, fill=None):
    _check(img)
    return img.transform(
        img.size,
        Image.Transform.PERSPECTIVE,
        perspective_coeffs,
        interpolation,
        fillcolor=_fill_of(fill, img),
    )


def to_grayscale(img, num_output_channels):
    _check(img)
    if num_output_channels == 1:
        return img.convert("L")
    if num_output_channels == 3:
        gray = np.array(img.convert("L"), dtype=np.uint8)
        return Image.fromarray(np.dstack([gray, gray, gray]), "RGB")
    raise ValueError(f"num_output_channels should be either 1 or 3. Received: {num_output_channels}")


def invert(img):
    _check(img)
    return ImageOps.invert(img)


def posterize(img, bits):
    _check(img)
    return ImageOps.posterize(img, bits)


def solarize(img, threshold):
    _check(img)
    return ImageOps.solarize(img, threshold)


def autocontrast(img):
    _check(img)
    return ImageOps.autocontrast(img)


def equalize(img):
    _check(img)
    return ImageOps.equalize(img)
