"""Parameters computed from others: `module.weight` becomes what a Module makes of the original tensor."""

import copy
from collections.abc import Sequence
from contextlib import contextmanager

from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn.modules.container import ModuleDict, ModuleList
from msadapter.pytorch.nn.parameter import Parameter

__all__ = [
    "cached",
    "ParametrizationList",
    "register_parametrization",
    "is_parametrized",
    "remove_parametrizations",
    "type_before_parametrizations",
    "transfer_parametrizations_and_params",
]

_depth_of_cached = 0
_cache = {}


@contextmanager
def cached():
    """Inside, a parametrized tensor is computed once and kept: for weights that a forward reads many times."""
    global _depth_of_cached
    _depth_of_cached += 1
    try:
        yield
    finally:
        _depth_of_cached -= 1
        if not _depth_of_cached:
            _cache.clear()


def _register_parameter_or_buffer(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what they compute it from: `original`, or `original0`, `original1`, ...

    Made by `register_parametrization`.

    Args:
        modules: the parametrizations, applied in this order.
        original: the tensor that is parametrized; the `right_inverse` of the modules makes the originals of it.
        unsafe: whether a parametrization may change dtype and shape.
    Raises ValueError for a parametrization whose result cannot stand for the tensor.
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._invert(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            _check_result(self(), shape, dtype)

    @no_grad()
    def _invert(self, original):
        new = original
        for module in reversed(self):
            if hasattr(module, "right_inverse"):
                try:
                    new = module.right_inverse(new)
                except NotImplementedError:
                    pass
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        return new

    def _keep_one(self, original, new):
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(new, what):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {getattr(original, what)}\n"
                    f"right_inverse(original).{what}: {getattr(new, what)}"
                )
        with no_grad():
            original.set_(new)  # the same object: an optimizer may hold it already
        _register_parameter_or_buffer(self, "original", original)

    def _keep_several(self, original, new):
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {place} of the sequence with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{place}", tensor)

    @no_grad()
    def right_inverse(self, value):
        """Sets the originals to what the parametrizations, inverted from the last to the first, make of the value."""
        for module in reversed(self):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if value.dtype != self.original.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                    f"{self.original.dtype}"
                )
            self.original.set_(value)
        else:
            self._set_several(value)

    def _set_several(self, values):
        if not isinstance(values, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}."
            )
        if len(values) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(values)}."
            )
        for place, tensor in enumerate(values):
            original = getattr(self, f"original{place}")
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{place} of type {type(tensor).__name__}."
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {place} returned by `right_inverse` has dtype {tensor.dtype} while `original{place}` "
                    f"has dtype {original.dtype}"
                )
            original.set_(tensor)

    def forward(self):
        if self.is_tensor:
            originals = (self.original,)
        else:
            originals = (getattr(self, f"original{place}") for place in range(self.ntensors))
        first, *others = self
        result = first(*originals)
        for module in others:
            result = module(result)
        return result


def _check_result(result, shape, dtype):
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before in (("dtype", dtype), ("shape", shape)):
        if getattr(result, what) != before:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {getattr(result, what)}"
            )


def _refuse_pickling(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    replica = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return replica


def _inject_new_class(module):
    """Gives the module a class of its own, a subclass of the one it has, to hold the properties."""
    cls = type(module)
    names = {"__getstate__": _refuse_pickling, "__module__": __name__}
    if not hasattr(cls, "__deepcopy__"):
        names["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), names)


def _inject_property(module, tensor_name):
    def get_parametrized(self):
        parametrization = self.parametrizations[tensor_name]
        if not _depth_of_cached:
            return parametrization()
        key = id(module), tensor_name
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def set_original(self, value):
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get_parametrized, set_original))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Makes `module.<tensor_name>` what the parametrization, a Module, returns for the tensor that is there now.

    The original is under `module.parametrizations.<tensor_name>.original` and is what an optimizer updates. A second
    parametrization of the same tensor takes the result of the first. An assignment to the tensor goes through the
    `right_inverse` of the parametrizations, which also gives the first originals.

    Args:
        unsafe: whether the parametrization may change dtype and shape; nothing is checked then.
    Returns the module.
    Raises ValueError for a name without a tensor and for a parametrization whose result cannot stand for it.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(parametrization, getattr(module, tensor_name), tensor_name)
        parametrizations = module.parametrizations[tensor_name]
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_another(parametrization, before, tensor_name):
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{tensor_name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{tensor_name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        inverse = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}")
    for what in ("dtype", "shape"):
        if getattr(inverse, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.{what}: {getattr(before, what)}\n"
                f"returned {what}: {getattr(inverse, what)}"
            )


def is_parametrized(module, tensor_name=None):
    """Whether the tensor of that name, or any tensor of the module, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes `module.<tensor_name>` an ordinary parameter or buffer again; returns the module.

    Args:
        leave_parametrized: whether it keeps the value the parametrization gives it, or gets the original back, which
            is possible if that is one tensor.
    Raises ValueError for a tensor that is not parametrized.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class the module had before a tensor of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Registers the parametrizations of one module (of one tensor, if named) on another, which shares the originals.

    Returns `to_module`.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        names = ["original"] if source.is_tensor else [f"original{place}" for place in range(source.ntensors)]
        for original in names:
            setattr(target, original, getattr(source, original))
    return to_module
