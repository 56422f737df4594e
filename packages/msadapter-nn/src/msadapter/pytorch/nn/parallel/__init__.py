"""torch.nn.parallel."""

from msadapter.pytorch.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
