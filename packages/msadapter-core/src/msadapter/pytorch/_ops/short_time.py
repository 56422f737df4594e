"""The Fourier transform of a signal frame by frame: `torch.stft` and its inverse."""

import warnings

import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import storage
from msadapter.pytorch._engine.native import shape_of
from msadapter.pytorch._ops.creation import from_array
from msadapter.pytorch._ops.layout import view_as_real
from msadapter.pytorch._ops.padding import pad
from msadapter.pytorch._ops.registry import op
from msadapter.pytorch._ops.spectral import fft, ifft, irfft, rfft


def _is_complex(tensor):
    return tensor is not None and tensor.dtype.is_complex


def _window_text(window):
    if window is None:
        return "None"
    return f"torch.{_dtype.SCALAR_NAMES[window.dtype]}Tensor{{{list(shape_of(window))}}}"


def _filled_up(tensor, win_length, n_fft):
    """The tensor with zeros on both sides, so that a window of `win_length` lies in the middle of a frame of `n_fft`."""
    left = (n_fft - win_length) // 2
    return pad(tensor, (left, n_fft - win_length - left))


def _warn_of_no_window(window, win_length, advice):
    if window is None:
        warnings.warn(
            f"A window was not provided. A rectangular window of {win_length} will be applied. {advice}",
            UserWarning,
            stacklevel=4,
        )


def _rectangular(like, win_length):
    return from_array(np.ones(win_length), like.dtype.to_real())


@op(out=False)
def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """The spectrum of each frame of `input` [time] or [batch, time], as [(batch,) frequency, frame].

    Frames of `n_fft` samples start `hop_length` (n_fft / 4) apart, and are multiplied by `window` of `win_length` samples.

    Args:
        center: frame t is centred at t * hop_length, the signal continued by `pad_mode`.
        normalized: divide by the root of `n_fft`.
        onesided: leave out what symmetry determines; default: where signal and window are real.
        return_complex: False returns pairs of real numbers in a last dimension; a must for real signals.
        align_to_window: with `center=False`, the first window starts with the signal, not the first frame.
    Raises RuntimeError for what does not fit.
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    any_complex = _is_complex(input) or _is_complex(window)
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    _warn_of_no_window(
        window, win_length, "It leaks between frequencies: pass torch.hann_window or its kind."
    )
    if center:
        batch = input.reshape((1,) * (3 - len(shape_of(input))) + shape_of(input))
        half = n_fft // 2
        input = pad(batch, (half, half), pad_mode).reshape(shape_of(input)[:-1] + (-1,))
    _check_stft(
        input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )
    if return_complex is None and not any_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    onesided = not any_complex if onesided is None else onesided
    if onesided and any_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align_to_window:
        input = _filled_up(input, win_length, n_fft)
    frames = input.unfold(-1, n_fft, hop_length)
    window = _rectangular(input, win_length) if window is None and win_length < n_fft else window
    if window is not None:
        frames = frames * _filled_up(window, win_length, n_fft)
    transform = rfft if onesided else fft
    result = transform(frames, n_fft, -1, "ortho" if normalized else None).transpose(-2, -1)
    return result if return_complex or return_complex is None else view_as_real(result)


def _check_stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align):
    shape = shape_of(input)
    frame = win_length if align else n_fft
    wrong = None
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        wrong = "a tensor of floating point or complex values"
    elif len(shape) not in (1, 2):
        wrong = "a 1D or 2D tensor"
    elif n_fft <= 0 or frame > shape[-1]:
        wrong = f"0 < n_fft < {shape[-1]}, but got n_fft={n_fft}"
    elif hop_length <= 0:
        wrong = f"hop_length > 0, but got hop_length={hop_length}"
    elif not 0 < win_length <= n_fft:
        wrong = f"0 < win_length <= n_fft, but got win_length={win_length}"
    elif window is not None and shape_of(window) != (win_length,):
        wrong = (
            f"a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(shape_of(window))}"
        )
    if wrong is not None:
        flags = ", ".join(
            f"{name}={value if value is None else int(value)}"
            for name, value in (
                ("normalized", normalized),
                ("onesided", onesided),
                ("return_complex", return_complex),
                ("align_to_window", align),
            )
        )
        raise RuntimeError(
            f"stft(torch.{_dtype.SCALAR_NAMES[input.dtype]}Tensor{list(shape)}, n_fft={n_fft}, hop_length={hop_length}, "
            f"win_length={win_length}, window={_window_text(window)}, {flags}) : expected {wrong}"
        )


@op(out=False)
def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal whose `stft` is `input` [(batch,) frequency, frame]: [(batch,) time], the best one by least squares.

    `length` cuts the signal or fills it up with zeros; for the rest see `stft`. Raises RuntimeError where the windows leave
    a part of the signal at zero, and for what does not fit.
    """
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    _warn_of_no_window(window, win_length, "Pass the window that stft had, or the inverse is not exact.")
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True. "
            f"Received: {input.dtype}"
        )
    named = (
        f"istft(CPU{_dtype.SCALAR_NAMES[input.dtype]}Type{list(shape_of(input))}, n_fft={n_fft}, hop_length={hop_length}, "
        f"win_length={win_length}, window={_window_text(window)}, center={int(center)}, normalized={int(normalized)}, "
        f"onesided={onesided if onesided is None else int(onesided)}, length={length}, "
        f"return_complex={int(return_complex)})"
    )
    shape = shape_of(input)
    is_half = shape[-2:-1] != (n_fft,) if onesided is None else onesided
    if return_complex and is_half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and _is_complex(window):
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    _check_istft(named, shape, n_fft, hop_length, win_length, window, is_half)
    norm = "ortho" if normalized else None
    spectra = input.transpose(-2, -1)
    # A real signal is read from the half that determines it; `irfft` drops the rest.
    frames = ifft(spectra, n_fft, -1, norm) if return_complex else irfft(spectra, n_fft, -1, norm)
    window = _rectangular(input, win_length) if window is None else window
    window = _filled_up(window, win_length, n_fft)
    signal = _overlapped(frames * window, hop_length)
    envelope = _overlapped((window * window).expand(shape_of(frames)[-2:]), hop_length)
    start = n_fft // 2 if center else 0
    total = shape_of(signal)[-1]
    end = total - start if length is None else min(start + length, total)
    signal, envelope = signal.narrow(-1, start, end - start), envelope.narrow(0, start, end - start)
    if not (abs(storage.read_only_use(envelope)) > 1e-11).all():
        raise RuntimeError(f"{named} window overlap add min: 1")
    result = signal / envelope
    if length is not None and start + length > end:
        warnings.warn(
            f"The signal has {end - start} samples, fewer than length={length}; zeros follow. Check center and hop_length.",
            UserWarning,
            stacklevel=3,
        )
        result = pad(result, (0, start + length - end))
    return result


