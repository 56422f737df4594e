"""The layers, one file per family as in PyTorch."""

from msadapter.pytorch.nn.modules.activation import *  # noqa: F403
from msadapter.pytorch.nn.modules.container import *  # noqa: F403
from msadapter.pytorch.nn.modules.linear import *  # noqa: F403
from msadapter.pytorch.nn.modules.module import *  # noqa: F403
from msadapter.pytorch.nn.modules.module import Module  # noqa: F401
