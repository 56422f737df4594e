"""Pooling kernels against loops over the windows, element by element."""

import itertools

import numpy as np
import pytest

from msadapter.pytorch._kernels import pooling

# spatial sizes, kernel, stride, padding, dilation, ceil_mode
WINDOWS = [
    ((7,), (3,), (2,), (1,), (1,), True),
    ((6, 5), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((7, 6), (3, 2), (1, 2), (1, 1), (2, 1), True),
    ((4, 5, 3), (2, 3, 2), (2, 1, 2), (1, 0, 1), (1, 2, 1), False),
]


def windows_of(index, spatial, kernel, stride, padding, dilation):
    """The places inside the input of the window at `index`."""
    for offsets in itertools.product(*map(range, kernel)):
        place = tuple(
            i * s - p + o * d for i, s, p, o, d in zip(index, stride, padding, offsets, dilation, strict=True)
        )
        if all(0 <= c < n for c, n in zip(place, spatial, strict=True)):
            yield place


@pytest.mark.parametrize("spatial, kernel, stride, padding, dilation, ceil_mode", WINDOWS)
def test_max_pool_its_places_and_its_gradient(spatial, kernel, stride, padding, dilation, ceil_mode):
    x = np.random.default_rng(0).integers(0, 9, (2, 3, *spatial)).astype(np.float64)
    shape = (kernel, stride, padding, dilation)
    best, winner = pooling.max_pool(x, *shape, ceil_mode)
    places = pooling.flat_places(winner, spatial, *shape)
    grad = np.random.default_rng(1).standard_normal(best.shape)
    expected = np.zeros_like(x)
    for n, c, *index in np.ndindex(best.shape):
        inside = list(windows_of(index, spatial, *shape))
        values = [x[(n, c, *place)] for place in inside]
        first = inside[int(np.argmax(values))]
        assert best[(n, c, *index)] == max(values)
        assert places[(n, c, *index)] == np.ravel_multi_index(first, spatial)
        expected[(n, c, *first)] += grad[(n, c, *index)]
    assert np.allclose(pooling.max_pool_gradient(grad, winner, spatial, *shape), expected)
    assert np.allclose(pooling.scatter_windows(grad, places, spatial), expected)
    assert np.array_equal(pooling.max_pool_pick(x, winner, *shape), best)
    assert np.array_equal(pooling.gather_windows(x, places), best)


def test_nan_is_the_largest_and_infinite_gradients_stay_where_they_belong():
    x = np.array([[[1.0, np.nan, 3.0, 2.0]]])
    shape = ((2,), (2,), (0,), (1,))
    best, winner = pooling.max_pool(x, *shape, False)
    assert np.isnan(best[0, 0, 0]) and best[0, 0, 1] == 3.0
    grad = pooling.max_pool_gradient(np.array([[[np.inf, 1.0]]]), winner, (4,), *shape)
    assert grad.tolist() == [[[0.0, np.inf, 1.0, 0.0]]]


@pytest.mark.parametrize("spatial, kernel, stride, padding, dilation, ceil_mode", WINDOWS)
@pytest.mark.parametrize("count_include_pad, divisor", [(True, None), (False, None), (True, 5)])
def test_avg_pool_and_its_gradient(
    spatial, kernel, stride, padding, dilation, ceil_mode, count_include_pad, divisor
):
    x = np.random.default_rng(0).standard_normal((2, 3, *spatial))
    means = pooling.avg_pool(x, kernel, stride, padding, ceil_mode, count_include_pad, divisor)
    grad = np.random.default_rng(1).standard_normal(means.shape)
    expected = np.zeros_like(x)
    ones = (1,) * len(kernel)
    for n, c, *index in np.ndindex(means.shape):
        inside = list(windows_of(index, spatial, kernel, stride, padding, ones))
        reach = [
            min(i * s - p + k, size + p) - (i * s - p)
            for i, s, p, k, size in zip(index, stride, padding, kernel, spatial, strict=True)
        ]
        count = divisor or (int(np.prod(reach)) if count_include_pad else len(inside))
        assert means[(n, c, *index)] == pytest.approx(sum(x[(n, c, *p)] for p in inside) / count)
        for place in inside:
            expected[(n, c, *place)] += grad[(n, c, *index)] / count
    found = pooling.avg_pool_gradient(grad, spatial, kernel, stride, padding, count_include_pad, divisor)
    assert np.allclose(found, expected)


@pytest.mark.parametrize(
    "spatial, out", [((7,), (3,)), ((5, 6), (2, 4)), ((4, 3, 5), (3, 3, 2)), ((3, 3), (5, 1))]
)
def test_adaptive_pools(spatial, out):
    x = np.random.default_rng(0).standard_normal((2, 3, *spatial))
    means, (best, places) = pooling.adaptive_avg_pool(x, out), pooling.adaptive_max_pool(x, out)
    grad = np.random.default_rng(1).standard_normal(means.shape)
    expected = np.zeros_like(x)
    for index in np.ndindex(*out):
        span = tuple(
            slice(i * n // o, -(-(i + 1) * n // o)) for i, n, o in zip(index, spatial, out, strict=True)
        )
        window = x[(..., *span)]
        axes = tuple(range(2, x.ndim))
        assert np.allclose(means[(..., *index)], window.mean(axes))
        assert np.array_equal(best[(..., *index)], window.max(axes))
        size = np.prod(window.shape[2:])
        expected[(..., *span)] += grad[(..., *index)][(..., *(None,) * len(out))] / size
    assert np.array_equal(pooling.gather_windows(x, places), best)
    assert np.allclose(pooling.adaptive_avg_pool_gradient(grad, spatial), expected)
