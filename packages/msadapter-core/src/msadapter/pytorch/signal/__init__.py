"""torch.signal."""

from msadapter.pytorch.signal import windows  # noqa: F401
