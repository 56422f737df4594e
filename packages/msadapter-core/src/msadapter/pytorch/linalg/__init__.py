"""torch.linalg: the operator records of that namespace."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch._ops.matrices import LinAlgError  # noqa: F401
from msadapter.pytorch._ops.registry import exports as _exports

globals().update(_exports("torch.linalg"))


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
