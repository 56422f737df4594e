"""A Module is an `ms.nn.Cell`, yet every name that PyTorch's Module leaves free belongs to the user.

Cell has some 150 public and private names that PyTorch's Module hasn't (`phase`, `cells`, `param_prefix`...), and a user may
take any of them. So each has two faces: MindSpore's own code sees Cell's, everyone else sees what the user stored
under that name, and Cell's only where nothing is stored (so `net.trainable_params()` works). What MindSpore keeps of a
Module lives in the slot `_cell_state`, never in the Module's `__dict__`.
"""

import copy
import sys
import time

import mindspore
from mindspore import context as _context
from mindspore.common.parameter import _is_parameter_generated
from mindspore.nn import Cell

from msadapter.pytorch._engine.native import MsParameter, MsTensor
from msadapter.pytorch._ops.registry import retag
from msadapter.pytorch._parameter import Parameter
from msadapter.pytorch._tensor import Tensor

NativeCell = Cell.__mro__[1]  # the C++ class under Cell
LastBase = Cell.__mro__[-2]  # after it come the classes that a user mixes in
_CONTEXT = _context._context()
_NOTHING = object()
_DEFAULT_NAME = "Parameter"
# Where MindSpore has set one of these, a call must do what Cell does around `construct`.
_CALL_STATE = ("requires_grad", "mixed_precision_type", "_dynamic_shape_inputs")


def _asked_by_mindspore(frame):
    """Whether MindSpore's own code runs in `frame`. Its parser reads the user's source, and stands for the user."""
    name = frame.f_globals.get("__name__", "")
    return name.startswith("mindspore.") and not name.startswith("mindspore.graph._parse")


class CellName:
    """One name with two faces: `native` is Cell's class attribute, `user` what a user's class defines under it."""

    def __init__(self, name, native, user=_NOTHING):
        self.name, self.native, self.user = name, native, user

    def __get__(self, module, owner=None):
        native = _asked_by_mindspore(sys._getframe(1))
        if module is None:
            face = self.native if native or self.user is _NOTHING else self.user
            return _bind(face, None, owner)
        if not native:
            found = self._users(module, owner)
            if found is not _NOTHING:
                return found
        return self._natives(module, owner)

    def __set__(self, module, value):
        if not _asked_by_mindspore(sys._getframe(1)):
            if _is_data_descriptor(self.user):
                self.user.__set__(module, value)
            else:
                module.__dict__[self.name] = value
        else:
            self.set_native(module, value)

    def __delete__(self, module):
        if self.name not in module.__dict__:
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '{self.name}'")
        del module.__dict__[self.name]

    def set_native(self, module, value):
        """Store `value` as MindSpore's under this name."""
        if _is_data_descriptor(self.native):
            self.native.__set__(module, value)
        else:
            state_of(module)[self.name] = value

    def _users(self, module, owner):
        fields = module.__dict__
        if self.name in fields and not _is_data_descriptor(self.user):
            return fields[self.name]
        if self.user is not _NOTHING:
            return _bind(self.user, module, owner)
        for table in ("_parameters", "_buffers", "_modules"):
            if self.name in fields.get(table, ()):
                return fields[table][self.name]
        return _NOTHING

    def _natives(self, module, owner):
        state = module._cell_state
        if state is not None and self.name in state and not _is_data_descriptor(self.native):
            return state[self.name]
        return _bind(self.native, module, owner)


class _Field:
    """A field that Cell's constructor would set: made when first read, so that a Module costs nothing for it."""

    def __init__(self, name, default):
        self.name, self.default = name, default

    def __get__(self, module, owner=None):
        if module is None:
            return self
        if isinstance(self.default, (type(None), bool, int, str)):
            return self.default
        return state_of(module).setdefault(self.name, copy.copy(self.default))


def _bind(face, module, owner):
    get = getattr(type(face), "__get__", None)
    return face if get is None else get(face, module, owner)


def _is_data_descriptor(face):
    return hasattr(type(face), "__set__")


def state_of(module):
    """What MindSpore keeps of the module, by name."""
    if module._cell_state is None:
        module._cell_state = {}
    return module._cell_state


def new(cls):
    """A fresh instance of a Module class: a Cell of MindSpore, before any `__init__` ran."""
    abstract = getattr(cls, "__abstractmethods__", None)
    if abstract:  # object.__new__ would say so
        raise TypeError(
            f"Can't instantiate abstract class {cls.__name__} with abstract methods {', '.join(sorted(abstract))}"
        )
    module = NativeCell.__new__(cls)
    NativeCell.__init__(module, f"{cls.__module__}.{cls.__qualname__}")
    module._cell_state = None
    module._path = ""
    return module


def _table(name):
    def get(module):
        try:
            return module.__dict__[name]
        except KeyError:
            raise AttributeError(
                f"{type(module).__name__} has no {name} before Module.__init__() ran"
            ) from None

    return property(get)


