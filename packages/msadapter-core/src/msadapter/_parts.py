"""Which distribution brings which part, for the error that a missing part raises."""

import sys

DISTRIBUTIONS = {
    "msadapter.pytorch.nn": "msadapter-nn",
    "msadapter.pytorch.optim": "msadapter-nn",
    "msadapter.pytorch.utils.data": "msadapter-data",
    "msadapter.torchvision": "msadapter-vision",
    "msadapter.tools": "msadapter-convert",
}


class MissingPart:
    """The last finder on `sys.meta_path`: asked only for modules that nothing else has found.

    A finder and not a module-level `__getattr__`, because `import msadapter.pytorch.nn as nn` never asks
    for an attribute.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return None for any name that is not a part of msadapter.

        Raises:
            ImportError: a part of msadapter whose distribution is not installed. (A
                ModuleNotFoundError would be swallowed by `from msadapter.pytorch import nn`.)
        """
        if name not in DISTRIBUTIONS:
            return None
        raise ImportError(f"{name} is not installed. Run: pip install {DISTRIBUTIONS[name]}", name=name)


def install() -> None:
    """Add the finder once, however often msadapter is imported anew."""
    if not any(getattr(finder, "__module__", None) == __name__ for finder in sys.meta_path):
        sys.meta_path.append(MissingPart)
