"""Convolution of any rank: the product and its two gradients, each a derivative of the other two.

Why a NumPy kernel: MindSpore's runs at 0.5 GFLOP/s and has none for float64, integers or bfloat16.

Arrays: x [N, C, *S], weight [O, C/groups, *K], y [N, O, *S'], all of one dtype (float32, float64 or complex go through
BLAS, others through NumPy). Per spatial dimension: stride and dilation an int, padding a pair (before, after), both >= 0.

    conv(x, weight) -> y     conv_input_grad(y, weight) -> x     conv_weight_grad(y, x) -> weight

are three faces of one trilinear form, so the derivative of any of them is written with the other two (for complex arrays
the caller conjugates). A transposed convolution is conv_input_grad with y for its input.

How: windows are unrolled along all spatial dimensions but the last, which copies whole rows (K_h copies of x, not
K_h * K_w). Along the last one a kernel column reads the unrolled rows further right, which is the same matrix at an
offset, so each kernel column is one more product accumulated in place. The work is cut into pieces that fit the cache;
threads share the samples.
"""

import itertools
import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from msadapter.pytorch._kernels import parallel
from msadapter.pytorch._kernels.blas import matmul_into

_CACHE = 3 << 19  # bytes of unrolled input worked on at a time: what a core's L2 holds beside the results
_WORTH_A_THREAD = 1 << 20  # multiplications below which waking a thread costs more than it saves
_TINY = 16  # as many weights of one group and kernel column are multiplied in by NumPy: a BLAS call would cost more


def conv(x, weight, bias, stride, padding, dilation, groups):
    """The convolution y [N, O, *S'] of x and weight, plus bias [O] unless None."""
    windows = _Windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    y = np.empty((len(x), len(weight), *windows.shape), x.dtype)
    xs, ys = windows.split_x(x, groups), windows.split_y(y, groups)
    parts = windows.kernel_columns(weight, groups)
    product = _tiny_into if _is_tiny(weight, groups) else matmul_into

    def forward(start, stop):
        for samples, block, band in windows.pieces(start, stop, xs):
            if band.start == 0:
                padded = windows.pad(xs[samples, block])
            out = ys[samples, block, :, band]
            result = windows.result(out)
            started = bias is not None
            if started:
                result[...] = bias.reshape(groups, -1, 1)[block]
            for column, columns in windows.reads(windows.unroll(padded, band)):
                product(result, parts[column, block], columns, accumulate=started)
                started = True
            windows.keep(result, out)

    _share(forward, y, weight)
    return y


def conv_input_grad(y, weight, size, stride, padding, dilation, groups):
    """The gradient x [N, C, *size]; y [N, O, *S'] is that of conv's result."""
    if _is_tiny(weight, groups) and set(stride) == {1}:
        turned = _turned_padding(weight.shape[2:], padding, dilation)
        if min(itertools.chain(*turned)) >= 0:
            # A convolution with the turned kernel; reading is faster than adding where NumPy does the products.
            return conv(y, _turned(weight, groups), None, stride, turned, dilation, groups)
    windows = _Windows(size, weight.shape[2:], stride, padding, dilation)
    x = np.zeros((len(y), weight.shape[1] * groups, *size), y.dtype)
    xs, ys = windows.split_x(x, groups), windows.split_y(y, groups)
    parts = windows.kernel_columns(weight, groups).swapaxes(2, 3)
    product = _tiny_into if _is_tiny(weight, groups) else matmul_into

    def backward(start, stop):
        for samples, block, band in windows.pieces(start, stop, xs):
            if band.start == 0:
                padded = windows.pad(xs[samples, block])
            gradient = windows.spaced(ys[samples, block, :, band])
            matrices = windows.zeros(padded, band)
            for column, columns in windows.reads(matrices):
                product(columns, parts[column, block], gradient, accumulate=True)
            windows.fold(matrices, padded, band)
            if band.stop == windows.out[0]:
                windows.unpad(padded, xs[samples, block])

    _share(backward, y, weight)
    return x


