"""In-place writes: into the memory at once, and into the graph of the root and of every live view."""

import numpy as np

from msadapter.pytorch._engine import native, storage, strided, views
from msadapter.pytorch._engine.copying import copy_of

_MULTI_VIEW = (
    "Output 0 of a function that returns multiple views is a view and is being modified inplace. This view is the "
    "output of a function that returns multiple views. Such functions do not allow the output views to be modified "
    "inplace. You should replace the inplace operation by an out-of-place one."
)
_NO_GRAD_VIEW = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use "
    "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
    "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
    "you want the inplace to be tracked)."
)


class _WriteRoot(native.GradFunction):
    """root <- new, the memory already written; the gradient goes to `new` alone. With `forgets` the root gets zeros, which
    it must where `new` was not computed from it: the gradient is then known to be zero, not missing."""

    @staticmethod
    def forward(ctx, root, new, forgets):
        ctx.zeros = (native.shape_of(root), storage.numpy_dtype(root)) if forgets else None
        ctx.mark_dirty(root)
        return root

    @staticmethod
    def backward(ctx, grad):
        return None if ctx.zeros is None else native.from_numpy(np.zeros(*ctx.zeros)), grad, None


class _WriteView(native.GradFunction):
    """view(root) <- new, the memory already written: the view's part of the gradient goes to `new`, the rest to the root."""

    @staticmethod
    def forward(ctx, root, new, recipe):
        ctx.recipe, ctx.place = recipe, strided.geometry(root)
        ctx.mark_dirty(root)
        return root

    @staticmethod
    def backward(ctx, grad):
        # Copies, not views: the engine drops the graph of a view that it accumulates.
        part = views.replay(ctx.recipe, strided.copy_in_place(grad, ctx.place))
        return _without_region(grad, ctx.recipe, ctx.place), copy_of(part), None


class _WithoutRegion(native.GradFunction):
    """The gradient with the view's region set to zero; linear and its own adjoint."""

    @staticmethod
    def forward(ctx, grad, recipe, place):
        ctx.recipe, ctx.place = recipe, place
        return _zero_region(grad, recipe, place)

    @staticmethod
    def backward(ctx, grad):
        return _without_region(grad, ctx.recipe, ctx.place), None, None


def _without_region(grad, recipe, place):
    if native.is_grad_enabled() and native.requires_grad(grad):
        return _WithoutRegion.apply(grad, recipe, place)
    return _zero_region(grad, recipe, place)


def _zero_region(grad, recipe, place):
    enabled = native.is_grad_enabled()
    native.set_grad_enabled(False)
    try:
        copy = strided.copy_in_place(grad, place)
        region = views.replay(recipe, copy)
        storage.write_zeros(region)
    finally:
        native.set_grad_enabled(enabled)
    return copy


def needs_graph(tensor, *others):
    """Whether a write into `tensor` must be recorded."""
    if not native.is_grad_enabled():
        return False
    root = tensor.__dict__.get("_base")
    return (
        native.requires_grad(tensor)
        or (root is not None and native.requires_grad(root))
        or any(native.requires_grad(other) for other in others)
    )


def check_writable(tensor):
    """Raise PyTorch's RuntimeError where a recorded in-place write into `tensor` is not allowed."""
    root = views.base_of(tensor)
    is_view = root is not tensor
    if native.requires_grad(root) and native.is_leaf(root):
        what = "a view of a leaf Variable" if is_view else "a leaf Variable"
        raise RuntimeError(f"{what} that requires grad is being used in an in-place operation.")
    if is_view:
        recipe = tensor.__dict__["_recipe"]
        if recipe is views.NOT_REPLAYABLE:
            raise RuntimeError(_NO_GRAD_VIEW)
        if views.is_multi_output(recipe):
            raise RuntimeError(_MULTI_VIEW)


def write(tensor, new, *, forgets=False):
    """tensor <- new (same shape and dtype), with PyTorch's aliasing, version count and gradient. Returns `tensor`.

    `forgets`: `new` does not depend on what was there.
    """
    storage.check_no_overlap(tensor)
    root = views.base_of(tensor)
    if not needs_graph(tensor, new):
        storage.write(tensor, new)
        storage.advance_version(tensor)
        if native.requires_grad(root):
            views.regenerate(root)
        return tensor
    check_writable(tensor)
    if native.data_pointer(new) == native.data_pointer(tensor):
        new = copy_of(new)
    storage.write(tensor, new)
    storage.advance_version(tensor, recorded=True)
    if root is tensor:
        _WriteRoot.apply(root, new, forgets)
    else:
        _WriteView.apply(root, new, tensor.__dict__["_recipe"])
        root.__dict__.pop("_operator", None)  # the name of the node that made it before
    views.regenerate(root)
    for written in {id(tensor): tensor, id(root): root}.values():
        if "_retained_hook" in written.__dict__:
            written.retain_grad()
    return tensor


def take_shape(tensor, function, args):
    """Give `tensor` the geometry of `function(tensor, *args)`, a view: `t_`, `squeeze_` and their kind."""
    root = views.base_of(tensor)
    if native.is_grad_enabled() and native.requires_grad(root):
        check_writable(tensor)
    before, version = strided.geometry(tensor), native.version_of(tensor)
    view = function(tensor, *args)
    fields = tensor.__dict__
    if root is not tensor:
        if fields["_recipe"] is not views.NOT_REPLAYABLE:
            fields["_recipe"] = (fields["_recipe"], function, args, None)
        native.assign_value(tensor, view)
        storage.advance_version(tensor)
        return tensor
    views.take_root_back(root, strided.strided_view, before)
    if native.is_leaf(tensor):
        native.set_raw_data(tensor, native.raw_data(view))
    else:
        native.assign_value(tensor, strided.as_root(view))
    # The tensor counts anew: what backward saved of it must become stale all the same.
    native.set_version_counters([tensor], [max(version, native.version_of(tensor))])
    storage.advance_version(tensor)
    views.regenerate(root)
    return tensor
