"""torch.nn.Parameter, torch.nn.Buffer, and both before their shape is known."""

from msadapter.pytorch import empty
from msadapter.pytorch._parameter import Parameter, is_lazy
from msadapter.pytorch._tensor import Tensor

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as buffer when it is assigned; it shares the memory of `data`."""

    def __new__(cls, data=None, *, persistent=True):
        buffer = empty(0) if data is None else data.detach().requires_grad_(data.requires_grad)
        return _as_buffer(buffer, persistent)

    def __init__(self, *args, **kwargs):
        pass


def _as_buffer(tensor, persistent):
    tensor.persistent = persistent
    tensor._is_buffer = True
    return tensor


_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
    "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
    "accessing their attributes."
)
# What works without values: operators by name.
_ALLOWED = frozenset(
    "size copy_ is_complex is_floating_point half float double bfloat16 char short int long cuda cpu npu to type "
    "get_device".split()
)


class UninitializedTensorMixin:
    """A tensor that has a dtype and a device, but no shape before `materialize`."""

    _is_lazy = True

    def __init__(self, *args, **kwargs):
        pass

    def materialize(self, shape, device=None, dtype=None):
        """Become an ordinary parameter or buffer of `shape`, its values not set."""
        self.data = empty(shape, device=device, dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(_NO_SHAPE)

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents=None):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, None, self.dtype)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)
        return memo[id(self)]

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in _ALLOWED:
            return super().__torch_function__(func, types, args, kwargs)
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` "
            f"or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter whose shape the first input of its module gives."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return cls._wrap(empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape the first input of its module gives."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        return _as_buffer(cls._wrap(empty(0, device=device, dtype=dtype), requires_grad), persistent)
