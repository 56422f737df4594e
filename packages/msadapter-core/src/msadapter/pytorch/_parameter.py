"""torch.nn.Parameter: a tensor that is also a MindSpore Parameter, so that native optimizers and Cells take it."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsParameter, MsTensor
from msadapter.pytorch._tensor import Tensor


class _UniqueOfParameter:
    def __init__(self, parameter):
        self._parameter = parameter

    def __call__(self, *args, **kwargs):
        return Tensor.unique(self._parameter, *args, **kwargs)

    def __bool__(self):
        return MsParameter.unique.__get__(self._parameter)


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, MsParameter, metaclass=_ParameterMeta):
    """A tensor that a Module counts among its parameters. It shares the memory of `data`.

    `name` is MindSpore's parameter name; a Module gives it the dotted path of the parameter.
    """

    def __new__(cls, data=None, requires_grad=True, name=None):
        if data is None:
            data = native.from_numpy(np.empty(0, _dtype.NUMPY[_dtype.get_default_dtype()]))
        if not isinstance(data, MsTensor):
            raise TypeError(f"Parameter data must be a Tensor. Received: {type(data).__name__}")
        dtype = _dtype.of_native(native.dtype_of(data))
        if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(
                f"Only Tensors of floating point and complex dtype can require gradients. Received: {dtype}"
            )
        return cls._wrap(native.raw_data(data), requires_grad, name)

    @classmethod
    def _wrap(cls, tensor, requires_grad, name=None):
        # Grad only once the data is there: the engine keeps the shape it sees at that moment, and sums gradients to it.
        parameter = native.make_parameter(name or "Parameter", requires_grad=False)
        native.set_raw_data(parameter, tensor)
        parameter.__class__ = cls
        return parameter.requires_grad_() if requires_grad else parameter

    def __init__(self, *args, **kwargs):
        pass

    @property
    def requires_grad(self):
        return native.parameter_requires_grad.__get__(self)

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        native.set_recording(True)
        native.parameter_requires_grad.__set__(self, bool(requires_grad))
        return self

    @property
    def unique(self):
        """PyTorch's method; used as a truth value, MindSpore's flag (its optimizers read `parameter.unique`)."""
        return _UniqueOfParameter(self)

    @unique.setter
    def unique(self, value):
        MsParameter.unique.__set__(self, value)

    def clone(self, *args, **kwargs):
        """PyTorch's clone; with MindSpore's `init` argument, MindSpore's copy of the parameter."""
        if "init" in kwargs or (args and isinstance(args[0], str)):
            return MsParameter.clone(self, *args, **kwargs)
        return Tensor.clone(self, *args, **kwargs)

    def copy(self):
        return MsParameter.clone(self, "same")

    def __repr__(self):
        return self._describe("tensor(", is_parameter=True)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        # Unlike a plain tensor's, the copy of a parameter has no gradient.
        result = type(self)._wrap(self.data.clone(), self.requires_grad, self.name)
        memo[id(self)] = result
        return result

    def _user_attributes(self):
        return {}


def is_lazy(parameter):
    """Whether `parameter` waits for its first input to get a shape."""
    return getattr(parameter, "_is_lazy", False)
