"""A module called with other parameters and buffers than its own."""

import contextlib
import warnings

__all__ = ["functional_call"]


def functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """`module(*args, **kwargs)` while the tensors of the dictionary stand for the parameters and buffers of those names.

    Args:
        args: a tuple of arguments, or one argument.
        tie_weights: whether a tensor given for one name of a tied parameter stands for the other names too.
        strict: whether the dictionary must hold every parameter and buffer of the module, and nothing else.
    What the call itself puts in the place of a given tensor is in the dictionary afterwards.
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _functional_call(
    module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    from msadapter.pytorch.nn.parallel import DataParallel  # a Module, and modules import this package

    if isinstance(module, DataParallel):
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False):
    given = (
        _untie_named_tensors_map(module, parameters_and_buffers)
        if tie_weights
        else dict(parameters_and_buffers)
    )
    if strict:
        _check_names(module, given)
    before = {}
    try:
        for name, tensor in given.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        for name, tensor in reversed(before.items()):
            after = _swap(module, name, tensor)
            if name in parameters_and_buffers:
                parameters_and_buffers[name] = after


def _named_tensors(module):
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _untie_named_tensors_map(module, parameters_and_buffers):
    """The dictionary with each tensor under all names of the parameter it stands for.

    Raises ValueError when names of one parameter are given different tensors.
    """
    names_of = {}
    for name, tensor in _named_tensors(module):
        names_of.setdefault(id(tensor), []).append(name)
    untied = dict(parameters_and_buffers)
    for names in names_of.values():
        given = {id(parameters_and_buffers[name]) for name in names if name in parameters_and_buffers}
        if len(given) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if given:
            tensor = next(parameters_and_buffers[name] for name in names if name in parameters_and_buffers)
            untied.update(dict.fromkeys(names, tensor))
    return untied


def _check_names(module, given):
    names = dict(_named_tensors(module))
    messages = [
        f"{what} key(s): {', '.join(map(repr, found))}."
        for what, found in (
            ("Unexpected", sorted(set(given) - set(names))),
            ("Missing", sorted(set(names) - set(given))),
        )
        if found
    ]
    if messages:
        raise RuntimeError(
            "Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(messages))
        )


_ABSENT = object()


def _swap(module, path, tensor):
    """Puts the tensor (or nothing, for _ABSENT) where the path points in the module and returns what was there."""
    prefix, _, name = path.rpartition(".")
    owner = module.get_submodule(prefix)
    for held in (owner._parameters, owner._buffers):
        if name in held:
            before, held[name] = held[name], tensor
            return before
    before = getattr(owner, name, _ABSENT)
    if tensor is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, tensor)
    return before
