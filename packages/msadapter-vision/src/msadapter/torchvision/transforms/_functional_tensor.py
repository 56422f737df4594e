"""The image operations on tensors of shape (..., C, H, W); each can be differentiated where its values are floats."""

import numpy as np

import msadapter.pytorch as torch
import msadapter.pytorch.nn.functional as F
from msadapter.torchvision.transforms._functional_pil import four_sides

_GRAY = (0.2989, 0.587, 0.114)  # how bright the eye sees red, green and blue


def _assert_image_tensor(img):
    if not isinstance(img, torch.Tensor) or img.ndim < 2:
        raise TypeError("Tensor is not a torch image.")


def _assert_channels(img, permitted):
    channels = get_dimensions(img)[0]
    if channels not in permitted:
        raise TypeError(f"Input image tensor permitted channel values are {permitted}, but found {channels}")


def _assert_non_negative(name, factor):
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


def get_dimensions(img):
    """[channels, height, width]."""
    _assert_image_tensor(img)
    return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]


def _max_value(dtype):
    """The value of white: the largest of an integer dtype, 1 for floats."""
    return 1 if dtype.is_floating_point or dtype == torch.bool else torch.iinfo(dtype).max


def convert_image_dtype(image, dtype=torch.float32):
    """`image` in `dtype`, its values scaled from the range of the one to that of the other."""
    if image.dtype == dtype:
        return image
    if image.dtype.is_floating_point:
        return image.to(dtype) if dtype.is_floating_point else _float_to_int(image, dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / _max_value(image.dtype)
    return _int_to_int(image, dtype)


def _float_to_int(image, dtype):
    digits = 24 if image.dtype == torch.float32 else 53
    if (image.dtype == torch.float32 or dtype == torch.int64) and torch.iinfo(dtype).bits > digits:
        raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
    # A little less than one step more than white, so that each value gets an equal share of [0, 1].
    return (image * (_max_value(dtype) + 1 - 1e-3)).to(dtype)


def _int_to_int(image, dtype):
    source, target = _max_value(image.dtype), _max_value(dtype)
    if source > target:
        return torch.div(image, (source + 1) // (target + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((target + 1) // (source + 1))


def vflip(img):
    _assert_image_tensor(img)
    return img.flip(-2)


def hflip(img):
    _assert_image_tensor(img)
    return img.flip(-1)


def crop(img, top, left, height, width):
    """The given part; what lies outside of the image is zero."""
    _assert_image_tensor(img)
    rows, columns = img.shape[-2:]
    if top < 0 or left < 0 or top + height > rows or left + width > columns:
        beyond = [-left, -top, left + width - columns, top + height - rows]
        return _pad_constant(
            img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)],
            *(max(side, 0) for side in beyond),
            0,
        )
    return img[..., top : top + height, left : left + width]


def rgb_to_grayscale(img, num_output_channels=1):
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_channels(img, [1, 3])
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3. Received: {num_output_channels}")
    if img.shape[-3] == 3:
        red, green, blue = img.unbind(-3)
        img = (_GRAY[0] * red + _GRAY[1] * green + _GRAY[2] * blue).to(img.dtype).unsqueeze(-3)
    else:
        img = img.clone()
    return img.expand(*img.shape[:-3], 3, *img.shape[-2:]) if num_output_channels == 3 else img


def _blend(img, other, ratio):
    """`ratio` of one image and the rest of the other, within the range of the dtype."""
    ratio = float(ratio)  # an integer would multiply bytes in bytes
    return (ratio * img + (1.0 - ratio) * other).clamp(0, _max_value(img.dtype)).to(img.dtype)


def adjust_brightness(img, brightness_factor):
    _assert_non_negative("brightness_factor", brightness_factor)
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    return _blend(img, torch.zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor):
    _assert_non_negative("contrast_factor", contrast_factor)
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    gray = rgb_to_grayscale(img) if img.shape[-3] == 3 else img
    mean = _as_float(gray).mean(dim=(-3, -2, -1), keepdim=True)
    return _blend(img, mean, contrast_factor)


