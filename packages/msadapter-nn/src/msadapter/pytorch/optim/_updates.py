"""Parameter updates: written once in the vocabulary of tensors, run in place on whatever holds the values.

An update is a function of tensors of one shape, the parameter first, that changes them by in-place methods. On the CPU
it runs over NumPy blocks of their memory, because a MindSpore operator costs 20 us and a pass through all of the
memory for each line. Elsewhere, and where the step itself is to be differentiated, it runs on the tensors.
"""

import ctypes

import numpy as np

from msadapter.pytorch import _dtype, view_as_real
from msadapter.pytorch._engine import native, storage, views

# Elements per block: what the caches hold of an update's handful of operands.
_BLOCK = 1 << 14
_PLAIN = frozenset((_dtype.float32, _dtype.float64, _dtype.float16, _dtype.complex64, _dtype.complex128))
_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}


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

    def masked_fill_(self, mask, value):
        self.array[mask.array] = value
        return self

    def lt(self, other):
        return Block(self.array < other)

    def gt(self, other):
        return Block(self.array > other)

    def eq(self, other):
        return Block(self.array == other)

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
        np.maximum(target.array, other.array, out=target.array)
    else:
        target.copy_(target.maximum(other))


def run(update, param, *others, **numbers):
    """Call `update(param, *others, **numbers)` on tensors of one shape, in place; the parameter's version advances.

    Complex tensors are taken as pairs of real numbers.
    """
    tensors = (param, *others)
    if native.is_grad_enabled() or not storage.ON_CPU or not all(map(_in_order, tensors)):
        update(*(_real(tensor) for tensor in tensors), **numbers)
        return
    flats = [_flat(tensor) for tensor in tensors]
    for start in range(0, flats[0].size, _BLOCK):
        update(*(Block(flat[start : start + _BLOCK]) for flat in flats), **numbers)
    storage.advance_version(param)
    if "_views" in param.__dict__:
        views.regenerate(param)


def _in_order(tensor):
    return _dtype.of_native(native.dtype_of(tensor)) in _PLAIN and native.is_contiguous(tensor)


def _real(tensor):
    return view_as_real(tensor) if tensor.is_complex() else tensor


def _flat(tensor):
    """The elements in one row of real numbers, over the tensor's memory; the caller keeps the tensor alive."""
    dtype = storage.numpy_dtype(tensor)
    real = _REAL.get(dtype, dtype)
    count = native.numel_of(tensor) * dtype.itemsize
    if not count:
        return np.empty(0, real)
    return np.frombuffer((ctypes.c_char * count).from_address(native.data_pointer(tensor)), real)


def scalar(tensor):
    """The value of a 0-d state tensor."""
    return _flat(tensor).item() if storage.ON_CPU else tensor.item()


def set_scalar(tensor, value):
    """Give a 0-d state tensor the value `value`; returns it as the tensor holds it."""
    if not storage.ON_CPU:
        tensor.fill_(value)
        return tensor.item()
    flat = _flat(tensor)
    flat[0] = value
    return flat.item()


def advance(step):
    """Count one step in the 0-d state tensor `step`; returns the new count."""
    return set_scalar(step, scalar(step) + 1)
