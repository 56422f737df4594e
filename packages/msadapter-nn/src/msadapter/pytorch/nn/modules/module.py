"""torch.nn.Module, which is also an `ms.nn.Cell` (see `_cell` for how the two share their names)."""

from collections import OrderedDict

from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch._engine.native import MsParameter, MsTensor
from msadapter.pytorch._parameter import Parameter
from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn._names import type_name
from msadapter.pytorch.nn.modules import _cell, _hooks
from msadapter.pytorch.nn.modules._bprop import call_with_bprop
from msadapter.pytorch.nn.modules._cell import Cell, CellName
from msadapter.pytorch.nn.modules._conversion import ModuleConversion
from msadapter.pytorch.nn.modules._hooks import (  # noqa: F401
    BackwardHook,
    ModuleHooks,
    RemovableHandle,
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_buffer_registration_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from msadapter.pytorch.nn.modules._state import ModuleState, _IncompatibleKeys  # noqa: F401
from msadapter.pytorch.nn.parameter import Buffer

__all__ = [
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "Module",
]

_FIELDS = (
    ("training", lambda: True),
    ("_parameters", dict),
    ("_buffers", dict),
    ("_non_persistent_buffers_set", set),
    ("_backward_pre_hooks", OrderedDict),
    ("_backward_hooks", OrderedDict),
    ("_is_full_backward_hook", lambda: None),
    ("_forward_hooks", OrderedDict),
    ("_forward_hooks_with_kwargs", OrderedDict),
    ("_forward_hooks_always_called", OrderedDict),
    ("_forward_pre_hooks", OrderedDict),
    ("_forward_pre_hooks_with_kwargs", OrderedDict),
    ("_state_dict_hooks", OrderedDict),
    ("_state_dict_pre_hooks", OrderedDict),
    ("_load_state_dict_pre_hooks", OrderedDict),
    ("_load_state_dict_post_hooks", OrderedDict),
    ("_modules", dict),
)


def _addindent(text, spaces):
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


def _forward_unimplemented(self, *input):
    """The computation of the module; every subclass defines its own."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(ModuleHooks, ModuleState, ModuleConversion, Cell):
    """Base class of all neural network modules.

    Assign Parameters, buffers and other Modules as attributes in `__init__`, after `super().__init__()`, and define
    `forward`. Every name may be used for an attribute, also those that MindSpore's Cell uses itself. Native MindSpore
    optimizers, `value_and_grad`, `Model` and Cells take a Module as they take a Cell; the name of each parameter is its
    dotted path.
    """

    __slots__ = ("_cell_state", "_path")
    # Plain class attributes, which hide Cell's read-only properties of the same names.
    _non_persistent_buffers_set = _state_dict_hooks = _state_dict_pre_hooks = None
    _load_state_dict_pre_hooks = _load_state_dict_post_hooks = None
    _compiled_call_impl = None
    _has_bprop = False
    dump_patches = False
    call_super_init = False

    def __new__(cls, *args, **kwargs):
        return _cell.new(cls)

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        self.__dict__.update((name, make()) for name, make in _FIELDS)
        if self.call_super_init:
            super(_cell.LastBase, self).__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _cell.adopt_subclass(cls, Module)

    def __del__(
        self, release=_cell.release
    ):  # bound here, as the module's names are gone when the interpreter ends
        if self._cell_state:
            release(self)

    # --- calling ----------------------------------------------------------------------------------------------------

    forward = _forward_unimplemented

    def construct(self, *args, **kwargs):
        """What MindSpore calls: `forward`."""
        return self.forward(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        for arg in args:
            if type(arg) is MsTensor:  # from a native Cell
                arg.__class__ = Tensor
        if _cell.in_graph_mode():
            return _cell.call_in_graph(self, args, kwargs)
        call = self._compiled_call_impl or self._call_impl
        if self._cell_state is not None:
            return _cell.call_as_cell(self, call, args, kwargs)
        return call(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
        ):
            return self._call_with_hooks(args, kwargs)
        if self._has_bprop:
            return call_with_bprop(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _compile(self, *args, **kwargs):
        """Let calls run through `torch.compile(forward, *args, **kwargs)`."""
        from msadapter import pytorch

        self._compiled_call_impl = pytorch.compile(self._call_impl, *args, **kwargs)

    _compile.__name__ = "compile"
    compile = CellName("compile", Cell.compile, user=_compile)  # MindSpore compiles graphs by the same name

    # --- attributes -------------------------------------------------------------------------------------------------

    def __setattr__(self, name, value):
        if name in _CELL_NAMES and _cell._asked_by_mindspore(_cell.sys._getframe(1)):
            _CELL_NAMES[name].set_native(self, value)
        elif isinstance(value, MsParameter):
            self._set_parameter(name, value)
        elif isinstance(value, Cell):
            self._set_module(name, value)
        else:
            self._set_value(name, value)

    def _table(self, table, what):
        try:
            return self.__dict__[table]
        except KeyError:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call") from None

    def _set_parameter(self, name, parameter):
        self._table("_parameters", "parameters")
        self._forget(name, "_parameters")
        self.register_parameter(name, parameter)

    def _set_module(self, name, module):
        modules = self._table("_modules", "module")
        self._forget(name, "_modules")
        modules[name] = self._adopt(name, module)

    def _adopt(self, name, module):
        """A child on its way into `_modules`: through the registration hooks, its parameters named by their path."""
        module = _hooks.run_registration_hooks(_global_module_registration_hooks, self, name, module)
        if module is not None:
            if not isinstance(module, Module):
                _cell.adopt_parameters(module)
            _cell.name_subtree(module, f"{self._path}.{name}" if self._path else name)
        return module

    def _set_value(self, name, value):
        fields = self.__dict__
        if name in fields.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif name in fields.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            fields["_modules"][name] = self._adopt(name, None)
        elif isinstance(value, Buffer) or name in fields.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name, value):
        buffers = self._table("_buffers", "buffer")
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        else:
            buffers[name] = _hooks.run_registration_hooks(
                _global_buffer_registration_hooks, self, name, value
            )

    def _forget(self, name, kept):
        """Take `name` out of every table but `kept`."""
        fields = self.__dict__
        fields.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != kept:
                fields.get(table, {}).pop(name, None)
        if kept != "_buffers":
            fields["_non_persistent_buffers_set"].discard(name)

    def __getattr__(self, name):
        fields = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in fields and name in fields[table]:
                return fields[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())

    def __bool__(self):
        length = getattr(
            type(self), "__len__", None
        )  # Cell is always true, an empty container of PyTorch's is not
        return length is None or length(self) != 0

    # --- registration -----------------------------------------------------------------------------------------------

    def _check_name(self, kind, name, table):
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if name not in self.__dict__[table] and self._is_taken(name):
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def _is_taken(self, name):
        shared = _CELL_NAMES.get(name)
        if shared is None or not isinstance(getattr(type(self), "__dict__", {}).get(name, shared), CellName):
            return hasattr(self, name)
        return shared._users(self, type(self)) is not _cell._NOTHING

    def register_parameter(self, name, param):
        """Add a Parameter (or None) under `name`."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, "_parameters")
        _cell.adopt_parameter(param)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                    f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
                )
        param = _hooks.run_registration_hooks(_global_parameter_registration_hooks, self, name, param)
        if param is not None:
            _cell.name_parameter(self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is state but no parameter; it is saved in the state_dict if `persistent`."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, MsTensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        if type(tensor) is MsTensor:
            tensor.__class__ = Tensor
        self._buffers[name] = _hooks.run_registration_hooks(
            _global_buffer_registration_hooks, self, name, tensor
        )
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child module (or None) under `name`."""
        if not isinstance(module, Cell) and module is not None:
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = self._adopt(name, module)

    def register_module(self, name, module):
        """Alias of `add_module`."""
        self.add_module(name, module)

    # --- lookup by path ---------------------------------------------------------------------------------------------

    def get_submodule(self, target):
        """The module at the dotted path `target`. Raises AttributeError where there is none."""
        module = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Cell):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def _get_member(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target):
        """The parameter at the dotted path `target`. Raises AttributeError where there is none."""
        _, name, found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target):
        """The buffer at the dotted path `target`. Raises AttributeError where there is none."""
        module, name, found = self._get_member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def set_submodule(self, target, module, strict=False):
        """Put `module` at the dotted path `target`; with `strict`, only where there is one already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if not isinstance(module, Cell):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Cell):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # --- traversal --------------------------------------------------------------------------------------------------

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for module_prefix, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{module_prefix}.{name}" if module_prefix else name, value

    def parameters(self, recurse=True):
        """The parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of dotted name and parameter, in order of registration, a tied one under its first name."""
        yield from self._named_members(
            lambda module: _cell.parameter_table(module).items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse=True):
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of dotted name and buffer."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self):
        """The direct child modules, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """Pairs of name and direct child module."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate=True):
        """This module and all below it, each once unless `remove_duplicate` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Pairs of dotted name and module, this one first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is None:
                continue
            child_prefix = f"{prefix}.{name}" if prefix else name
            yield from _cell.named_cells(module, memo, child_prefix, remove_duplicate)

    # --- the whole tree at once -------------------------------------------------------------------------------------

    def apply(self, fn):
        """Call `fn` on every module below and on this one, children first. Returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Set training mode here and below. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode) if isinstance(module, Module) else module.set_train(mode)
        return self

    def eval(self):
        """Set evaluation mode here and below. Returns self."""
        return self.train(False)

    def set_train(self, mode=True):
        """MindSpore's name of `train`."""
        return self.train(bool(mode))

    def requires_grad_(self, requires_grad=True):
        """Say whether the parameters should get gradients. Returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of the parameters, or set them to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    _clear(parameter.grad)

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What `repr` shows of the module itself; a subclass may override it."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        lines = extra_lines + child_lines
        if not lines:
            return f"{self._get_name()}()"
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra_lines[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def __str__(self):
        return repr(self)  # a subclass may have a repr of its own

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_compiled_call_impl"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name, make in _FIELDS:
            self.__dict__.setdefault(name, make())

    def __copy__(self):
        duplicate = type(self).__new__(type(self))
        duplicate.__dict__.update(self.__dict__)
        return duplicate

    def _replicate_for_data_parallel(self):
        replica = self.__copy__()
        for table in ("_parameters", "_buffers", "_modules"):
            replica.__dict__[table] = self.__dict__[table].copy()
        return replica


def _clear(gradient):
    with no_grad():
        (gradient if gradient.grad_fn is None else gradient.detach_()).zero_()


_cell.share_names(Module)
_CELL_NAMES = {name: face for name, face in vars(Module).items() if isinstance(face, CellName)}
