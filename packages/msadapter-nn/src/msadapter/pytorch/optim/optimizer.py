"""torch.optim.Optimizer, the base of all optimizers, and the base of those that update each parameter on its own."""

import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.grad_mode import enable_grad, no_grad, set_grad_enabled
from msadapter.pytorch._ops.creation import tensor as make_tensor
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn._names import type_name
from msadapter.pytorch.utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()


class _RequiredParameter:
    """The default of an option that every group must give."""

    def __repr__(self):
        return "<required parameter>"


required = _RequiredParameter()


def _add(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Call `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return _add(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Call `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return _add(_global_optimizer_post_hooks, hook)


_HOOK_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class Optimizer:
    """Base class of all optimizers.

    Args:
        params: parameters, pairs of name and parameter, or dicts of "params" and options (groups).
        defaults: the options of groups that don't say otherwise.

    Raises TypeError for what is no tensor, ValueError for an empty list, a tensor that is no leaf, and a parameter in
    two groups.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for table in _HOOK_TABLES:
            setattr(self, table, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + type_name(params)
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for table in _HOOK_TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            lines.extend(f"    {key}: {group[key]}" for key in sorted(group) if key != "params")
        return "\n".join(lines) + "\n)"

    # --- hooks ------------------------------------------------------------------------------------------------------

    def _patch_step_function(self):
        """Let the class's `step` run the hooks; once for each class."""
        step = type(self).step
        if not getattr(step, "hooked", False):
            type(self).step = self.profile_hook_step(step)
            type(self).step.hooked = True

    @staticmethod
    def profile_hook_step(func):
        """`func` with the step hooks around it."""

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self = args[0]
            for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            out = func(*args, **kwargs)
            for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
                hook(self, args, kwargs)
            return out

        return wrapper

    def register_step_pre_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` before each step; a pair it returns replaces the arguments."""
        return _add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` before `state_dict`."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` after `state_dict`; a dict it returns takes its place."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call `hook(optimizer, state_dict)` before `load_state_dict`; a dict it returns takes its place."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call `hook(optimizer)` after `load_state_dict`."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # --- groups -----------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group):
        """Add a dict of "params" and options, completed from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        param_group["params"], names = _split_names(param_group["params"])
        if names:
            param_group["param_names"] = names
        for param in param_group["params"]:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type_name(param)}"
                )
            if not self.defaults.get("differentiable") and not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_disjoint(param_group)
        self.param_groups.append(param_group)

    def _check_disjoint(self, param_group):
        own = {id(param) for param in param_group["params"]}
        if len(own) != len(param_group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=4,
            )
        named = "param_names" in param_group
        for group in self.param_groups:
            if named != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if named else 'without'} names to the optimizer"
                )
            if not own.isdisjoint(id(param) for param in group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                gradient = param.grad
                if gradient is None:
                    continue
                if set_to_none:
                    param.grad = None
                    continue
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()

    def step(self, closure=None):
        """Update the parameters once. Every optimizer defines its own."""
        raise NotImplementedError

    # --- state ------------------------------------------------------------------------------------------------------

    def state_dict(self):
        """A dict of "state" by parameter number, and "param_groups" with numbers for the parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        start = 0
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for index, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), index)
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            start += len(packed["params"])
            groups.append(packed)
        state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        state_dict = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            replacement = hook(self, state_dict)
            state_dict = state_dict if replacement is None else replacement
        return state_dict

    def load_state_dict(self, state_dict):
        """Take over what `state_dict` returned; the state gets the dtype of its parameter.

        Raises ValueError where the number or the sizes of the groups differ.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            replacement = hook(self, state_dict)
            state_dict = state_dict if replacement is None else replacement
        groups, saved_groups = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        saved_ids = itertools.chain.from_iterable(group["params"] for group in saved_groups)
        params = itertools.chain.from_iterable(group["params"] for group in groups)
        by_number = dict(zip(saved_ids, params, strict=True))
        state = defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in by_number:
                param = by_number[number]
                state[param] = _taken_over(param, value, number, state_dict["param_groups"])
            else:
                state[number] = value
        for group, saved in zip(groups, saved_groups, strict=True):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    @staticmethod
    def _process_value_according_to_param_policy(param, value, param_id, param_groups, key=None):
        """A loaded state tensor in the dtype of its parameter; the step count keeps its own."""
        if key == "step":
            group = next((g for g in param_groups if param_id in g["params"]), {})
            return value.float() if group.get("capturable") or group.get("fused") else value
        return value.to(dtype=param.dtype) if param.is_floating_point() else value


def _split_names(params):
    """(parameters, names): the names where pairs are given, else none."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
            "change between runs. Please use a list instead."
        )
    params = list(params)
    names = [param[0] for param in params if isinstance(param, tuple)]
    if names and len(names) != len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [param[1] if isinstance(param, tuple) else param for param in params], names


