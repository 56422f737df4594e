"""The sampler that gives each process of a distributed job its part of a dataset."""

import itertools
import math
from collections.abc import Iterator

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data.dataset import Dataset
from msadapter.pytorch.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


def _from_process_group(name):
    """`torch.distributed.get_world_size()` or `get_rank()`, for a sampler that was not told."""
    try:
        from msadapter.pytorch import distributed
    except ImportError:
        raise RuntimeError(
            "Requires distributed package to be available. Without a process group, write "
            "DistributedSampler(dataset, num_replicas=..., rank=...)"
        ) from None
    return getattr(distributed, name)()


class DistributedSampler(Sampler):
    """Every `num_replicas`-th index of one common order, starting at `rank`.

    All processes get equally many: the order is filled up from its beginning, or cut with `drop_last`. Call
    `set_epoch` before each epoch, else every epoch has the same order.

    Args:
        num_replicas, rank: default: those of the process group.
        shuffle: whether the order is random, from `seed` plus the epoch.

    Raises ValueError for a rank outside [0, num_replicas), RuntimeError where neither they nor a group are given.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = _from_process_group("get_world_size") if num_replicas is None else num_replicas
        rank = _from_process_group("get_rank") if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        rounded = math.floor if drop_last else math.ceil
        self.num_samples = rounded(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(count, generator=generator).tolist()
        else:
            order = range(count)
        # Repeated as often as needed; islice cuts it where drop_last makes it shorter.
        own = itertools.islice(itertools.cycle(order), self.rank, self.total_size, self.num_replicas)
        return iter(list(own))

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that the next order is drawn for."""
        self.epoch = epoch
