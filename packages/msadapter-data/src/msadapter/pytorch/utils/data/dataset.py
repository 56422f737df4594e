"""Datasets: what a DataLoader reads from, and datasets made of other datasets."""

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import msadapter.pytorch as torch

__all__ = [
    "Dataset",
    "IterableDataset",
    "TensorDataset",
    "StackDataset",
    "ConcatDataset",
    "ChainDataset",
    "Subset",
    "random_split",
]

_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """Samples by key: a subclass defines `__getitem__`, and `__len__` where its keys are 0 to len - 1.

    It may also define `__getitems__(indices)`, which gives a list of samples at once; the DataLoader then uses that.
    """

    def __getitem__(self, index) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset[_T_co]") -> "ConcatDataset[_T_co]":
        return ConcatDataset([self, other])

    if TYPE_CHECKING:  # not at run time: `len(dataset)` of a subclass without one must raise TypeError

        def __len__(self) -> int: ...

        def __getitems__(self, indices: list[int]) -> list[_T_co]: ...


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Samples in the order in which they come: a subclass defines `__iter__`.

    With several workers each iterates over its own copy: `get_worker_info()` inside `__iter__` says which part is
    its own.
    """

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Rows of tensors: sample i is `tuple(t[i] for t in tensors)`.

    Raises AssertionError unless the tensors have the same size in their first dimension.
    """

    def __init__(self, *tensors: "torch.Tensor") -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError(
                f"Size mismatch between tensors. Received: shapes {[tuple(t.shape) for t in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Datasets of one length side by side: tuples of their samples, or dicts where they are given by keyword.

    Raises ValueError for no dataset, for both kinds at once, and for different lengths.
    """

    def __init__(self, *args: Dataset, **kwargs: Dataset) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in args or kwargs.values()]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets. Received: lengths {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list):
        """The samples at `indices`, each dataset asked once where it can give several."""
        if isinstance(self.datasets, dict):
            columns = [_samples_at(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row)) for row in zip(*columns)]
        return list(zip(*(_samples_at(dataset, indices) for dataset in self.datasets)))

    def __len__(self) -> int:
        return self._length


def _samples_at(dataset, indices):
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    samples = dataset.__getitems__(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}"
        )
    return samples


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other, without copying.

    Raises AssertionError for no dataset and for iterable-style ones.
    """

    @staticmethod
    def cumsum(sequence):
        """Running totals of the lengths."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    f"absolute value of index should not exceed dataset length. Received: {idx} for {len(self)} samples"
                )
            idx += len(self)
        position = bisect.bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[position - 1] if position else 0
        return self.datasets[position][idx - before]

    @property
    def cummulative_sizes(self):
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Iterable-style datasets one after the other, each started when the one before it ends.

    Iterating or taking `len` raises AssertionError for a map-style dataset.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        super().__init__()
        self.datasets = datasets

    def _each(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self._each():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._each())


class Subset(Dataset[_T_co]):
    """The samples of `dataset` at `indices`.

    A subclass that overrides `__getitem__` must override `__getitems__` too, which the DataLoader uses; else
    NotImplementedError is raised here.
    """

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{cls.__name__} overrides __getitem__ but not __getitems__, which a DataLoader calls for a batch. "
                "Add to it:\n\n    def __getitems__(self, indices):\n        return [self[i] for i in indices]"
            )

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence, generator=None) -> list[Subset]:
    """`dataset` as random subsets of the given lengths that share no sample.

    Args:
        lengths: numbers of samples, or fractions that sum to 1; samples left over by rounding down go to the first
            subsets, one each.
        generator: draws the permutation; default: `torch.default_generator`.

    Raises ValueError for fractions outside [0, 1] and for lengths that do not sum to `len(dataset)`.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _whole_lengths(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"Received: lengths {list(lengths)} for {len(dataset)} samples"
        )
    order = torch.randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]


def _whole_lengths(fractions, total):
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return lengths
