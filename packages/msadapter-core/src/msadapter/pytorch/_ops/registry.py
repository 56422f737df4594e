"""One record per operator, and what follows from it: function, method, in-place form, `out=`, error text, table row.

    @op(inplace=True, operators=("__add__",), reflected="__radd__")
    @promoting
    def add(input, other, *, alpha=1):
        ...

The body's own signature is PyTorch's. A rule of `_ops.rules` (here `promoting`) may stand before the body: promotion,
dtype support and special cases live there, once.
"""

import functools
import inspect
from dataclasses import dataclass

from msadapter.pytorch import overrides
from msadapter.pytorch._engine import inplace as inplace_engine
from msadapter.pytorch._engine import native, views
from msadapter.pytorch._engine.copying import copy_of
from msadapter.pytorch._engine.native import LOCK, MsTensor, requires_grad, set_recording
from msadapter.pytorch._missing import pytorch_names
from msadapter.pytorch._ops import errors, outputs
from msadapter.pytorch._parameter import Parameter
from msadapter.pytorch._size import Size
from msadapter.pytorch._tensor import Tensor

# Types that need no second look at the door: no list to search for subclasses, no array, no NumPy number.
PLAIN = frozenset(
    (Tensor, Parameter, MsTensor, int, float, bool, complex, type(None), str, slice, Size, type(Ellipsis))
)
# Keyword names that PyTorch accepts beside its own.
ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "x1": "input",
    "x2": "other",
    "self": "input",
    "a": "input",
    "axis0": "dim0",
    "axis1": "dim1",
    "dtype": "size",  # Tensor.view takes either
    "split_size": "split_size_or_sections",
    "indices": "indices_or_sections",
    "sections": "indices_or_sections",
    "from": "from_",
}


@dataclass(eq=False)
class Record:
    """What is known of one operator."""

    name: str
    body: object
    namespace: str = "torch"
    also: tuple = ()
    aliases: tuple = ()
    method: bool = True
    function: bool = True
    inplace: bool = False
    linear: bool = False
    operators: tuple = ()
    reflected: str | None = None
    out: bool = True
    view: bool = False
    node: str | None = None
    kernel: object = None
    public: object = None
    inplace_public: object = None

    @functools.cached_property
    def parameters(self):
        """Names of the body's parameters."""
        return tuple(inspect.signature(self.body).parameters)

    @functools.cached_property
    def varargs(self):
        """Name of the body's `*parameter`, None where it has none."""
        kinds = inspect.signature(self.body).parameters.values()
        return next((p.name for p in kinds if p.kind is p.VAR_POSITIONAL), None)

    @property
    def cpu_reason(self):
        """Why a NumPy kernel stands in on the CPU; empty where MindSpore's operators run there too."""
        return getattr(self.body, "cpu_reason", "") or getattr(self.kernel, "reason", "")

    @property
    def grad_name(self):
        """PyTorch's name of the graph node."""
        return self.node or "".join(part.capitalize() for part in self.name.split("_")) + "Backward0"

    @property
    def qualified(self):
        return (
            self.name if self.namespace == "torch" else f"{self.namespace.removeprefix('torch.')}.{self.name}"
        )


RECORDS = {}


def op(body=None, *, name=None, namespace="torch", maker=None, **facts):
    """Register the decorated body as an operator, and return its public function.

    Args:
        name: PyTorch's name; default: the body's.
        namespace: "torch", "torch.linalg", "torch.nn.functional", ... `also`: further ones that show the same function.
        aliases: further names of the same operator.
        method, function: whether `Tensor.name` (and `Tensor.name_`) and `torch.name` exist.
        inplace: whether there is an in-place form. `linear`: its gradient reads no input, so that it needs no copy.
        operators, reflected: the Python operators it is.
        out: whether it takes `out=`.
        view: the result shares the input's memory; the body returns native views.
        node: PyTorch's name of the graph node, where it is not the operator's; for composites that are one node there.
        kernel: the NumPy kernel that stands in on the CPU, where the body only prepares its arguments.
        maker: makes the public function of the record, where it is neither an operator on tensors nor a view.

    A second record of one name raises ValueError.
    """
    if body is None:
        return lambda function: op(function, name=name, namespace=namespace, maker=maker, **facts)
    record = Record(name=name or body.__name__, body=body, namespace=namespace, **facts)
    key = (record.namespace, record.name)
    if key in RECORDS:
        raise ValueError(f"operator {record.qualified} is registered twice")
    RECORDS[key] = record
    make = maker or (_make_view if record.view else _make_function)
    record.public = _dress(make(record), record, record.name)
    if record.inplace:
        make = _make_inplace_view if record.view else _make_inplace
        record.inplace_public = _dress(make(record), record, record.name + "_")
    _install(record)
    return record.public


