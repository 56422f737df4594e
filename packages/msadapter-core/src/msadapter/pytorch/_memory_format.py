"""torch.memory_format and torch.layout: the order of dimensions in memory, and the kind of storage."""

import enum


class memory_format(enum.Enum):
    """In which order the dimensions of a tensor lie in memory."""

    contiguous_format = "contiguous_format"
    preserve_format = "preserve_format"
    channels_last = "channels_last"
    channels_last_3d = "channels_last_3d"

    def __repr__(self):
        return f"torch.{self.value}"

    __str__ = __repr__


class layout(enum.Enum):
    """How a tensor is stored; `torch.strided` is the only one here."""

    strided = "strided"
    sparse_coo = "sparse_coo"
    sparse_csr = "sparse_csr"
    sparse_csc = "sparse_csc"
    sparse_bsr = "sparse_bsr"
    sparse_bsc = "sparse_bsc"

    def __repr__(self):
        return f"torch.{self.value}"

    __str__ = __repr__


contiguous_format = memory_format.contiguous_format
preserve_format = memory_format.preserve_format
channels_last = memory_format.channels_last
channels_last_3d = memory_format.channels_last_3d
strided, sparse_coo = layout.strided, layout.sparse_coo
sparse_csr, sparse_csc, sparse_bsr, sparse_bsc = (
    layout.sparse_csr,
    layout.sparse_csc,
    layout.sparse_bsr,
    layout.sparse_bsc,
)

# The dimensions from the slowest to the fastest in memory.
_ORDERS = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def format_strides(shape, wanted):
    """The strides of a tensor of `shape` in a channels-last format. RuntimeError where the rank is not the format's."""
    order = _ORDERS[wanted]
    if len(shape) != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {wanted.value} format")
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def is_in_format(shape, strides, wanted):
    """Whether a tensor of these strides lies in memory in a channels-last format."""
    order = _ORDERS[wanted]
    if len(shape) != len(order):
        return False
    expected = 1
    for dim in reversed(order):
        if shape[dim] != 1 and strides[dim] != expected:
            return False
        expected *= shape[dim]
    return True


def memory_order(shape, strides):
    """The dimensions, slowest first, by PyTorch's insertion sort: one of stride 0 (expanded) is never moved."""
    order = list(reversed(range(len(shape))))
    for end in range(1, len(order)):
        here = end
        for before in reversed(range(end)):
            fast, slow = order[before], order[here]
            if not strides[fast] or not strides[slow]:
                continue
            if strides[fast] < strides[slow]:
                break
            if strides[fast] > strides[slow] or shape[fast] > shape[slow]:
                order[before], order[here] = slow, fast
                here = before
    return order[::-1]