def _check_istft(named, shape, n_fft, hop_length, win_length, window, onesided):
    wrong = None
    if 0 in shape:
        wrong = "input tensor cannot be empty."
    elif len(shape) not in (2, 3):
        wrong = f"expected a tensor with 3 or 4 dimensions, but got {len(shape) + 1}"
    elif onesided and shape[-2] != n_fft // 2 + 1:
        wrong = (
            "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
            f"onesided=True, but got {shape[-2]}"
        )
    elif not onesided and shape[-2] != n_fft:
        wrong = (
            "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when onesided=False, "
            f"but got {shape[-2]}"
        )
    elif not 0 < hop_length <= win_length:
        wrong = "expected 0 < hop_length <= win_length"
    elif not 0 < win_length <= n_fft:
        wrong = "expected 0 < win_length <= n_fft"
    elif window is not None and shape_of(window) != (win_length,):
        wrong = "Invalid window shape. window has to be 1D and length of `win_length`"
    if wrong is not None:
        raise RuntimeError(f"{named} : {wrong}")


def _overlapped(frames, hop_length):
    """Frames [..., frame, time] added up where they overlap: [..., time]."""
    *lead, count, size = shape_of(frames)
    places = (np.arange(count)[:, None] * hop_length + np.arange(size)).reshape(-1)
    flat = frames.reshape((*lead, count * size))
    return flat.new_zeros((*lead, (count - 1) * hop_length + size)).index_add(-1, from_array(places), flat)
