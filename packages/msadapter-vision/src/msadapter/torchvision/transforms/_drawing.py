"""What the transforms share: numbers drawn as torchvision draws them, and sizes in any of their forms."""

import numbers
from collections.abc import Sequence

import msadapter.pytorch as torch


def uniform(low, high):
    return torch.empty(1).uniform_(low, high).item()


def below(bound):
    """A whole number from 0 to `bound` - 1."""
    return torch.randint(0, bound, size=(1,)).item()


def chance(p):
    return torch.rand(1).item() < p


def size_pair(size, error="Please provide only two dimensions (h, w) for size."):
    """(height, width) of one number, a sequence of one, or of two; ValueError for others."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(f"{error} Received: {size}")
    return size


def log_uniform(bounds):
    """A number whose logarithm is uniform, in float32 as torchvision draws it."""
    low, high = torch.log(torch.tensor(bounds)).tolist()
    return torch.exp(torch.empty(1).uniform_(low, high)).item()