def exports(namespace):
    """The public functions of a namespace by name, aliases included: what its module shows."""
    found = {}
    known = pytorch_names().get(namespace, ())
    for record in RECORDS.values():
        if record.function and (record.namespace == namespace or namespace in record.also):
            for name in (record.name, *record.aliases):
                found[name] = record.public
                if record.inplace and name + "_" in known:  # PyTorch has torch.exp_, but no torch.add_
                    found[name + "_"] = record.inplace_public
    return found


def _dress(function, record, name):
    function.__name__ = name
    function.__qualname__ = name
    function.__doc__ = record.body.__doc__
    function.__module__ = f"msadapter.pytorch{record.namespace.removeprefix('torch')}"
    function.__wrapped__ = record.body
    function.record = record
    return function


def _install(record):
    names = (record.name, *record.aliases)
    if record.method:
        for method in names:
            setattr(Tensor, method, record.public)
    for operator in record.operators:
        setattr(Tensor, operator, _operator(record.public))
    if record.reflected:
        setattr(Tensor, record.reflected, _reflected(record.public))
    if record.inplace_public is not None and record.method:
        for method in names:
            setattr(Tensor, method + "_", record.inplace_public)
        for operator in record.operators:
            augmented = "__i" + operator[2:]
            if augmented in _AUGMENTED:
                setattr(Tensor, augmented, record.inplace_public)


_AUGMENTED = frozenset(
    f"__i{name}__" for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
)
_OPERANDS = (MsTensor, int, float, bool, complex)


def _operator(public):
    """The Python operator: other types are left to them (NotImplemented)."""

    def operator(self, *other):
        if other and not isinstance(other[0], _OPERANDS) and not errors.is_number_or_array(other[0]):
            if not hasattr(type(other[0]), "__torch_function__"):
                return NotImplemented
        return public(self, *other)

    return operator if public.record.name not in _SINGLE else public


_SINGLE = frozenset(("neg", "abs", "bitwise_not", "positive"))


def _reflected(public):
    def operator(self, other):
        if not errors.is_number_or_array(other):
            return NotImplemented
        return public(other, self)

    return operator


def _make_function(record):
    run, name, plain, is_node = record.body, record.grad_name, PLAIN, record.node is not None

    def function(*args, **kwargs):
        for arg in args:
            if type(arg) not in plain:
                return _call_with_care(record, args, kwargs)
        if kwargs:
            return _call_with_care(record, args, kwargs)
        with LOCK:
            set_recording(True)
            try:
                result = run(*args)
            except Exception as error:
                raise errors.explain(record, error, args, kwargs) from error.__cause__
        if type(result) is MsTensor:
            result.__class__ = Tensor
        elif type(result) is not Tensor:
            return _labelled(record, retag(result))
        if requires_grad(result) and (is_node or "_operator" not in result.__dict__):
            result.__dict__["_operator"] = name
        return result

    return function


def _labelled(record, result):
    """The result (or several), each tensor with the name of the operator that made it."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        if type(tensor) is Tensor and requires_grad(tensor):
            if record.node is not None or "_operator" not in tensor.__dict__:
                tensor.__dict__["_operator"] = record.grad_name
    return result


def taking_inplace(record):
    """For `maker`: the function with PyTorch's last parameter `inplace`."""
    plain, count = _make_function(record), len(record.parameters)

    def function(*args, inplace=False, **kwargs):
        if len(args) > count:
            *args, inplace = args
        return record.inplace_public(*args, **kwargs) if inplace else plain(*args, **kwargs)

    return function


def _call_with_care(record, args, kwargs):
    """The general call: subclasses, arrays and NumPy numbers, keywords under any of their names, `out=`."""
    if not overrides.is_disabled():
        candidates = (*args, *kwargs.values())
        overriding = overrides.overriding(candidates)
        if overriding:
            return overrides.handle_torch_function(record.public, candidates, *args, **kwargs)
    args, kwargs = plain_arguments(record, args, kwargs)
    out = kwargs.pop("out", None)
    if out is not None and not record.out:
        raise TypeError(f"{record.name}() got an unexpected keyword argument 'out'")
    with LOCK:
        set_recording(True)
        try:
            result = record.body(*args, **kwargs)
        except Exception as error:
            raise errors.explain(record, error, args, kwargs) from error.__cause__
        result = _labelled(record, retag(result))
        return result if out is None else outputs.store(record.name, out, result)


