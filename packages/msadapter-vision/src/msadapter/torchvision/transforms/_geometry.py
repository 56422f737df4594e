"""The transforms that turn, shear and bend a picture at random."""

import numbers
from collections.abc import Sequence

import msadapter.pytorch as torch
from msadapter.pytorch.nn import Module
from msadapter.torchvision.transforms import functional as F
from msadapter.torchvision.transforms._drawing import below, chance, uniform
from msadapter.torchvision.transforms.functional import InterpolationMode, _checked_mode


def _range_of(value, name, lengths=(2,)):
    """[low, high] in degrees of one number or a sequence; TypeError or ValueError for others."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive. Received: {value}")
        return [-float(value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(
            f"{name} should be a sequence of length {_or(lengths)}. Received: {type(value).__name__}"
        )
    if len(value) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {_or(lengths)}. Received: {value}")
    return [float(bound) for bound in value]


def _or(lengths):
    return " or ".join(map(str, lengths))


def _check_center(center):
    if center is None:
        return
    if not isinstance(center, Sequence):
        raise TypeError(f"center should be a sequence of length 2. Received: {type(center).__name__}")
    if len(center) != 2:
        raise ValueError(f"center should be a sequence of length 2. Received: {center}")


def _checked_fill(fill):
    if fill is None:
        return 0
    if not isinstance(fill, (Sequence, numbers.Number)):
        raise TypeError(f"Fill should be either a sequence or a number. Received: {type(fill).__name__}")
    return fill


def _fill_for(img, fill):
    """One value per channel of a tensor; a Pillow image takes the fill as it is."""
    if not isinstance(img, torch.Tensor):
        return fill
    if isinstance(fill, (int, float)):
        return [float(fill)] * F.get_image_num_channels(img)
    return [float(value) for value in fill]


class RandomRotation(Module):
    """Turned by a random angle; see `functional.rotate`.

    Args:
        degrees: how far to both sides, or the range.
    """

    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = _range_of(degrees, "degrees")
        _check_center(center)
        self.center = center
        self.interpolation = _checked_mode(interpolation)
        self.expand = expand
        self.fill = _checked_fill(fill)

    @staticmethod
    def get_params(degrees):
        return uniform(float(degrees[0]), float(degrees[1]))

    def forward(self, img):
        fill = _fill_for(img, self.fill)
        return F.rotate(
            img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, fill
        )

    def __repr__(self):
        parts = [
            f"degrees={self.degrees}",
            f"interpolation={self.interpolation.value}",
            f"expand={self.expand}",
        ]
        parts += [] if self.center is None else [f"center={self.center}"]
        return f"{type(self).__name__}({', '.join([*parts, f'fill={self.fill}'])})"


class RandomAffine(Module):
    """Turned, moved, scaled and sheared at random, around the middle; see `functional.affine`.

    Args:
        degrees: how far to turn to both sides, or the range.
        translate: how far to move, as shares of width and height.
        scale: the range of the factor.
        shear: how far to both sides along x, its range, or the ranges along x and y.
    """

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        interpolation=InterpolationMode.NEAREST,
        fill=0,
        center=None,
    ):
        super().__init__()
        self.degrees = _range_of(degrees, "degrees")
        for name, values in (("translate", translate), ("scale", scale)):
            if values is None:
                continue
            if not isinstance(values, Sequence):
                raise TypeError(f"{name} should be a sequence of length 2. Received: {type(values).__name__}")
            if len(values) != 2:
                raise ValueError(f"{name} should be a sequence of length 2. Received: {values}")
        if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
            raise ValueError(f"translation values should be between 0 and 1. Received: {translate}")
        if scale is not None and not all(factor > 0 for factor in scale):
            raise ValueError(f"scale values should be positive. Received: {scale}")
        _check_center(center)
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else _range_of(shear, "shear", (2, 4))
        self.interpolation = _checked_mode(interpolation)
        self.fill = _checked_fill(fill)
        self.center = center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """Angle, (x, y) to move, factor and (x, y) to shear, for an image of (width, height)."""
        angle = uniform(float(degrees[0]), float(degrees[1]))
        moved = (0, 0)
        if translate is not None:
            reaches = [float(share * size) for share, size in zip(translate, img_size)]
            moved = tuple(int(round(uniform(-reach, reach))) for reach in reaches)
        factor = 1.0 if scale_ranges is None else uniform(*scale_ranges)
        sheared = [0.0, 0.0]
        for axis in range(len(shears or ()) // 2):
            sheared[axis] = uniform(shears[2 * axis], shears[2 * axis + 1])
        return angle, moved, factor, tuple(sheared)

    def forward(self, img):
        fill = _fill_for(img, self.fill)
        _, height, width = F.get_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=fill, center=self.center)

    def __repr__(self):
        parts = [f"degrees={self.degrees}"]
        parts += [f"{n}={v}" for n in ("translate", "scale", "shear") if (v := getattr(self, n)) is not None]
        if self.interpolation != InterpolationMode.NEAREST:
            parts.append(f"interpolation={self.interpolation.value}")
        parts += [f"fill={self.fill}"] if self.fill != 0 else []
        parts += [f"center={self.center}"] if self.center is not None else []
        return f"{type(self).__name__}({', '.join(parts)})"


class RandomPerspective(Module):
    """Seen from a random side, with probability `p`; see `functional.perspective`.

    Args:
        distortion_scale: how far the corners may move inwards, from 0 to 1.
    """

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.p = p
        self.interpolation = _checked_mode(interpolation)
        self.distortion_scale = distortion_scale
        self.fill = _checked_fill(fill)

    @staticmethod
    def get_params(width, height, distortion_scale):
        """The corners of an image, and where they move to."""
        reach_x, reach_y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))

        def corner(right, bottom):
            x = below(reach_x + 1) + (width - reach_x - 1 if right else 0)
            return [x, below(reach_y + 1) + (height - reach_y - 1 if bottom else 0)]

        ends = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def forward(self, img):
        fill = _fill_for(img, self.fill)
        if not chance(self.p):
            return img
        _, height, width = F.get_dimensions(img)
        starts, ends = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, starts, ends, self.interpolation, fill)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


class ElasticTransform(Module):
    """Bent at random, as if seen through water; see `functional.elastic_transform`.

    Args:
        alpha: how strongly, or (x, y).
        sigma: how smoothly, or (x, y).
    """

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.alpha = self._pair(alpha, "alpha")
        self.sigma = self._pair(sigma, "sigma")
        self.interpolation = _checked_mode(interpolation)
        self.fill = [float(fill)] if isinstance(fill, (int, float)) else [float(value) for value in fill]

    @staticmethod
    def _pair(value, name):
        if not isinstance(value, (float, Sequence)):
            raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
        values = [value] if isinstance(value, float) else list(value)
        if len(values) not in (1, 2):
            raise ValueError(f"{name} is a sequence its length should be one of 2. Got {len(values)}")
        for number in values:
            if not isinstance(number, float):
                raise TypeError(f"{name} should be a sequence of floats. Got {type(number)}")
        return values * (2 // len(values))

    @staticmethod
    def get_params(alpha, sigma, size):
        """A displacement for an image of (height, width): smoothed noise, shape (1, height, width, 2)."""
        noise = []
        for strength, spread, edge in zip(alpha, sigma, size):
            line = torch.rand([1, 1, *size]) * 2 - 1
            if spread > 0.0:
                reach = int(8 * spread + 1)
                reach += reach % 2 == 0
                line = F.gaussian_blur(line, [reach, reach], list(sigma))
            noise.append(line * strength / edge)
        return torch.cat(noise, 1).permute(0, 2, 3, 1)

    def forward(self, tensor):
        _, height, width = F.get_dimensions(tensor)
        displacement = self.get_params(self.alpha, self.sigma, [height, width])
        return F.elastic_transform(tensor, displacement, self.interpolation, self.fill)

    def __repr__(self):
        return (
            f"{type(self).__name__}(alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}, "
            f"fill={self.fill})"
        )
