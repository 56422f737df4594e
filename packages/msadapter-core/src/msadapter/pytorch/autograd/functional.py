"""torch.autograd.functional: Jacobians, Hessians and their products with vectors."""

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.backward import grad
from msadapter.pytorch._engine.grad_mode import enable_grad
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops.factories import zeros, zeros_like
from msadapter.pytorch._ops.joining import stack


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, v^T J): the product of a vector with the Jacobian of `func`. `v` may be left out for a scalar output."""
    with enable_grad():
        single, own = _prepare(inputs, create_graph)
        outputs = func(*own)
        vectors = None if v is None else _as_tuple(v)
        found = _gradients(_as_tuple(outputs), own, vectors, create_graph, strict)
    return _finish(outputs, create_graph), _unpack(found, single)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, J v): the product of the Jacobian of `func` with a vector, by differentiating twice."""
    with enable_grad():
        single, own = _prepare(inputs, create_graph)
        vectors = _as_tuple(v) if v is not None else tuple(zeros_like(i) + 1 for i in own)
        outputs = func(*own)
        outs = _as_tuple(outputs)
        dummies = tuple(zeros_like(o).requires_grad_() for o in outs)
        first = _gradients(outs, own, dummies, True, strict)
        second = grad(first, dummies, vectors, create_graph=create_graph, allow_unused=True)
        result = tuple(zeros_like(o) if g is None else g for g, o in zip(second, outs, strict=True))
    return _finish(outputs, create_graph), result if isinstance(outputs, tuple) else result[0]


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian: a tensor of shape output.shape + input.shape, or tuples of them by output and by input."""
    with enable_grad():
        single, own = _prepare(inputs, create_graph)
        outputs = func(*own)
        rows = tuple(_jacobian_of(output, own, create_graph, strict) for output in _as_tuple(outputs))
    rows = tuple(_unpack(row, single) for row in rows)
    return rows if isinstance(outputs, tuple) else rows[0]


def _jacobian_of(output, inputs, create_graph, strict):
    flat = output.reshape(-1)
    columns = []
    for i in range(native.numel_of(output)):
        columns.append(_gradients((flat[i],), inputs, None, create_graph, strict))
    shape = native.shape_of(output)
    return tuple(
        stack([column[k] for column in columns]).reshape(shape + native.shape_of(tensor))
        if columns
        else zeros(shape + native.shape_of(tensor), dtype=output.dtype)
        for k, tensor in enumerate(inputs)
    )


def hessian(
    func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"
):
    """The Hessian of a scalar function: a tensor of shape input.shape * 2, or a tuple of tuples of them."""
    single = isinstance(inputs, MsTensor)

    def gradient(*args):
        output = func(*args)
        if native.numel_of(output) != 1:
            raise RuntimeError("The output of the function given to hessian should contain a single element")
        found = _gradients((output.reshape(()),), args, None, True, strict)
        return found[0] if single else found

    return jacobian(gradient, inputs, create_graph, strict)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, v^T H) of a scalar function."""
    with enable_grad():
        single, own = _prepare(inputs, create_graph)
        output = func(*own)
        first = _gradients((output,), own, None, True, strict)
        vectors = None if v is None else _as_tuple(v)
        found = grad(first, own, vectors, create_graph=create_graph, allow_unused=True)
        found = tuple(zeros_like(i) if g is None else g for g, i in zip(found, own, strict=True))
    return _finish(output, create_graph), _unpack(found, single)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, H v) of a scalar function; H is symmetric, so that it equals `vhp`."""
    return vhp(func, inputs, v, create_graph, strict)


def _as_tuple(value):
    return (value,) if isinstance(value, MsTensor) else tuple(value)


def _prepare(inputs, create_graph):
    """(whether a single tensor was given, the inputs as results or fresh leaves that require grad)."""
    tensors = _as_tuple(inputs)
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, MsTensor):
            raise TypeError(
                f"The inputs given must be Tensors, but argument {position} is {type(tensor).__name__}"
            )
    own = tuple(
        t.view_as(t) if create_graph and native.requires_grad(t) else t.detach().requires_grad_()
        for t in tensors
    )
    return isinstance(inputs, MsTensor), own


def _gradients(outputs, inputs, vectors, create_graph, strict):
    if not any(native.requires_grad(o) for o in outputs):
        if strict:
            raise RuntimeError(
                "Output of the user-provided function does not require gradients. This is not allowed in strict mode."
            )
        return tuple(zeros_like(i) for i in inputs)
    found = grad(outputs, inputs, vectors, retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        raise RuntimeError(
            "The output of the user-provided function is independent of an input. This is not allowed in strict mode."
        )
    return tuple(zeros_like(i) if g is None else g for g, i in zip(found, inputs, strict=True))


def _finish(outputs, create_graph):
    if create_graph:
        return outputs
    return tuple(o.detach() for o in outputs) if isinstance(outputs, tuple) else outputs.detach()


def _unpack(values, single):
    return values[0] if single else values
