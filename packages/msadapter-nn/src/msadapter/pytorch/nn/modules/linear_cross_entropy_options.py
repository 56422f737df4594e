"""How LinearCrossEntropyLoss may split its work."""

import dataclasses
import re

from msadapter.pytorch import bfloat16, dtype, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """PyTorch's options for computing the loss in chunks; checked, and without effect here: the values are the same.

    Raises ValueError for a policy, method, size or dtype that PyTorch does not know.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype | None = None

    def __post_init__(self):
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method = self.chunking_method
        if method not in (None, "auto") and not re.fullmatch(r"aspect_ratio(:0*[1-9]\d*)?", method):
            raise ValueError(f"invalid chunking_method: {method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype}. Pass acc_dtype=None to let the op pick automatically."
            )
