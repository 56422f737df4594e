"""__torch_function__: operators on Tensor subclasses and on objects that take part in the protocol."""

import threading

from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._tensor import Tensor

_state = threading.local()


class DisableTorchFunctionSubclass:
    """Inside, operators ignore `__torch_function__`."""

    def __enter__(self):
        self._previous = is_disabled()
        _state.disabled = True

    def __exit__(self, *exception):
        _state.disabled = self._previous


DisableTorchFunction = DisableTorchFunctionSubclass


def is_disabled():
    return getattr(_state, "disabled", False)


def has_torch_function(relevant_args):
    """Whether one of the arguments overrides operators."""
    return bool(overriding(relevant_args))


def is_tensor_like(value):
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def overriding(args):
    """The arguments (those inside lists too) whose class overrides `__torch_function__`, subclasses first."""
    found = []
    for arg in args:
        if isinstance(arg, (list, tuple)):
            found.extend(a for a in overriding(arg) if type(a) not in map(type, found))
            continue
        cls = type(arg)
        handler = getattr(cls, "__torch_function__", None)
        if (
            handler is None
            or cls is Tensor
            or getattr(handler, "__func__", None) is _DEFAULT
            and not _is_user_class(cls)
        ):
            continue
        if any(type(f) is cls for f in found):
            continue
        position = next((i for i, f in enumerate(found) if issubclass(cls, type(f))), len(found))
        found.insert(position, arg)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask each overriding argument in turn for the result of `public_api(*args, **kwargs)`.

    Raises TypeError where all of them return NotImplemented.
    """
    arguments = overriding(relevant_args)
    types = tuple(type(a) for a in arguments)
    for argument in arguments:
        result = type(argument).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for 'torch.{public_api.__name__}' on types that implement __torch_function__: {list(types)}"
    )


def as_class(result, cls):
    """`result` with its plain tensors made instances of the subclass `cls`."""
    if isinstance(result, (tuple, list)) and not isinstance(result, MsTensor):
        items = [as_class(item, cls) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    if type(result) is Tensor and cls is not Tensor and not cls.__dict__.get("_is_adapter_class"):
        result.__class__ = cls
    return result


_DEFAULT = vars(Tensor)["__torch_function__"].__func__


def _is_user_class(cls):
    return not cls.__module__.startswith("msadapter.pytorch.")
