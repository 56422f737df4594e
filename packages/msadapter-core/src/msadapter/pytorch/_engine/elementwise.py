"""Elementwise kernels: a NumPy function of corresponding elements, and one formula per gradient.

    elementwise(
        np.hypot,
        reason="MindSpore's overflows at 1e30",
        input=lambda m, grad, input, out: grad * (input / out),
        other=lambda m, grad, other, out: grad * (other / out),
    )

A formula gives the gradient of the argument it is named after, and reads what its parameters name: arguments of the
function, or "out". It has two readings. In a plain backward `m` is NumPy (`_kernels.formula`) and the rest are arrays: one
pass at NumPy's speed. Where backward is recorded itself, `m` is msadapter.pytorch and the rest are tensors: it can be
differentiated again. Without formulas the result has no gradient (comparisons).
"""

import inspect

import numpy as np

from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.kernel import Kernel, to_tensor
from msadapter.pytorch._engine.native import TensorPy
from msadapter.pytorch._engine.quiet import quiet
from msadapter.pytorch._kernels import formula as over_arrays
from msadapter.pytorch._kernels import parallel

_BLOCK = 1 << 15  # elements
_LARGE = 1 << 17


class Elementwise(Kernel):
    """A kernel whose output elements each depend on the corresponding elements of its arguments alone."""

    def __init__(self, function, reason, formulas):
        names = list(inspect.signature(function).parameters)
        self._formulas = {names.index(argument): formula for argument, formula in formulas.items()}
        self._reads = {
            position: tuple(inspect.signature(formula).parameters)[2:]
            for position, formula in self._formulas.items()
        }
        read = {name for reads in self._reads.values() for name in reads}
        self._saved_names = (*(n for n in names if n in read), *(("out",) if "out" in read else ()))
        super().__init__(function, reason, self._saved_names)
        self.differentiable = bool(formulas)

    def run(self, args):
        arrays = [storage.read_only_use(arg) if isinstance(arg, TensorPy) else arg for arg in args]
        with quiet():
            return to_tensor(_apply(self.function, arrays))

    def differentiate(self, ctx, grads):
        values = dict(zip(self._saved_names, ctx.saved, strict=True))
        values["grad"] = grads[0]
        recorded = native.is_grad_enabled() and any(
            isinstance(v, TensorPy) and native.requires_grad(v) for v in values.values()
        )
        evaluate = _on_tensors if recorded else _on_arrays
        return tuple(
            evaluate(self._formulas[position], [values[name] for name in ("grad", *self._reads[position])])
            if needed and position in self._formulas
            else None
            for position, needed in zip(ctx.positions, ctx.needs, strict=True)
        )


def elementwise(function, *, reason, **formulas):
    """Make a NumPy function an elementwise kernel. `reason`: in one line, why MindSpore's own is not used on the CPU."""
    return Elementwise(
        _with_names(function) if isinstance(function, np.ufunc) else function, reason, formulas
    )


def analytic(function, derivative, *, reason):
    """The kernel of a function of one real or complex argument, `derivative(m, input)` or `derivative(m, out)`."""
    if "out" in inspect.signature(derivative).parameters:
        return elementwise(
            function, reason=reason, input=lambda m, grad, out: grad * m.conj(derivative(m, out))
        )
    return elementwise(
        function, reason=reason, input=lambda m, grad, input: grad * m.conj(derivative(m, input))
    )


def no_derivative(name):
    """The formula of an operator that PyTorch does not differentiate either, though its result requires grad."""

    def formula(m, grad):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


def _with_names(ufunc):
    if ufunc.nin == 1:
        return lambda input: ufunc(input)
    return lambda input, other: ufunc(input, other)


def _apply(function, values):
    """`function(*values)`, large arrays of one shape block by block."""
    shape = None
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim:
            if shape is None:
                shape, size = value.shape, value.size
            elif value.shape != shape:
                return function(*values)
    if shape is None:
        # NumPy takes arrays without dimensions for scalars, whose dtype gives way to that of Python numbers.
        return function(*(v.reshape(1) if isinstance(v, np.ndarray) else v for v in values)).reshape(())
    return function(*values) if size < _LARGE else _in_blocks(function, values, shape, size)


def _in_blocks(function, values, shape, size):
    """The intermediate results of a block stay in the cache, and need no fresh pages; the cores share the blocks."""
    values = [v.reshape(-1) if isinstance(v, np.ndarray) and v.ndim else v for v in values]

    def block(start, stop):
        return function(*(v[start:stop] if isinstance(v, np.ndarray) and v.ndim else v for v in values))

    head = block(0, _BLOCK)
    result = np.empty(size, head.dtype)
    result[:_BLOCK] = head

    def compute(start, stop):
        for at in range(_BLOCK + start, _BLOCK + stop, _BLOCK):
            end = min(at + _BLOCK, _BLOCK + stop)
            result[at:end] = block(at, end)

    parallel.run(compute, size - _BLOCK, grain=_LARGE)
    return result.reshape(shape)


def _on_arrays(formula, values):
    arrays = [storage.read_only_use(v) if isinstance(v, TensorPy) else v for v in values]
    with quiet():
        return to_tensor(_apply(lambda *a: formula(over_arrays, *a), arrays))


def _on_tensors(formula, values):
    import msadapter.pytorch as torch

    return formula(torch, *values)
