"""Modules whose parameters nobody needs to initialise."""

import inspect

from msadapter.pytorch import get_rng_state, set_rng_state
from msadapter.pytorch.nn.modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """`module_cls(*args, **kwargs)` with parameters of any value; the random state stays as it was.

    MindSpore has no meta device to build the module on: it is built where it belongs.
    Raises RuntimeError for what is not a Module class or takes no device.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
