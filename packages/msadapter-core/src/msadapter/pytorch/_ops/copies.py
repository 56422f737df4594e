"""What view operators give, as copies: `permute_copy` and its kind, and a view of a copy written (`select_scatter`)."""

from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops import layout, parts, view
from msadapter.pytorch._ops.registry import op


def _copying(viewed, name=None):
    name = name or viewed.record.name

    @op(name=f"{name}_copy", method=name == "narrow")
    def copy(input, *args, **kwargs):
        result = viewed(input, *args, **kwargs)
        if isinstance(result, MsTensor):
            return layout.clone(result, memory_format=layout.contiguous_format)
        return tuple(layout.clone(part, memory_format=layout.contiguous_format) for part in result)

    copy.__doc__ = copy.record.body.__doc__ = f"`{name}` with memory of its own."


for _viewed in (
    layout.view_as_complex, layout.view_as_real, parts.as_strided, parts.diagonal, parts.narrow, parts.select,
    parts.split, parts.split_with_sizes, parts.unbind, parts.unfold, view.expand, view.permute, view.squeeze, view.t,
    view.transpose, view.unsqueeze, view.view,
):  # fmt: skip
    _copying(_viewed)
_copying(layout.detach)
_copying(view.alias_view, "alias")


@op(out=False)
def unsafe_chunk(input, chunks, dim=0):
    """`chunk`."""
    return parts.chunk(input, chunks, dim)


@op(out=False)
def unsafe_split(tensor, split_size, dim=0):
    """`split` by a size."""
    return parts.split(tensor, split_size, dim)


@op(out=False)
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """`split_with_sizes`."""
    return parts.split_with_sizes(input, split_sizes, dim)


def _written(input, src, viewed, *args):
    """A copy of `input` in which the view `viewed(copy, *args)` holds `src`."""
    result = layout.clone(input)
    region = viewed(result, *args)
    if shape_of(region) != shape_of(src):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(shape_of(src))}, slice size = {list(shape_of(region))}"
        )
    region.copy_(src)
    return result


@op
def select_scatter(input, src, dim, index):
    """`input` with element `index` of dimension `dim` replaced by `src`."""
    return _written(input, src, parts.select, dim, index)


@op
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """`input` with the slice `start:end:step` of dimension `dim` replaced by `src`."""
    return _written(input, src, parts.slice_, dim, start, end, step)


@op
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """`input` with a diagonal replaced by `src`."""
    return _written(input, src, parts.diagonal, offset, dim1, dim2)


@op
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """`input` with what `as_strided` reads of it replaced by `src`."""
    return _written(input, src, parts.as_strided, size, stride, storage_offset)
