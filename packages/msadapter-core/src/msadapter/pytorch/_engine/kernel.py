"""NumPy kernels: one function over arrays, with its gradient and its reason, run on the CPU alone.

    @kernel(reason="MindSpore's atan2 loses the sign of zero", saves=("input", "other"))
    def _atan2(input, other):
        return np.arctan2(input, other)

    @_atan2.gradient
    def _(ctx, grad):
        input, other = ctx.saved
        scale = grad / (input * input + other * other)
        return scale * other, scale * -input

    @op(inplace=True)
    @promoting(floating=True)
    @on_cpu(_atan2)
    def atan2(input, other):
        return mindspore.ops.atan2(input, other)      # elsewhere

The kernel takes arrays where tensors are passed, and returns fresh arrays (one, or a tuple). The gradient is written in
operators of ours, so that it can be differentiated again; it returns one gradient (or None) per tensor argument; one
of a larger shape is summed down to the argument's, and one of another dtype is cast to the argument's.
`saves` names what the gradient reads: arguments, and last outputs: "out" (the first), "out1" (the second), "out2".
"""

import functools
import inspect

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.native import MsTensor, TensorPy
from msadapter.pytorch._engine.quiet import quiet
from msadapter.pytorch._tensor import Tensor

_OUTPUTS = ("out", "out1", "out2")


class Kernel:
    """A NumPy body with its gradient; call it with tensors."""

    differentiable = True

    def __init__(self, function, reason, saves):
        self.function = function
        self.name = function.__name__
        self.reason = reason
        self.__doc__ = function.__doc__
        names = list(inspect.signature(function).parameters)
        arguments = [name for name in saves if name not in _OUTPUTS]
        self._saved_arguments = tuple(map(names.index, arguments))
        self._saved_outputs = tuple(map(_OUTPUTS.index, saves[len(arguments) :]))
        self._gradient = None
        self._signature = None
        self._defaults, self._required = (), 1
        self._grad_function = type(self.name.strip("_"), (_KernelFunction,), {})

    def gradient(self, function):
        """Register `function(ctx, *grads)` as the derivative."""
        self._gradient = function
        return function

    def __call__(self, *args, **kwargs):
        if kwargs or self._signature is not None:
            args = self._bound(args, kwargs)
        if self.differentiable:
            for arg in args:
                if isinstance(arg, TensorPy) and native.requires_grad(arg) and native.is_grad_enabled():
                    return _retag(self._grad_function.apply(self, *args))
        return _retag(self.run(args))

    def _bound(self, args, kwargs):
        """Keyword arguments and the operator's defaults, by position."""
        given = len(args)
        if not kwargs and self._required <= given <= len(self._defaults):
            return args + self._defaults[given:]
        bound = (self._signature or inspect.signature(self.function)).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args + tuple(bound.kwargs.values())

    def run(self, args):
        """The outputs as native tensors, nothing recorded."""
        arrays = [storage.read_only_use(arg) if isinstance(arg, TensorPy) else arg for arg in args]
        with quiet():
            result = self.function(*arrays)
        if type(result) is tuple:
            return tuple(to_tensor(r) for r in result)
        return to_tensor(result)

    def differentiate(self, ctx, grads):
        if self._gradient is None:
            raise NotImplementedError(
                f"the derivative of torch.{self.name.strip('_')} is not implemented. Wrap the call in torch.no_grad() or detach its input."
            )
        result = self._gradient(ctx, *grads)
        return result if type(result) is tuple else (result,)


def on_cpu(chosen):
    """Let the kernel `chosen` stand in for an operator's body on the CPU; elsewhere the body runs.

    The kernel takes the body's arguments by position, keyword-only ones last.
    """

    def choose(body):
        body.cpu_reason = chosen.reason
        if not storage.ON_CPU:
            return body
        kind = type(chosen)
        stand_in = functools.update_wrapper(kind.__new__(kind), body)
        stand_in.__dict__.update(
            {k: v for k, v in chosen.__dict__.items() if k not in functools.WRAPPER_ASSIGNMENTS}
        )
        stand_in.name = body.__name__
        stand_in._grad_function = type(body.__name__, (_KernelFunction,), {})
        signature = inspect.signature(body)
        if len(signature.parameters) > 1:
            stand_in._signature = signature
            stand_in._defaults = tuple(p.default for p in signature.parameters.values())
            stand_in._required = stand_in._defaults.count(inspect.Parameter.empty)
        return stand_in

    return choose


def kernel(*, reason, saves=()):
    """Make a NumPy function a kernel. `reason`: in one line, why MindSpore's own is not used on the CPU."""
    return lambda function: Kernel(function, reason, saves)


class _KernelFunction(native.GradFunction):
    """The engine's node of one kernel call."""

    @staticmethod
    def forward(ctx, kernel, *args):
        outputs = kernel.run(args)
        ctx.kernel = kernel
        ctx.args = tuple(None if isinstance(a, TensorPy) else a for a in args)
        ctx.tensors = [
            (i, native.shape_of(a), native.dtype_of(a)) for i, a in enumerate(args) if isinstance(a, TensorPy)
        ]
        several = type(outputs) is tuple
        saved = [args[i] for i in kernel._saved_arguments if isinstance(args[i], TensorPy)]
        saved += [outputs[i] if several else outputs for i in kernel._saved_outputs]
        if saved:
            ctx.save_for_backward(*saved)
        constant = [
            o for o in (outputs if several else (outputs,)) if id(native.dtype_of(o)) not in _DIFFERENTIABLE
        ]
        if constant:
            ctx.mark_non_differentiable(*constant)
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        found = ctx.kernel.differentiate(KernelContext(ctx), [_retag(g) for g in grads])
        result = [None] * (len(ctx.args) + 1)
        for (position, shape, dtype), gradient in zip(ctx.tensors, found, strict=True):
            if gradient is not None:
                if native.shape_of(gradient) != shape:
                    gradient = gradient.sum_to_size(shape)
                if native.dtype_of(gradient) is not dtype:
                    gradient = gradient.to(_dtype.of_native(dtype))
            result[position + 1] = gradient
        return tuple(result)


class KernelContext:
    """What a kernel's gradient sees: `saved` in the order of `saves`, `args` (None for tensors), and per tensor argument
    `needs` (whether its gradient is asked for), `shapes` and `positions` among the arguments."""

    def __init__(self, ctx):
        self._ctx = ctx
        self.args = ctx.args
        kernel = ctx.kernel
        self.saved = ()
        if kernel._saved_arguments or kernel._saved_outputs:
            tensors = iter(ctx.saved_tensors or ())
            positions = self.positions
            saved = [
                _retag(next(tensors)) if p in positions else ctx.args[p] for p in kernel._saved_arguments
            ]
            self.saved = (*saved, *(_retag(next(tensors)) for _ in kernel._saved_outputs))

    @property
    def positions(self):
        return tuple(position for position, _, _ in self._ctx.tensors)

    @property
    def shapes(self):
        return tuple(shape for _, shape, _ in self._ctx.tensors)

    @property
    def needs(self):
        needed = self._ctx.needs_input_grad
        return tuple(needed[position + 1] for position, _, _ in self._ctx.tensors)


_DIFFERENTIABLE = frozenset(
    id(native_dtype) for t, native_dtype in _dtype.NATIVE.items() if t.is_floating_point or t.is_complex
)


def to_tensor(array):
    """The native tensor over the memory of a fresh array (or of a NumPy number)."""
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
