"""torch.cuda: not available on a CPU or an Ascend NPU, and harmless there. `torch.npu` is the module for Ascend."""

from msadapter.pytorch._accelerators import module_members as _module_members
from msadapter.pytorch._missing import attribute_error as _attribute_error

globals().update(_module_members("cuda"))


def __getattr__(name: str):
    raise _attribute_error(__name__, name, globals())
