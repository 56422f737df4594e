"""Spread independent pieces of one kernel over the CPU's cores.

NumPy copies and ufuncs and the BLAS calls of `blas` release the interpreter lock, so plain threads do.
"""

import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def _default_threads():
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) > 0 else len(os.sched_getaffinity(0))


_threads = _default_threads()
_pool = None
_kept = threading.local()
_KEEP = 1 << 23  # bytes: a larger scratch array is not kept


def get_num_threads():
    """How many threads one kernel may use."""
    return _threads


def set_num_threads(count):
    """Let each kernel use `count` threads (1: the caller's alone)."""
    global _threads, _pool
    _threads, _pool = count, None


def run(task, count, grain=1):
    """Call task(start, stop) on contiguous parts of range(count), each at least `grain` long, in parallel.

    The calling thread takes the first part. Returns the tasks' results in order.
    """
    parts = max(1, min(_threads, count // grain))
    if parts == 1:
        return [task(0, count)]
    bounds = [count * i // parts for i in range(parts + 1)]
    futures = [
        _workers().submit(_quietly, task, *span) for span in zip(bounds[1:-1], bounds[2:], strict=True)
    ]
    first = task(bounds[0], bounds[1])
    return [first, *(future.result() for future in futures)]


def scratch(name, shape, dtype):
    """An uninitialised array, the thread's own until it asks for the same name again.

    Kept, because touching fresh pages costs more than what the kernels do with them (2 us a page measured).
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size > _KEEP:
        return np.empty(shape, dtype)
    buffer = getattr(_kept, name, None)
    if buffer is None or len(buffer) < size:
        buffer = np.empty(size, np.uint8)
        setattr(_kept, name, buffer)
    return buffer[:size].view(dtype).reshape(shape)


def _workers():
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads - 1, thread_name_prefix="msadapter-kernel")
    return _pool


def _quietly(task, start, stop):
    # errstate belongs to the thread: the caller's does not reach the workers.
    with np.errstate(all="ignore"):
        return task(start, stop)


def _forget_pool():
    global _pool
    _pool = None


# A forked child inherits the pool object but none of its threads.
os.register_at_fork(after_in_child=_forget_pool)
