"""Parameter updates: written once in the vocabulary of tensors, run in place on whatever holds the values.

An update is a function of tensors of one shape, the parameter first, that changes them by in-place methods. On the CPU
it runs over NumPy blocks of their memory, because a MindSpore operator costs 20 us and a pass through all of the
memory for each line. Elsewhere, and where the step itself is to be differentiated, it runs on the tensors.
"""

import ctypes

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage, views

# Elements per block: what the caches hold of an update's handful of operands.
_BLOCK = 1 << 14
_PLAIN = frozenset((_dtype.float32, _dtype.float64, _dtype.float16))


class Block:
    """A piece of a tensor's memory with the methods of a tensor that updates use."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def clone(self):
        return Block(self.array.copy())

    def copy_(self, other):
        np.copyto(self.array, _raw(other))
        return self

    def zero_(self):
        self.array.fill(0)
        return self

    def mul_(self, other):
        np.multiply(self.array, _raw(other), out=self.array)
        return self

    def div_(self, other):
        np.divide(self.array, _raw(other), out=self.array)
        return self

    def add_(self, other, alpha=1):
        other = _raw(other)
        np.add(self.array, other if alpha == 1 else other * alpha, out=self.array)
        return self

    def sub_(self, other):
        np.subtract(self.array, _raw(other), out=self.array)
        return self

    def lerp_(self, end, weight):
        difference = np.subtract(_raw(end), self.array)
        if weight < 0.5:
            self.array += np.multiply(difference, weight, out=difference)
        else:
            np.subtract(_raw(end), np.multiply(difference, 1 - weight, out=difference), out=self.array)
        return self

    def addcmul_(self, first, second, value=1):
        product = np.multiply(_raw(first), value)
        self.array += np.multiply(product, _raw(second), out=product)
        return self

    def addcdiv_(self, numerator, denominator, value=1):
        quotient = np.multiply(_raw(numerator), value)
        self.array += np.divide(quotient, _raw(denominator), out=quotient)
        return self

    def clamp_(self, min=None, max=None):
        np.clip(self.array, min, max, out=self.array)
        return self

    def sqrt_(self):
        np.sqrt(self.array, out=self.array)
        return self

    def maximum_(self, other):
        """Not a tensor's method; `maximum_into` is the form for both."""
        np.maximum(self.array, _raw(other), out=self.array)
        return self

    def mul(self, other):
        return Block(self.array * _raw(other))

    def add(self, other, alpha=1):
        other = _raw(other)
        return Block(self.array + (other if alpha == 1 else other * alpha))

    def sub(self, other):
        return Block(self.array - _raw(other))

    def div(self, other):
        return Block(self.array / _raw(other))

    def sqrt(self):
        return Block(np.sqrt(self.array))

    def pow(self, exponent):
        return Block(self.array**exponent)

    def abs(self):
        return Block(np.abs(self.array))

    def neg(self):
        return Block(-self.array)

    def sign(self):
        return Block(np.sign(self.array))


def _raw(value):
    return value.array if type(value) is Block else value


def maximum_into(target, other):
    """target <- the larger of both, element by element."""
    if type(target) is Block:
        target.maximum_(other)
    else:
        target.copy_(target.maximum(other))


def run(update, param, *others, **numbers):
    """Call `update(param, *others, **numbers)` on tensors of one shape, in place; the parameter's version advances."""
    tensors = (param, *others)
    if native.is_grad_enabled() or not storage.ON_CPU or not all(map(_in_order, tensors)):
        update(*tensors, **numbers)
        return
    flats = [_flat(tensor) for tensor in tensors]
    for start in range(0, native.numel_of(param), _BLOCK):
        update(*(Block(flat[start : start + _BLOCK]) for flat in flats), **numbers)
    storage.advance_version(param)
    if "_views" in param.__dict__:
        views.regenerate(param)


def _in_order(tensor):
    return _dtype.of_native(native.dtype_of(tensor)) in _PLAIN and native.is_contiguous(tensor)


def _flat(tensor):
    """The elements in one row, over the tensor's memory; the caller keeps the tensor alive."""
    dtype = storage.numpy_dtype(tensor)
    count = native.numel_of(tensor)
    if not count:
        return np.empty(0, dtype)
    return np.frombuffer(
        (ctypes.c_char * (count * dtype.itemsize)).from_address(native.data_pointer(tensor)), dtype
    )


def advance(step):
    """Count one step in the 0-d state tensor `step`; returns the new count."""
    if not storage.ON_CPU:
        step += 1
        return step.item()
    flat = _flat(step)
    flat[0] += 1
    return flat.item()
