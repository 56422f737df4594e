"""DataParallel: PyTorch's wrapper for several GPUs of one process, here around the one device there is."""

from msadapter.pytorch.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls the module on the one device of this process; the keys of its state_dict begin with "module.".

    Args:
        module: the module to call.
        device_ids, output_device: the device, at most one; PyTorch without a GPU does not look at them either.
        dim: the dimension that would be split.
    Raises ValueError for several devices: MindSpore has one in a process, and distributed training has several
    processes.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        _check_devices(device_ids)
        self.module = module
        self.device_ids = []
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """`module(*inputs, **module_kwargs)`: the function beside DataParallel."""
    _check_devices(device_ids)
    if not isinstance(inputs, tuple):
        inputs = () if inputs is None else (inputs,)
    return module(*inputs, **(module_kwargs or {}))


def _check_devices(device_ids):
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError(
            f"DataParallel over several devices is not possible: a MindSpore process has one device. Received "
            f"device_ids={list(device_ids)}"
        )
