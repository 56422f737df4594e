"""Pictures sampled at the places of a grid."""

import warnings

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._kernels import sampling
from msadapter.pytorch._ops.casting import cast
from msadapter.pytorch._ops.registry import op

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@kernel(
    reason="MindSpore's grid_sample is wrong in float64 and has no bicubic",
    saves=("input", "grid"),
)
def _sampled(input, grid, mode, padding_mode, align_corners):
    return sampling.sample(input, grid, mode, padding_mode, align_corners)


@_sampled.gradient
def _(ctx, grad):
    return _sampled_gradients(grad, *ctx.saved, *ctx.args[2:])


@kernel(reason="the gradients of a NumPy kernel; PyTorch does not differentiate them either")
def _sampled_gradients(grad, input, grid, mode, padding_mode, align_corners):
    return sampling.sample_gradients(grad, input, grid, mode, padding_mode, align_corners)


@on_cpu(_sampled)
def _sample(input, grid, mode, padding_mode, align_corners):
    return ms.ops.grid_sample(input, grid, mode, padding_mode, align_corners)


@op(namespace="torch.nn.functional", method=False, out=False)
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """`input`, shape (N, C, d1, ...), at the places of `grid`, shape (N, o1, ..., 2 or 3): shape (N, C, o1, ...).

    Args:
        grid: x, y[, z], where -1 and 1 are the edges of the input (the middles of its corners with `align_corners`).
        mode: "bilinear", "nearest", or for two dimensions "bicubic".
        padding_mode: what lies outside: "zeros", "border" or "reflection".

    Raises ValueError for other modes, RuntimeError for shapes and dtypes that do not fit together.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    _check(input, grid, mode)
    align_corners = _settled(align_corners)
    dtype = _dtype.of_native(native.dtype_of(input))
    compute = dtype if dtype in (_dtype.float32, _dtype.float64) else _dtype.float32
    result = _sample(cast(input, compute), cast(grid, compute), mode, padding_mode, align_corners)
    return cast(result, dtype)


def _settled(align_corners):
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired.",
            stacklevel=4,
        )
    return bool(align_corners)


def _check(input, grid, mode):
    sizes, places = list(shape_of(input)), list(shape_of(grid))
    dtypes = [_dtype.of_native(native.dtype_of(t)) for t in (input, grid)]
    if dtypes[0] is not dtypes[1]:
        expected, found = (_dtype.SCALAR_NAMES[dtype] for dtype in dtypes)
        raise RuntimeError(f"expected scalar type {expected} but found {found}")
    if not dtypes[0].is_floating_point:
        raise NotImplementedError(f"\"grid_sample\" not implemented for '{_dtype.SCALAR_NAMES[dtypes[0]]}'")
    rank = len(sizes)
    if sizes[0] != places[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{sizes} and grid with sizes {places}"
        )
    if rank not in (4, 5) or len(places) != rank:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {sizes} and grid with sizes {places}"
        )
    if places[-1] != rank - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {rank - 2} in last dimension, but got grid with sizes {places}"
        )
    if 0 in sizes[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {sizes} with "
            f"dimension {2 + sizes[2:].index(0)} being empty"
        )
    if mode == "bicubic" and rank == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


@op(namespace="torch.nn.functional", method=False, out=False)
def affine_grid(theta, size, align_corners=None):
    """The grid, shape (N, o1, ..., 2 or 3), with which `grid_sample` applies affine maps.

    Args:
        theta: shape (N, 2, 3) or (N, 3, 4): a matrix and a shift each.
        size: that of the result of `grid_sample`, (N, C, o1, ...).

    Raises ValueError, NotImplementedError or RuntimeError for other shapes and dtypes.
    """
    if not _dtype.of_native(native.dtype_of(theta)).is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(size)
    axes = len(size) - 2
    if axes not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if len(shape_of(theta)) != 3 or shape_of(theta)[1:] != (axes, axes + 1):
        raise ValueError(
            f"Expected a batch of {axes}D affine matrices of shape Nx{axes}x{axes + 1} for size {size}. "
            f"Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if shape_of(theta)[0] != size[0]:
        raise RuntimeError(f"theta is for {shape_of(theta)[0]} pictures, size for {size[0]}")
    points = native.from_numpy(_points(size[2:], _settled(align_corners), _dtype.NUMPY[theta.dtype]))
    return (points @ theta.transpose(1, 2)).reshape(size[0], *size[2:], axes)


def _points(sizes, align_corners, dtype):
    """The places of all outputs, x first, and a 1 for the shift: shape (outputs, axes + 1)."""
    lines = []
    for count in sizes:
        line = np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (count - 1) / count)
    meshes = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*(mesh.ravel() for mesh in meshes), np.ones(meshes[0].size)], 1).astype(dtype)


@op(method=False, out=False, aliases=("grid_sampler_2d", "grid_sampler_3d"))
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """`grid_sample` with its modes by number."""
    return grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)
