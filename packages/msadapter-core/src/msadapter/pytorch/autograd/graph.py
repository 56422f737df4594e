"""torch.autograd.graph: nodes of the graph, and hooks on saved tensors."""

from msadapter.pytorch._engine.node import Node


class saved_tensors_hooks:
    """Not available: MindSpore's engine saves tensors in C++, out of reach of Python hooks."""

    def __init__(self, pack_hook, unpack_hook):
        raise NotImplementedError(
            "torch.autograd.graph.saved_tensors_hooks is not supported: MindSpore saves tensors in C++. "
            "Write torch.utils.checkpoint.checkpoint(function, *args) to save memory instead."
        )


__all__ = ["Node", "saved_tensors_hooks"]
