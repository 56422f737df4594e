"""The hooks of a Module and of all Modules: registration, and the call that runs them."""

import functools
import warnings
from collections import OrderedDict

from msadapter.pytorch._engine.function import Function
from msadapter.pytorch._ops.registry import retag
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn.modules._bprop import call_with_bprop
from msadapter.pytorch.utils.hooks import RemovableHandle

_global_backward_pre_hooks = OrderedDict()
_global_backward_hooks = OrderedDict()
_global_is_full_backward_hook = None
_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()
_global_forward_hooks_with_kwargs = OrderedDict()
_global_buffer_registration_hooks = OrderedDict()
_global_module_registration_hooks = OrderedDict()
_global_parameter_registration_hooks = OrderedDict()

_MIXED = "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
_MIXED_GLOBAL = "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."


def _add(hooks, hook, *, prepend=False, flags=()):
    """Register `hook`; each of `flags` is a table that marks it by its id."""
    handle = RemovableHandle(hooks, extra_dict=list(flags))
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_module_buffer_registration_hook(hook):
    """Call `hook(module, name, buffer)` before any Module registers a buffer; what it returns takes its place."""
    return _add(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call `hook(module, name, submodule)` before any Module registers a submodule."""
    return _add(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call `hook(module, name, parameter)` before any Module registers a parameter."""
    return _add(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Call `hook(module, args)` before every Module's forward; what it returns replaces the arguments."""
    return _add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call `hook(module, args, output)` after every Module's forward; what it returns replaces the output."""
    flags = [_global_forward_hooks_with_kwargs] if with_kwargs else []
    flags += [_global_forward_hooks_always_called] if always_call else []
    return _add(_global_forward_hooks, hook, flags=flags)


def register_module_backward_hook(hook):
    """The old form of `register_module_full_backward_hook`, which sees only the output's last operator."""
    return _add_global_backward(hook, full=False)


def register_module_full_backward_hook(hook):
    """Call `hook(module, grad_input, grad_output)` whenever the gradients of a Module's inputs are computed."""
    return _add_global_backward(hook, full=True)


def _add_global_backward(hook, full):
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(_MIXED_GLOBAL)
    _global_is_full_backward_hook = full
    return _add(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """Call `hook(module, grad_output)` whenever the gradient of a Module's output is computed."""
    return _add(_global_backward_pre_hooks, hook)


def run_registration_hooks(hooks, module, name, value):
    """`value`, or what a global registration hook puts in its place."""
    for hook in hooks.values():
        replacement = hook(module, name, value)
        value = value if replacement is None else replacement
    return value


class ModuleHooks:
    """The registration methods of a Module, and the call through its hooks."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call `hook(module, args)` (with `with_kwargs`: `hook(module, args, kwargs)`) before each forward.

        What it returns replaces the arguments: a value or a tuple, with kwargs a pair (args, kwargs).
        """
        flags = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return _add(self._forward_pre_hooks, hook, prepend=prepend, flags=flags)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call `hook(module, args, output)` (or with kwargs after args) after each forward; a value replaces the output.

        `always_call`: also when forward raised.
        """
        flags = [self._forward_hooks_with_kwargs] if with_kwargs else []
        flags += [self._forward_hooks_always_called] if always_call else []
        return _add(self._forward_hooks, hook, prepend=prepend, flags=flags)

    def register_backward_hook(self, hook):
        """The old form of `register_full_backward_hook`: it sees the gradients of the output's last operator only."""
        return self._add_backward(hook, full=False, prepend=False)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call `hook(module, grad_input, grad_output)` whenever the inputs' gradients are computed.

        It may return a new grad_input. Raises RuntimeError where the Module has old-style backward hooks.
        """
        return self._add_backward(hook, full=True, prepend=prepend)

    def _add_backward(self, hook, full, prepend):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = full
        return _add(self._backward_hooks, hook, prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call `hook(module, grad_output)` whenever the output's gradient is computed; a value replaces it."""
        return _add(self._backward_pre_hooks, hook, prepend=prepend)

    def _get_backward_hooks(self):
        """The full and the old-style backward hooks, the global ones first."""
        full, old = [], []
        (full if _global_is_full_backward_hook else old).extend(_global_backward_hooks.values())
        (full if self._is_full_backward_hook else old).extend(self._backward_hooks.values())
        return full, old

    def _call_with_hooks(self, args, kwargs):
        called = set()
        try:
            return self._run_hooks(args, kwargs, called)
        except Exception:
            self._run_always_called(args, kwargs, called)
            raise

    def _run_hooks(self, args, kwargs, called):
        args, kwargs = self._run_pre_hooks(args, kwargs)
        full, old = self._get_backward_hooks()
        pre = [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        backward = BackwardHook(self, full, pre) if full or pre else None
        if backward is not None:
            args = backward.setup_input_hook(args)
        result = call_with_bprop(self, args, kwargs) if self._has_bprop else self.forward(*args, **kwargs)
        for hook_id, hook, with_kwargs in self._forward_hooks_in_order():
            called.add(hook_id)
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if changed is None else changed
        if backward is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(result)}",
                    stacklevel=4,
                )
            result = backward.setup_output_hook(result)
        if old:
            _hook_last_node(self, old, result)
        return result

    def _run_pre_hooks(self, args, kwargs):
        for hook in _global_forward_pre_hooks.values():
            args = _replaced(args, hook(self, args))
        for hook_id, hook in list(self._forward_pre_hooks.items()):
            if hook_id not in self._forward_pre_hooks_with_kwargs:
                args = _replaced(args, hook(self, args))
                continue
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        return args, kwargs

    def _forward_hooks_in_order(self):
        for hook_id, hook in list(_global_forward_hooks.items()):
            yield hook_id, hook, hook_id in _global_forward_hooks_with_kwargs
        for hook_id, hook in list(self._forward_hooks.items()):
            yield hook_id, hook, hook_id in self._forward_hooks_with_kwargs

    def _run_always_called(self, args, kwargs, called):
        """After an error: the hooks that asked for it and have not run; they see no output."""
        always = {*_global_forward_hooks_always_called, *self._forward_hooks_always_called}
        for hook_id, hook, with_kwargs in self._forward_hooks_in_order():
            if hook_id not in always or hook_id in called:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                    stacklevel=4,
                )


def _replaced(args, changed):
    if changed is None:
        return args
    return changed if isinstance(changed, tuple) else (changed,)


class _Boundary(Function):
    """The identity on several tensors at once: where a Module's inputs or outputs cross, for its backward hooks."""

    @staticmethod
    def forward(ctx, on_gradient, *tensors):
        ctx.on_gradient = on_gradient
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return None, *ctx.on_gradient(grads)


class BackwardHook:
    """The backward hooks of one call of a Module: they run when the gradients of all its inputs are there."""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs = None
        self.input_positions = None

    def setup_input_hook(self, args):
        """The arguments, their tensors passed through the input boundary."""
        args, self.input_count, self.input_positions = self._cross(args, self._on_input_gradient)
        return args

    def setup_output_hook(self, output):
        """The output, its tensors passed through the output boundary."""
        single = not isinstance(output, tuple)
        outputs, self.output_count, self.output_positions = self._cross(
            (output,) if single else output, self._on_output_gradient
        )
        return outputs[0] if single else outputs

    def _cross(self, values, on_gradient):
        positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not any(values[i].requires_grad for i in positions):
            return values, len(values), None
        crossed = list(values)
        for i, tensor in zip(
            positions, _Boundary.apply(on_gradient, *(values[i] for i in positions)), strict=True
        ):
            crossed[i] = tensor
        return tuple(crossed), len(values), positions

    def _on_output_gradient(self, grads):
        self.grad_outputs = _spread(grads, self.output_positions, self.output_count)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                self.grad_outputs = _checked(changed, self.output_count, "Backward pre hook", "grad_output")
        if self.input_positions is None:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients.",
                stacklevel=5,
            )
            for hook in self.user_hooks:
                changed = hook(self.module, (None,) * self.input_count, self.grad_outputs)
                if changed is not None and not all(g is None for g in changed):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
        return tuple(self.grad_outputs[i] for i in self.output_positions)

    def _on_input_gradient(self, grads):
        if self.grad_outputs is None:  # the output was not part of this backward
            return grads
        grad_inputs = _spread(grads, self.input_positions, self.input_count)
        for hook in self.user_hooks:
            changed = hook(self.module, grad_inputs, self.grad_outputs)
            if changed is not None:
                grad_inputs = _checked(changed, self.input_count, "Backward hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_positions)


def _spread(grads, positions, count):
    spread = [None] * count
    for i, grad in zip(positions, grads, strict=True):
        spread[i] = grad
    return tuple(spread)


def _checked(grads, count, hook, what):
    grads = grads if isinstance(grads, tuple) else (grads,)
    if len(grads) != count:
        raise RuntimeError(
            f"{hook} returned an invalid number of {what}, got {len(grads)}, but expected {count}"
        )
    return grads


def _hook_last_node(module, hooks, result):
    tensor = result
    while not isinstance(tensor, Tensor):
        if not tensor:
            return
        tensor = (
            next((v for v in tensor.values() if isinstance(v, Tensor)), None)
            if isinstance(tensor, dict)
            else tensor[0]
        )
    node = tensor.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(functools.partial(_call_old_style, hook, module))


def _call_old_style(hook, module, grad_inputs, grad_outputs):
    return hook(module, retag(grad_inputs), retag(grad_outputs))
