"""torch.signal.windows."""

from msadapter.pytorch._ops.registry import exports

globals().update(exports("torch.signal.windows"))
