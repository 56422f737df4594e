"""torch.utils.data: datasets, samplers and the DataLoader."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch.utils.data._utils.collate import default_collate, default_convert
from msadapter.pytorch.utils.data._utils.worker import get_worker_info
from msadapter.pytorch.utils.data.dataloader import DataLoader, _DatasetKind
from msadapter.pytorch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from msadapter.pytorch.utils.data.distributed import DistributedSampler
from msadapter.pytorch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