def _as_float(img):
    return img if img.is_floating_point() else img.to(torch.float32)


def adjust_saturation(img, saturation_factor):
    _assert_non_negative("saturation_factor", saturation_factor)
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    if img.shape[-3] == 1:
        return img
    return _blend(img, rgb_to_grayscale(img), saturation_factor)


def adjust_hue(img, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    if img.shape[-3] == 1:
        return img
    hue, saturation, value = _rgb_to_hsv(convert_image_dtype(img, torch.float32))
    return convert_image_dtype(_hsv_to_rgb((hue + hue_factor) % 1.0, saturation, value), img.dtype)


def _rgb_to_hsv(img):
    red, green, blue = img.unbind(-3)
    high, low = img.amax(-3), img.amin(-3)
    gray = high == low
    one = torch.ones_like(high)
    spread = torch.where(gray, one, high - low)
    from_red, from_green, from_blue = ((high - part) / spread for part in (red, green, blue))
    is_red, is_green = high == red, high == green
    sixth = torch.where(
        is_red,
        from_blue - from_green,
        torch.where(is_green, 2.0 + from_red - from_blue, 4.0 + from_green - from_red),
    )
    return (sixth / 6.0 + 1.0) % 1.0, (high - low) / torch.where(gray, one, high), high


def _hsv_to_rgb(hue, saturation, value):
    sixth = torch.floor(hue * 6.0)
    within = hue * 6.0 - sixth
    p = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    q = (value * (1.0 - saturation * within)).clamp(0.0, 1.0)
    t = (value * (1.0 - saturation * (1.0 - within))).clamp(0.0, 1.0)
    v = value
    colours = ((v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q))
    chosen = [torch.zeros_like(v)] * 3
    for number, colour in enumerate(colours):
        here = sixth % 6.0 == number
        chosen = [torch.where(here, new, old) for new, old in zip(colour, chosen)]
    return torch.stack(chosen, -3)


def adjust_gamma(img, gamma, gain=1):
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    if gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number. Received: {gamma}")
    result = img if img.is_floating_point() else convert_image_dtype(img, torch.float32)
    return convert_image_dtype((gain * result**gamma).clamp(0, 1), img.dtype)


def pad(img, padding, fill=0, padding_mode="constant"):
    """See `functional.pad`."""
    _assert_image_tensor(img)
    fill = 0 if fill is None else fill
    left, top, right, bottom = four_sides(padding)
    if isinstance(fill, (tuple, list)) and len(fill) == 1:
        fill = fill[0]
    if not isinstance(fill, (int, float)):
        raise TypeError(f"Got inappropriate fill arg. Received: {type(fill).__name__}")
    if padding_mode == "constant":
        return _pad_constant(img, left, top, right, bottom, fill)
    rows, columns = img.shape[-2:]
    if padding_mode == "reflect" and (max(top, bottom) >= rows or max(left, right) >= columns):
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"{[left, top, right, bottom]} for an image of {rows} by {columns}"
        )
    img = img[..., _places(rows, top, bottom, padding_mode), :]
    return img[..., _places(columns, left, right, padding_mode)]


def _places(size, before, after, mode):
    """Which row or column stands where after padding."""
    places = np.arange(max(-before, 0), size - max(-after, 0))
    return torch.from_numpy(np.pad(places, (max(before, 0), max(after, 0)), mode=mode))


