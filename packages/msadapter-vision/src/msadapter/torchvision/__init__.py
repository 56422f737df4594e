"""torchvision on MindSpore: `from msadapter import torchvision`."""

from msadapter import __version__
from msadapter.torchvision import transforms

__all__ = ["__version__", "transforms"]
