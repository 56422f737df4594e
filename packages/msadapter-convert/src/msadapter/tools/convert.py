"""Tensors of PyTorch as ours and back, however deep in containers, without a copy where both are on the CPU.

PyTorch is never imported to recognise its tensors, and only to make some.
"""

import copy
import importlib
import sys

import numpy as np


def convert_to_ms_tensor(data):
    """`data` with each PyTorch tensor, MindSpore tensor and NumPy array in it as a tensor of msadapter.

    Dicts, lists, tuples and named tuples keep their kind; anything else stays what it is. The tensors are outside of any
    graph. Those on the CPU share their memory with the originals, others are copied to the host.

    Raises TypeError for tensors that are not dense, and for dtypes that MindSpore does not have.
    """
    import mindspore

    import msadapter.pytorch as torch

    def convert(item):
        if isinstance(item, mindspore.Tensor):
            return torch.cast_to_adapter_tensor(item)
        if _is_torch_tensor(item):
            return torch.from_numpy(_array_of(item, torch.bfloat16))
        if isinstance(item, np.ndarray) and item.dtype.kind in "biufc":
            return torch.from_numpy(item)
        return item

    return _mapped(convert, data)


convert_tensor = convert_to_ms_tensor


def convert_to_torch_tensor(data):
    """`data` with each MindSpore tensor (ours too) in it as a PyTorch tensor, on the CPU and outside of any graph.

    Containers keep their kind. The memory is shared with the originals where they are on the CPU. Raises ImportError where
    PyTorch is not installed.
    """
    import mindspore

    import msadapter.pytorch as ours

    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ImportError("convert_to_torch_tensor makes PyTorch tensors. Run: pip install torch") from None

    def convert(item):
        if not isinstance(item, mindspore.Tensor):
            return item
        tensor = ours.cast_to_adapter_tensor(item).detach()
        if tensor.dtype == ours.bfloat16:  # NumPy has no such dtype that PyTorch would take
            return torch.from_numpy(tensor.view(ours.int16).numpy()).view(torch.bfloat16)
        return torch.from_numpy(tensor.numpy())

    return _mapped(convert, data)


def _is_torch_tensor(item):
    return any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(item).__mro__)


def _array_of(tensor, bfloat16):
    """A NumPy array over the memory of a PyTorch tensor (a copy for one on a device)."""
    torch = sys.modules["torch"]  # there, since the tensor is
    if tensor.layout != torch.strided:
        raise TypeError(
            f"only dense tensors convert; write tensor.to_dense(). Received: layout {tensor.layout}"
        )
    if tensor.is_quantized:
        raise TypeError(f"only plain tensors convert; write tensor.dequantize(). Received: {tensor.dtype}")
    host = tensor.detach().cpu().resolve_conj().resolve_neg()
    if host.dtype != torch.bfloat16:
        return host.numpy()
    from msadapter.pytorch._dtype import NUMPY

    return host.view(torch.int16).numpy().view(NUMPY[bfloat16])


def _mapped(convert, data):
    if isinstance(data, dict):
        result = copy.copy(data)  # keeps a default factory, an order, attributes
        result.update((key, _mapped(convert, value)) for key, value in data.items())
        return result
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(_mapped(convert, item) for item in data))
    if isinstance(data, (list, tuple)):
        return type(data)(_mapped(convert, item) for item in data)
    return convert(data)
