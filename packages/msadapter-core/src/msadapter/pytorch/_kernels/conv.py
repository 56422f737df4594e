"""Convolution of any rank: the product and its two gradients, each a derivative of the other two.

Why a NumPy kernel: MindSpore's runs at 0.5 GFLOP/s and has none for float64, integers or bfloat16.

Arrays: x [N, C, *S], weight [O, C/groups, *K], y [N, O, *S'], all of one dtype (float32, float64 or complex go through
BLAS, others through NumPy). Per spatial dimension: stride and dilation an int, padding a pair (before, after), both >= 0.

    conv(x, weight) -> y     conv_input_grad(y, weight) -> x     conv_weight_grad(y, x) -> weight

are three faces of one trilinear form, so the derivative of any of them is written with the other two (for complex arrays
the caller conjugates). A transposed convolution is conv_input_grad with y for its input.

How: windows are unrolled along the inner spatial dimensions only (K_w copies of x, not K_h * K_w). A kernel row reads the
unrolled rows further down, which is the same matrix at an offset, so each kernel row is one more product accumulated in
place. Groups of samples are sized to the cache and shared among the threads.
"""

import itertools
import math
from collections import namedtuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from msadapter.pytorch._kernels import parallel
from msadapter.pytorch._kernels.blas import matmul_into

_CACHE = 1 << 20  # bytes of unrolled input worked on at a time: half of a core's L2
_WORTH_A_THREAD = 1 << 20  # multiplications below which waking a thread costs more than it saves


def conv(x, weight, bias, stride, padding, dilation, groups):
    """The convolution y [N, O, *S'] of x and weight, plus bias [O] unless None."""
    windows = _Windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    y = np.empty((len(x), len(weight), *windows.out), x.dtype)
    rows = _kernel_rows(weight, groups)

    def forward(start, stop):
        for span in windows.spans(start, stop, x):
            out = y[span]
            out[...] = 0 if bias is None else bias.reshape(-1, *(1,) * len(windows.out))
            padded = windows.pad(x[span])
            for phase in windows.phases:
                columns = windows.unroll(padded, phase)
                for row, part in windows.reads(phase, columns, groups):
                    matmul_into(_matrices(out, groups), rows[row], part, accumulate=True)

    _share(forward, y, weight)
    return y


def conv_input_grad(y, weight, size, stride, padding, dilation, groups):
    """The gradient x [N, C, *size] of y's and the weight's product with it; y is that of conv's result."""
    windows = _Windows(size, weight.shape[2:], stride, padding, dilation)
    x = np.empty((len(y), weight.shape[1] * groups, *size), y.dtype)
    rows = _kernel_rows(weight, groups).swapaxes(2, 3)

    def backward(start, stop):
        for span in windows.spans(start, stop, x):
            gradient = _matrices(y[span], groups)
            padded = np.zeros((len(gradient), x.shape[1], *windows.padded), x.dtype)
            for phase in windows.phases:
                columns = windows.zero_columns(padded, phase)
                for row, part in windows.reads(phase, columns, groups):
                    matmul_into(part, rows[row], gradient, accumulate=True)
                windows.fold(padded, phase, columns)
            x[span] = windows.interior(padded)

    _share(backward, y, weight)
    return x