def conv_weight_grad(y, x, kernel, stride, padding, dilation, groups):
    """The gradient weight [O, C/groups, *kernel]; y [N, O, *S'] is that of conv's result."""
    windows = _Windows(x.shape[2:], kernel, stride, padding, dilation)
    weight = np.zeros((y.shape[1], x.shape[1] // groups, *kernel), x.dtype)
    xs, ys = windows.split_x(x, groups), windows.split_y(y, groups)

    def backward(start, stop):
        total = windows.kernel_columns(weight, groups)
        product = _tiny_sums_into if _is_tiny(weight, groups) else matmul_into
        for samples, block, band in windows.pieces(start, stop, xs):
            if band.start == 0:
                padded = windows.pad(xs[samples, block])
            gradient = windows.spaced(ys[samples, block, :, band])
            for column, columns in windows.reads(windows.unroll(padded, band)):
                product(total[column, block], gradient, columns.swapaxes(-2, -1), accumulate=True)
        return total

    total = sum(_share(backward, y, weight))
    return np.moveaxis(total, 0, -1).reshape(weight.shape)


class _Windows:
    """Where each kernel position reads the input, and the matrices BLAS sees: [batch, groups, channels, columns].

    The rows of some samples stand side by side, each `width` long, of which the first `out[-1]` are outputs. A kernel
    column reads them at an offset, so what stands at the end of a row means nothing: it is dropped from results, and zero
    in gradients. Where windows are single elements (`direct`), x is its own matrix, one per sample.

    x is taken as [N, groups, C/groups, *size], y as [N, groups, O/groups, *out], both by pieces.
    """

    def __init__(self, size, kernel, stride, padding, dilation):
        rank = len(size)
        if rank == 1:  # a line is an image of one column
            size, kernel, stride, dilation = (*size, 1), (*kernel, 1), (*stride, 1), (*dilation, 1)
            padding = (*padding, (0, 0))
        self.size, self.kernel, self.stride, self.dilation = tuple(size), kernel, stride, dilation
        self.low = [low for low, _ in padding]
        padded = [n + low + high for n, (low, high) in zip(size, padding, strict=True)]
        sides = zip(padded, kernel, stride, dilation, strict=True)
        self.out = tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in sides)
        self.shape = self.out[:rank]
        # With a stride, kernel columns fall into phases that see different columns of the input.
        self.phases = {}
        for column in range(kernel[-1]):
            right, phase = divmod(column * dilation[-1], stride[-1])
            self.phases.setdefault(phase, []).append((column, right))
        self.width = self.out[-1] + max(taps[-1][1] for taps in self.phases.values())
        padded[-1] = max(padded[-1], self.width * stride[-1])
        self.padded = tuple(padded)
        self.spread = math.prod(kernel[:-1])
        self.direct = max(*kernel, *stride) == 1 and self.padded == self.size

    def split_x(self, x, groups):
        return np.ascontiguousarray(x).reshape(len(x), groups, x.shape[1] // groups, *self.size)

    def split_y(self, y, groups):
        return np.ascontiguousarray(y).reshape(len(y), groups, y.shape[1] // groups, *self.out)

    def kernel_columns(self, weight, groups):
        """weight as a matrix per kernel column and group: [K_last, groups, O/groups, C/groups * spread]."""
        shape = groups, len(weight) // groups, weight.shape[1] * self.spread, self.kernel[-1]
        return np.array(weight.reshape(shape).transpose(3, 0, 1, 2), order="C")

    def pieces(self, start, stop, x):
        """Slices (samples, groups, rows of out[0]) that cover samples start..stop, of pieces that fit the cache."""
        row = (
            len(self.phases) * x.shape[2] * self.spread * math.prod(self.out[1:-1]) * self.width * x.itemsize
        )
        fitting = max(1, _CACHE // max(1, row))
        rows = self.out[0] if self.direct else min(self.out[0], fitting)
        groups = min(x.shape[1], max(1, fitting // rows))
        samples = max(1, fitting // (rows * groups))
        return itertools.product(
            _slices(start, stop, samples), _slices(0, x.shape[1], groups), _slices(0, self.out[0], rows)
        )

    # the input's side

    def pad(self, x):
        """x with its padding; x itself if it needs none."""
        if self.padded == self.size:
            return x
        padded = parallel.scratch("padded", (*x.shape[:3], *self.padded), x.dtype)
        padded[...] = 0
        self._interior(padded)[...] = x
        return padded

    def unpad(self, padded, x):
        """Set x to what stands in its place in `padded`."""
        if self.padded != self.size:
            x[...] = self._interior(padded)

    def unroll(self, padded, band):
        """The columns that the outputs of some rows read, a matrix per phase."""
        if self.direct:
            return [self._own_matrix(padded)]
        views = self._views(padded, band)
        columns = parallel.scratch("columns", (len(views), *views[0].shape), padded.dtype)
        for phase, view in enumerate(views):
            columns[phase] = view
        return self._matrices(columns)

    def zeros(self, padded, band):
        """Matrices as `unroll` gives them, to add to."""
        if self.direct:
            return [self._own_matrix(padded)]
        views = self._views(padded, band)
        columns = parallel.scratch("columns", (len(views), *views[0].shape), padded.dtype)
        columns[...] = 0
        return self._matrices(columns)

    def fold(self, matrices, padded, band):
        """Add each column to where `unroll` copies it from."""
        if self.direct:
            return
        views = self._views(padded, band)
        for view, columns in zip(views, matrices, strict=True):
            columns = columns.reshape(view.shape)
            # One kernel position at a time: within it no two outputs read the same place.
            for position in itertools.product(*map(range, self.kernel[:-1])):
                index = (slice(None), slice(None), *position)
                view[index] += columns[index]

    def reads(self, matrices):
        """(kernel column, the columns it multiplies) for every kernel column."""
        for taps, columns in zip(self.phases.values(), matrices, strict=True):
            used = columns.shape[-1] - self.width + self.out[-1]
            for column, right in taps:
                yield column, columns[..., right : right + used]

    def _interior(self, padded):
        return padded[(..., *(slice(low, low + n) for low, n in zip(self.low, self.size, strict=True)))]

    def _own_matrix(self, x):
        return x.reshape(*x.shape[:3], math.prod(self.size))

    def _views(self, padded, band):
        """What each phase reads, views of `padded` as [groups, C/groups, *kernel[:-1], N, rows, *out[1:-1], width]."""
        samples, groups, channels, *sides = padded.strides
        moves = [side * d for side, d in zip(sides[:-1], self.dilation[:-1], strict=True)]
        steps = [side * s for side, s in zip(sides, self.stride, strict=True)]
        n, *by_group = padded.shape[:3]
        shape = *by_group, *self.kernel[:-1], n, band.stop - band.start, *self.out[1:-1], self.width
        from_band = padded[:, :, :, band.start * self.stride[0] :]
        strides = groups, channels, *moves, samples, *steps
        return [as_strided(from_band[..., phase:], shape, strides) for phase in self.phases]

    def _matrices(self, columns):
        phases, groups, channels = columns.shape[:3]
        rows = math.prod(columns.shape[2 + len(self.size) :])
        return columns.reshape(phases, 1, groups, channels * self.spread, rows)

    # the output's side

    def result(self, y):
        """An uninitialised matrix for y's values; y itself if they stand there as they should."""
        n, groups, channels, *out = y.shape
        if self.direct or (n == 1 and self.width == self.out[-1]):
            return y.reshape(n, groups, channels, math.prod(out))
        columns = n * math.prod(out[:-1]) * self.width - self.width + self.out[-1]
        return parallel.scratch("result", (1, groups, channels, columns), y.dtype)

    def keep(self, result, y):
        """Copy the matrix of `result` to y."""
        if not np.may_share_memory(result, y):
            y[...] = self._outputs(result, y)

    def spaced(self, y):
        """y's values as a matrix of `result`'s shape, with zeros at the ends of rows."""
        matrix = self.result(y)
        if not np.may_share_memory(matrix, y):
            matrix[...] = 0
            self._outputs(matrix, y)[...] = y
        return matrix

    def _outputs(self, matrix, y):
        """The part of a matrix that stands for y, as a view of y's shape."""
        strides, side = [matrix.itemsize], self.width * matrix.itemsize
        for n in reversed(y.shape[3:-1]):
            strides.insert(0, side)
            side *= n
        return as_strided(matrix, y.shape, (side, *matrix.strides[1:3], *strides))


def _slices(start, stop, step):
    """Even slices of start..stop, none longer than `step`."""
    parts = -(-(stop - start) // step)
    bounds = [start + (stop - start) * i // parts for i in range(parts + 1)] if parts else []
    return [slice(*span) for span in zip(bounds, bounds[1:], strict=False)]


def _is_tiny(weight, groups):
    return groups > 1 and math.prod(weight.shape[:-1]) <= _TINY * groups


def _turned(weight, groups):
    """The weight of conv's transpose: inputs and outputs of each group exchanged, every dimension backwards."""
    exchanged = weight.reshape(groups, -1, *weight.shape[1:]).swapaxes(1, 2)
    exchanged = exchanged.reshape(-1, len(weight) // groups, *weight.shape[2:])
    return np.flip(exchanged, tuple(range(2, weight.ndim)))


def _turned_padding(kernel, padding, dilation):
    sides = zip(kernel, padding, dilation, strict=True)
    return tuple((d * (k - 1) - low, d * (k - 1) - high) for k, (low, high), d in sides)


def _tiny_into(out, a, b, accumulate):
    """matmul_into for matrices `a` of few elements, each a multiple of a whole row of b."""
    # einsum makes one pass over all k; multiply and add make two for each, and multiply is slow at broadcasting.
    if accumulate:
        out += np.einsum("gmk,ngkl->ngml", a, b, out=parallel.scratch("product", out.shape, out.dtype))
    else:
        np.einsum("gmk,ngkl->ngml", a, b, out=out)


def _tiny_sums_into(out, a, b, accumulate):
    """matmul_into for results of few elements, each a sum over whole rows of a and b."""
    out += np.einsum("ngol,nglk->gok", a, b)


def _share(task, y, weight):
    """Run task(start, stop) over the samples on as many threads as the work is worth."""
    multiplications = math.prod(y.shape[1:]) * math.prod(weight.shape[1:])
    return parallel.run(task, len(y), grain=1 + _WORTH_A_THREAD // max(1, multiplications))