def _taken_over(param, value, number, param_groups, key=None):
    if isinstance(value, Tensor):
        return Optimizer._process_value_according_to_param_policy(param, value, number, param_groups, key)
    if isinstance(value, dict):
        return {k: _taken_over(param, v, number, param_groups, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_taken_over(param, v, number, param_groups) for v in value)
    return value


class PerParameterOptimizer(Optimizer):
    """An optimizer whose step updates each parameter from its own gradient and state alone.

    A subclass gives `_update(group, param, grad, state)`, which writes in place, and `_init_state(group, param)`, the
    state before the first step.
    """

    def step(self, closure=None):
        """Update every parameter that has a gradient. `closure` computes the loss anew, which is returned."""
        loss = evaluate(closure)
        with set_grad_enabled(bool(self.defaults.get("differentiable"))), np.errstate(all="ignore"):
            for group in self.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is not None:
                        self._step_one(group, param, grad)
        return loss

    def _step_one(self, group, param, grad):
        if grad.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
        state = self.state[param]
        if not state:
            state.update(self._init_state(group, param))
        if group.get("maximize"):
            grad = -grad
        self._update(group, param, grad, state)

    def _init_state(self, group, param):
        return {}

    def _update(self, group, param, grad, state):
        raise NotImplementedError

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for key, default in self._later_options.items():
                group.setdefault(key, default)
            for param in group["params"]:
                own = self.state.get(param, {})
                for key in self._scalar_state:
                    if key in own and not isinstance(own[key], Tensor):
                        own[key] = state_scalar(float(own[key]))

    # Options that files of older PyTorch versions lack, with their defaults; the step count was a number there.
    _later_options: dict[str, object] = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
    }
    _scalar_state: tuple[str, ...] = ("step",)


def evaluate(closure):
    """The loss of a closure, with gradients recorded; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def state_scalar(value=0.0):
    """A 0-d state tensor: the number of steps of one parameter, and the like."""
    wide = _dtype.get_default_dtype() == _dtype.float64
    return make_tensor(value, dtype=_dtype.float64 if wide else _dtype.float32)


def zeros_of(param):
    """A state tensor of zeros, like the parameter."""
    from msadapter.pytorch import zeros_like

    with no_grad():
        return zeros_like(param)


def number(value):
    """A Python number from a number or a tensor of one element."""
    return value.item() if isinstance(value, Tensor) else value


def check_number(name, value, valid):
    """Raise ValueError in PyTorch's words unless `valid`."""
    if not valid:
        raise ValueError(f"Invalid {name}: {value}")


def check_learning_rate(lr):
    """Raise ValueError in PyTorch's words unless `lr` is a number, or a tensor of one element, and not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_number("learning rate", lr, lr >= 0.0)


def check_betas(betas):
    """Raise ValueError in PyTorch's words unless both are in [0, 1)."""
    for index, beta in enumerate(betas):
        check_number(f"beta parameter at index {index}", beta, 0.0 <= beta < 1.0)


def check_implementation(foreach, fused, differentiable):
    """PyTorch's rules for the implementation flags; all of them are accepted and run the same update here."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
