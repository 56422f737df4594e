"""Views: tensors that share the memory of another, its root, and how each is made again after the root is written.

A view remembers its root (`_base`) and a recipe: (recipe of the tensor it was taken of, view function, arguments,
output index). The root knows its live views weakly. MindSpore's own view tracking is not used: on CPU it gives zero
gradients once the base is written.
"""

import weakref

from msadapter.pytorch._engine import native
from msadapter.pytorch._tensor import Tensor

_MsTensor = native.MsTensor
NOT_REPLAYABLE = "made in no_grad"


def track(source, view, function, args, index=None):
    """Record that the fresh tensor `view` is `function(source, *args)` (its output `index`, where there are several)."""
    if type(view) is _MsTensor:
        view.__class__ = Tensor
    fields = source.__dict__
    root = fields.get("_base")
    own = view.__dict__
    if root is None:
        root = source
        own["_recipe"] = (None, function, args, index) if native.is_grad_enabled() else NOT_REPLAYABLE
    else:
        parent = fields["_recipe"]
        replayable = parent is not NOT_REPLAYABLE and native.is_grad_enabled()
        own["_recipe"] = (parent, function, args, index) if replayable else NOT_REPLAYABLE
    own["_base"] = root
    views = root.__dict__.get("_views")
    if views is None:
        root.__dict__["_views"] = [weakref.ref(view)]
    else:
        if len(views) > 32:
            views[:] = [reference for reference in views if reference() is not None]
        views.append(weakref.ref(view))
    return view


def replay(recipe, root):
    """The view that `recipe` describes, taken of `root` (the root itself, or a tensor of its shape)."""
    parent, function, args, index = recipe
    source = root if parent is None else replay(parent, root)
    view = function(source, *args)
    return view if index is None else view[index]


def regenerate(root):
    """Give each live view of `root` its place in the graph of the root as it is now.

    The engine would make them again itself, as strided views whose gradient is zero on the CPU.
    """
    references = root.__dict__.get("_views")
    if not references:
        return
    live = []
    enabled = native.is_grad_enabled()
    native.set_grad_enabled(True)
    try:
        for reference in references:
            view = reference()
            if view is None:
                continue
            live.append(reference)
            recipe = view.__dict__["_recipe"]
            if recipe is not NOT_REPLAYABLE:
                native.assign_value(view, replay(recipe, root))
        references[:] = live
    finally:
        native.set_grad_enabled(enabled)


def take_root_back(root, function, args):
    """`root` is about to change its shape: let the recipes of its views begin with `function(root, *args)`, the old one."""
    for reference in root.__dict__.get("_views") or ():
        view = reference()
        if view is not None and view.__dict__["_recipe"] is not NOT_REPLAYABLE:
            view.__dict__["_recipe"] = _begun_with((None, function, args, None), view.__dict__["_recipe"])


def _begun_with(start, recipe):
    return start if recipe is None else (_begun_with(start, recipe[0]), *recipe[1:])


def base_of(tensor):
    """The tensor whose memory `tensor` shares: its root, or itself."""
    root = tensor.__dict__.get("_base")
    return tensor if root is None else root


def is_multi_output(recipe):
    """Whether the view, or one it was taken of, is one of several outputs (chunk, split, unbind)."""
    while recipe is not None:
        if recipe[3] is not None:
            return True
        recipe = recipe[0]
    return False
