"""torch dtypes that are MindSpore dtypes, the default dtype, `finfo` and `iinfo`.

Each dtype is an instance of a subclass of MindSpore's own type class, equal to it and with its hash, so that every
MindSpore call accepts `torch.float32` and `torch.float32 == mindspore.float32` holds both ways.
"""

import mindspore as ms
import numpy as np

from msadapter.pytorch._engine.native import numpy_bfloat16


class _DtypeMeta(type):
    def __instancecheck__(cls, instance):
        return type(instance) in _DTYPE_CLASSES


class dtype(metaclass=_DtypeMeta):
    """The class of `torch.float32` and the others; `isinstance(torch.float32, torch.dtype)` is True."""

    def __new__(cls, *args, **kwargs):
        raise TypeError("cannot create 'torch.dtype' instances")


class _Properties:
    """What PyTorch's dtypes carry beside their identity."""

    def __repr__(self):
        return f"torch.{_NAMES[self]}"

    __str__ = __repr__

    def __reduce__(self):
        return _from_name, (_NAMES[self],)

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self

    @property
    def is_floating_point(self):
        return self in _FLOATING

    @property
    def is_complex(self):
        return self in _COMPLEX

    @property
    def is_signed(self):
        return self != uint8 and self not in (uint16, uint32, uint64, bool)

    @property
    def itemsize(self):
        """Bytes of one element."""
        return NUMPY[self].itemsize

    def to_real(self):
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self):
        return {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}.get(
            self, self
        )


def _make_class(native):
    return type("dtype", (_Properties, type(native)), {"__module__": __name__})


_CLASSES = {
    type(t): _make_class(t) for t in (ms.float32, ms.bfloat16, ms.int8, ms.uint8, ms.bool_, ms.complex64)
}
_DTYPE_CLASSES = frozenset(_CLASSES.values())


def _make(native, *bits):
    return _CLASSES[type(native)](*bits)


float16 = half = _make(ms.float16, 16)
bfloat16 = _make(ms.bfloat16, 16)
float32 = float = _make(ms.float32, 32)
float64 = double = _make(ms.float64, 64)
int8 = _make(ms.int8, 8)
int16 = short = _make(ms.int16, 16)
int32 = int = _make(ms.int32, 32)
int64 = long = _make(ms.int64, 64)
uint8 = _make(ms.uint8, 8)
uint16 = _make(ms.uint16, 16)
uint32 = _make(ms.uint32, 32)
uint64 = _make(ms.uint64, 64)
bool = _make(ms.bool_)
complex64 = cfloat = _make(ms.complex64, 64)
complex128 = cdouble = _make(ms.complex128, 128)

_NAMES = {
    float16: "float16", bfloat16: "bfloat16", float32: "float32", float64: "float64",
    int8: "int8", int16: "int16", int32: "int32", int64: "int64",
    uint8: "uint8", uint16: "uint16", uint32: "uint32", uint64: "uint64",
    bool: "bool", complex64: "complex64", complex128: "complex128",
}  # fmt: skip
_BY_NAME = {name: t for t, name in _NAMES.items()}
_FLOATING = frozenset((float16, bfloat16, float32, float64))
_COMPLEX = frozenset((complex64, complex128))
_INTEGRAL = frozenset((int8, int16, int32, int64, uint8, uint16, uint32, uint64))

# The engine's own singleton of each dtype, found by identity: hashing a MindSpore dtype takes 0.6 us.
NATIVE = {t: getattr(ms, "bool_" if name == "bool" else name) for t, name in _NAMES.items()}
_BY_ID = {id(native): t for t, native in NATIVE.items()}
NUMPY = {t: np.dtype(numpy_bfloat16 if name == "bfloat16" else name) for t, name in _NAMES.items()}
NUMPY_BY_ID = {id(native): NUMPY[t] for t, native in NATIVE.items()}
_FROM_NUMPY = {n: t for t, n in NUMPY.items()}
# PyTorch's class names for dtypes, as its error messages print them.
SCALAR_NAMES = {
    float16: "Half", bfloat16: "BFloat16", float32: "Float", float64: "Double", int8: "Char", int16: "Short",
    int32: "Int", int64: "Long", uint8: "Byte", uint16: "UInt16", uint32: "UInt32", uint64: "UInt64", bool: "Bool",
    complex64: "ComplexFloat", complex128: "ComplexDouble",
}  # fmt: skip


