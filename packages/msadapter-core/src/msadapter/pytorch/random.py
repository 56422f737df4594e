"""torch.random: the default generator's seed and state."""

import contextlib

from msadapter.pytorch._generator import Generator, default_generator

__all__ = ["set_rng_state", "get_rng_state", "manual_seed", "seed", "initial_seed", "fork_rng"]


def manual_seed(seed) -> Generator:
    """Start the default generator over from `seed`, and return it.

    Args:
        seed: what `int` takes, in [-2**63, 2**64); ValueError outside.
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the default generator over from a seed of the operating system's, and return that."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's state, uint8 of shape (5056,): PyTorch's own bytes."""
    return default_generator.get_state()


def set_rng_state(new_state) -> None:
    """Let the default generator continue from what `get_rng_state` gave. Raises as `Generator.set_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type=None):
    """Leave the default generator at the end as it was at the start.

    Args:
        devices, device_type: PyTorch's generators of accelerators; here all devices draw from the default one.
        enabled: False changes nothing.
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
