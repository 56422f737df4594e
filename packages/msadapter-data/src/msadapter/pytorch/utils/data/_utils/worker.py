"""What a worker knows of itself."""

import contextlib
import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is.

    Attributes:
        id: from 0 to num_workers - 1.
        seed: the seed of the worker, the loader's base seed plus its id.
        dataset: the worker's dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: object


_current = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """The worker that this code runs in; None outside of workers."""
    return getattr(_current, "info", None)


@contextlib.contextmanager
def in_worker(info: WorkerInfo):
    """Run as the worker `info`."""
    before = get_worker_info()
    _current.info = info
    try:
        yield
    finally:
        _current.info = before
