"""torchvision.transforms: from pictures to tensors, and random changes on the way."""

from msadapter.torchvision.transforms import functional
from msadapter.torchvision.transforms.transforms import *  # noqa: F403
from msadapter.torchvision.transforms.transforms import __all__ as _names

__all__ = [*_names, "functional"]
