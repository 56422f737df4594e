"""torch.FloatTensor and its kind: PyTorch's old names for the tensors of one dtype."""

from msadapter.pytorch import _dtype
from msadapter.pytorch._ops.creation import legacy_tensor
from msadapter.pytorch._ops.registry import retag
from msadapter.pytorch._tensor import Tensor


class _TensorType(type):
    """`FloatTensor(2, 3)` and `FloatTensor([1, 2])` make tensors; `isinstance` asks for the dtype."""

    def __call__(cls, *args):
        return retag(legacy_tensor(args, cls.dtype))

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


def _make(dtype):
    name = f"{_dtype.SCALAR_NAMES[dtype]}Tensor"
    doc = f"Tensors of dtype {dtype}. `torch.tensor(data, dtype={dtype})` is the better way to make one."
    return _TensorType(name, (), {"dtype": dtype, "__doc__": doc, "__module__": "torch"})


FloatTensor = _make(_dtype.float32)
DoubleTensor = _make(_dtype.float64)
HalfTensor = _make(_dtype.float16)
BFloat16Tensor = _make(_dtype.bfloat16)
ByteTensor = _make(_dtype.uint8)
CharTensor = _make(_dtype.int8)
ShortTensor = _make(_dtype.int16)
IntTensor = _make(_dtype.int32)
LongTensor = _make(_dtype.int64)
BoolTensor = _make(_dtype.bool)


def set_default_tensor_type(t, /):
    """Make the dtype of a tensor type (or its name, "torch.DoubleTensor") the default one.

    Raises TypeError for what names no floating-point tensor type.
    """
    if isinstance(t, str):
        t = globals().get(t.removeprefix("torch."), t)
    if not isinstance(t, _TensorType):
        raise TypeError(f"invalid type object. Received: {t!r}")
    _dtype.set_default_dtype(t.dtype)
