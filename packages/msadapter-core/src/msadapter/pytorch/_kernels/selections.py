"""Which elements of an array an index picks: read them, write them, or add values up at them.

Every selection has `read(array)`, `write(array, values)` into the array, and `added(values, shape)`: a fresh array of
that shape with the values summed at their places, the adjoint of `read`. Indices are int64, not negative and in range.
"""

import numpy as np


class Along:
    """One element per entry of `index` along `axis`, the other coordinates being the entry's own: gather and scatter.

    `shape`: that of what is picked, by default that of `index`.
    """

    def __init__(self, index, axis, shape=None):
        self.index, self.axis = index, axis
        self.shape = index.shape if shape is None else shape

    def read(self, array):
        return array.reshape(-1).take(self._positions(array.shape)).reshape(self.shape)

    def write(self, array, values):
        array.reshape(-1)[self._positions(array.shape)] = values

    def added(self, values, shape):
        return _added_at(self._positions(shape), values, shape)

    def combine(self, array, values, function):
        """array[place] = function(array[place], value) in place, one value after the other."""
        function.at(array.reshape(-1), self._positions(array.shape).ravel(), values.ravel())

    def _positions(self, shape):
        """The places in the flattened array."""
        if not shape:
            return self.index  # all of them 0
        positions, step = 0, 1
        for axis in reversed(range(len(shape))):
            if axis == self.axis:
                positions = positions + self.index * step
            elif self.index.shape[axis] > 1:
                coordinate = np.arange(self.index.shape[axis]) * step
                positions = positions + coordinate.reshape(-1, *(1,) * (len(shape) - 1 - axis))
            step *= shape[axis]
        return positions


class Slices:
    """Whole slices of `axis`, in the order (and shape) of `index`: index_select, embedding, x[:, index]."""

    def __init__(self, index, axis):
        self.index, self.axis = index, axis

    def read(self, array):
        return array.take(self.index, self.axis)

    def write(self, array, values):
        array[(slice(None),) * self.axis + (self.index,)] = values

    def added(self, values, shape):
        count, length = self.index.size, shape[self.axis]
        before, after = _size(shape[: self.axis]), _size(shape[self.axis + 1 :])
        values = values.reshape(before, count, after).swapaxes(0, 1)
        rows = _added_rows(self.index.ravel(), values.reshape(count, before * after), length)
        return rows.reshape(length, before, after).swapaxes(0, 1).reshape(shape)


class Masked:
    """The elements where `mask` is True, whose axes stand at `axis` and become one."""

    def __init__(self, mask, axis):
        self._selector = (slice(None),) * axis + (mask,)

    def read(self, array):
        return array[self._selector]

    def write(self, array, values):
        array[self._selector] = values

    def added(self, values, shape):
        result = np.zeros(shape, values.dtype)
        result[self._selector] = values  # no place is picked twice
        return result


class Points:
    """Several index arrays that broadcast together, one per axis; None stands for a whole axis, as trailing ones do.

    Without any array it is all of the tensor.
    """

    def __init__(self, arrays):
        self.arrays = arrays
        self._selector = tuple(slice(None) if a is None else a for a in arrays)

    def read(self, array):
        return array[self._selector]

    def write(self, array, values):
        array[self._selector] = values

    def added(self, values, shape):
        axes = [i for i, a in enumerate(self.arrays) if a is not None]
        indices = np.broadcast_arrays(*(self.arrays[i] for i in axes))
        first = axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0
        if (
            first
        ):  # the picked dimensions stand where the adjacent index arrays stand: bring them to the front
            picked = range(first, first + indices[0].ndim)
            values = np.moveaxis(values, picked, range(indices[0].ndim))
        others = [i for i in range(len(shape)) if i not in axes]
        lead, rest = tuple(shape[i] for i in axes), tuple(shape[i] for i in others)
        rows = np.ravel_multi_index(tuple(indices), lead).ravel() if indices[0].size else indices[0].ravel()
        result = _added_rows(rows, values.reshape(rows.size, _size(rest)), _size(lead))
        order = np.argsort(axes + others)
        return np.ascontiguousarray(result.reshape(lead + rest).transpose(order))


def _size(shape):
    return int(np.prod(shape, dtype=np.int64))


def _added_at(positions, values, shape):
    """Zeros of `shape` with the values added at flat positions."""
    half = values.dtype.itemsize == 2 and values.dtype.kind in "fV"
    result = np.zeros(shape, np.float32 if half else values.dtype)
    # The one-dimensional form is NumPy's fast one: 3 ns per element against 15.
    np.add.at(result.reshape(-1), positions.ravel(), values.ravel().astype(result.dtype, copy=False))
    return result.astype(values.dtype, copy=False)


_IN_SPARSE = frozenset("fdFD")


def _added_rows(index, values, count):
    """`count` rows, row i the sum of the rows of `values` whose `index` is i."""
    n, width = values.shape
    if width < 4 or not n or values.dtype.char not in _IN_SPARSE:
        positions = index[:, None] * width + np.arange(width)
        return _added_at(positions, values, (count, width))
    # A sparse product adds whole rows: 6 times as fast as adding single elements.
    from scipy.sparse import csc_matrix

    picks = csc_matrix((np.ones(n, values.dtype), index, np.arange(n + 1)), shape=(count, n))
    return picks @ values
