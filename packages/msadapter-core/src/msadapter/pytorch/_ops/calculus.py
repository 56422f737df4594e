"""Integrals and derivatives of sampled functions."""

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.joining import cat
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.shapes import to_int, wrap_dim, wrap_dims

# --- integrals ------------------------------------------------------------------------------------------------------


def _areas(name, y, x, dx, dim):
    """Twice the area of each trapezoid along `dim` (counted from the front)."""
    for letter, tensor in (("y", y), ("x", x)):
        if tensor is not None and tensor.dtype == _dtype.bool:
            raise RuntimeError(f"{name}: received a bool input for `{letter}`, but bool is not supported")
    count = shape_of(y)[dim]
    widths = dx if x is None else _widths(name, x, len(shape_of(y)), count, dim)
    return (y.narrow(dim, 1, count - 1) + y.narrow(dim, 0, count - 1)) * widths


def _widths(name, x, rank, count, dim):
    shape = shape_of(x)
    if len(shape) == 1:
        if shape[0] != count:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point. Received: {shape[0]} for {count}"
            )
        x = x.reshape((count,) + (1,) * (rank - 1 - dim))
    x = x.reshape((1,) * (rank - len(shape_of(x))) + shape_of(x))
    samples = shape_of(x)[dim]
    return x.narrow(dim, 1, samples - 1) - x.narrow(dim, 0, samples - 1)


def _sampled_dim(y, dim, message):
    if not shape_of(y):
        raise IndexError(message.format(dim=dim))
    return wrap_dim(to_int(dim), len(shape_of(y)))


@op(aliases=("trapz",), method=False, out=False)
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along `dim` by trapezoids, of samples `y` at `x` (a vector, or of the shape of `y`), or `dx` apart."""
    dim = _sampled_dim(y, dim, "Dimension specified as {dim} but tensor has no dimensions")
    if not shape_of(y)[dim]:
        return y.sum(dim)
    return _areas("trapezoid", y, x, dx, dim).sum(dim) / 2


@op(method=False, out=False)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral from the first sample to each further one; see `trapezoid`."""
    dim = _sampled_dim(y, dim, "slice() cannot be applied to a 0-dim tensor.")
    return _areas("cumulative_trapezoid", y, x, dx, dim).cumsum(dim) / 2


# --- derivatives ----------------------------------------------------------------------------------------------------


@op(method=False, out=False)
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The derivative along each of `dim` (all by default) by second-order differences, as a tuple of tensors.

    Args:
        spacing: the distance of samples, one number or one per dimension, or their coordinates, a vector per dimension.
        edge_order: 1 or 2, the order of the one-sided differences at both ends.
    Raises RuntimeError for uint8, and for dimensions of fewer than edge_order + 1 samples.
    """
    if input.dtype == _dtype.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2. Received: {edge_order}"
        )
    shape = shape_of(input)
    dims = wrap_dims(dim, len(shape))
    spacings = _spacings(spacing, dims, dim is None)
    if any(shape[d] <= edge_order for d in dims):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1. "
            f"Received: shape {list(shape)}, edge_order {edge_order}"
        )
    return tuple(_slope(input, d, s, edge_order) for d, s in zip(dims, spacings, strict=True))


def _spacings(spacing, dims, of_all):
    """One spacing per dimension."""
    if isinstance(spacing, (list, tuple)):
        if len(spacing) != len(dims):
            wanted = (
                f"a list of length equal to 'self.dim() = {len(dims)}', since dim argument was not given, but got a list of "
                f"length {len(spacing)}"
            )
            if not of_all:
                wanted = (
                    "it's spacing and dim arguments to have the same length, but got a spacing argument of length "
                    f"{len(spacing)} and a dim argument of length {len(dims)}."
                )
            head = "unspecified, a scalar, or" if of_all else "unspecified, a scalar or"
            raise RuntimeError(f"torch.gradient expected spacing to be {head} {wanted}")
        return list(spacing)
    return [spacing] * len(dims)


def _slope(input, dim, spacing, edge_order):
    """The derivative along one dimension of at least `edge_order` + 1 samples."""
    count = shape_of(input)[dim]
    steps = _steps(input, dim, spacing, count)

    def part(tensor, start, length):
        return tensor.narrow(dim, start, length) if isinstance(tensor, MsTensor) else tensor

    secants = (part(input, 1, count - 1) - part(input, 0, count - 1)) / steps
    first, last = part(secants, 0, 1), part(secants, count - 2, 1)
    if edge_order == 2:
        first = _extrapolated(first, part(secants, 1, 1), part(steps, 0, 1), part(steps, 1, 1))
        last = _extrapolated(
            last, part(secants, count - 3, 1), part(steps, count - 2, 1), part(steps, count - 3, 1)
        )
    inner = count - 2
    if isinstance(steps, MsTensor):
        # The secants on both sides, each weighted by the step on the other side.
        before, after = part(steps, 0, inner), part(steps, 1, inner)
        middle = (part(secants, 0, inner) * after + part(secants, 1, inner) * before) / (before + after)
    else:
        middle = (part(input, 2, inner) - part(input, 0, inner)) / (2 * steps)
    return cat([first, middle, last], dim)


def _extrapolated(near, far, near_step, far_step):
    """The slope at an end, from the secants of the two steps next to it."""
    return near + (near - far) * (near_step / (near_step + far_step))


def _steps(input, dim, spacing, count):
    """The distances between neighbours: a number, or a tensor along `dim`."""
    if not isinstance(spacing, MsTensor):
        return 1 if spacing is None else spacing
    if not shape_of(spacing):
        return spacing.item()
    if shape_of(spacing) != (count,):
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one coordinate per sample. "
            f"Received: {list(shape_of(spacing))} for {count} samples"
        )
    coordinates = spacing.reshape((count,) + (1,) * (len(shape_of(input)) - 1 - dim))
    return coordinates.reshape((1,) * dim + shape_of(coordinates)).diff(dim=dim)
