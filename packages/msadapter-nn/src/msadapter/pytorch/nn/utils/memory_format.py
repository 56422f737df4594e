"""Weights of convolutions in another order of dimensions in memory."""

from msadapter.pytorch.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module, memory_format):
    """Gives the weights of all 2-d convolutions in the module this memory format, and returns the module."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module, memory_format):
    """Gives the weights of all 3-d convolutions in the module this memory format, and returns the module."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert(module, kinds, memory_format):
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module
