"""torch.Size: the shape of a tensor, a tuple of ints."""

import math


class Size(tuple):
    """A tuple of ints that prints as `torch.Size([2, 3])`; slices and sums of sizes are sizes."""

    __slots__ = ()

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self):
        """The product of the sizes: how many elements a tensor of this shape has."""
        return math.prod(self)

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if type(index) is slice else item

    def __add__(self, other):
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times):
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)
