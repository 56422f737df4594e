"""The transforms that change a picture where it is: with a probability, and in light and colour."""

import math
import numbers
from collections.abc import Sequence

import msadapter.pytorch as torch
from msadapter.pytorch.nn import Module
from msadapter.torchvision.transforms import functional as F
from msadapter.torchvision.transforms._drawing import below, chance, log_uniform, size_pair, uniform

# --- with a probability -----------------------------------------------------------------------------------------------


class _WithProbability(Module):
    """Base: the operation of the subclass with probability `p`; `_shown` names the attributes that its repr prints."""

    _shown: tuple[str, ...] = ("p",)

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self._apply_to(img) if chance(self.p) else img

    def __repr__(self):
        return f"{type(self).__name__}({','.join(f'{name}={getattr(self, name)}' for name in self._shown)})"


class RandomHorizontalFlip(_WithProbability):
    """Mirrored with probability `p`."""

    def _apply_to(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_WithProbability):
    """Upside down with probability `p`."""

    def _apply_to(self, img):
        return F.vflip(img)


class RandomGrayscale(_WithProbability):
    """Gray, with as many channels as before, with probability `p`."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def forward(self, img):
        channels = F.get_image_num_channels(img)
        return F.rgb_to_grayscale(img, channels) if chance(self.p) else img


class RandomInvert(_WithProbability):
    """The negative with probability `p`."""

    def _apply_to(self, img):
        return F.invert(img)


class RandomPosterize(_WithProbability):
    """Only the upper `bits` of each value, with probability `p`."""

    _shown = ("bits", "p")

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def _apply_to(self, img):
        return F.posterize(img, self.bits)


class RandomSolarize(_WithProbability):
    """Values from `threshold` on inverted, with probability `p`."""

    _shown = ("threshold", "p")

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def _apply_to(self, img):
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_WithProbability):
    """Sharpened with probability `p`."""

    _shown = ("sharpness_factor", "p")

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _apply_to(self, img):
        return F.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(_WithProbability):
    """Each channel stretched to the whole range, with probability `p`."""

    def _apply_to(self, img):
        return F.autocontrast(img)


class RandomEqualize(_WithProbability):
    """Values made equally frequent, with probability `p`."""

    def _apply_to(self, img):
        return F.equalize(img)


class RandomErasing(Module):
    """A rectangle of random place, area and proportions of a tensor image overwritten, with probability `p`.

    Args:
        scale, ratio: as in RandomResizedCrop.
        value: a number, one per channel, or "random" for normal noise.

    Raises TypeError or ValueError for other arguments.
    """

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError(
                f"Argument value should be either a number or str or a sequence. Received: {type(value).__name__}"
            )
        if isinstance(value, str) and value != "random":
            raise ValueError(f"If value is str, it should be 'random'. Received: {value!r}")
        for name, values in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(values, Sequence):
                raise TypeError(f"{name} should be a sequence. Received: {type(values).__name__}")
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError(f"Scale should be between 0 and 1. Received: {scale}")
        if not 0 <= p <= 1:
            raise ValueError(f"Random erasing probability should be between 0 and 1. Received: {p}")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """Top, left, height, width and new content; the whole image as it is where ten tries do not fit."""
        channels, height, width = img.shape[-3:]
        for _ in range(10):
            area = height * width * uniform(scale[0], scale[1])
            aspect = log_uniform(ratio)
            h, w = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
            if not (h < height and w < width):
                continue
            if value is None:
                content = torch.empty([channels, h, w], dtype=torch.float32).normal_()
            else:
                content = torch.tensor(value)[:, None, None]
            return below(height - h + 1), below(width - w + 1), h, w, content
        return 0, 0, height, width, img

    def forward(self, img):
        if not chance(self.p):
            return img
        value = self._values()
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{img.shape[-3]} (number of input channels)"
            )
        return F.erase(img, *self.get_params(img, self.scale, self.ratio, value), self.inplace)

    def _values(self):
        if isinstance(self.value, str):
            return None
        return [float(v) for v in (self.value if isinstance(self.value, (tuple, list)) else [self.value])]

    def __repr__(self):
        return (
            f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}, "
            f"inplace={self.inplace})"
        )


# --- light and colour -------------------------------------------------------------------------------------------------


class ColorJitter(Module):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    Args:
        brightness, contrast, saturation: how far the factor may be from 1, or its range.
        hue: how far the turn may be from 0, at most 0.5, or its range.

    Raises TypeError or ValueError for other arguments.
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        unbounded = (0, float("inf"))
        self.brightness = self._range("brightness", brightness, 1, unbounded)
        self.contrast = self._range("contrast", contrast, 1, unbounded)
        self.saturation = self._range("saturation", saturation, 1, unbounded)
        self.hue = self._range("hue", hue, 0, (-0.5, 0.5))

    @staticmethod
    def _range(name, value, neutral, bound):
        """(low, high) of an argument; None where it changes nothing."""
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative. Received: {value}")
            low, high = neutral - float(value), neutral + float(value)
            low = max(low, 0.0) if neutral == 1 else low
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            low, high = map(float, value)
        else:
            raise TypeError(
                f"{name} should be a single number or a list/tuple with length 2. Received: {value!r}"
            )
        if not bound[0] <= low <= high <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {[low, high]}.")
        return None if low == high == neutral else (low, high)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """The order, and a factor (or None) for each."""
        order = torch.randperm(4)
        ranges = (brightness, contrast, saturation, hue)
        return (order, *(None if bounds is None else uniform(*bounds) for bounds in ranges))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order.tolist():
            if factors[i] is not None:
                img = changes[i](img, factors[i])
        return img

    def __repr__(self):
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


class Grayscale(Module):
    """Gray, with 1 or 3 channels."""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self):
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class GaussianBlur(Module):
    """Blurred with a bell whose width is drawn from the range `sigma`; see `functional.gaussian_blur`."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = size_pair(kernel_size, "Kernel size should be a tuple/list of two integers.")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError(
                f"Kernel size value should be an odd and positive number. Received: {self.kernel_size}"
            )
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:
                raise ValueError(f"If sigma is a single number, it must be positive. Received: {sigma}")
            sigma = (sigma, sigma)
        elif not (isinstance(sigma, Sequence) and len(sigma) == 2):
            raise ValueError(
                f"sigma should be a single number or a list/tuple with length 2. Received: {sigma!r}"
            )
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Received: {sigma}")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        return uniform(sigma_min, sigma_max)

    def forward(self, img):
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def __repr__(self):
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"
