"""Writes of given values: copy_, fill_, zero_, and fill into a copy."""

from msadapter.pytorch._engine import inplace
from msadapter.pytorch._engine.native import LOCK, MsTensor, set_recording, shape_of
from msadapter.pytorch._ops import casting
from msadapter.pytorch._ops.registry import op, retag
from msadapter.pytorch._tensor import Tensor


def copy_(self, src, non_blocking=False):
    """Write `src`, broadcast and cast, into this tensor."""
    if not isinstance(src, MsTensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    with LOCK:
        set_recording(True)
        new = casting.cast(retag(src), self.dtype)
        if shape_of(new) != shape_of(self):
            new = new.expand(shape_of(self))
        return inplace.write(self, new, forgets=True)


Tensor.copy_ = copy_


@op(out=False)
def fill_(input, value):
    """Write one number (or 0-d tensor) into every element."""
    if isinstance(value, MsTensor):
        if shape_of(value):
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {len(shape_of(value))} dimensions."
            )
        new = casting.cast(value, input.dtype)
    elif not isinstance(value, (int, float, complex)):
        raise TypeError(
            f"fill_() received an invalid combination of arguments - got ({type(value).__name__}): value must be a Number"
        )
    else:
        new = casting.checked_constant(value, input.dtype)
    return inplace.write(input, retag(new).expand(shape_of(input)), forgets=True)


@op(out=False)
def zero_(input):
    """Write zeros into every element."""
    return fill_(input, 0)


@op(method=False, out=False)
def fill(input, value):
    """A tensor like `input` with every element `value`, a number or 0-d tensor."""
    return fill_(input.clone(), value)
