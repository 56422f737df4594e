"""A batch norm folded into the layer before it, for evaluation."""

import copy

from msadapter.pytorch import ones_like, rsqrt, zeros_like
from msadapter.pytorch.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of the convolution that does what `bn(conv(x))` does in eval mode.

    Raises AssertionError for modules in training mode and a norm without running statistics.
    """
    fused = _copy_for_fusion(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of the fused convolution, as Parameters; `transpose` for a transposed convolution's weight."""
    if bn_w is None:
        bn_w = ones_like(bn_rm)
    if bn_b is None:
        bn_b = zeros_like(bn_rm)
    scale = bn_w * rsqrt(bn_rv + bn_eps)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_w * scale.reshape(shape), conv_b, bn_rm, scale, bn_b)


def fuse_linear_bn_eval(linear, bn):
    """A copy of the linear layer that does what `bn(linear(x))` does in eval mode.

    Raises AssertionError for modules in training mode, a norm without running statistics, and features that differ.
    """
    fused = _copy_for_fusion(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got linear.out_features="
            f"{linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of the fused linear layer, as Parameters."""
    scale = bn_w * rsqrt(bn_rv + bn_eps)
    return _fused(linear_w, linear_w * scale.unsqueeze(-1), linear_b, bn_rm, scale, bn_b)


def _copy_for_fusion(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return copy.deepcopy(layer)


def _fused(weight, new_weight, bias, mean, scale, bn_b):
    dtype, asks_gradient = (weight.dtype, False) if bias is None else (bias.dtype, bias.requires_grad)
    new_bias = ((0 if bias is None else bias) - mean) * scale + bn_b
    return (
        Parameter(new_weight.to(dtype=weight.dtype), weight.requires_grad),
        Parameter(new_bias.to(dtype=dtype), asks_gradient),
    )
