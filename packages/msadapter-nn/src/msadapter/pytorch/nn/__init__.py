"""torch.nn: modules, functions, initial values and utilities."""

from msadapter.pytorch.nn import functional, init, parallel, utils  # noqa: F401
from msadapter.pytorch.nn.modules import *  # noqa: F403
from msadapter.pytorch.nn.modules.module import Module  # noqa: F401
from msadapter.pytorch.nn.parallel import DataParallel  # noqa: F401
from msadapter.pytorch.nn.parameter import (  # noqa: F401
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)
