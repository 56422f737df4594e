"""Questions about tensors, shapes and names that record nothing: `torch.is_tensor`, `torch.broadcast_shapes`."""

import builtins

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.shapes import to_int
from msadapter.pytorch._size import Size
from msadapter.pytorch._tensor import Tensor

inf, nan = float("inf"), float("nan")
pi, e = 3.141592653589793, 2.718281828459045
newaxis = None


def is_tensor(obj):
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj):
    """False: msadapter has no storage objects."""
    return False


def _question(name, doc):
    """`torch.name(input)` for the method of that name."""

    def ask(input):
        if not isinstance(input, MsTensor):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not {builtins.type(input).__name__}"
            )
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = doc
    return ask


numel = _question("numel", "How many elements a tensor has.")
is_floating_point = _question("is_floating_point", "Whether the dtype of a tensor is a floating-point one.")
is_complex = _question("is_complex", "Whether the dtype of a tensor is complex.")
is_signed = _question("is_signed", "Whether the dtype of a tensor holds negative numbers.")
is_conj = _question("is_conj", "False: conjugates are computed at once.")
is_neg = _question("is_neg", "False: negatives are computed at once.")
is_inference = _question("is_inference", "Whether a tensor was made in inference mode.")
is_nonzero = _question(
    "is_nonzero", "Whether the one element of a tensor is not zero. RuntimeError for several or none."
)
is_distributed = _question("is_distributed", "False: tensors live in one process.")
get_device = _question("get_device", "The index of a tensor's device, -1 for the CPU.")

Tensor.is_nonzero = lambda self: bool(self)
Tensor.is_distributed = lambda self: False


def is_same_size(input, other):
    """Whether two tensors have one shape."""
    return shape_of(input) == shape_of(other)


Tensor.is_same_size = is_same_size


def broadcast_shapes(*shapes):
    """The common shape of shapes (sequences, or ints). Raises RuntimeError where they do not broadcast."""
    sizes = [tuple(map(to_int, s)) if isinstance(s, (tuple, list)) else (to_int(s),) for s in shapes]
    result = [1] * max(map(len, sizes), default=0)
    for position, size in enumerate(sizes):
        for dim in range(-1, -1 - len(size), -1):
            length = size[dim]
            if length < 0:
                raise ValueError(
                    f"Attempting to broadcast a dimension with negative length! Received: {list(size)}"
                )
            if length not in (1, result[dim]) and result[dim] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {length} at {dim}! Mismatching argument at index "
                    f"{position} had {size}; but expected shape should be broadcastable to {result}"
                )
            result[dim] = length if result[dim] == 1 else result[dim]
    return Size(result)


def typename(obj, /):
    """The name of a type: "torch.FloatTensor" for a tensor, the module and class for anything else."""
    if isinstance(obj, MsTensor):
        return f"torch.{_dtype.SCALAR_NAMES[obj.dtype]}Tensor"
    cls = obj if isinstance(obj, builtins.type) else builtins.type(obj)
    module = cls.__module__.replace("msadapter.pytorch", "torch")
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"
