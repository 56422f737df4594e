"""Sampling at places that a grid names: for each picture a sparse matrix over its pixels, and one per axis for its slope."""

import itertools

import numpy as np
import scipy.sparse

_CUBIC = -0.75


class Sampler:
    """The matrices of one picture of shape (C, d1, ...): `values` (places, pixels), and `slopes`, one per axis of a grid.

    Args:
        grid: shape (places, axes); the last axis of the picture comes first, from -1 to 1.
    """

    def __init__(self, sizes, grid, mode, padding_mode, align_corners, with_slopes=False):
        self._sizes = sizes
        self._padding, self._align = padding_mode, align_corners
        real = grid.dtype.type
        lines = []  # per axis of the picture: taps, weights, slopes
        for axis, size in enumerate(sizes):
            place, scale = self._place(grid[:, len(sizes) - 1 - axis], size, mode)
            taps, weights, slopes = _TAPS[mode](place)
            if mode == "bicubic":
                taps = self._padded(taps, size)[0]
            lines.append((taps.astype(np.int64), weights, slopes * scale[:, None].astype(real)))
        self.values = self._matrix(lines, None)
        self.slopes = (
            [self._matrix(lines, axis) for axis in reversed(range(len(sizes)))] if with_slopes else []
        )

    def _place(self, coordinate, size, mode):
        """Where in the picture, in pixels, and how far a step of the grid goes there."""
        reach = (size - 1) / 2 if self._align else size / 2
        place = (coordinate + 1) * coordinate.dtype.type(reach) - (
            0 if self._align else coordinate.dtype.type(0.5)
        )
        scale = np.full(place.shape, reach)
        if mode == "bicubic":  # pads each of its pixels, not the place
            return place, scale
        place, moved = self._padded(place, size)
        return place, scale * moved

    def _padded(self, place, size):
        """Places moved into the picture, and the sign with which they move: 0 where they stay at its edge."""
        if self._padding == "zeros":
            return place, np.ones_like(place)
        sign = np.ones_like(place)
        if self._padding == "reflection":
            low, span = (0, size - 1) if self._align else (-0.5, size)
            if not span:
                return np.zeros_like(place), np.zeros_like(place)
            away = np.abs(place - low)
            turns = np.floor(away / span)
            rest = away - turns * span
            back = turns % 2 == 1
            sign = np.where(place < low, -1, 1) * np.where(back, -1, 1)
            place = np.where(back, span - rest, rest) + low
        inside = (place > 0) & (place < size - 1)
        return np.clip(place, 0, size - 1).astype(place.dtype), sign * inside

    def _matrix(self, lines, sloped):
        """The product of the axes' weights, with slopes in place of the weights of the axis `sloped`."""
        places = len(lines[0][0])
        columns, weights, inside = [], [], []
        for chosen in itertools.product(*(range(line[0].shape[1]) for line in lines)):
            column, weight, valid = 0, 1, True
            for axis, (size, tap) in enumerate(zip(self._sizes, chosen)):
                taps = lines[axis][0][:, tap]
                valid = valid & (taps >= 0) & (taps < size)
                column = column * size + taps
                weight = weight * lines[axis][2 if axis == sloped else 1][:, tap]
            columns.append(column), weights.append(weight), inside.append(valid)
        # Pixels outside are left out, not weighed with 0: 0 times infinity would be no number.
        inside = np.stack(inside, 1)
        ends = np.concatenate([[0], np.cumsum(inside.sum(1))])
        shape = (places, int(np.prod(self._sizes)))
        return scipy.sparse.csr_matrix(
            (np.stack(weights, 1)[inside], np.stack(columns, 1)[inside], ends), shape
        )


def _nearest_taps(place):
    taps = np.rint(place)[:, None]
    return taps, np.ones_like(taps), np.zeros_like(taps)


def _linear_taps(place):
    first = np.floor(place)
    beyond = place - first
    one = np.ones_like(beyond)
    return np.stack([first, first + 1], 1), np.stack([1 - beyond, beyond], 1), np.stack([-one, one], 1)


def _cubic_taps(place):
    first = np.floor(place)
    beyond = place - first
    distances = np.stack([beyond + 1, beyond, 1 - beyond, 2 - beyond], 1)
    near, a = distances <= 1, place.dtype.type(_CUBIC)
    weights = np.where(
        near,
        ((a + 2) * distances - (a + 3)) * distances * distances + 1,
        ((a * distances - 5 * a) * distances + 8 * a) * distances - 4 * a,
    )
    slopes = np.where(
        near,
        (3 * (a + 2) * distances - 2 * (a + 3)) * distances,
        (3 * a * distances - 10 * a) * distances + 8 * a,
    )
    taps = np.stack([first - 1, first, first + 1, first + 2], 1)
    return taps, weights, slopes * np.array([1, 1, -1, -1], place.dtype)


_TAPS = {"nearest": _nearest_taps, "bilinear": _linear_taps, "bicubic": _cubic_taps}


def sample(input, grid, *options):
    """(N, C, d1, ...) at the places of (N, o1, ..., axes): (N, C, o1, ...)."""
    result = np.empty((*input.shape[:2], *grid.shape[1:-1]), input.dtype)
    for picture, places, out in zip(input, grid, result):
        matrix = Sampler(picture.shape[1:], places.reshape(-1, grid.shape[-1]), *options).values
        out[...] = (matrix @ picture.reshape(len(picture), -1).T).T.reshape(out.shape)
    return result


def sample_gradients(grad, input, grid, *options):
    """The gradients of `sample` for the pictures and for the grid."""
    input_grad, grid_grad = np.empty_like(input), np.empty_like(grid)
    for picture, places, upper, to_picture, to_grid in zip(input, grid, grad, input_grad, grid_grad):
        sampler = Sampler(picture.shape[1:], places.reshape(-1, grid.shape[-1]), *options, with_slopes=True)
        pixels, upper = picture.reshape(len(picture), -1).T, upper.reshape(len(upper), -1).T
        to_picture[...] = (sampler.values.T @ upper).T.reshape(picture.shape)
        slopes = [((slope @ pixels) * upper).sum(1) for slope in sampler.slopes]
        to_grid[...] = np.stack(slopes, 1).reshape(places.shape)
    return input_grad, grid_grad
