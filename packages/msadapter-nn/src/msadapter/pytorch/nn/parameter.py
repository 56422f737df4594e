"""torch.nn.Parameter and torch.nn.Buffer."""

from msadapter.pytorch import empty
from msadapter.pytorch._parameter import Parameter, is_lazy
from msadapter.pytorch._tensor import Tensor

__all__ = ["Buffer", "Parameter", "is_lazy"]


class _BufferMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as buffer when it is assigned; it shares the memory of `data`."""

    def __new__(cls, data=None, *, persistent=True):
        buffer = empty(0) if data is None else data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    def __init__(self, *args, **kwargs):
        pass
