"""torch.utils. Its parts come with several distributions: `torch.utils.data` with msadapter-data."""

import importlib
from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

_LAZY = ("data",)


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY})
