"""torch.nn.functional: the operators of that namespace, and what is put together from them in Python."""

from msadapter.pytorch._ops.registry import exports as _exports

globals().update(_exports("torch.nn.functional"))
