"""What `torch.cuda` and `torch.npu` have in common: questions that any machine answers, and help that is harmless without one."""

from msadapter.pytorch._device import accelerator_kind, device
from msadapter.pytorch.random import manual_seed as _manual_seed


class _DeviceContext:
    """`with torch.cuda.device(0)`: the device is chosen once per process by MindSpore, so that nothing changes."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return False


def module_members(kind):
    """The members of `torch.<kind>`, by name; `kind` is "cuda" or "npu"."""

    def is_available():
        """Whether MindSpore runs on such a device here."""
        return accelerator_kind() == kind

    def _require():
        if not is_available():
            raise AssertionError(
                f"torch.{kind} has no device here: MindSpore runs on {accelerator_kind() or 'the CPU'}. Write "
                f"torch.device('{kind}' if torch.{kind}.is_available() else 'cpu') instead."
            )

    def device_count():
        """How many such devices this process may use."""
        return 1 if is_available() else 0

    def current_device():
        """The index of the current device. Raises AssertionError where there is none."""
        _require()
        return 0

    def set_device(device):
        """Choose the device. Raises AssertionError where there is none."""
        _require()

    def get_device_name(device=None):
        """The device's name. Raises AssertionError where there is none."""
        _require()
        return f"MindSpore {kind}"

    def synchronize(device=None):
        """Wait for the device's operators. Raises AssertionError where there is none."""
        import mindspore as ms

        _require()
        ms.runtime.synchronize()

    def manual_seed(seed):
        """Seed the device's generator: there is one generator here, torch's; without a device nothing happens."""
        if is_available():
            _manual_seed(seed)

    def empty_cache():
        """Give cached memory back; without a device nothing happens."""
        if is_available():
            import mindspore as ms

            ms.runtime.empty_cache()

    def memory_allocated(device=None):
        """Bytes in use on the device; 0 without one."""
        if not is_available():
            return 0
        import mindspore as ms

        return ms.runtime.memory_allocated()

    members = dict(locals())
    del members["kind"], members["_require"]
    members.update(
        is_initialized=is_available,
        init=lambda: None,
        manual_seed_all=manual_seed,
        max_memory_allocated=memory_allocated,
        memory_reserved=memory_allocated,
        max_memory_reserved=memory_allocated,
        reset_peak_memory_stats=lambda device=None: None,
        ipc_collect=lambda: None,
        device=_DeviceContext,
    )
    return members


def current_accelerator(check_available=False):
    """The device type of the accelerator that MindSpore runs on, None on a CPU."""
    kind = accelerator_kind()
    return None if kind is None else device(kind)
