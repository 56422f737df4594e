"""state_dict and load_state_dict of a Module."""

import functools
import itertools
import warnings
import weakref
from collections import OrderedDict, namedtuple

from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._parameter import Parameter, is_lazy
from msadapter.pytorch.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A load_state_dict pre-hook, with the module as first argument where it was registered so; picklable."""

    def __init__(self, hook, module=None):
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        self.module = weakref.ref(module) if self.with_module else None

    def __call__(self, *args, **kwargs):
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self):
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state):
        self.hook = state["hook"]
        self.with_module = state["with_module"]
        self.module = weakref.ref(state["module"]) if self.with_module else None


def _register(hooks, hook):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class ModuleState:
    """The part of a Module that saves and loads its parameters and buffers."""

    _version = 1

    def get_extra_state(self):
        """Override, together with `set_extra_state`, to store more than tensors in the state_dict."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        """Override to take back what `get_extra_state` returned."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def _extra_state_is(self, name):
        """Whether the class overrides one of the two."""
        return getattr(type(self), name) is not getattr(ModuleState, name)

    # --- saving -----------------------------------------------------------------------------------------------------

    def register_state_dict_post_hook(self, hook):
        """Call `hook(module, state_dict, prefix, local_metadata)` after the module's state was collected."""
        hook._from_public_api = True
        return _register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _register(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected."""
        return _register(self._state_dict_pre_hooks, hook)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """The parameters and persistent buffers by their dotted names, sharing memory with the module.

        Args:
            destination: a dictionary to add to. prefix: put before each name.
            keep_vars: the tensors themselves; default: detached from the graph.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replacement = hook(self, destination, prefix, local_metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if replacement is None else replacement
            elif replacement is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if self._extra_state_is("get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _own_state(self):
        """This module's parameters and persistent buffers, without its children's."""
        persistent = ((n, b) for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set)
        for name, tensor in itertools.chain(self._parameters.items(), persistent):
            if tensor is not None:
                yield name, tensor

    # --- loading ----------------------------------------------------------------------------------------------------

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _register(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook):
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before the module loads its state."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """Call `hook(module, incompatible_keys)` after the module and its children loaded their state."""
        return _register(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in self._own_state():
            key = prefix + name
            if key in state_dict:
                self._load_tensor(name, tensor, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if self._extra_state_is("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)
        if strict:
            unexpected_keys.extend(self._foreign_keys(state_dict, prefix))

    def _foreign_keys(self, state_dict, prefix):
        """Keys under this module's prefix that name neither a tensor of its own nor a child."""
        own = {name for name, _ in self._own_state()}
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + _EXTRA_STATE_KEY_SUFFIX:
                continue
            first, *rest = key[len(prefix) :].split(".", 1)
            if rest:
                if first not in self._modules:
                    yield key
            elif first not in own:
                yield key

    def _load_tensor(self, name, tensor, key, value, assign, error_msgs):
        if not isinstance(value, MsTensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
            return
        shape, lazy = tuple(value.shape), is_lazy(tensor)
        if not lazy and len(tensor.shape) == 0 and shape == (1,):
            value, shape = value[0], ()  # versions before 0.4 saved 0-d tensors so
        if not lazy and shape != tuple(tensor.shape):
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
            return
        try:
            with no_grad():
                if assign:
                    self._assign_loaded(name, tensor, value)
                else:
                    tensor.copy_(value)
        except Exception as error:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and whose '
                f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )

    def _assign_loaded(self, name, tensor, value):
        if isinstance(tensor, Parameter):
            if not isinstance(value, Parameter):
                value = Parameter(value, requires_grad=tensor.requires_grad)
            else:
                value.requires_grad_(tensor.requires_grad)
        setattr(self, name, value)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy parameters and buffers from `state_dict` into this module and its descendants.

        Args:
            strict: whether the keys must match exactly.
            assign: make the tensors of `state_dict` the module's own, instead of copying their values.

        Returns a named tuple (missing_keys, unexpected_keys). Raises RuntimeError with every key that is missing,
        unexpected (if `strict`) or of another shape; TypeError if `state_dict` is no mapping.
        """
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys, unexpected_keys, error_msgs = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, local_state, prefix=""):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(
                local_state, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
            )
            for name, child in module._modules.items():
                if child is not None:
                    child_prefix = f"{prefix}{name}."
                    load(
                        child,
                        {k: v for k, v in local_state.items() if k.startswith(child_prefix)},
                        child_prefix,
                    )
            incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, state_dict)
        if strict:
            if unexpected_keys:
                error_msgs.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected_keys)}. ")
            if missing_keys:
                error_msgs.insert(0, f"Missing key(s) in state_dict: {_quoted(missing_keys)}. ")
        if error_msgs:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(
                    type(self).__name__, "\n\t".join(error_msgs)
                )
            )
        return _IncompatibleKeys(missing_keys, unexpected_keys)


def _quoted(keys):
    return ", ".join(f'"{key}"' for key in keys)
