"""From indices to a batch: ask the dataset, then collate. The same in the process that iterates and in a worker."""

import itertools


class _MapDatasetFetcher:
    """Fetch from a map-style dataset; `index` is a list of indices where batches are made, else one index."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self._dataset = dataset
        self._auto_collation = auto_collation
        self._collate = collate_fn

    def fetch(self, index):
        dataset = self._dataset
        if not self._auto_collation:
            samples = dataset[index]
        elif getattr(dataset, "__getitems__", None):
            samples = dataset.__getitems__(index)
        else:
            samples = [dataset[i] for i in index]
        return self._collate(samples)


class _IterableDatasetFetcher:
    """Fetch from an iterable-style dataset, as many samples as `index` is long; raises StopIteration at its end."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self._samples = iter(dataset)
        self._auto_collation = auto_collation
        self._collate = collate_fn
        self._drop_last = drop_last
        self._ended = False

    def fetch(self, index):
        if self._ended:
            raise StopIteration
        if not self._auto_collation:
            return self._collate(next(self._samples))
        samples = list(itertools.islice(self._samples, len(index)))
        # Remembered: an iterator that has ended once must not be asked again.
        self._ended = len(samples) < len(index)
        if not samples or (self._drop_last and self._ended):
            raise StopIteration
        return self._collate(samples)
