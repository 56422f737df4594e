"""Hooks on leaves that are called once a backward pass has added to their gradients.

The engine has hooks on gradients only, which run before these are added up. One of those notes which leaves a pass
reaches; the hooks of the leaves are called where the pass ends.
"""

import threading
import weakref
from collections import OrderedDict

from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch.utils.hooks import RemovableHandle


class _State(threading.local):
    reached = None  # the leaves with hooks that this thread's pass has come to, by id; None outside a pass


_state = _State()


def register(leaf, hook):
    """Adds `hook(leaf)` and returns its handle. Raises RuntimeError for a tensor that accumulates no gradient."""
    if not native.requires_grad(leaf):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not native.is_leaf(leaf):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    hooks = leaf.__dict__.get("_post_accumulate_grad_hooks")
    if hooks is None:
        hooks = leaf.__dict__["_post_accumulate_grad_hooks"] = OrderedDict()
        reference = weakref.ref(leaf)

        def note(gradient):
            reached = reference()
            if reached is not None and _state.reached is not None:
                _state.reached[id(reached)] = reached

        native.register_hook(leaf, note)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class calling:
    """Around a backward pass: calls, at its end, the hooks of the leaves it reached."""

    def __enter__(self):
        self._outer, _state.reached = _state.reached, {}

    def __exit__(self, failed, *_):
        reached, _state.reached = _state.reached, self._outer
        if reached and not failed:
            call(reached.values())


@no_grad()
def call(leaves):
    """Calls the hooks of these leaves."""
    for leaf in leaves:
        hooks = leaf.__dict__.get("_post_accumulate_grad_hooks")
        for hook in list(hooks.values()) if hooks else ():
            result = hook(leaf)
            if result is not None and not isinstance(result, MsTensor):
                raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
