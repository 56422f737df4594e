"""Matrix products into strided arrays, and the threads and scratch arrays of the kernels."""

import os
import threading

import numpy as np
import pytest

from msadapter.pytorch._kernels import parallel
from msadapter.pytorch._kernels.blas import matmul_into

SIZES = [(1, 1, 1), (3, 5, 7), (6, 4000, 15), (6, 15, 40000), (40, 300, 70), (200, 1, 90), (1, 90, 200)]


def matrices(shape, dtype, turned, seed):
    """Random numbers, of integer value so that products are exact; `turned`: columns stand together in memory."""
    values = np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)
    if values.dtype.kind == "c":
        values = values + 1j * values[..., ::-1, :]
    return np.asfortranarray(values.T).T.copy("F").reshape(shape) if turned else values


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128, np.int32])
@pytest.mark.parametrize("m, k, n", SIZES)
def test_products_of_every_layout(m, k, n, dtype):
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        a, b = matrices((m, k), dtype, left, 0), matrices((k, n), dtype, right, 1)
        out = np.full((m, n + 3), 7, dtype)
        matmul_into(out[:, 1:-2], a, b)
        np.testing.assert_array_equal(out[:, 1:-2], np.matmul(a, b))
        matmul_into(out[:, 1:-2], a, b, accumulate=True)
        np.testing.assert_array_equal(out[:, 1:-2], 2 * np.matmul(a, b))
        assert (out[:, 0] == 7).all() and (out[:, -2:] == 7).all()


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_leading_dimensions_broadcast_and_missing_ones_add_up(dtype):
    a, b = matrices((2, 1, 3, 4), dtype, False, 0), matrices((5, 4, 6), dtype, False, 1)
    out = np.empty((2, 5, 3, 6), dtype)
    matmul_into(out, a, b)
    np.testing.assert_array_equal(out, np.matmul(a, b))
    total = np.ones((5, 3, 6), dtype)
    matmul_into(total, a, b, accumulate=True)
    np.testing.assert_array_equal(total, 1 + np.matmul(a, b).sum(0))


def test_steps_blas_cannot_read_are_copied():
    a, b = matrices((4, 10), np.float32, False, 0)[:, ::2], matrices((5, 12), np.float32, False, 1)[:, ::3]
    out = np.empty((4, 4), np.float32)
    matmul_into(out, a, b)
    np.testing.assert_array_equal(out, np.matmul(a, b))
    with pytest.raises(ValueError, match="unit stride in its last dimension, got"):
        matmul_into(np.empty((4, 8), np.float32)[:, ::2], a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_no_depth_gives_zero(dtype):
    out = np.full((2, 3), 5, dtype)
    a, b = np.empty((2, 0), dtype), np.empty((0, 3), dtype)
    matmul_into(out, a, b, accumulate=True)
    assert (out == 5).all()
    matmul_into(out, a, b)
    assert (out == 0).all()


def test_nothing_of_an_uninitialised_result_remains():
    out = np.full((3, 3), np.nan, np.float32)
    matmul_into(out, np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32))
    np.testing.assert_array_equal(out, np.eye(3))


@pytest.fixture
def four_threads():
    before = parallel.get_num_threads()
    parallel.set_num_threads(4)
    yield
    parallel.set_num_threads(before)


@pytest.mark.parametrize("count, grain, expected", [(10, 1, 4), (10, 3, 3), (3, 5, 1), (0, 1, 1)])
def test_run_covers_the_range_once_and_in_order(count, grain, expected, four_threads):
    parts = parallel.run(lambda start, stop: list(range(start, stop)), count, grain)
    assert len(parts) == expected
    assert [i for part in parts for i in part] == list(range(count))
    assert all(len(part) >= grain for part in parts) or len(parts) == 1


def test_run_raises_what_a_task_raises_and_silences_numpy(four_threads, recwarn):
    def task(start, stop):
        if start:
            np.log(np.zeros(stop))
            raise KeyError(start)

    with pytest.raises(KeyError):
        parallel.run(task, 8)
    assert not recwarn.list


def test_scratch_belongs_to_its_thread_and_name(four_threads):
    own = parallel.scratch("test", (3, 4), np.float32)
    assert own.shape == (3, 4) and own.dtype == np.float32
    assert np.shares_memory(own, parallel.scratch("test", (3,), np.complex128))
    assert not np.shares_memory(own, parallel.scratch("other", (3, 4), np.float32))
    found = []
    other = threading.Thread(target=lambda: found.append(parallel.scratch("test", (3, 4), np.float32)))
    other.start()
    other.join()
    assert not np.shares_memory(own, found[0])
    large = (parallel._KEEP + 1,)
    first = parallel.scratch("test", large, np.uint8)
    assert not np.shares_memory(first, parallel.scratch("test", large, np.uint8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(four_threads):
    parallel.run(lambda start, stop: None, 4)
    child = os.fork()
    if not child:
        total = sum(parallel.run(lambda start, stop: stop - start, 4))
        os._exit(total)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
