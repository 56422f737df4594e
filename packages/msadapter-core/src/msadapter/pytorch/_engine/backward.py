"""backward and grad: PyTorch's four arguments over the engine's run_backward."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import accumulation_hooks, native, storage
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.native import LOCK, MsTensor
from msadapter.pytorch._tensor import Tensor

_NO_GRAPH = "element {} of tensors does not require grad and does not have a grad_fn"
_UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. "
    "Set allow_unused=True if this is the desired behavior."
)


def backward(
    tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None
):
    """Add d(sum of tensors)/d(leaf) to `.grad` of every leaf of the graph (or of `inputs` only).

    Args:
        tensors: the outputs, a tensor or a sequence.
        grad_tensors: the vector of each output, of its shape; None stands for 1 where the output has one element.
        retain_graph: keep the graph for another call; default: `create_graph`.
        create_graph: record the gradient computation, for higher derivatives.
        inputs: accumulate only into these.

    Raises RuntimeError for an output without a graph, for a non-scalar output without vector, for a graph that was
    freed, and where a saved tensor was modified in place.
    """
    outputs = _outputs(tensors)
    vectors = _vectors(outputs, grad_tensors if grad_variables is None else grad_variables)
    if inputs is not None:
        targets = _targets("backward", inputs)
        gradients = _differentiate(outputs, vectors, targets, retain_graph, create_graph)
        _accumulate(targets, gradients)
        accumulation_hooks.call(t for t, g in zip(targets, gradients, strict=True) if g is not None)
        return
    keep = create_graph if retain_graph is None else retain_graph
    with accumulation_hooks.calling():
        _run(outputs, vectors, keep, create_graph, (), True)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of `outputs` with respect to `inputs`, as a tuple; `.grad` of no tensor changes.

    `allow_unused` returns None for an input outside the graph (else RuntimeError), `materialize_grads` zeros;
    `is_grads_batched` takes `grad_outputs` with a leading batch dimension and returns stacked gradients.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    outs, ins = _outputs(outputs), _targets("grad", inputs)
    if is_grads_batched:
        found = _batched(outs, ins, _as_tuple(grad_outputs), create_graph, retain_graph)
    else:
        found = _differentiate(outs, _vectors(outs, grad_outputs), ins, retain_graph, create_graph)
    if materialize_grads:
        return tuple(_zeros_like(i) if g is None else g for i, g in zip(ins, found, strict=True))
    if not allow_unused:
        for position, gradient in enumerate(found):
            if gradient is None:
                raise RuntimeError(_UNUSED.format(position))
    return found


def _as_tuple(value):
    return (value,) if isinstance(value, MsTensor) else tuple(value)


def _outputs(given):
    outputs = _as_tuple(given)
    for output in outputs:
        if not isinstance(output, MsTensor):
            raise AssertionError(f"Expected output to be a torch.Tensor. Received: {type(output).__name__}")
    return outputs


def _targets(function, given):
    targets = _as_tuple(given)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    for target in targets:
        if not isinstance(target, MsTensor):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(target).__name__}"
            )
    return targets


def _vectors(outputs, given):
    given = (None,) * len(outputs) if given is None else _as_tuple(given)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    return tuple(
        _vector(i, output, vector) for i, (output, vector) in enumerate(zip(outputs, given, strict=True))
    )


def _vector(position, output, vector):
    if not native.requires_grad(output):
        raise RuntimeError(_NO_GRAPH.format(position))
    shape = native.shape_of(output)
    if vector is not None:
        if not isinstance(vector, MsTensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(vector).__name__}")
        if native.shape_of(vector) != shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{position}] has a shape of {vector.shape} and output[{position}] "
                f"has a shape of {output.shape}."
            )
        return vector
    if native.numel_of(output) != 1:
        raise RuntimeError(
            f"grad can be implicitly created only for scalar outputs. Received: shape {output.shape}"
        )
    dtype = _dtype.of_native(native.dtype_of(output))
    if not dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
    return native.from_numpy(np.ones(shape, _dtype.NUMPY[dtype]))


def _differentiate(outputs, vectors, inputs, retain_graph, create_graph):
    keep = create_graph if retain_graph is None else retain_graph
    for i, tensor in enumerate(inputs):
        if not native.requires_grad(tensor):
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad. Received: inputs[{i}]"
            )
    leaves = tuple(t for t in inputs if native.is_leaf(t))
    # An intermediate result asked for together with its ancestors takes their gradients: each runs alone.
    runs = ([leaves] if leaves else []) + [(t,) for t in inputs if not native.is_leaf(t)]
    found = {}
    for i, targets in enumerate(runs):
        grads = _run(outputs, vectors, keep or i < len(runs) - 1, create_graph, targets, False)
        found.update((id(t), None if g is None else _owned(g)) for t, g in zip(targets, grads, strict=True))
    return tuple(found[id(t)] for t in inputs)


def _owned(gradient):
    if type(gradient) is MsTensor:
        gradient.__class__ = Tensor
    return gradient


def _run(outputs, vectors, keep, create_graph, inputs, accumulate):
    if not outputs:
        return (None,) * len(inputs)
    with LOCK:
        native.set_recording(True)
        enabled = native.is_grad_enabled()
        hooks = [_NodeHooks(outputs, _fresh_gradients)] if create_graph else []
        if _anomaly:
            hooks.append(_NodeHooks(outputs, _nan_check))
        try:
            return native.run_backward(
                outputs,
                vectors,
                bool(keep),
                bool(create_graph),
                inputs,
                allow_unreachable=True,
                accumulate_grad=accumulate,
            )
        except RuntimeError as error:
            explained = _explain(error)
            if type(error) is not RuntimeError or str(explained) == str(error):
                raise  # raised by the user's own backward or hook: class and traceback stay
            raise explained from error.__cause__
        finally:
            native.set_grad_enabled(enabled)
            native.set_recording(True)
            for group in hooks:
                group.remove()


def _explain(error):
    message = str(error).split("\n\n---")[0].strip()
    if "modified by an inplace" in message:
        return RuntimeError(
            f"one of the variables needed for gradient computation has been modified by an inplace operation: {message}. "
            "Hint: clone() the tensor before the in-place call, or use the out-of-place form."
        )
    if "backward the graph twice" in message:
        return RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have "
            "already been freed). Specify retain_graph=True if you need to backward through the graph a second time."
        )
    return RuntimeError(message)


class _NodeHooks:
    """A hook on every inner node of the graph, for one backward pass."""

    def __init__(self, outputs, make_hook):
        self._handles = []
        seen = set()
        pending = [node for node in map(native.grad_node, outputs) if node is not None]
        while pending:
            node = pending.pop()
            key = node._unique_id()
            if key in seen:
                continue
            seen.add(key)
            following = [n for n, _ in node.next_functions if n is not None]
            if following:
                self._handles.append(node.register_hook(make_hook(node)))
                pending.extend(following)

    def remove(self):
        for handle in self._handles:
            handle.remove()


def _fresh_gradients(node):
    """While the backward pass itself is recorded, every gradient becomes a fresh tensor before it is accumulated:
    the engine drops the graph of a gradient that is a view where two of them are added up."""

    def hook(grad_inputs, grad_outputs):
        return tuple(copy_of(g) if g is not None and native.requires_grad(g) else g for g in grad_inputs)

    return hook


_anomaly = False


def anomaly_mode():
    return _anomaly


def set_anomaly_mode(enabled):
    """Whether backward checks every gradient for NaN."""
    global _anomaly
    _anomaly = enabled


def _nan_check(node):
    def hook(grad_inputs, grad_outputs):
        for position, gradient in enumerate(grad_inputs):
            if gradient is not None and np.isnan(native.asnumpy(gradient)).any():
                raise RuntimeError(
                    f"Function '{node.name()}Backward0' returned nan values in its {position}th output."
                )

    return hook


def _accumulate(tensors, gradients):
    for tensor, gradient in zip(tensors, gradients, strict=True):
        if gradient is None:
            continue
        held = tensor.grad
        tensor.grad = gradient if held is None else held + gradient


def _zeros_like(tensor):
    zeros = native.from_numpy(np.zeros(native.shape_of(tensor), storage.numpy_dtype(tensor)))
    return _owned(zeros)


def _batched(outputs, inputs, batched_vectors, create_graph, retain_graph):
    from msadapter.pytorch import stack

    size = native.shape_of(batched_vectors[0])[0]
    rows = [
        _differentiate(
            outputs, tuple(v[i] for v in batched_vectors), inputs, i < size - 1 or retain_graph, create_graph
        )
        for i in range(size)
    ]
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))
