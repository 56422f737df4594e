"""torch.device, and the default device."""

import re
import threading

from msadapter.pytorch._engine import native

_KINDS = ("cpu", "cuda", "npu", "meta", "mps", "xpu")
_PATTERN = re.compile(r"([a-z]+)(?::(\d+))?")


class device:
    """Where a tensor lives: `type` and `index`. `cpu` is the host, `npu` is MindSpore's Ascend target.

    As a context manager it is the default device of the tensors created inside.
    Raises RuntimeError for a string that names no device.
    """

    __slots__ = ("type", "index", "_previous")

    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            _check_index(type)
            type, index = accelerator_kind(), type
            if type is None:
                raise RuntimeError(
                    f"Cannot access accelerator device when none is available. Received: {index}"
                )
        elif not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str or int, not {type.__class__.__name__}")
        match = _PATTERN.fullmatch(type)
        if match is None or match[1] not in _KINDS:
            raise RuntimeError(
                f"Expected one of {', '.join(_KINDS)} device type at start of device string: {type}"
            )
        if index is not None:
            _check_index(index)
        if match[2] is not None:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed: {type}"
                )
            index = int(match[2])
        object.__setattr__(self, "type", match[1])
        object.__setattr__(self, "index", index)

    def __setattr__(self, name, value):
        if name == "_previous":
            return object.__setattr__(self, name, value)
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self):
        return (
            f"device(type={self.type!r})"
            if self.index is None
            else f"device(type={self.type!r}, index={self.index})"
        )

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self):
        self._previous = getattr(_state, "default", None)
        _state.default = self
        return self

    def __exit__(self, *exception):
        _state.default = self._previous


def _check_index(index):
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}")
    if index < 0:
        raise RuntimeError(f"Device index must not be negative. Received: {index}")


_state = threading.local()


def accelerator_kind():
    """ "npu" where MindSpore runs on Ascend, "cuda" on a GPU build, else None."""
    return {"Ascend": "npu", "GPU": "cuda"}.get(native.device_target())


def get_default_device():
    """The device of new tensors: what `set_default_device` or `with torch.device(...)` said, else MindSpore's target."""
    chosen = getattr(_state, "default", None)
    if chosen is not None:
        return chosen
    kind = accelerator_kind()
    return device("cpu") if kind is None else device(kind, 0)


def set_default_device(device_or_name):
    """Make new tensors of this thread live on `device_or_name`; None restores the usual default."""
    _state.default = None if device_or_name is None else check_device(device_or_name)


def check_device(wanted):
    """`wanted` (None, str, int or device) as a device that this process has.

    Raises RuntimeError naming what MindSpore offers where it has no such device.
    """
    if wanted is None:
        return get_default_device()
    found = wanted if isinstance(wanted, device) else device(wanted)
    if found.type in ("cpu", accelerator_kind()):
        return found
    if found.type == "meta":
        raise NotImplementedError(
            "device 'meta' is not supported by msadapter: MindSpore has no tensors without storage"
        )
    raise RuntimeError(
        f"device '{found}' is not available: MindSpore runs on {native.device_target()} here. "
        "Write torch.device('npu' if torch.npu.is_available() else 'cpu') instead."
    )
