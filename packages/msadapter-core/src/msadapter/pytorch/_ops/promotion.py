"""PyTorch's type promotion: dimensioned tensors, then 0-d tensors, then Python numbers; higher kinds win."""

from msadapter.pytorch import _dtype
from msadapter.pytorch._dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.native import MsTensor

bool_ = _dtype.bool
_SIGNED = (int8, int16, int32, int64)
_UNSIGNED = {uint8: 8, uint16: 16, uint32: 32, uint64: 64}
_FLOATS = (float16, bfloat16, float32, float64)


def _kind(dtype):
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if dtype == bool_:
        return 0
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1


def _promote_integers(a, b):
    if a in _SIGNED and b in _SIGNED:
        return max(a, b, key=_SIGNED.index)
    if a in _UNSIGNED and b in _UNSIGNED:
        return max(a, b, key=_UNSIGNED.get)
    unsigned, signed = (a, b) if a in _UNSIGNED else (b, a)
    if unsigned != uint8:
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {_dtype.SCALAR_NAMES[a]} and {_dtype.SCALAR_NAMES[b]}"
        )
    return int16 if signed == int8 else signed


def _promote_floats(a, b):
    if {a, b} == {float16, bfloat16}:
        return float32
    return max(a, b, key=_FLOATS.index)


def _compute(a, b):
    if a == b:
        return a
    low, high = sorted((a, b), key=_kind)
    if _kind(low) == _kind(high) == 1:
        return _promote_integers(a, b)
    if _kind(low) == _kind(high) == 2:
        return _promote_floats(a, b)
    if _kind(high) == 3:
        double = complex128 in (a, b) or float64 in (a, b)
        return complex128 if double else complex64
    return high


_TABLE = {}


def promote_types(type1, type2):
    """The smallest dtype that holds both. Raises RuntimeError for the pairs that PyTorch refuses."""
    pair = (type1, type2)
    found = _TABLE.get(pair)
    if found is None:
        for given in pair:
            if not isinstance(given, _dtype.dtype):
                raise TypeError(f"promote_types(): argument must be torch.dtype, not {type(given).__name__}")
        found = _TABLE[pair] = _compute(type1, type2)
    return found


def _number_dtype(value):
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return _dtype.default_complex() if isinstance(value, complex) else _dtype.get_default_dtype()


def result_type(*operands):
    """The dtype of an operation on tensors and Python numbers (None is passed over)."""
    tiers = [None, None, None]
    for operand in operands:
        if operand is None:
            continue
        if isinstance(operand, MsTensor):
            dtype = _dtype.of_native(native.dtype_of(operand))
            tier = 0 if native.shape_of(operand) else 1
        else:
            dtype, tier = _number_dtype(operand), 2
        tiers[tier] = dtype if tiers[tier] is None else promote_types(tiers[tier], dtype)
    result = None
    for dtype in tiers:
        if dtype is None:
            continue
        if result is None:
            result = dtype
        elif _kind(dtype) > _kind(result):
            # A lower tier wins by its kind alone; a complex number takes the precision of the tensor it meets.
            result = result.to_complex() if _kind(dtype) == 3 and _kind(result) == 2 else dtype
    return result


def can_cast(from_, to):
    """Whether `from_` may be stored as `to` under PyTorch's rules for in-place and out=."""
    if _kind(from_) > _kind(to):
        return False
    return True