def conv_weight_grad(y, x, kernel, stride, padding, dilation, groups):
    """The gradient weight [O, C/groups, *kernel]; y [N, O, *S'] is that of conv's result."""
    windows = _Windows(x.shape[2:], kernel, stride, padding, dilation)
    inputs = x.shape[1] // groups
    shape = (kernel[0], groups, y.shape[1] // groups, inputs * windows.spread)

    def backward(start, stop):
        total = np.zeros(shape, x.dtype)
        for span in windows.spans(start, stop, x):
            gradient = _matrices(y[span], groups)
            padded = windows.pad(x[span])
            for phase in windows.phases:
                columns = windows.unroll(padded, phase)
                for row, part in windows.reads(phase, columns, groups):
                    matmul_into(total[row], gradient, part.swapaxes(2, 3), accumulate=True)
        return total

    total = sum(_share(backward, y, np.broadcast_to(x.dtype.type(0), (y.shape[1], inputs, *kernel))))
    total = total.reshape(kernel[0], y.shape[1], inputs, *kernel[1:])
    return np.ascontiguousarray(np.moveaxis(total, 0, 2))


# The input rows that one offset of the kernel's first dimension, modulo its stride, can reach: `first` and every
# stride-th from there, `rows` in all. Kernel row i of `taps` [(i, step)] starts `step` of them further down.
_Phase = namedtuple("_Phase", "first rows taps")


class _Windows:
    """Where each kernel position reads the padded input."""

    def __init__(self, size, kernel, stride, padding, dilation):
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation
        self.size = tuple(size)
        self.padded = tuple(n + low + high for n, (low, high) in zip(size, padding, strict=True))
        self.out = tuple(
            (n - d * (k - 1) - 1) // s + 1
            for n, k, s, d in zip(self.padded, kernel, stride, dilation, strict=True)
        )
        self.spread = math.prod(kernel[1:])
        self.step = math.prod(self.out[1:])  # outputs per row of the first dimension
        taps = {}
        for i in range(kernel[0]):
            step, first = divmod(i * dilation[0], stride[0])
            taps.setdefault(first, []).append((i, step))
        self.phases = [_Phase(first, self.out[0] + found[-1][1], found) for first, found in taps.items()]

    def spans(self, start, stop, x):
        """Slices of the samples start..stop whose unrolled columns fit the cache."""
        sample = x.shape[1] * self.spread * self.phases[0].rows * self.step * x.itemsize
        count = max(1, _CACHE // max(1, sample))
        return [slice(i, min(i + count, stop)) for i in range(start, stop, count)]

    def pad(self, x):
        if self.padded == self.size:
            return x
        padded = np.zeros((*x.shape[:2], *self.padded), x.dtype)
        self.interior(padded)[...] = x
        return padded

    def interior(self, padded):
        inner = (slice(low, low + n) for n, (low, _) in zip(self.size, self.padding, strict=True))
        return padded[(slice(None), slice(None), *inner)]

    def view(self, padded, phase):
        """What the phase reads, as [N, C, *kernel[1:], rows, *out[1:]] of `padded` itself."""
        strides = padded.strides
        moves = [stride * d for stride, d in zip(strides[3:], self.dilation[1:], strict=True)]
        steps = [stride * s for stride, s in zip(strides[2:], self.stride, strict=True)]
        shape = (*padded.shape[:2], *self.kernel[1:], phase.rows, *self.out[1:])
        return as_strided(padded[:, :, phase.first :], shape, (*strides[:2], *moves, *steps))

    def unroll(self, padded, phase):
        """The view as a matrix of columns [N, C * spread, rows * step]; a copy only if windows overlap or skip."""
        return self.view(padded, phase).reshape(len(padded), padded.shape[1] * self.spread, phase.rows * self.step)

    def zero_columns(self, padded, phase):
        """Columns as `unroll` gives them, to collect what `fold` adds up."""
        if self._columns_are_rows():
            return self.unroll(padded, phase)
        return np.zeros((len(padded), padded.shape[1] * self.spread, phase.rows * self.step), padded.dtype)

    def fold(self, padded, phase, columns):
        """Add each column's values to where `unroll` would have read them."""
        if self._columns_are_rows():
            return
        view = self.view(padded, phase)
        columns = columns.reshape(view.shape)
        # One kernel position at a time: within it no two outputs read the same place.
        for position in itertools.product(*map(range, self.kernel[1:])):
            index = (slice(None), slice(None), *position)
            view[index] += columns[index]

    def _columns_are_rows(self):
        return self.spread == 1 and self.padded[1:] == self.out[1:] and set(self.stride) == {1}

    def reads(self, phase, columns, groups):
        """(kernel row, the columns it multiplies as [N, groups, C/groups * spread, outputs]) for each of the phase."""
        n, depth, _ = columns.shape
        columns = columns.reshape(n, groups, depth // groups, -1)
        area = self.out[0] * self.step
        return [(row, columns[..., step * self.step : step * self.step + area]) for row, step in phase.taps]


def _kernel_rows(weight, groups):
    """weight [O, C/groups, *K] as one matrix per group for each kernel row: [K_first, groups, O/groups, C/groups * K_rest]."""
    first = np.moveaxis(weight, 2, 0)
    return first.reshape(weight.shape[2], groups, len(weight) // groups, -1)


def _matrices(y, groups):
    """y [N, O, *S'] as [N, groups, O/groups, outputs]."""
    return y.reshape(len(y), groups, y.shape[1] // groups, -1)


def _share(task, y, weight):
    """Run task(start, stop) over the samples on as many threads as the work is worth."""
    multiplications = math.prod(y.shape[1:]) * math.prod(weight.shape[1:])
    return parallel.run(task, len(y), grain=1 + _WORTH_A_THREAD // max(1, multiplications))
