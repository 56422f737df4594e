"""Samplers: the order in which a DataLoader takes samples. Draw for draw PyTorch's, so that a seed gives its order."""

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Generic, TypeVar

import msadapter.pytorch as torch

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_T_co = TypeVar("_T_co", covariant=True)
_DRAWN_AT_ONCE = (
    32  # PyTorch's block of draws with replacement: another would take the words in another order
)


def draw_seed(generator=None) -> int:
    """The int64 that PyTorch draws where it needs a seed, from `generator` or the default one."""
    return torch.empty((), dtype=torch.int64).random_(generator=generator).item()


def _is_positive_int(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class Sampler(Generic[_T_co]):
    """Base of samplers: a subclass defines `__iter__`, over indices or lists of indices, and may define `__len__`."""

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError

    # No __len__ here: `len(sampler)` of a subclass without one must raise TypeError.


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ... up to the length of `data_source`."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices of `data_source` in random order.

    Args:
        replacement: whether an index may come again.
        num_samples: how many to draw; default: the length of `data_source`.
        generator: draws the order; default: a new one, seeded from the default generator at each iteration.

    Raises TypeError for a `replacement` that is no bool, ValueError for a `num_samples` that is no positive integer.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator=None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={self.replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        # Asked each time: the data source may grow.
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            yield from self._with_replacement(generator)
        else:
            yield from self._permutations(generator)

    def _with_replacement(self, generator):
        blocks, rest = divmod(self.num_samples, _DRAWN_AT_ONCE)
        for size in (*itertools.repeat(_DRAWN_AT_ONCE, blocks), rest):
            yield from torch.randint(len(self.data_source), (size,), generator=generator).tolist()

    def _permutations(self, generator):
        count = len(self.data_source)
        whole, rest = divmod(self.num_samples, count)
        for _ in range(whole):
            yield from torch.randperm(count, generator=generator).tolist()
        # Drawn even where nothing of it is taken: PyTorch's generator moves on as well.
        yield from torch.randperm(count, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The elements of `indices`, each once, in random order."""

    def __init__(self, indices: Sequence[int], generator=None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices of `weights`, each drawn with a probability in proportion to its weight.

    Args:
        weights: shape (n,), any positive scale; kept as float64.
        num_samples: how many to draw.
        replacement: whether an index may come again.

    Raises ValueError for other kinds of argument.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator=None
    ) -> None:
        if not _is_positive_int(num_samples):
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices from another sampler; `drop_last` leaves out a last one that is shorter.

    Raises ValueError for a `batch_size` that is no positive integer and a `drop_last` that is no bool.
    """

    def __init__(self, sampler, batch_size: int, drop_last: bool) -> None:
        if not _is_positive_int(batch_size):
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full if self.drop_last or not rest else full + 1
