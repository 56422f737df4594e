"""Cross products, and the distances of vectors to one another."""

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.kernel import kernel
from msadapter.pytorch._engine.native import dtype_of, shape_of
from msadapter.pytorch._ops.products import matmul
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import broadcast, to_int, wrap_dim


def _scalar_name(tensor):
    return _dtype.SCALAR_NAMES[_dtype.of_native(dtype_of(tensor))]


def _check_same_dtype(first, second):
    if dtype_of(first) is not dtype_of(second):
        raise RuntimeError(f"expected scalar type {_scalar_name(first)} but found {_scalar_name(second)}")


# --- cross ----------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's cross has no bfloat16 and no complex gradient", saves=("input", "other"))
def _cross_arrays(input, other, dim):
    half = input.dtype.itemsize == 2 and input.dtype.kind in "fV"
    a, b = (x.astype(np.float32) if half else x for x in (input, other))
    return np.cross(a, b, axis=dim).astype(input.dtype)


@_cross_arrays.gradient
def _(ctx, grad):
    (input, other), dim = ctx.saved, ctx.args[2]
    if grad.is_complex():
        input, other = input.conj(), other.conj()
    return _cross_arrays(other, grad, dim), _cross_arrays(grad, input, dim)


def _cross(input, other, dim):
    a, b = shape_of(input), shape_of(other)
    if len(a) != len(b):
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions. Received: {len(a)} and {len(b)}"
        )
    if not a:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    place = wrap_dim(to_int(dim), len(a))
    if a[place] != 3 or b[place] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[place]} and {b[place]}"
        )
    broadcast(a, b)
    _check_same_dtype(input, other)
    if input.dtype == _dtype.bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    return _cross_arrays(input, other, place)


@op
def cross(input, other, dim=None):
    """The cross products along a dimension of size 3, by default the first such; the others broadcast."""
    if dim is None and len(shape_of(input)) == len(shape_of(other)):
        dim = next((d for d, s in enumerate(shape_of(input)) if s == 3), None)
        if dim is None:
            raise RuntimeError(f"no dimension of size 3 in input. Received: {list(shape_of(input))}")
    return _cross(input, other, dim)


@op(name="cross", namespace="torch.linalg", method=False)
def linalg_cross(input, other, *, dim=-1):
    """The cross products along a dimension of size 3; the others broadcast."""
    return _cross(input, other, dim)


# --- distances ------------------------------------------------------------------------------------------------------


@kernel(reason="MindSpore's cdist has no float64 and no second derivative", saves=("x1", "x2", "out"))
def _distances(x1, x2, p, by_products):
    if by_products:
        squares = [np.square(x).sum(-1) for x in (x1, x2)]
        products = np.matmul(x1, np.swapaxes(x2, -1, -2))
        return np.sqrt(np.maximum(squares[0][..., :, None] + squares[1][..., None, :] - 2 * products, 0))
    apart = np.abs(x1[..., :, None, :] - x2[..., None, :, :])
    if p == 0:
        return (apart != 0).sum(-1, dtype=x1.dtype)
    if p == 1:
        return apart.sum(-1)
    if p == np.inf:
        return apart.max(-1, initial=0)
    if p == 2:
        return np.sqrt(np.square(apart).sum(-1))
    return (apart**p).sum(-1) ** (1 / p)


@_distances.gradient
def _(ctx, grad):
    x1, x2, distance = ctx.saved
    p, by_products = ctx.args[2:]
    if p == 2:
        share = (grad / distance).masked_fill(distance == 0, 0)
        if by_products or not ctx.needs[0] or not ctx.needs[1]:
            turned = share.transpose(-1, -2)
            return (
                x1 * share.sum(-1, True) - matmul(share, x2),
                x2 * turned.sum(-1, True) - matmul(turned, x1),
            )
        pull = (x1.unsqueeze(-2) - x2.unsqueeze(-3)) * share.unsqueeze(-1)
        return pull.sum(-2), -pull.sum(-3)
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    grad, distance = grad.unsqueeze(-1), distance.unsqueeze(-1)
    if p == 0:
        pull = apart * 0
    elif p == 1:
        pull = apart.sign() * grad
    elif p == np.inf:
        pull = apart.sign() * grad * (apart.abs() == distance)
    else:
        pull = (apart * (apart.abs() ** (p - 2)) * grad / distance ** (p - 1)).masked_fill(distance == 0, 0)
        pull = pull.masked_fill(apart == 0, 0) if p < 2 else pull
    return pull.sum(-2), -pull.sum(-3)


_MODES = {
    "use_mm_for_euclid_dist_if_necessary": lambda rows: max(rows) > 25,
    "use_mm_for_euclid_dist": lambda rows: True,
    "donot_use_mm_for_euclid_dist": lambda rows: False,
}


@op(method=False, out=False)
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distance of each row of `x1`, [..., P, M], to each row of `x2`, [..., R, M]: [..., P, R].

    `compute_mode` says whether Euclidean distances come from a matrix product, faster and less exact; by default where
    there are more than 25 rows.
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = shape_of(x1), shape_of(x2)
    for name, tensor, shape in (("X1", x1, a), ("X2", x2, b)):
        if not tensor.dtype.is_floating_point:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {_scalar_name(tensor)}"
            )
        if len(shape) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {len(shape)}D")
    if a[-1] != b[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {a[-1]} X2: {b[-1]}")
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values. Received: {p}")
    _check_same_dtype(x1, x2)
    if x1.dtype not in (_dtype.float32, _dtype.float64):
        raise NotImplementedError(f"\"cdist\" not implemented for '{_scalar_name(x1)}'")
    broadcast(a[:-2], b[:-2])
    by_products = p == 2 and _MODES[compute_mode]((a[-2], b[-2]))
    return _distances(x1, x2, float(p), by_products)
