"""torch.nn.functional: the operators of that namespace, and what is put together from them in Python."""

from msadapter.pytorch._missing import attribute_error as _attribute_error
from msadapter.pytorch._ops.registry import exports as _exports

globals().update(_exports("torch.nn.functional"))

from msadapter.pytorch.nn._attention import (  # noqa: E402, F401
    _canonical_mask,
    _none_or_dtype,
    multi_head_attention_forward,
)
from msadapter.pytorch.nn._linear_cross_entropy import linear_cross_entropy  # noqa: E402, F401


def __getattr__(name):
    raise _attribute_error(__name__, name, globals())