def _pad_constant(img, left, top, right, bottom, fill):
    rows, columns = img.shape[-2:]
    img = img[..., max(-top, 0) : rows - max(-bottom, 0), max(-left, 0) : columns - max(-right, 0)]
    left, top = max(left, 0), max(top, 0)
    kept_rows, kept_columns = img.shape[-2:]
    shape = (*img.shape[:-2], top + kept_rows + max(bottom, 0), left + kept_columns + max(right, 0))
    result = (
        torch.full(shape, float(fill), dtype=img.dtype)
        if img.is_floating_point()
        else torch.full(shape, int(fill), dtype=img.dtype)
    )
    result[..., top : top + kept_rows, left : left + kept_columns] = img
    return result


def resize(img, size, interpolation="bilinear", antialias=True):
    """`size` is [height, width], `interpolation` a mode of `torch.nn.functional.interpolate`."""
    _assert_image_tensor(img)
    smooth = interpolation in ("bilinear", "bicubic")

    def resized(images):
        return F.interpolate(
            images,
            size=list(size),
            mode=interpolation,
            align_corners=False if smooth else None,
            antialias=bool(antialias) and smooth,
        )

    return _on_floats(img, resized, clamp=interpolation == "bicubic" and img.dtype == torch.uint8)


def _on_floats(img, function, clamp=False):
    """`function` of the image as a batch of floats, with the result rounded to the image's own dtype."""
    batch = img if img.ndim >= 4 else img.unsqueeze(0)
    exact = img.dtype in (torch.float32, torch.float64)
    result = function(batch if exact else batch.to(torch.float32))
    if clamp:
        result = result.clamp(0, 255)
    if not exact:
        result = (result if img.is_floating_point() else result.round()).to(img.dtype)
    return result if img.ndim >= 4 else result.squeeze(0)


def gaussian_blur(img, kernel_size, sigma):
    """Blurred columns, then rows; `kernel_size` and `sigma` are [x, y]."""
    _assert_image_tensor(img)

    def blurred(images):
        half_x, half_y = (size // 2 for size in kernel_size)
        images = pad(images, [half_x, half_y], padding_mode="reflect")
        for dim, size, spread in zip((-1, -2), kernel_size, sigma):
            images = _weighted_neighbours(images, _bell(size, spread), dim)
        return images

    return _on_floats(img, blurred)


def _bell(size, sigma):
    places = np.linspace(-(size - 1) / 2, (size - 1) / 2, size)
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    return (weights / weights.sum()).tolist()


def _weighted_neighbours(images, weights, dim):
    count = images.shape[dim] - len(weights) + 1
    return sum(weight * images.narrow(dim, place, count) for place, weight in enumerate(weights))


def adjust_sharpness(img, sharpness_factor):
    _assert_non_negative("sharpness_factor", sharpness_factor)
    _assert_image_tensor(img)
    _assert_channels(img, [1, 3])
    if min(img.shape[-2:]) <= 2:
        return img
    return _blend(img, _smoothed(img), sharpness_factor)


def _smoothed(img):
    """Each pixel with its neighbours, itself five times; the border stays."""

    def smoothed(images):
        around = images
        for dim in (-1, -2):
            around = _weighted_neighbours(around, [1.0] * 3, dim)
        result = images.clone()
        result[..., 1:-1, 1:-1] = (around + 4.0 * images[..., 1:-1, 1:-1]) / 13.0
        return result

    return _on_floats(img, smoothed)


def invert(img):
    _assert_image_tensor(img)
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_channels(img, [1, 3])
    return _max_value(img.dtype) - img


def _assert_bytes(img):
    if img.dtype != torch.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


def posterize(img, bits):
    _assert_image_tensor(img)
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_bytes(img)
    _assert_channels(img, [1, 3])
    return img & (256 - 2 ** (8 - bits))


def solarize(img, threshold):
    _assert_image_tensor(img)
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_channels(img, [1, 3])
    if threshold > _max_value(img.dtype):
        raise TypeError(f"Threshold should be less than bound of img. Received: {threshold}")
    return torch.where(img >= threshold, invert(img), img)


def autocontrast(img):
    _assert_image_tensor(img)
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_channels(img, [1, 3])
    white = _max_value(img.dtype)
    low = _as_float(img.amin(dim=(-2, -1), keepdim=True))
    high = _as_float(img.amax(dim=(-2, -1), keepdim=True))
    flat = low == high
    scale = torch.where(
        flat, torch.ones_like(low), white / torch.where(flat, torch.ones_like(low), high - low)
    )
    low = torch.where(flat, torch.zeros_like(low), low)
    return ((img - low) * scale).clamp(0, white).to(img.dtype)


def equalize(img):
    _assert_image_tensor(img)
    if not 3 <= img.ndim <= 4:
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {img.ndim}")
    _assert_bytes(img)
    _assert_channels(img, [1, 3])
    array = img.numpy()
    channels = array.reshape(-1, *array.shape[-2:])
    return torch.from_numpy(np.stack([_equalized(channel) for channel in channels]).reshape(array.shape))


def _equalized(channel):
    counts = np.bincount(channel.ravel(), minlength=256)
    used = counts[counts != 0]
    step = used[:-1].sum() // 255
    if step == 0:
        return channel
    table = (np.cumsum(counts) + step // 2) // step
    return np.clip(np.concatenate([[0], table[:-1]]), 0, 255).astype(np.uint8)[channel]


def normalize(tensor, mean, std, inplace=False):
    _assert_image_tensor(tensor)
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.size()}"
        )
    mean, std = _per_channel(mean, tensor), _per_channel(std, tensor)
    if (std == 0).any():
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero."
        )
    if not inplace and tensor.is_cpu and not tensor.requires_grad and tensor.dtype != torch.bfloat16:
        # What a loader does for each picture: two passes of NumPy cost a tenth of two operators.
        result = np.subtract(tensor.numpy(), mean)
        return torch.from_numpy(np.divide(result, std, out=result))
    mean, std = torch.from_numpy(mean).to(tensor.dtype), torch.from_numpy(std).to(tensor.dtype)
    return tensor.sub_(mean).div_(std) if inplace else (tensor - mean) / std


