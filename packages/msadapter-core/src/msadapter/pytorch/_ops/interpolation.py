"""Resizing of images, signals and volumes."""

import warnings

import mindspore as ms

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._kernels import resampling
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int

# Mode, and by which weights it resizes the one, two or three dimensions it is for.
_KINDS = {
    "linear": ("linear", (1,)),
    "bilinear": ("linear", (2,)),
    "trilinear": ("linear", (3,)),
    "bicubic": ("cubic", (2,)),
    "lanczos": ("lanczos", (2,)),
    "area": ("area", (1, 2, 3)),
    "nearest": (None, (1, 2, 3)),
    "nearest-exact": (None, (1, 2, 3)),
}
_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


@kernel(
    reason="MindSpore's resize has no antialias, computes bilinear float64 in float32, bicubic 30x slower"
)
def _along_axis(input, weights, axis):
    return resampling.apply(input, weights, axis)


@_along_axis.gradient
def _(ctx, grad):
    return _resized(grad, ctx.args[1].T.tocsr(), ctx.args[2])


@on_cpu(_along_axis)
def _resized(input, weights, axis):
    dense = ms.Tensor(weights.toarray().T, native.dtype_of(input))
    return ms.ops.matmul(input.swapaxes(axis, -1), dense).swapaxes(axis, -1)


@op(namespace="torch.nn.functional", method=False, out=False)
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """`input`, shape (N, C, d1, ...), with its d1, ... resized to `size` or by `scale_factor`.

    Args:
        mode: "nearest", "nearest-exact" and "area" for one to three dimensions; "linear" for one, "bilinear",
            "bicubic" and "lanczos" (with antialias) for two, "trilinear" for three.
        align_corners: whether the middles of the corners stay where they are, not their outer edges.
        recompute_scale_factor: whether the factor is derived anew from the rounded sizes.
        antialias: whether each output is made of all input places it covers; "bilinear", "bicubic" and "lanczos".

    uint8 is computed in float32 and rounded; it may differ from PyTorch's by one. Raises ValueError, NotImplementedError or RuntimeError for arguments
    that do not fit together.
    """
    sizes = native.shape_of(input)[2:]
    _check(input, sizes, mode, align_corners, antialias)
    outputs, scales = _outputs(sizes, size, scale_factor, recompute_scale_factor)
    _check_sizes(input, sizes, outputs, mode)
    kind, _ = _KINDS[mode]
    if kind is None:
        return _nearest(input, outputs, scales, mode)
    dtype = _dtype.of_native(native.dtype_of(input))
    compute = dtype if dtype in (_dtype.float32, _dtype.float64) else _dtype.float32
    result = input
    for axis in range(len(sizes) - 1, -1, -1):  # the last dimension first, as PyTorch rounds
        matrix = resampling.weights(
            sizes[axis],
            outputs[axis],
            kind,
            _dtype.NUMPY[compute],
            bool(align_corners),
            scales[axis] if kind != "area" else None,
            antialias,
        )
        result = _resized(cast(result, compute), matrix, axis + 2)
        if dtype is _dtype.uint8:  # rounded on the way too, as PyTorch and Pillow do
            result = _rounded(result)
    return cast(result, dtype)


def _rounded(result):
    return native.from_numpy(resampling.round_to_byte(native.asnumpy(result)))


def _nearest(input, outputs, scales, mode):
    result = input
    for axis, (size, output, scale) in enumerate(
        zip(native.shape_of(input)[2:], outputs, scales, strict=True)
    ):
        places = resampling.nearest(size, output, scale, exact=mode == "nearest-exact")
        index = native.from_numpy(places)
        result = result[(slice(None),) * (axis + 2) + (index,)]
    return result


def _check(input, sizes, mode, align_corners, antialias):
    rank = len(sizes)
    kind, ranks = _KINDS.get(mode, (None, ()))
    if align_corners is not None and mode not in ("linear", "bilinear", "bicubic", "trilinear"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear. "
            f"Received: mode={mode!r}"
        )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input. "
            f"Received: mode={mode!r}, {rank + 2}-D"
        )
    if kind == "lanczos" and not antialias:
        raise ValueError("lanczos mode needs antialias=True")
    if rank in ranks:
        return
    if kind == "linear" and 1 <= rank <= 3:
        raise NotImplementedError(f"Got {rank + 2}D input, but {mode} mode needs {ranks[0] + 2}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(native.shape_of(input))}D) for the modes: "
        f"{_MODES} (got {mode})"
    )


def _outputs(sizes, size, scale_factor, recompute):
    """The sizes to resize to, and per dimension the factor that the user gave, or None."""
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "either size or scale_factor should be defined"
            if size is None
            else "only one of size or scale_factor should be defined"
        )
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return _per_dimension(size, sizes, "output size of", to_int), (None,) * len(sizes)
    scales = _per_dimension(scale_factor, sizes, "scale_factor of shape", float)
    outputs = resampling.output_sizes(sizes, scales)
    return outputs, (None,) * len(sizes) if recompute else scales


def _per_dimension(value, sizes, what, convert):
    if isinstance(value, MsTensor):
        value = value.tolist()
    values = tuple(value) if isinstance(value, (list, tuple)) else (value,) * len(sizes)
    if len(values) != len(sizes):
        name = "scale_factor" if "scale" in what else "output"
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(sizes)} and {what} {values}."
        )
    try:
        return tuple(map(convert, values))
    except TypeError:
        kinds = [type(v) for v in values]
        raise TypeError(
            f"expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types {kinds}"
        ) from None


def _check_sizes(input, sizes, outputs, mode):
    dtype = _dtype.of_native(native.dtype_of(input))
    byte = dtype is _dtype.uint8 and mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos")
    if not (dtype.is_floating_point or byte):
        kind = _dtype.SCALAR_NAMES.get(dtype)
        raise NotImplementedError(f"\"interpolate\" not implemented for '{kind}' in mode {mode}")
    if 0 in sizes or min(outputs) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(sizes)} output {list(outputs)}"
        )
    if native.shape_of(input)[1] == 0:
        raise RuntimeError(
            f"Non-empty {len(sizes) + 2}D data tensor expected but got a tensor with sizes {list(native.shape_of(input))}"
        )


@op(namespace="torch.nn.functional", method=False, out=False)
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` under its old name."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(namespace="torch.nn.functional", method=False, out=False)
def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` in mode "nearest", under its old name."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


@op(namespace="torch.nn.functional", method=False, out=False)
def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` in mode "bilinear" with aligned corners, under its old name."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


def _deprecated(name):
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=4
    )