def _create_time(module):
    return state_of(module).setdefault("_create_time", time.time_ns())


# Cell's fields that are the Module's own under another name, or differ for each instance.
_SPECIAL = {
    "_params": _table("_parameters"),
    "_cells": _table("_modules"),
    "_create_time": property(_create_time),
}


def share_names(cls):
    """Give the Module class, complete with all of PyTorch's names, the two faces of each name of Cell's."""
    taken = {name for base in cls.__mro__ if base not in Cell.__mro__ for name in vars(base)}
    free = [name for name in dir(Cell) if name not in taken and name not in dir(object)]
    for name in free:
        if not name.startswith("__"):
            setattr(cls, name, CellName(name, _raw_attribute(Cell.__mro__, name)))
    for name, default in vars(Cell()).items():
        if name not in taken:
            setattr(cls, name, CellName(name, _SPECIAL.get(name) or _Field(name, default)))


def _raw_attribute(classes, name):
    return next(vars(cls)[name] for cls in classes if name in vars(cls))


def adopt_subclass(cls, module_class):
    """Keep a user's class attributes out of MindSpore's way, and take a native `construct` for `forward`."""
    own = vars(cls)
    if "bprop" in own:
        cls._has_bprop = True
    native_style = "construct" in own and "forward" not in own
    if native_style:
        inherited = _raw_attribute(cls.__mro__[1:], "forward")
        if inherited in (module_class.forward, _raw_attribute(cls.__mro__[1:], "construct")):
            cls.forward = own["construct"]
    for name, value in list(own.items()):
        shared = vars(module_class).get(name)
        if not isinstance(shared, CellName) or isinstance(value, CellName):
            continue
        if name == "construct" and native_style:
            continue
        setattr(cls, name, CellName(name, shared.native, user=value))


def parameter_table(cell):
    """The direct parameters of a Module or a native Cell."""
    return cell._parameters if hasattr(cell, "_parameters") else cell._params


def name_parameter(module, name, parameter):
    """Give a parameter that has no name yet its dotted path: MindSpore's name of it."""
    if parameter.name == _DEFAULT_NAME or _is_parameter_generated(parameter.name):
        parameter.param_info.name = f"{module._path}.{name}" if module._path else name


def named_cells(cell, memo=None, prefix="", remove_duplicate=True):
    """`named_modules` of a Module, and the same of a native Cell."""
    if hasattr(cell, "named_modules"):
        yield from cell.named_modules(memo, prefix, remove_duplicate)
        return
    for name, found in cell.cells_and_names(name_prefix=prefix):
        if memo is None or found not in memo:
            if memo is not None and remove_duplicate:
                memo.add(found)
            yield name, found


def name_subtree(module, path):
    """Rename every parameter under `module`, which is now found at `path`; a tied one keeps its first path."""
    seen = set()
    for prefix, child in named_cells(module, prefix=path):
        if hasattr(child, "named_modules"):
            child._path = prefix
        for name, parameter in parameter_table(child).items():
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                parameter.param_info.name = f"{prefix}.{name}"


def adopt_parameter(parameter):
    """Make a native Parameter ours, in place, so that it has PyTorch's attributes too."""
    if isinstance(parameter, MsParameter) and not isinstance(parameter, Tensor):
        if parameter.has_init:
            parameter.init_data()
        parameter.__class__ = Parameter


def adopt_parameters(cell):
    """Make all parameters of a native Cell ours."""
    for parameter in cell.get_parameters():
        adopt_parameter(parameter)


def in_graph_mode():
    return _CONTEXT._mode == mindspore.GRAPH_MODE


def retag_inputs(args):
    """Native tensors that a native Cell hands to a Module become ours, in place."""
    for arg in args:
        if type(arg) is MsTensor:
            arg.__class__ = Tensor


def call_in_graph(module, args, kwargs):
    """Compile and run, as MindSpore's graph mode does."""
    return retag(Cell.__call__(module, *args, **kwargs))


def call_as_cell(module, call, args, kwargs):
    """Run `call` with what Cell does around `construct`, where MindSpore has set something of that."""
    if not any(module._cell_state.get(name) for name in _CALL_STATE):
        return call(*args, **kwargs)
    Cell._call_pre_process(module, *args, **kwargs)
    output = call(*args, **kwargs)
    Cell._call_post_process(module, output, *args, **kwargs)
    return output


def release(module):
    """Free the graphs that MindSpore compiled for a module."""
    state = module._cell_state
    if state and "_compile_cache" in state and _CELL_EXECUTOR is not None:
        _CELL_EXECUTOR.del_net_res(module, state["_compile_cache"])


_CELL_EXECUTOR = sys.modules[Cell.__module__]._cell_graph_executor
