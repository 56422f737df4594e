"""MindSpore's way to a gradient of one's own: a Module with `bprop(self, *inputs, out, dout)` beside its forward."""

import inspect

from msadapter.pytorch._engine.function import Function
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.native import MsTensor

_TENSOR = object()


class _CustomGradient(Function):
    @staticmethod
    def forward(ctx, module, *inputs):
        with no_grad():
            output = module.forward(*inputs)
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.module, ctx.is_tuple = module, isinstance(output, tuple)
        ctx.plain = tuple(_TENSOR if isinstance(value, MsTensor) else value for value in inputs)
        ctx.save_for_backward(*(value for value in inputs if isinstance(value, MsTensor)), *outputs)
        return output

    @staticmethod
    def backward(ctx, *grads):
        saved = list(ctx.saved_tensors)
        outputs = tuple(saved[len(saved) - len(grads) :])
        tensors = iter(saved)
        inputs = [next(tensors) if value is _TENSOR else value for value in ctx.plain]
        if not ctx.is_tuple:
            outputs, grads = outputs[0], grads[0]
        found = ctx.module.bprop(*inputs, outputs, grads)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(inputs):
            raise TypeError(
                f"{type(ctx.module).__name__}.bprop must return one gradient for each of the {len(inputs)} inputs of "
                f"forward. Received: {len(found)}"
            )
        return None, *(g if isinstance(i, MsTensor) else None for g, i in zip(found, inputs, strict=True))


def call_with_bprop(module, args, kwargs):
    """`module.forward(*args, **kwargs)`, whose gradient is the module's `bprop`."""
    if kwargs:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args = bound.args
    return _CustomGradient.apply(module, *args)