def _from_name(name):
    return _BY_NAME[name]


def of_native(native):
    """The torch dtype of a MindSpore dtype; KeyError for one that PyTorch has no name for."""
    found = _BY_ID.get(id(native))
    return found if found is not None else _BY_NAME[str(native).lower().replace("bool_", "bool")]


def name_of(t):
    """ "float32" for `torch.float32` (or MindSpore's own)."""
    return _NAMES[t]


def of_numpy(numpy_dtype):
    """The torch dtype of a NumPy dtype; TypeError, as in PyTorch, where there is none."""
    found = _FROM_NUMPY.get(numpy_dtype)
    if found is None:
        found = _FROM_NUMPY.get(np.dtype(numpy_dtype).newbyteorder("="))
    if found is None or np.dtype(numpy_dtype).byteorder == ">":
        raise TypeError(
            f"can't convert np.ndarray of type {np.dtype(numpy_dtype)}. The only supported types are: float64, "
            "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    return found


_default = float32


def get_default_dtype():
    """The dtype of tensors made from Python floats; `torch.float32` unless changed."""
    return _default


def set_default_dtype(d, /):
    """Change the dtype of tensors made from Python floats.

    Raises TypeError when `d` is not a floating-point `torch.dtype`.
    """
    global _default
    if not isinstance(d, dtype):
        raise TypeError(f"invalid dtype object: expected torch.dtype, got {type(d).__name__}")
    if d not in _FLOATING:
        raise TypeError(f"only floating-point types are supported as the default type, got {d}")
    _default = d


def default_complex():
    """The complex dtype that belongs to the default dtype."""
    return complex128 if _default is float64 else complex64


def is_floating(t):
    return t in _FLOATING


def is_complex(t):
    return t in _COMPLEX


def is_integral(t):
    """Whether `t` is an integer dtype; `torch.bool` is not."""
    return t in _INTEGRAL


class finfo:
    """Limits of a floating-point dtype: `bits eps max min tiny smallest_normal resolution dtype`."""

    _BFLOAT16 = {
        "bits": 16, "eps": 0.0078125, "max": 3.3895313892515355e38, "min": -3.3895313892515355e38,
        "tiny": 1.1754943508222875e-38, "resolution": 0.01,
    }  # fmt: skip

    def __init__(self, type=None):
        t = _default if type is None else type
        if t not in _FLOATING and t not in _COMPLEX:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{t!r}'"
            )
        t = t.to_real() if isinstance(t, dtype) else t
        self.dtype = _NAMES[t]
        facts = self._BFLOAT16 if t == bfloat16 else self._numpy_facts(NUMPY[t])
        self.bits, self.eps, self.max, self.min = facts["bits"], facts["eps"], facts["max"], facts["min"]
        self.tiny = self.smallest_normal = facts["tiny"]
        self.resolution = facts["resolution"]

    @staticmethod
    def _numpy_facts(numpy_dtype):
        info = np.finfo(numpy_dtype)
        facts = {name: getattr(info, name).item() for name in ("eps", "max", "min", "tiny", "resolution")}
        return {"bits": info.bits, **facts}

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: `bits max min dtype`."""

    def __init__(self, type):
        if type not in _INTEGRAL:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'"
            )
        info = np.iinfo(NUMPY[type])
        self.bits, self.max, self.min, self.dtype = info.bits, info.max, info.min, _NAMES[type]

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
