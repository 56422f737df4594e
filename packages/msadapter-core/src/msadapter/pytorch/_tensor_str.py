"""The text PyTorch prints for a tensor, computed from a NumPy array.

Printing takes three steps: `_visible_part` picks the elements that appear, `_column` decides how numbers
are written (fixed, scientific or integer-valued) and how wide, and `_nested` puts the cells in brackets.
The module knows only NumPy arrays and dtype names, so `Tensor`, `Parameter` and sparse parts can share it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["format_scalar", "get_printoptions", "printoptions", "set_printoptions", "tensor_repr"]

_Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class _PrintOptions:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _PrintOptions(),
    "short": _PrintOptions(precision=2, edgeitems=2),
    "full": _PrintOptions(threshold=math.inf),
}

_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: Literal["default", "short", "full"] | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed, for the whole process.

    Args:
        precision: digits after the decimal point (default 4).
        threshold: number of elements above which only the edges are shown (default 1000).
        edgeitems: elements shown at each end of a shortened dimension (default 3).
        linewidth: columns per line (default 80).
        profile: "default", "short" or "full"; the other arguments are applied on top of it.
            A name that is not a profile changes nothing, as in PyTorch.
        sci_mode: True or False forces scientific notation on or off. Leaving it out hands the choice
            back to the values, whatever was set before.
    """
    global _options
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    base = _PROFILES.get(profile, _options) if profile else _options
    _options = dataclasses.replace(base, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the current options as a dict that `set_printoptions(**options)` accepts."""
    return dataclasses.asdict(_options)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Apply `set_printoptions(**kwargs)` inside a `with` block and restore the old options after it."""
    global _options
    saved = _options
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        _options = saved


def tensor_repr(
    array: _Array,
    *,
    dtype_name: str,
    prefix: str = "tensor(",
    default_dtype_names: tuple[str, str] = ("float32", "complex64"),
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    device_suffix: str | None = None,
    indent: int = 0,
    is_parameter: bool = False,
) -> str:
    """Return what PyTorch's `repr` gives for a tensor with these values.

    Args:
        array: the values, any rank. Types NumPy lacks come in the next wider one (bfloat16 as float32,
            complex32 as complex64); only the elements that are shown are read.
        dtype_name: the PyTorch dtype without "torch.", for example "bfloat16".
        prefix: what opens the text; a Tensor subclass passes its own name, "MyTensor(".
        default_dtype_names: the default float and complex dtypes, whose names are left out.
        requires_grad: show `requires_grad=True`, unless there is a `grad_fn_name`.
        grad_fn_name: show `grad_fn=<...>`.
        device_suffix: the device to show, for example "npu:0"; None for the default device.
        indent: columns already used to the left of the text.
        is_parameter: put the line "Parameter containing:" on top.
    """
    column_at = indent + len(prefix)
    body = "[]" if array.size == 0 else _body(array, column_at)
    suffixes = []
    if device_suffix is not None:
        suffixes.append(f"device='{device_suffix}'")
    if _shows_size(array):
        suffixes.append(f"size={array.shape}")
    if _shows_dtype(array, dtype_name, default_dtype_names):
        suffixes.append(f"dtype=torch.{dtype_name}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = _with_suffixes(prefix + body, suffixes, column_at)
    return f"Parameter containing:\n{text}" if is_parameter else text


def format_scalar(value: _Array, spec: str, *, type_name: str = "Tensor") -> str:
    """Return `format(tensor, spec)` for a 0-d tensor: its Python number, formatted.

    Args:
        value: the tensor's values; anything but rank 0 has no number to format.
        spec: a format specification such as ".6f"; the empty one gives the plain number.
        type_name: the tensor's class, named by the error.

    Raises:
        TypeError: `value` is not 0-d.
    """
    if value.ndim:
        raise TypeError(f"unsupported format string passed to {type_name}.__format__")
    return format(value.item(), spec)


def _shows_size(array: _Array) -> bool:
    # A 1-d "[]" tells its shape; with edgeitems=0 a tensor of any rank may print as "[...]", which does not.
    if array.size == 0:
        return array.ndim != 1
    return not _options.edgeitems


def _shows_dtype(array: _Array, dtype_name: str, default_dtype_names: tuple[str, str]) -> bool:
    if array.size == 0:
        return dtype_name != default_dtype_names[0]
    return dtype_name not in (*default_dtype_names, "int64", "bool")


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    # PyTorch counts two columns too many for the line the values end on, and breaks that much earlier.
    used = len(text) - (text.rfind("\n") + 1) + 2
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _body(array: _Array, indent: int) -> str:
    visible, is_cut = _visible_part(array)
    if visible.size == 0:
        return "[...]"
    flat = visible.ravel()
    cells, cell_width = _complex_cells(flat) if flat.dtype.kind == "c" else _real_cells(flat)
    if visible.ndim == 0:
        return cells[0]
    row_indent = indent + visible.ndim - 1
    per_line = max(1, (_options.linewidth - row_indent) // (cell_width + 2))
    nested = np.array(cells, dtype=object).reshape(visible.shape).tolist()
    return _nested(nested, is_cut, indent, per_line)


def _visible_part(array: _Array) -> tuple[_Array, list[bool]]:
    """Return the block of elements that is printed and, for each axis, whether its middle was left out."""
    edge = _options.edgeitems
    is_long = array.size > _options.threshold
    is_cut = [is_long and size > 2 * edge for size in array.shape]
    if not any(is_cut):
        return array, is_cut
    kept = [
        np.r_[:edge, size - edge : size] if cut else np.arange(size)
        for size, cut in zip(array.shape, is_cut, strict=True)
    ]
    return array[np.ix_(*kept)], is_cut


class _Column(NamedTuple):
    """How every number of one tensor is written."""

    write: Callable[[Any], str]
    width: int

    def cells(self, values: _Array) -> list[str]:
        return [self.write(value).rjust(self.width) for value in values.tolist()]


def _real_cells(values: _Array) -> tuple[list[str], int]:
    column = _column(values)
    return column.cells(values), column.width


def _complex_cells(values: _Array) -> tuple[list[str], int]:
    real, imag = _column(values.real), _column(values.imag)
    cells = []
    for left, right in zip(real.cells(values.real), imag.cells(values.imag), strict=True):
        right = right.lstrip()
        cells.append(f"{left}{'' if right.startswith('-') else '+'}{right}j")
    return cells, real.width + imag.width + 1


def _column(values: _Array) -> _Column:
    if values.dtype.kind == "f":
        return _float_column(values)
    # The longest text belongs to the smallest or the largest value: "-10" and "9", or "False" and "True".
    return _Column(str, max(len(str(values.min())), len(str(values.max()))))


def _float_column(values: _Array) -> _Column:
    counted = values[np.isfinite(values) & (values != 0)]
    if counted.size == 0:
        return _Column(_integer_valued, 1)
    whole = bool((counted == np.ceil(counted)).all())
    write = _scientific if _is_scientific(counted) else _integer_valued if whole else _fixed
    return _Column(write, max(len(write(value)) for value in counted.tolist()))


def _is_scientific(counted: _Array) -> bool:
    if _options.sci_mode is not None:
        return _options.sci_mode
    size = np.abs(counted)
    low, high = float(size.min()), float(size.max())
    return high / low > 1000 or high > 1e8 or low < 1e-4


def _scientific(value: float) -> str:
    return f"{value:.{_options.precision}e}"


def _fixed(value: float) -> str:
    return f"{value:.{_options.precision}f}"


def _integer_valued(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _nested(cells: list[Any], is_cut: Sequence[bool], indent: int, per_line: int) -> str:
    """Put nested lists of cells in brackets; blank lines part the blocks of a tensor of rank above 2."""
    if len(is_cut) == 1:
        return _row(_with_ellipsis(cells, " ...") if is_cut[0] else cells, indent, per_line)
    parts = [_nested(inner, is_cut[1:], indent + 1, per_line) for inner in cells]
    if is_cut[0]:
        parts = _with_ellipsis(parts, "...")
    separator = "," + "\n" * (len(is_cut) - 1) + " " * (indent + 1)
    return "[" + separator.join(parts) + "]"


def _row(cells: list[str], indent: int, per_line: int) -> str:
    lines = [", ".join(cells[start : start + per_line]) for start in range(0, len(cells), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _with_ellipsis(items: list[str], ellipsis: str) -> list[str]:
    middle = len(items) // 2
    return [*items[:middle], ellipsis, *items[middle:]]
