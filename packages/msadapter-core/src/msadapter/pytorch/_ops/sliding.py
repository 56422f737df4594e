"""Arguments of operators that slide a window over an input: convolution and pooling of 1 to 3 dimensions."""

from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.shapes import to_int


def is_int(value):
    """Whether PyTorch takes the argument for one int: an int, not a bool, or a 0-d integer tensor."""
    if isinstance(value, MsTensor):
        return not shape_of(value)
    return hasattr(value, "__index__") and not isinstance(value, bool)


def ints(name, argument, value):
    """An int or a sequence of ints as a tuple. Raises TypeError for anything else."""
    if is_int(value):
        return (to_int(value),)
    if isinstance(value, (tuple, list)) and all(map(is_int, value)):
        return tuple(map(to_int, value))
    raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, not {type(value).__name__}")


def with_batch(body, input, *args):
    """`body` of an input without a batch dimension; its results have none either."""
    result = body(input.unsqueeze(0), *args)
    return tuple(r.squeeze(0) for r in result) if isinstance(result, tuple) else result.squeeze(0)
