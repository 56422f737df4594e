"""The PyTorch API on MindSpore.

    import msadapter.pytorch as torch

The parts below are imported when they are first used, so `import msadapter` itself stays light:
`msadapter.pytorch` (msadapter-core), `msadapter.torchvision` (msadapter-vision) and `msadapter.tools`
(msadapter-convert). A part that is not installed raises an ImportError that says what to install.
"""

import importlib
import pkgutil

from msadapter import _parts

__version__ = "0.2.0"

# The other distributions add sub-packages to this one, also from a source folder of their own.
__path__ = pkgutil.extend_path(__path__, __name__)

_LAZY = ("pytorch", "tools", "torchvision")

_parts.install()


def __getattr__(name: str):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
