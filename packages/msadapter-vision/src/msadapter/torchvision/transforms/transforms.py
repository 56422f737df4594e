"""The transforms: callables over a Pillow image or a tensor. Random ones draw from torch's generator, as torchvision's do."""

import math
import numbers
import random
from collections.abc import Sequence

import msadapter.pytorch as torch
from msadapter.pytorch.nn import Module
from msadapter.torchvision.transforms import functional as F
from msadapter.torchvision.transforms._drawing import below, log_uniform, size_pair, uniform
from msadapter.torchvision.transforms._geometry import (
    ElasticTransform,
    RandomAffine,
    RandomPerspective,
    RandomRotation,
)
from msadapter.torchvision.transforms._photometric import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
    RandomVerticalFlip,
)
from msadapter.torchvision.transforms.functional import InterpolationMode, _checked_mode

__all__ = [
    "Compose",
    "ToTensor",
    "PILToTensor",
    "ConvertImageDtype",
    "ToPILImage",
    "Normalize",
    "Resize",
    "CenterCrop",
    "Pad",
    "Lambda",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "RandomResizedCrop",
    "FiveCrop",
    "TenCrop",
    "LinearTransformation",
    "ColorJitter",
    "RandomRotation",
    "RandomAffine",
    "Grayscale",
    "RandomGrayscale",
    "RandomPerspective",
    "RandomErasing",
    "GaussianBlur",
    "InterpolationMode",
    "RandomInvert",
    "RandomPosterize",
    "RandomSolarize",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomEqualize",
    "ElasticTransform",
]


# --- composition ------------------------------------------------------------------------------------------------------


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class Lambda:
    """A function of the user's as a transform. Raises TypeError where it cannot be called."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"


class RandomTransforms:
    """Base of transforms made of several. Raises TypeError unless they are given as a sequence."""

    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError(
                f"Argument transforms should be a sequence. Received: {type(transforms).__name__}"
            )
        self.transforms = transforms

    def __call__(self, *args):
        raise NotImplementedError

    def __repr__(self):
        return "\n".join([f"{type(self).__name__}(", *(f"    {t}" for t in self.transforms), ")"])


class RandomApply(Module):
    """All the transforms with probability `p`, else none of them."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img):
        if self.p < torch.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        lines = [f"{type(self).__name__}(", f"    p={self.p}", *(f"    {t}" for t in self.transforms), ")"]
        return "\n".join(lines)


class RandomOrder(RandomTransforms):
    """All the transforms, in an order that Python's `random` draws."""

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One of the transforms, drawn by Python's `random` with weights `p`."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError(f"Argument p should be a sequence. Received: {type(p).__name__}")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


# --- between pictures, arrays and tensors -----------------------------------------------------------------------------