def _per_channel(values, tensor):
    """Means or deviations as an array that broadcasts over the image, in its precision."""
    values = values.detach().numpy() if isinstance(values, torch.Tensor) else values
    dtypes = {torch.float64: np.float64, torch.float16: np.float16}
    array = np.array(values, dtypes.get(tensor.dtype, np.float32))
    if array.ndim == 1 and array.size not in (1, tensor.shape[-3]) and tensor.shape[-3] != 1:
        raise RuntimeError(
            f"The size of tensor a ({tensor.shape[-3]}) must match the size of tensor b ({array.size}) at non-singleton "
            "dimension 0: mean and std need one value per channel"
        )
    return array.reshape(-1, 1, 1) if array.ndim == 1 else array


def erase(img, i, j, h, w, v, inplace=False):
    _assert_image_tensor(img)
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result


# --- geometry: the image sampled at the places of a grid --------------------------------------------------------------


def affine(img, matrix, interpolation="nearest", fill=None):
    """`matrix`, six numbers, leads from a place of the result, counted from its middle, to the one in the image."""
    height, width = img.shape[-2:]
    return _sampled(img, _affine_grid(img, matrix, width, height), interpolation, fill)


def rotate(img, matrix, interpolation="nearest", expand=False, fill=None):
    height, width = img.shape[-2:]
    width, height = _size_of_rotated(matrix, width, height) if expand else (width, height)
    return _sampled(img, _affine_grid(img, matrix, width, height), interpolation, fill)


def perspective(img, coeffs, interpolation="bilinear", fill=None):
    """`coeffs`, eight numbers, lead from a place of the result to the one in the image."""
    height, width = img.shape[-2:]
    real = _grid_dtype(img)
    points = _points(width, height, first_x=0.5, first_y=0.5, real=real)
    above = np.array(coeffs[:6], real).reshape(2, 3) / np.array([[0.5 * width], [0.5 * height]], real)
    below = np.array([[*coeffs[6:], 1.0]], real)
    grid = (points @ above.T) / (points @ below.T) - real(1)
    return _sampled(img, grid.reshape(height, width, 2), interpolation, fill)


