"""Containers of modules and of parameters."""

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from msadapter.pytorch._tensor import Tensor
from msadapter.pytorch.nn.modules.module import Module, _addindent
from msadapter.pytorch.nn.parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """Deprecated: a Module with its children given by keyword."""

    def __init__(self, **kwargs):
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


def _absolute(index, size):
    index = operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size


class _NumberedModules(Module):
    """Children under the names "0", "1", ..., used as a list."""

    def _key(self, index):
        return list(self._modules)[_absolute(index, len(self))]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for key in keys:
            delattr(self, key)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules):
        self._modules = {}
        for module in modules:
            self.append(module)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Add a module at the end. Returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Take out and return the module at an index, or those of a slice."""
        found = self[key]
        del self[key]
        return found


class Sequential(_NumberedModules):
    """Calls its modules one after the other: `Sequential(a, b)`, or from an OrderedDict of names and modules."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def insert(self, index, module):
        """Put a module before the one at `index`. Returns self. Raises IndexError beyond the ends."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Add modules at the end. Returns self."""
        for module in sequential:
            self.append(module)
        return self

    def _check_other(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return other

    def __add__(self, other):
        return Sequential().extend(self).extend(self._check_other(other))

    def __iadd__(self, other):
        return self.extend(list(self._check_other(other)))

    def _check_factor(self, factor):
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")
        return factor

    def __mul__(self, other):
        return Sequential().extend(list(self) * self._check_factor(other))

    __rmul__ = __mul__

    def __imul__(self, other):
        return self.extend(list(self) * (self._check_factor(other) - 1))


class ModuleList(_NumberedModules):
    """A list of modules, which are this module's children."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def extend(self, modules):
        """Add modules at the end. Returns self. Raises TypeError for what cannot be iterated over."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def __add__(self, other):
        return ModuleList(self).extend(other)

    def insert(self, index, module):
        """Put a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def __repr__(self):
        """Equal neighbours are shown once, with their count."""
        runs = []
        for index, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = index
            else:
                runs.append([index, index, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(_addindent(line, 2) for line in lines) + "\n)"


def _update(container, what, items, sort_plain_mapping):
    """`container[key] = value` for a mapping, or an iterable of pairs; the checks and messages of both dictionaries."""
    if not isinstance(items, Iterable):
        raise TypeError(
            f"{what[0]}.update should be called with an iterable of key/value pairs, but got {type(items).__name__}"
        )
    if isinstance(items, (Mapping, type(container))):
        plain = sort_plain_mapping and not isinstance(items, (OrderedDict, type(container)))
        for key, value in sorted(items.items()) if plain else items.items():
            container[key] = value
        return
    for position, pair in enumerate(items):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{what[1]} update sequence element #{position} should be Iterable; is{type(pair).__name__}"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{what[1]} update sequence element #{position} has length {len(pair)}; 2 is required"
            )
        container[pair[0]] = pair[1]


class ModuleDict(Module):
    """A dictionary of modules, which are this module's children; it keeps the order of insertion."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Take out all modules."""
        self._modules.clear()

    def pop(self, key):
        """Take out and return the module under `key`."""
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules):
        """Add the modules of a mapping, or of pairs of name and module."""
        _update(self, ("ModuleDict", "ModuleDict"), modules, sort_plain_mapping=False)


def _describe(key, value, type_name):
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.shape))
    where = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"  ({key}): {kind} containing: [{type_name} of size {size}{where}]"


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters of this module; tensors become Parameters, other objects are kept as they are."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self[i] for i in range(*index.indices(len(self))))
        return getattr(self, str(_absolute(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_absolute(index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def append(self, value):
        """Add a value at the end. Returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add values at the end. Returns self. Raises TypeError for a tensor and for what cannot be iterated over."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self):
        return "\n".join(_describe(i, p, getattr(p, "dtype", None)) for i, p in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary of parameters of this module, in order of insertion; a plain dict is taken in sorted order."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _check_key(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._check_key(key))

    def __setitem__(self, key, value):
        self._keys[self._check_key(key)] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._check_key(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """Another ParameterDict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key, default=None):
        """The parameter under `key`, which becomes `default` where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Take out all parameters."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Take out and return the parameter under `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Take out the last parameter; returns its key and itself."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key, default=None):
        """The parameter under `key`, or `default`."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A new ParameterDict with `default` under each of `keys`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def values(self):
        return (self[key] for key in self._keys)

    def update(self, parameters):
        """Add the parameters of a mapping, or of pairs of name and parameter."""
        _update(self, ("ParametersDict", "ParameterDict"), parameters, sort_plain_mapping=True)

    def extra_repr(self):
        return "\n".join(
            _describe(k, p, p.type() if isinstance(p, Tensor) else None) for k, p in self.items()
        )

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other):
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other):
        self.update(other)
        return self
