"""Tools beside the PyTorch API: tensors between PyTorch and here, and the command line.

Importing this loads neither MindSpore nor PyTorch: `msadapter doctor` must run where one of them is broken.
"""

from msadapter.tools.convert import convert_tensor, convert_to_ms_tensor, convert_to_torch_tensor

__all__ = ["convert_tensor", "convert_to_ms_tensor", "convert_to_torch_tensor"]
