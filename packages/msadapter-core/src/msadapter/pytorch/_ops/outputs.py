"""Where results go: `out=` tensors, and the target of an in-place operator."""

import warnings

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops import casting


def store(name, out, result):
    """Write `result` into `out` (a tensor, or one per result), resized where it must be; returns `out`."""
    if isinstance(result, (tuple, list)):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        for target, value in zip(out, result, strict=True):
            _store_one(name, target, value)
        return type(result)(*out) if hasattr(result, "_fields") else out
    if isinstance(out, (tuple, list)) and len(out) == 1:
        out = out[0]
    _store_one(name, out, result)
    return out


def _store_one(name, out, result):
    if not isinstance(out, MsTensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if native.is_grad_enabled() and (native.requires_grad(out) or native.requires_grad(result)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if native.dtype_of(out) is not native.dtype_of(result):
        check_castable(result.dtype, out.dtype)
        result = casting.cast(result, out.dtype)
    if native.shape_of(out) != native.shape_of(result):
        _resize(out, result)
        return
    storage.check_no_overlap(out)
    storage.write(out, result)
    storage.advance_version(out)


def _resize(out, result):
    if native.numel_of(out):
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(native.shape_of(out))}, which does "
            f"not match the required output shape {list(native.shape_of(result))}. This behavior is deprecated, and in a "
            "future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse "
            "an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=5,
        )
    native.set_raw_data(out, native.raw_data(result))


def check_castable(source, target):
    """Raise PyTorch's RuntimeError where a result of dtype `source` may not be stored as `target`."""
    allowed = (
        source == target
        or target.is_complex
        or (target.is_floating_point and not source.is_complex)
        or (_dtype.is_integral(target) and (_dtype.is_integral(source) or source == _dtype.bool))
    )
    if not allowed:
        names = _dtype.SCALAR_NAMES
        raise RuntimeError(
            f"result type {names[source]} can't be cast to the desired output type {names[target]}"
        )


def fit(name, target, new):
    """`new` in the dtype of `target`; raises RuntimeError where its shape or dtype does not fit an in-place write."""
    if native.dtype_of(new) is not native.dtype_of(target):
        dtype = _dtype.of_native(native.dtype_of(target))
        check_castable(_dtype.of_native(native.dtype_of(new)), dtype)
        new = casting.cast(new, dtype)
    if native.shape_of(new) != native.shape_of(target):
        raise RuntimeError(
            f"output with shape {list(native.shape_of(target))} doesn't match the broadcast shape {list(native.shape_of(new))}"
        )
    return new
