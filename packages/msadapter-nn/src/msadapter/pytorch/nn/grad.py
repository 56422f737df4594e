"""Gradients of convolutions, from the shape of what they are of."""

from msadapter.pytorch._engine.grad_mode import enable_grad, is_grad_enabled
from msadapter.pytorch.autograd import grad
from msadapter.pytorch.nn import functional as F


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the input, of `input_size`, of a conv1d with this weight and gradient for its output."""
    return _of_input(F.conv1d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the weight, of `weight_size`, of a conv1d with this input and gradient for its output."""
    return _of_weight(F.conv1d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the input, of `input_size`, of a conv2d with this weight and gradient for its output."""
    return _of_input(F.conv2d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the weight, of `weight_size`, of a conv2d with this input and gradient for its output."""
    return _of_weight(F.conv2d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the input, of `input_size`, of a conv3d with this weight and gradient for its output."""
    return _of_input(F.conv3d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient for the weight, of `weight_size`, of a conv3d with this input and gradient for its output."""
    return _of_weight(F.conv3d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def _of_input(conv, size, weight, grad_output, settings):
    input = grad_output.new_zeros(size).requires_grad_()
    return _gradient(lambda: conv(input, weight, None, *settings), input, grad_output)


def _of_weight(conv, input, size, grad_output, settings):
    weight = grad_output.new_zeros(size).requires_grad_()
    return _gradient(lambda: conv(input, weight, None, *settings), weight, grad_output)


def _gradient(convolve, leaf, grad_output):
    create_graph = is_grad_enabled()
    with enable_grad():
        output = convolve()
    return grad(output, leaf, grad_output, create_graph=create_graph)[0]
