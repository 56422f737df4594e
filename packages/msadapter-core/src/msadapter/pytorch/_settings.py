"""Settings of the process that scripts make: threads, determinism, precision."""

from msadapter.pytorch._kernels import parallel

_state = {"interop": 1, "deterministic": False, "warn_only": False, "precision": "highest"}


def _positive(name, count):
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{name} expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"{name} expects a positive integer. Received: {count}")
    return count


def set_num_threads(count, /):
    """Let each NumPy kernel use `count` threads. MindSpore's own: `mindspore.runtime.dispatch_threads_num`."""
    parallel.set_num_threads(_positive("set_num_threads", count))


def get_num_threads():
    """How many threads a NumPy kernel uses."""
    return parallel.get_num_threads()


def set_num_interop_threads(count, /):
    """Kept for `get_num_interop_threads`: operators run one after another here."""
    _state["interop"] = _positive("set_num_interop_threads", count)


def get_num_interop_threads():
    return _state["interop"]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kept for the question below: the CPU's kernels are deterministic. On Ascend: `mindspore.set_deterministic(True)`."""
    _state["deterministic"], _state["warn_only"] = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled():
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _state["warn_only"]


def set_float32_matmul_precision(precision):
    """Kept for `get_float32_matmul_precision`: float32 products are computed in float32.

    Raises ValueError for anything but "highest", "high" and "medium".
    """
    if precision not in ("highest", "high", "medium"):
        raise ValueError(
            f'float32 matmul precision is one of "highest", "high", "medium". Received: {precision!r}'
        )
    _state["precision"] = precision


def get_float32_matmul_precision():
    return _state["precision"]
