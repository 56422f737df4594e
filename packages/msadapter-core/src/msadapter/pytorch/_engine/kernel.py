"""NumPy kernels: one function over arrays, with its gradient and its reason, run on the CPU alone.

    @kernel(reason="x / -0.0 gives +inf", saves=("input", "other"))
    def true_divide(input, other):
        return np.true_divide(input, other)

    @true_divide.gradient
    def _(ctx, grad):
        input, other = ctx.saved
        return grad / other, -grad * input / (other * other)

The body takes arrays where tensors are passed, and returns an array or a tuple of arrays. The gradient is written in
operators of ours, so that it can be differentiated again; it returns one gradient (or None) per tensor argument.
`saves` names what it reads: arguments, or "out" (the first output).
"""

import inspect

import numpy as np

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._tensor import Tensor


class Kernel:
    """A NumPy body with its gradient; call it with tensors."""

    def __init__(self, function, reason, saves):
        self.function = function
        self.name = function.__name__
        self.reason = reason
        self.__doc__ = function.__doc__
        names = list(inspect.signature(function).parameters)
        self._saved_arguments = tuple(names.index(name) for name in saves if name != "out")
        self._saves_output = "out" in saves
        if "out" in saves[:-1]:
            raise TypeError(f"kernel {self.name}: 'out' comes last in saves")
        self._gradient = None
        self._grad_function = type(self.name, (_KernelFunction,), {})

    def gradient(self, function):
        """Register `function(ctx, *grads)` as the derivative."""
        self._gradient = function
        return function

    def __call__(self, *args):
        if native.is_grad_enabled():
            for arg in args:
                if isinstance(arg, MsTensor) and native.requires_grad(arg):
                    return _retag(self._grad_function.apply(self, *args))
        return _retag(self.run(args))

    def run(self, args):
        """The outputs as native tensors, nothing recorded."""
        arrays = [native.asnumpy(arg) if isinstance(arg, MsTensor) else arg for arg in args]
        with np.errstate(all="ignore"):
            result = self.function(*arrays)
        if type(result) is tuple:
            return tuple(_to_tensor(r) for r in result)
        return _to_tensor(result)

    def differentiate(self, ctx, grads):
        if self._gradient is None:
            raise NotImplementedError(f"the derivative of torch.{self.name} is not implemented. Wrap the call in torch.no_grad() or detach its input.")  # fmt: skip
        result = self._gradient(ctx, *grads)
        return result if type(result) is tuple else (result,)


def kernel(*, reason, saves=()):
    """Make a NumPy function a kernel. `reason`: in one line, why MindSpore's own is not used on the CPU."""
    return lambda function: Kernel(function, reason, saves)


class _KernelFunction(native.GradFunction):
    """The engine's node of one kernel call."""

    @staticmethod
    def forward(ctx, kernel, *args):
        outputs = kernel.run(args)
        ctx.kernel, ctx.args = kernel, tuple(None if isinstance(a, MsTensor) else a for a in args)
        ctx.tensor_positions = tuple(i for i, a in enumerate(args) if isinstance(a, MsTensor))
        first = outputs[0] if type(outputs) is tuple else outputs
        saved = [args[i] for i in kernel._saved_arguments]
        ctx.saved_values = tuple(None if isinstance(s, MsTensor) else s for s in saved)
        tensors = [s for s in saved if isinstance(s, MsTensor)] + ([first] if kernel._saves_output else [])
        if tensors:
            ctx.save_for_backward(*tensors)
        if type(outputs) is tuple:
            ctx.mark_non_differentiable(*(o for o in outputs if not _differentiable(o)))
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        context = KernelContext(ctx)
        found = ctx.kernel.differentiate(context, tuple(_retag(g) for g in grads))
        result = [None] * (len(ctx.args) + 1)
        for position, gradient in zip(ctx.tensor_positions, found, strict=True):
            result[position + 1] = gradient
        return tuple(result)


class KernelContext:
    """What a kernel's gradient sees: `saved` in the order of `saves`, `args` (None for tensors), `needs` per tensor."""

    def __init__(self, ctx):
        self.args = ctx.args
        tensors = iter(ctx.saved_tensors if ctx.saved_tensors is not None else ())
        kernel = ctx.kernel
        values = [_retag(next(tensors)) if v is None and ctx.args[p] is None else v
                  for p, v in zip(kernel._saved_arguments, ctx.saved_values, strict=True)]  # fmt: skip
        if kernel._saves_output:
            values.append(_retag(next(tensors)))
        self.saved = tuple(values)
        needed = ctx.needs_input_grad
        self.needs = tuple(needed[p + 1] for p in ctx.tensor_positions)


def _differentiable(tensor):
    return np.dtype(native.asnumpy(tensor).dtype).kind in "fcV"


def _to_tensor(array):
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    return native.from_numpy(array if array.flags.c_contiguous else np.ascontiguousarray(array))


def _retag(result):
    if type(result) is tuple:
        for item in result:
            if type(item) is MsTensor:
                item.__class__ = Tensor
    elif type(result) is MsTensor:
        result.__class__ = Tensor
    return result