def plain_arguments(record, args, kwargs):
    """The arguments with NumPy numbers made Python's, and under the names of the body's parameters."""
    args = tuple(a.item() if errors.is_numpy_number(a) else a for a in args)
    if not kwargs:
        return args, {}
    known = record.parameters
    renamed = {}
    for key, value in kwargs.items():
        if key not in known and ALIASES.get(key) in known:
            key = ALIASES[key]
        renamed[key] = value.item() if errors.is_numpy_number(value) else value
    if record.varargs in renamed:
        # What follows in the body's signature by position may be given by name as well: x.permute(dims=(1, 0)).
        ahead = known[len(args) : known.index(record.varargs)]
        args = (*args, *(renamed.pop(name) for name in ahead if name in renamed), renamed.pop(record.varargs))
    return args, renamed


def _make_view(record):
    body, plain, name = record.body, PLAIN, record.grad_name

    def function(*args, **kwargs):
        if kwargs or not args or type(args[0]) not in plain:
            if not overrides.is_disabled() and overrides.overriding((*args, *kwargs.values())):
                return overrides.handle_torch_function(
                    record.public, (*args, *kwargs.values()), *args, **kwargs
                )
            args = _positional(record, *plain_arguments(record, args, kwargs))
        source = args[0]
        with LOCK:
            set_recording(True)
            try:
                result = body(*args)
            except Exception as error:
                raise errors.explain(record, error, args, {}) from error.__cause__
        if type(result) is MsTensor:
            if result is source:
                return result
            views.track(source, result, body, args[1:])
            if requires_grad(result):
                result.__dict__["_operator"] = name
            return result
        if isinstance(result, (tuple, list)):
            parts = tuple(views.track(source, part, body, args[1:], i) for i, part in enumerate(result))
            if parts and requires_grad(parts[0]):
                for part in parts:
                    part.__dict__["_operator"] = name
            return parts
        return result

    return function


def _positional(record, args, kwargs):
    """All arguments by position, so that a view can be replayed from a plain tuple."""
    if args and not kwargs:
        return args
    try:
        bound = inspect.signature(record.body).bind(*args, **kwargs)
    except TypeError as error:
        raise errors.explain(record, error, args, kwargs) from None
    bound.apply_defaults()
    return bound.args


def _make_inplace(record):
    body, linear = record.body, record.linear

    def method(self, *args, **kwargs):
        if kwargs or type(self) not in PLAIN or any(type(a) not in PLAIN for a in args):
            candidates = (self, *args, *kwargs.values())
            if not overrides.is_disabled() and overrides.overriding(candidates):
                return overrides.handle_torch_function(
                    record.inplace_public, candidates, self, *args, **kwargs
                )
            args, kwargs = plain_arguments(record, args, kwargs)
        with LOCK:
            set_recording(True)
            # What the operator saves for backward must not be the memory that is about to be written.
            source = (
                copy_of(self) if not linear and native.is_grad_enabled() and requires_grad(self) else self
            )
            try:
                new = body(source, *args, **kwargs)
            except Exception as error:
                raise errors.explain(record, error, (self, *args), kwargs) from error.__cause__
            inplace_engine.write(self, outputs.fit(record.name, self, new))
        if requires_grad(self):
            self.__dict__["_operator"] = record.grad_name
        return self

    return method


def _make_inplace_view(record):
    """The in-place form of a view: the tensor itself takes the view's shape."""
    body = record.body

    def method(self, *args, **kwargs):
        if not overrides.is_disabled() and overrides.overriding((self, *args)):
            return overrides.handle_torch_function(
                record.inplace_public, (self, *args), self, *args, **kwargs
            )
        args = _positional(record, *plain_arguments(record, (self, *args), kwargs))[1:]
        with LOCK:
            set_recording(True)
            try:
                return inplace_engine.take_shape(self, body, args)
            except Exception as error:
                raise errors.explain(record, error, (self, *args), {}) from error.__cause__

    return method


def retag(result):
    """`result` with its native tensors (in tuples, lists, dicts too) made ours, in place."""
    if type(result) is MsTensor:
        result.__class__ = Tensor
    elif isinstance(result, (tuple, list)):
        for item in result:
            retag(item)
    elif isinstance(result, dict):
        for item in result.values():
            retag(item)
    return result
