"""Convolutions and transposed convolutions in one to three dimensions."""

import math

from msadapter.pytorch import empty
from msadapter.pytorch.nn import functional as F
from msadapter.pytorch.nn import init
from msadapter.pytorch.nn.modules.lazy import LazyModuleMixin
from msadapter.pytorch.nn.modules.module import Module
from msadapter.pytorch.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from msadapter.pytorch.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_PADDING_NAMES = {"same", "valid"}
_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions share: checks, parameters, initial values, repr."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        bias,
        padding_mode,
        device=None,
        dtype=None,
    ):
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        _check_padding(padding, padding_mode, stride)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._explicit_padding()
        self.weight = Parameter(empty(self._weight_shape(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self):
        if self.transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _explicit_padding(self):
        """The padding in the order of `F.pad`, for the modes that need it done beforehand."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        if self.padding == "valid":
            return [0, 0] * len(self.kernel_size)
        explicit = []
        for dilation, size in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = dilation * (size - 1)
            explicit += [total // 2, total - total // 2]
        return explicit

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                text += f", {name}={value}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check_channels(in_channels, out_channels, groups):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")


def _check_padding(padding, padding_mode, stride):
    if isinstance(padding, str):
        if padding not in _PADDING_NAMES:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {_PADDING_NAMES}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'"
        )


class _Convolution(_ConvNd):
    """A convolution over `_dims` dimensions, computed by `_function`."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            padding if isinstance(padding, str) else sizes(padding),
            sizes(dilation),
            False,
            sizes(0),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _conv_forward(self, input, weight, bias):
        function = getattr(F, self._function)
        if self.padding_mode == "zeros":
            return function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return function(padded, weight, bias, self.stride, (0,) * self._dims, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """Convolution of (N, C, L) or (C, L) with a kernel of size (out_channels, in_channels / groups, K)."""

    _dims, _function = 1, "conv1d"


class Conv2d(_Convolution):
    """Convolution of (N, C, H, W) or (C, H, W) with a kernel (out_channels, in_channels / groups, KH, KW)."""

    _dims, _function = 2, "conv2d"


class Conv3d(_Convolution):
    """Convolution of (N, C, D, H, W) or (C, D, H, W) with a kernel (out_channels, in_channels / groups, KD, KH, KW)."""

    _dims, _function = 3, "conv3d"


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution over `_dims` dimensions, computed by `_function`."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        sizes = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            sizes(kernel_size),
            sizes(stride),
            sizes(padding),
            sizes(dilation),
            True,
            sizes(output_padding),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _output_padding(self, input, output_size):
        """The padding that gives `output_size`. Raises ValueError where no padding does."""
        if output_size is None:
            return self.output_padding
        leading = input.dim() - self._dims
        if len(output_size) == leading + self._dims:
            output_size = output_size[leading:]
        if len(output_size) != self._dims:
            raise ValueError(
                f"ConvTranspose{self._dims}D: for {input.dim()}D input, output_size must have {self._dims} or "
                f"{leading + self._dims} elements (got {len(output_size)})"
            )
        smallest = [
            (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
            for size, stride, padding, dilation, kernel in zip(
                input.shape[leading:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        largest = [size + stride - 1 for size, stride in zip(smallest, self.stride, strict=True)]
        if not all(
            low <= size <= high for low, size, high in zip(smallest, output_size, largest, strict=True)
        ):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {input.size()[2:]})"
            )
        return tuple(size - low for size, low in zip(output_size, smallest, strict=True))

    def forward(self, input, output_size=None):
        return getattr(F, self._function)(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d with respect to its input, as a layer; `output_size` in the call picks the size."""

    _dims, _function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d with respect to its input, as a layer; `output_size` in the call picks the size."""

    _dims, _function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d with respect to its input, as a layer; `output_size` in the call picks the size."""

    _dims, _function = 3, "conv_transpose3d"


class _LazyConv(LazyModuleMixin):
    """A convolution whose `in_channels` is that of the first input."""

    _bias_position = 4  # among the arguments after kernel_size, for both kinds

    def __init__(self, out_channels, kernel_size, *args, bias=True, device=None, dtype=None, **kwargs):
        args = list(args)
        if len(args) > self._bias_position:
            bias, args[self._bias_position] = args[self._bias_position], False
        else:
            kwargs["bias"] = False
        super().__init__(0, 0, kernel_size, *args, device=device, dtype=dtype, **kwargs)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels_of(input)
        _check_channels(self.in_channels, self.out_channels, self.groups)
        self.weight.materialize(self._weight_shape())
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _channels_of(self, input):
        without_batch = self._dims + 1
        if input.dim() not in (without_batch, without_batch + 1):
            raise RuntimeError(
                f"Expected {without_batch}D (unbatched) or {without_batch + 1}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.shape[-without_batch]


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes `in_channels` from its first input; it is a Conv1d from then on."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes `in_channels` from its first input; it is a Conv2d from then on."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes `in_channels` from its first input; it is a Conv3d from then on."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """A ConvTranspose1d that takes `in_channels` from its first input; it is a ConvTranspose1d from then on."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """A ConvTranspose2d that takes `in_channels` from its first input; it is a ConvTranspose2d from then on."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """A ConvTranspose3d that takes `in_channels` from its first input; it is a ConvTranspose3d from then on."""

    cls_to_become = ConvTranspose3d
