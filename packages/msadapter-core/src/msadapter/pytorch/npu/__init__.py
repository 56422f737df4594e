"""torch.npu: the Ascend NPU that MindSpore runs on, with the names of `torch.cuda`."""

from msadapter.pytorch._accelerators import module_members as _module_members
from msadapter.pytorch._missing import attribute_error as _attribute_error

globals().update(_module_members("npu"))


def __getattr__(name: str):
    raise _attribute_error(__name__, name, globals())
