"""Sequences of different lengths: padded, packed and back."""

from collections.abc import Iterable
from typing import NamedTuple

from msadapter.pytorch import arange, as_tensor, cat, full, int64, sort, tensor
from msadapter.pytorch._tensor import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpad_sequence",
    "pack_sequence",
    "unpack_sequence",
]

_NOT_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need "
    "ONNX exportability."
)


class PackedSequence_(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences without padding: the rows of all of them at time 0, at time 1, ..., the longest first.

    `batch_sizes` says how many rows there are at each time; `sorted_indices` how the sequences were put in order, None
    if they were.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The sequence with its data converted or moved; itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args, **kwargs):
        return self.to("cpu")

    def cuda(self, *args, **kwargs):
        return self.to("cuda")

    def double(self):
        return self._converted("double")

    def float(self):
        return self._converted("float")

    def half(self):
        return self._converted("half")

    def long(self):
        return self._converted("long")

    def int(self):
        return self._converted("int")

    def short(self):
        return self._converted("short")

    def char(self):
        return self._converted("char")

    def byte(self):
        return self._converted("byte")

    def _converted(self, method):
        return self.to(getattr(self.data, method)().dtype)

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def pin_memory(self):
        return self

    def is_pinned(self):
        return False


def invert_permutation(permutation):
    """The permutation that undoes `permutation`; None for None."""
    return None if permutation is None else sort(permutation).indices


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack a padded batch (T, N, *) (or (N, T, *)), whose sequences have `lengths`.

    Raises RuntimeError for lengths that are not positive, of another number, or not sorted if `enforce_sorted`.
    """
    lengths = as_tensor(lengths, dtype=int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    sizes = lengths.tolist()
    input = input.transpose(0, 1) if batch_first else input
    _check_lengths(sizes, input)
    batch_sizes = [sum(size > time for size in sizes) for time in range(sizes[0])]
    data = cat([input[time, :rows] for time, rows in enumerate(batch_sizes)])
    return PackedSequence(data, tensor(batch_sizes), sorted_indices, None)


def _check_lengths(sizes, input):
    if any(before < after for before, after in zip(sizes, sizes[1:], strict=False)):
        raise RuntimeError(_NOT_SORTED)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.size(1)})"
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes[0] > input.size(0):
        raise RuntimeError(
            f"Expected the lengths to be at most the padded length {input.size(0)}. Received: {sizes[0]}"
        )


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch and the lengths of a PackedSequence, padded to `total_length` if given.

    Raises ValueError for a `total_length` shorter than the longest sequence.
    """
    batch_sizes = sequence.batch_sizes.tolist()
    longest = len(batch_sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    data, batch = sequence.data, batch_sizes[0]
    steps, start = [], 0
    for rows in batch_sizes:
        step = data[start : start + rows]
        start += rows
        if rows < batch:
            step = cat([step, _filled(data, (batch - rows,), padding_value)])
        steps.append(step.unsqueeze(0))
    if total_length is not None and total_length > longest:
        steps.append(_filled(data, (total_length - longest, batch), padding_value))
    padded = cat(steps)
    lengths = tensor([sum(rows > sample for rows in batch_sizes) for sample in range(batch)])
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is None:
        return padded, lengths
    order = sequence.unsorted_indices
    return padded.index_select(0 if batch_first else 1, order), lengths[order]


def _filled(data, leading, value):
    return full((*leading, *data.shape[1:]), value, dtype=data.dtype)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack tensors (L, *) of different lengths to (T, N, *) (or (N, T, *)), padded at one side.

    Raises RuntimeError for what cannot be iterated over, an empty list and another `padding_side`.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(sequence.size(0) for sequence in sequences)
    rows = []
    for sequence in sequences:
        padding = _filled(sequence, (longest - sequence.size(0),), padding_value)
        parts = [sequence, padding] if padding_side == "right" else [padding, sequence]
        rows.append((cat(parts) if padding.shape[0] else sequence).unsqueeze(0))
    padded = cat(rows)
    return padded if batch_first else padded.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded batch, as a list."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    times = arange(padded_sequences.shape[1])
    return [row[times < length] for row, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of tensors (L, *)."""
    lengths = as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence, as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
