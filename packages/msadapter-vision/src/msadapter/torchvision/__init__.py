"""torchvision on MindSpore: `from msadapter import torchvision`."""

from msadapter import __version__
from msadapter.torchvision import datasets, transforms, utils

__all__ = ["__version__", "datasets", "transforms", "utils"]
