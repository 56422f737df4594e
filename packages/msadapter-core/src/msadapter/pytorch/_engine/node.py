"""grad_fn: PyTorch's view of the engine's graph nodes, with PyTorch's names."""

from msadapter.pytorch._engine import native


class Node:
    """One node of the graph: `name()`, `next_functions`, `register_hook`, `register_prehook`."""

    __slots__ = ("_native", "_name")

    def __init__(self, native_node, name):
        self._native = native_node
        self._name = name

    def name(self):
        return self._name

    def __repr__(self):
        return f"<{self._name} object at {id(self._native):#x}>"

    def __eq__(self, other):
        return isinstance(other, Node) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return id(self) if self._native is None else self._native._unique_id()

    @property
    def next_functions(self):
        """The nodes that this one hands gradients to, with the output each stands for."""
        if self._native is None:
            return ()
        return tuple(_wrap(node, index) for node, index in self._native.next_functions)

    def register_hook(self, hook):
        """Call `hook(grad_inputs, grad_outputs)` after this node ran."""
        return self._native.register_hook(hook)

    def register_prehook(self, hook):
        return self._native.register_prehook(hook)


def node_of(tensor):
    """The Node of a result, None for a leaf."""
    if tensor.is_leaf:
        return None
    found = native.grad_node(tensor)
    operator = tensor.__dict__.get("_operator")
    return Node(found, _torch_name(found) if operator is None else operator)


def _wrap(native_node, index):
    if native_node is None:
        return None, index
    leaf = not native_node.next_functions or native_node.name().startswith("input_")
    return Node(native_node, "AccumulateGrad" if leaf else _torch_name(native_node)), index


# MindSpore's primitive names where PyTorch's node is not called "<name>Backward0".
_TORCH_NAMES = {
    "Muls": "Mul",
    "MatMulExt": "Mm",
    "MatMul": "Mm",
    "BatchMatMul": "Bmm",
    "AddN": "Add",
    "ReduceSum": "Sum",
    "SumExt": "Sum",
    "Transpose": "Transpose",
    "Concat": "Cat",
    "StridedSlice": "Slice",
    "_WriteView": "CopySlices",
    "_WriteRoot": "Copy",
    "Reshape": "View",
    "ReLU": "Relu",
    "BroadcastTo": "Expand",
    "Select": "Where",
}


def _torch_name(native_node):
    if native_node is None:
        return "FreedBackward0"
    name = native_node.name()
    if name == "_WriteView":
        return "CopySlices"
    if hasattr(native_node, "function"):
        return f"{name}Backward"
    return f"{_TORCH_NAMES.get(name, name)}Backward0"
