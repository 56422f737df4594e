"""The DataLoader: samples of a dataset, in the order of a sampler, as batches."""

import logging
import math
import multiprocessing
import multiprocessing.context
import os
import warnings
from collections.abc import Callable, Iterable

from msadapter.pytorch._engine import native
from msadapter.pytorch.utils.data._utils import collate, fetch, worker
from msadapter.pytorch.utils.data._utils.pin_memory import pin_memory
from msadapter.pytorch.utils.data._utils.worker import get_worker_info
from msadapter.pytorch.utils.data.dataset import Dataset, IterableDataset
from msadapter.pytorch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    draw_seed,
)

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

default_collate = collate.default_collate
default_convert = collate.default_convert

_log = logging.getLogger(__name__)
_FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        kinds = {
            _DatasetKind.Map: fetch._MapDatasetFetcher,
            _DatasetKind.Iterable: fetch._IterableDatasetFetcher,
        }
        return kinds[kind](dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler):
    """The sampler of an iterable-style dataset: it has no indices, and its end is known only when it comes."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over a dataset in batches.

    Args:
        dataset: map-style (`__getitem__` and `__len__`) or an IterableDataset.
        batch_size: samples in a batch; None gives them one by one.
        shuffle: whether the order is random at each iteration.
        sampler: an iterable of indices, instead of `shuffle`.
        batch_sampler: an iterable of lists of indices, instead of `batch_size`, `shuffle`, `sampler`, `drop_last`.
        num_workers: how many workers load batches; 0 loads them in the process that iterates.
        collate_fn: makes a batch of a list of samples; default: `default_collate`, or `default_convert` for single ones.
        pin_memory: whether batches are put in pinned memory; without an accelerator there is none.
        drop_last: whether a last batch that is not full is left out.
        timeout: seconds to wait for a batch of a worker; 0 waits for ever.
        worker_init_fn: called with its id in each worker.
        multiprocessing_context: a start method or context of `multiprocessing`.
        generator: draws the order and the workers' seeds; default: the default generator.
        prefetch_factor: batches that each worker loads ahead; default: 2.
        persistent_workers: whether workers are kept from one iteration to the next.
        in_order: whether batches come in the sampler's order; else, as they are ready.

    The workers do not yet run in processes of their own: the process that iterates takes their turns, which gives
    the same batches without their speed. One line of logging (INFO) says so. What differs: the workers share one
    dataset object, and random numbers drawn in it come from the process's own generators.

    Raises ValueError or TypeError for values, and combinations of arguments, that make no sense.
    """

    __initialized = False

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler | Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.persistent_workers = persistent_workers
        self.generator = generator

        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            _check_no_order(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            sampler = _default_sampler(dataset, iterable, shuffle, generator)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        default = default_collate if self._auto_collation else default_convert
        self.collate_fn = default if collate_fn is None else collate_fn

        self.__initialized = True
        self._IterableDataset_len_called = None
        self._iterator = None
        self.check_worker_number_rationality()

    @property
    def multiprocessing_context(self):
        """The context of `multiprocessing` that starts the workers; a start method is accepted too."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            context = _checked_context(context, self.num_workers)
        self.__multiprocessing_context = context

    def __setattr__(self, name, value):
        if self.__initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self):
        return (_WorkersInTurnIter if self.num_workers else _SingleProcessDataLoaderIter)(self)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        # Kept, so that the iterator can warn when the dataset gives more than it promised.
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else math.ceil(length / self.batch_size)

    @property
    def get_dataset_size(self):
        """Absent. `mindspore.Model` asks its dataset for it first: the place to say what to hand it instead."""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute 'get_dataset_size': mindspore.Model takes MindSpore's datasets. "
            "Write mindspore.dataset.GeneratorDataset(source=loader, column_names=[...]) with a name for each column."
        )

    def check_worker_number_rationality(self):
        """Warn where more workers are asked for than there are processors to run them."""
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers and available is not None and self.num_workers > available:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {available}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=3,
            )


def _check_workers(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing. "
            f"Received: {num_workers}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative. Received: {timeout}")
    if prefetch_factor is not None and num_workers == 0:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. Let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"prefetch_factor option should be non-negative. Received: {prefetch_factor}")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_no_order(shuffle, sampler, batch_sampler):
    """An iterable-style dataset has no indices: what would order them is refused."""
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _default_sampler(dataset, iterable, shuffle, generator):
    if iterable:
        return _InfiniteConstantSampler()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


def _checked_context(context, num_workers):
    if not num_workers:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


class _BaseDataLoaderIter:
    """One pass over a loader. A subclass gives the next batch in `_next_data`, raising StopIteration at the end."""

    def __init__(self, loader):
        self._loader = loader
        self._dataset = loader.dataset
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = _has_pinned_memory(loader)
        self._sampler_iter = iter(self._index_sampler)
        # Drawn here even where nobody reads it, as in PyTorch: what comes next from the generator depends on it.
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0
        self._promised = loader._IterableDataset_len_called

    def _reset(self, loader):
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._promised = loader._IterableDataset_len_called

    def _create_fetcher(self):
        loader = self._loader
        return _DatasetKind.create_fetcher(
            loader._dataset_kind, self._dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )

    def __iter__(self):
        return self

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        raise NotImplementedError

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        self._check_promised_length()
        return pin_memory(data) if self._pin_memory else data

    def _check_promised_length(self):
        if self._promised is None or self._num_yielded <= self._promised:
            return
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._promised} (when accessing "
            f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker: get_worker_info() says which part is its own."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


def _has_pinned_memory(loader):
    if not loader.pin_memory:
        return False
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device, ignore "
            f"pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=6,
        )
    if native.device_target() != "CPU":
        return True
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
        stacklevel=6,
    )
    return False


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass that loads batches where it is iterated."""

    def __init__(self, loader):
        if loader.timeout:
            raise AssertionError(
                f"timeout needs num_workers > 0: without workers there is nobody to wait for. Received: {loader.timeout}"
            )
        super().__init__(loader)
        self._fetcher = self._create_fetcher()

    def _next_data(self):
        return self._fetcher.fetch(self._next_index())


class _WorkersInTurnIter(_BaseDataLoaderIter):
    """A pass in which this process takes the workers' turns: each has its id, its seed and its share of batches."""

    _told = False

    def __init__(self, loader):
        super().__init__(loader)
        if not _WorkersInTurnIter._told:
            _WorkersInTurnIter._told = True
            _log.info(
                "DataLoader(num_workers=%d): batches are loaded in this process, one worker's turn after the other; "
                "worker processes are not implemented yet",
                loader.num_workers,
            )
        self._workers = [
            worker.WorkerInfo(i, loader.num_workers, self._base_seed + i, self._dataset)
            for i in range(loader.num_workers)
        ]
        for info in self._workers:
            if loader.worker_init_fn is not None:
                with worker.in_worker(info):
                    loader.worker_init_fn(info.id)
        self._start()

    def _start(self):
        self._turns = []
        for info in self._workers:
            with worker.in_worker(info):
                self._turns.append((info, self._create_fetcher()))

    def _reset(self, loader):
        super()._reset(loader)
        self._start()

    def _next_data(self):
        while self._turns:
            index = self._next_index()
            info, fetcher = self._turns.pop(0)
            try:
                with worker.in_worker(info):
                    data = fetcher.fetch(index)
            except StopIteration:
                continue  # this worker's part of an iterable-style dataset has ended; the others go on
            self._turns.append((info, fetcher))
            return data
        raise StopIteration
