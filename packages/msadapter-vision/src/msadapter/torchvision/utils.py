"""torchvision.utils: pictures put together and saved."""

import math

import msadapter.pytorch as torch
from msadapter.torchvision.transforms import functional as F

__all__ = ["make_grid", "save_image"]


@torch.no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """Pictures in one, `nrow` in a row, as a tensor of shape (3, H, W).

    Args:
        tensor: shape (N, C, H, W), (C, H, W) or (H, W), or a list of pictures of one size; C is 1 or 3.
        padding, pad_value: how many pixels are between them, and what is in these.
        normalize: whether values are moved to [0, 1], from `value_range` or from the smallest and largest.
        scale_each: whether each picture has its own range.

    Raises TypeError for anything but tensors.
    """
    if not isinstance(tensor, torch.Tensor) and not (
        isinstance(tensor, list) and all(isinstance(picture, torch.Tensor) for picture in tensor)
    ):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    pictures = _batch(torch.stack(tensor, 0) if isinstance(tensor, list) else tensor)
    if normalize:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
        parts = pictures if scale_each else [pictures]
        pictures = torch.stack([_normalized(part, value_range) for part in parts], 0).reshape(pictures.shape)
    count, channels, height, width = pictures.shape
    if count == 1:
        return pictures.squeeze(0)
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    shape = (channels, _length(rows, height, padding), _length(columns, width, padding))
    grid = torch.full(shape, pad_value, dtype=torch.float32).to(pictures.dtype)
    for place in range(count):
        top, left = (
            padding + at * (size + padding) for at, size in zip(divmod(place, columns), (height, width))
        )
        grid[:, top : top + height, left : left + width] = pictures[place]
    return grid


def _length(count, size, padding):
    return count * (size + padding) + padding


def _batch(tensor):
    """Shape (N, 3, H, W) of pictures in any of their shapes."""
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = tensor.unsqueeze(0)
    return torch.cat([tensor] * 3, 1) if tensor.shape[1] == 1 else tensor


def _normalized(pictures, value_range):
    low, high = value_range or (pictures.min().item(), pictures.max().item())
    return (pictures.clamp(low, high) - low) / max(high - low, 1e-5)


@torch.no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    """Write pictures with values in [0, 1] to the file `fp`, several as a grid; further arguments are `make_grid`'s."""
    grid = make_grid(tensor, **kwargs)
    # Half a step added: values are rounded, not cut off.
    F.to_pil_image((grid * 255 + 0.5).clamp(0, 255).to(torch.uint8)).save(fp, format=format)