class ToTensor:
    """A Pillow image or array of shape (H, W, C) as a tensor of shape (C, H, W); bytes become floats in [0, 1]."""

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class PILToTensor:
    """A Pillow image as a tensor of shape (C, H, W), with the same values."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ConvertImageDtype(Module):
    """A tensor image in `dtype`, its values scaled."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ToPILImage:
    """A tensor of shape (C, H, W) or array of shape (H, W, C) as a Pillow image of `mode`."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class Normalize(Module):
    """(tensor - mean) / std, channel by channel."""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class LinearTransformation(Module):
    """(flattened tensor - mean_vector) @ transformation_matrix, in the tensor's shape: whitening.

    Raises ValueError unless the matrix is square, of the vector's and the tensor's size.
    """

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(
                f"transformation_matrix should be square. Got {(rows, columns)} rectangular matrix."
            )
        if mean_vector.size(0) != rows:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.size(0)} as any one of the dimensions of the "
                f"transformation_matrix [{(rows, columns)}]"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def forward(self, tensor):
        if math.prod(tensor.shape[-3:]) != self.transformation_matrix.shape[0]:
            sizes = " x ".join(map(str, tensor.shape[-3:]))
            raise ValueError(
                f"Input tensor and transformation matrix have incompatible shape.[{sizes}] != "
                f"{self.transformation_matrix.shape[0]}"
            )
        flat = tensor.reshape(-1, self.transformation_matrix.shape[0]) - self.mean_vector
        return torch.matmul(flat, self.transformation_matrix).reshape(tensor.shape)

    def __repr__(self):
        return (
            f"{type(self).__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
            f"mean_vector={self.mean_vector.tolist()})"
        )


# --- size and place ---------------------------------------------------------------------------------------------------


class Resize(Module):
    """See `functional.resize`."""

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError(f"If size is a sequence, it should have 1 or 2 values. Received: {size}")
        self.size = size
        self.max_size = max_size
        self.interpolation = _checked_mode(interpolation)
        self.antialias = antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class CenterCrop(Module):
    """The middle of an image; a smaller image is padded with zeros."""

    def __init__(self, size):
        super().__init__()
        self.size = size_pair(size)

    def forward(self, img):
        return F.center_crop(img, self.size)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class Pad(Module):
    """See `functional.pad`."""

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        F.F_pil.four_sides(padding)
        if not isinstance(fill, (numbers.Number, tuple, list)):
            raise TypeError(f"Got inappropriate fill arg. Received: {type(fill).__name__}")
        if padding_mode not in F._PADDING_MODES:
            raise ValueError(
                f"Padding mode should be either constant, edge, reflect or symmetric. Received: {padding_mode!r}"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class RandomCrop(Module):
    """A part of (height, width) at a random place.

    Args:
        padding: added before, as in `functional.pad`.
        pad_if_needed: whether a smaller image is padded to the size; else it raises ValueError.
    """

    @staticmethod
    def get_params(img, output_size):
        """Top, left, height and width of a random part."""
        _, height, width = F.get_dimensions(img)
        crop_height, crop_width = output_size
        if height < crop_height or width < crop_width:
            raise ValueError(
                f"Required crop size {(crop_height, crop_width)} is larger than input image size {(height, width)}"
            )
        if width == crop_width and height == crop_height:
            return 0, 0, height, width
        return below(height - crop_height + 1), below(width - crop_width + 1), crop_height, crop_width

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(size_pair(size))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = F.get_dimensions(img)
            for missing in ([self.size[1] - width, 0], [0, self.size[0] - height]):
                if max(missing) > 0:
                    img = F.pad(img, missing, self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(Module):
    """A part of random place, area and proportions, resized to (height, width).

    Args:
        scale: the range of its share of the area.
        ratio: the range of its width by its height.
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation=InterpolationMode.BILINEAR,
        antialias=True,
    ):
        super().__init__()
        self.size = size_pair(size)
        for name, values in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(values, Sequence):
                raise TypeError(f"{name} should be a sequence. Received: {type(values).__name__}")
        self.scale = scale
        self.ratio = ratio
        self.interpolation = _checked_mode(interpolation)
        self.antialias = antialias

    @staticmethod
    def get_params(img, scale, ratio):
        """Top, left, height and width; the middle in the nearest permitted proportions where ten tries do not fit."""
        _, height, width = F.get_dimensions(img)
        for _ in range(10):
            area = height * width * uniform(scale[0], scale[1])
            aspect = log_uniform(ratio)
            w, h = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
            if 0 < w <= width and 0 < h <= height:
                return below(height - h + 1), below(width - w + 1), h, w
        w, h = width, height
        if width / height < min(ratio):
            h = int(round(w / min(ratio)))
        elif width / height > max(ratio):
            w = int(round(h * max(ratio)))
        return (height - h) // 2, (width - w) // 2, h, w

    def forward(self, img):
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}, scale={tuple(round(s, 4) for s in self.scale)}, "
            f"ratio={tuple(round(r, 4) for r in self.ratio)}, interpolation={self.interpolation.value}, "
            f"antialias={self.antialias})"
        )


class FiveCrop(Module):
    """The four corners and the middle: a tuple of five images."""

    def __init__(self, size):
        super().__init__()
        self.size = size_pair(size)

    def forward(self, img):
        return F.five_crop(img, self.size)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(Module):
    """`FiveCrop` of an image and of its mirror image: a tuple of ten images."""

    def __init__(self, size, vertical_flip=False):
        super().__init__()
        self.size = size_pair(size)
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"
