"""torch.autograd.Function: user-defined operators with a backward of their own, both styles of context."""

import functools

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.copying import distinct
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._tensor import Tensor


class FunctionCtx:
    """What `forward` leaves for `backward`; any further attribute may be set on it."""

    needs_input_grad = ()
    materialize_grads = True

    def save_for_backward(self, *tensors):
        """Keep tensors (or None) for `saved_tensors`; one that is written to afterwards makes backward raise."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, MsTensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        self._saved_for_forward = tensors

    def mark_dirty(self, *tensors):
        """Say that `forward` wrote into these inputs and returns them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Say that these outputs have no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        """False: `backward` gets None, not zeros, for an output that was not used."""
        self.materialize_grads = bool(value)

    @property
    def saved_tensors(self):
        return self._read_saved()

    saved_variables = saved_tensors

    def _read_saved(self):
        return self._to_save if hasattr(self, "_to_save") else ()


class _FunctionMeta(type):
    """Gives each user's class the engine class that runs it, named after it."""

    def __init__(cls, name, bases, members):
        super().__init__(name, bases, members)
        cls._backward_cls = type(name, (_Bridge,), {}) if bases else None


class _Bridge(native.GradFunction):
    """The engine's function that calls the user's."""

    @staticmethod
    def forward(native_ctx, function, ctx, *args):
        for arg in args:
            _retag(arg)
        outputs = _call_forward(function, ctx, args)
        native_ctx.function, native_ctx.user_ctx = function, ctx
        native_ctx.input_shapes = tuple(native.shape_of(a) if isinstance(a, MsTensor) else None for a in args)
        saved = ctx.__dict__.pop("_to_save", ())
        native_ctx.saved_pattern = tuple(s is not None for s in saved)
        if saved:
            native_ctx.save_for_backward(*(s for s in saved if s is not None))
        dirty = ctx.__dict__.pop("_dirty", ())
        if dirty:
            native_ctx.mark_dirty(*dirty)
        constant = ctx.__dict__.pop("_non_differentiable", ()) + _integral(outputs)
        if constant:
            native_ctx.mark_non_differentiable(*constant)
        native_ctx.set_materialize_grads(ctx.materialize_grads)
        ctx._dirty_positions = tuple(
            _position(o, args) if any(o is d for d in dirty) else None for o in _as_tuple(outputs)
        )
        return _map(
            outputs,
            lambda o: _alias(o) if _position(o, args) is not None and not any(o is d for d in dirty) else o,
        )

    @staticmethod
    def backward(native_ctx, *grads):
        ctx, function = native_ctx.user_ctx, native_ctx.function
        ctx._read_saved = functools.partial(_saved_tensors, native_ctx)
        try:
            result = function.backward(ctx, *(_retag(g) for g in grads))
        finally:
            del ctx._read_saved
        return (None, None, *_check_gradients(function, native_ctx.input_shapes, _as_tuple(result)))


def _saved_tensors(native_ctx):
    tensors = iter(native_ctx.saved_tensors if any(native_ctx.saved_pattern) else ())
    return tuple(_retag(next(tensors)) if is_tensor else None for is_tensor in native_ctx.saved_pattern)


def _call_forward(function, ctx, args):
    if function.setup_context is Function.setup_context:
        return function.forward(ctx, *args)
    outputs = function.forward(*args)
    function.setup_context(ctx, args, outputs)
    return outputs


def _check_gradients(function, shapes, gradients):
    name = f"{function.__name__}Backward"
    if (
        len(gradients) > len(shapes)
        and any(g is not None for g in gradients[len(shapes) :])
        or len(gradients) < len(shapes)
    ):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(shapes)}, got {len(gradients)})"
        )
    checked = []
    for i, (shape, gradient) in enumerate(zip(shapes, gradients, strict=False)):
        if gradient is not None and shape is None:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward input was not a Variable"
            )
        if gradient is not None and not isinstance(gradient, MsTensor):
            raise RuntimeError(
                f"function {name}: expected Variable or None (got {type(gradient).__name__}) at position {i + 1}"
            )
        if gradient is not None and native.shape_of(gradient) != shape:
            gradient = _reduce_to(name, i, gradient, shape)
        checked.append(gradient)
    return distinct(checked)


def _reduce_to(name, position, gradient, shape):
    try:
        return gradient.sum_to_size(shape)
    except RuntimeError:
        raise RuntimeError(
            f"Function {name} returned an invalid gradient at index {position} - got {list(gradient.shape)} but expected "
            f"shape compatible with {list(shape)}"
        ) from None


class Function(FunctionCtx, metaclass=_FunctionMeta):
    """Base of user-defined differentiable operators.

    Define static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, or `forward(*args)` with
    `setup_context(ctx, inputs, output)`, and call `apply`. Gradients come back one per argument of forward, None for
    those that are no tensors.
    """

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args):
        """Run `forward`, recorded where an input requires grad."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, MsTensor) and native.requires_grad(a) for a in args)
        with native.LOCK:
            native.set_recording(True)
            if not (native.is_grad_enabled() and any(ctx.needs_input_grad)):
                return cls._apply_without_graph(ctx, args)
            outputs = cls._backward_cls.apply(cls, ctx, *args)
        positions = ctx._dirty_positions
        if type(outputs) is tuple:
            return tuple(_retag(o) if p is None else args[p] for o, p in zip(outputs, positions, strict=True))
        return _retag(outputs) if positions[0] is None else args[positions[0]]

    @classmethod
    def _apply_without_graph(cls, ctx, args):
        enabled = native.is_grad_enabled()
        native.set_grad_enabled(False)
        try:
            return _call_forward(cls, ctx, args)
        finally:
            native.set_grad_enabled(enabled)


def once_differentiable(backward):
    """Mark a `backward` that must not be differentiated itself: a second derivative through it raises RuntimeError."""

    @functools.wraps(backward)
    def wrapper(ctx, *grads):
        recorded = native.is_grad_enabled() and any(g is not None and native.requires_grad(g) for g in grads)
        native_enabled = native.is_grad_enabled()
        native.set_grad_enabled(False)
        try:
            result = backward(ctx, *grads)
        finally:
            native.set_grad_enabled(native_enabled)
        if not recorded:
            return result
        anchor = next(g for g in grads if g is not None and native.requires_grad(g))
        return _map(result, lambda r: _NotTwice.apply(r, anchor) if isinstance(r, MsTensor) else r)

    return wrapper


class _NotTwice(Function):
    """Passes a value on and raises in backward."""

    @staticmethod
    def forward(ctx, value, anchor):
        return value

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def _retag(value):
    if type(value) is MsTensor:
        value.__class__ = Tensor
    return value


def _alias(tensor):
    return tensor.view(native.shape_of(tensor))


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _map(value, function):
    return tuple(function(v) for v in value) if isinstance(value, (tuple, list)) else function(value)


def _position(tensor, args):
    return next((i for i, arg in enumerate(args) if arg is tensor), None)


def _integral(outputs):
    return tuple(
        o
        for o in _as_tuple(outputs)
        if isinstance(o, MsTensor) and not (o.is_floating_point() or o.is_complex())
    )