def elastic_transform(img, displacement, interpolation="bilinear", fill=None):
    """`displacement`, shape (1, H, W, 2), is how far from its own place each pixel is taken."""
    _assert_image_tensor(img)
    height, width = img.shape[-2:]
    real = _grid_dtype(img)
    own = _points(width, height, first_x=(1 - width) / 2, first_y=(1 - height) / 2, real=real)[:, :2]
    own = (own / np.array([0.5 * width, 0.5 * height], real)).reshape(1, height, width, 2)
    return _sampled(img, torch.from_numpy(own) + displacement.to(_grid_torch_dtype(img)), interpolation, fill)


def _grid_torch_dtype(img):
    return img.dtype if img.is_floating_point() else torch.float32


def _grid_dtype(img):
    return np.float64 if img.dtype == torch.float64 else np.float32


def _points(width, height, first_x, first_y, real):
    """x, y and 1 of all pixels of an image of that size, from (first_x, first_y) on: shape (width * height, 3)."""
    y, x = np.meshgrid(np.arange(height) + first_y, np.arange(width) + first_x, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), np.ones(x.size)], 1).astype(real)


def _affine_grid(img, matrix, width, height):
    """Where in `img`, from -1 to 1, the pixels of a result of that size come from."""
    rows, columns = img.shape[-2:]
    real = _grid_dtype(img)
    points = _points(width, height, first_x=(1 - width) / 2, first_y=(1 - height) / 2, real=real)
    scaled = np.array(matrix, real).reshape(2, 3) / np.array([[0.5 * columns], [0.5 * rows]], real)
    return (points @ scaled.T).reshape(height, width, 2)


def _size_of_rotated(matrix, width, height):
    """(width, height) of what holds the corners of the rotated image."""
    x, y = width * 0.5, height * 0.5
    corners = np.array([[-x, -y, 1.0], [-x, y, 1.0], [x, y, 1.0], [x, -y, 1.0]], np.float32)
    moved = corners @ np.array(matrix, np.float32).reshape(2, 3).T + np.array([x, y], np.float32)
    # Cut to 1e-4 first: a right angle must not become a pixel wider by rounding.
    high, low = (
        np.trunc(values / np.float32(1e-4)) * np.float32(1e-4) for values in (moved.max(0), moved.min(0))
    )
    return tuple((np.ceil(high) - np.floor(low)).astype(int).tolist())


def _sampled(img, grid, interpolation, fill):
    """`img` at the places of `grid`; what lies outside is `fill`, None for black."""
    _assert_image_tensor(img)
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{interpolation}' is unsupported with Tensor input")
    channels = get_dimensions(img)[0]
    if isinstance(fill, (tuple, list)) and len(fill) not in (1, channels):
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    grid = torch.from_numpy(grid)[None] if isinstance(grid, np.ndarray) else grid

    def sampled(images):
        grids = grid.to(images.dtype).expand(images.shape[0], *grid.shape[1:])
        if fill is None:
            return F.grid_sample(images, grids, mode=interpolation, align_corners=False)
        ones = torch.ones_like(images[:, :1])
        result = F.grid_sample(torch.cat([images, ones], 1), grids, mode=interpolation, align_corners=False)
        inside = result[:, -1:]
        values = list(fill) if isinstance(fill, (tuple, list)) else [float(fill)]
        filled = torch.tensor(values, dtype=images.dtype).reshape(1, -1, 1, 1)
        if interpolation == "nearest":
            return torch.where(inside < 0.5, filled, result[:, :-1])
        return result[:, :-1] * inside + (1.0 - inside) * filled

    return _on_floats(img, sampled)
