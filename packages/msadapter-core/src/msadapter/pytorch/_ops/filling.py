"""In-place writes that are no operator's in-place form: copy_, fill_, zero_."""

from msadapter.pytorch._engine import inplace
from msadapter.pytorch._engine.native import LOCK, MsTensor, set_recording, shape_of
from msadapter.pytorch._ops import casting
from msadapter.pytorch._ops.registry import retag
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


def fill_(self, value):
    """Write one number (or 0-d tensor) into every element."""
    with LOCK:
        set_recording(True)
        if isinstance(value, MsTensor):
            if shape_of(value):
                raise RuntimeError(
                    f"fill_ only supports 0-dimension value tensor but got tensor with {len(shape_of(value))} dimensions."
                )
            new = casting.cast(value, self.dtype)
        else:
            new = retag(casting.constant(value, self.dtype))
        return inplace.write(self, new.expand(shape_of(self)), forgets=True)


def zero_(self):
    """Write zeros into every element."""
    return fill_(self, 0)


for _method in (copy_, fill_, zero_):
    setattr(Tensor, _method.__name__, _method)
