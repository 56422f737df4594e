"""torch.nn: modules, functions, initial values and utilities."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.nn import attention, common_types, functional, grad, init, parallel, utils  # noqa: F401
from msadapter.pytorch.nn.modules import *  # noqa: F403
from msadapter.pytorch.nn.modules.module import Module  # noqa: F401
from msadapter.pytorch.nn.parallel import DataParallel  # noqa: F401
from msadapter.pytorch.nn.parameter import (  # noqa: F401
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)


def factory_kwargs(kwargs):
    """The device, dtype and memory_format among a layer's keyword arguments, for the functions that make its tensors.

    They may also be in a dictionary under `factory_kwargs`. Raises TypeError for other names, and for one given twice.
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    unexpected = kwargs.keys() - names - {"factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in names & kwargs.keys():
        if name in found:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        found[name] = kwargs[name]
    return found


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
