"""How PyTorch's messages name the type of a value."""

from msadapter.pytorch._tensor import Tensor


def type_name(value):
    """ "torch.FloatTensor" for a tensor, "int", "package.Class"."""
    if isinstance(value, Tensor):
        return value.type()
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
