"""torch.utils. Its parts come with several distributions: `torch.utils.data` with msadapter-data."""

import importlib
from pkgutil import extend_path

from msadapter.pytorch._missing import attribute_error as _attribute_error

__path__ = extend_path(__path__, __name__)

_LAZY = ("data",)


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise _attribute_error(__name__, name, globals())


def __dir__():
    return sorted({*globals(), *_LAZY})
