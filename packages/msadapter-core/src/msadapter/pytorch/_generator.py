"""torch.Generator, and the generator that draws where none is given.

Numbers are drawn on the host for every device, as PyTorch's CPU draws them: a seed gives the same numbers everywhere.
MindSpore's own random operators have a seed of their own, `mindspore.set_seed`.
"""

from msadapter.pytorch import _dtype
from msadapter.pytorch._device import check_device
from msadapter.pytorch._device import device as _device
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.native import MsTensor
from msadapter.pytorch._ops.registry import retag
from msadapter.pytorch._random_streams import Stream


class Generator:
    """A source of random numbers with a state of its own; the same seed gives PyTorch's numbers.

    Args:
        device: what `device` says of the generator; tensors of any device draw from it. Default: cpu.

    Attributes:
        stream: the `Stream` that operators draw from.
    """

    def __init__(self, device="cpu"):
        self._device = check_device(_device(device))
        self.stream = Stream()

    @property
    def device(self):
        """The torch.device the generator was made for."""
        return self._device

    def manual_seed(self, seed):
        """Start over from an int in [-2**63, 2**64), and return the generator.

        Raises RuntimeError for what is no int, ValueError outside the range.
        """
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        self.stream.manual_seed(seed)
        return self

    def seed(self):
        """Start over from a seed of the operating system's, and return that."""
        return self.stream.seed()

    def initial_seed(self):
        """The seed that the generator started from, as an unsigned 64-bit int."""
        return self.stream.initial_seed()

    def get_state(self):
        """The state, uint8 of shape (5056,): PyTorch's own bytes, which its generators can continue from."""
        return retag(native.from_numpy(self.stream.get_state()))

    def set_state(self, new_state):
        """Continue from what `get_state` gave, and return the generator.

        Raises TypeError for what is no uint8 tensor, RuntimeError for bytes that are no state.
        """
        if not isinstance(new_state, MsTensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if retag(new_state).dtype != _dtype.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor. Received: {new_state.dtype}")
        self.stream.set_state(storage.read_only_use(new_state))
        return self

    def clone_state(self):
        """Another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())

    def graphsafe_get_state(self):
        """Raises NotImplementedError, as PyTorch's CPU generator does."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state):
        """Raises NotImplementedError, as PyTorch's CPU generator does."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def get_offset(self):
        """Raises RuntimeError, as PyTorch's CPU generator does."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset):
        """Raises RuntimeError, as PyTorch's CPU generator does."""
        raise RuntimeError(f"CPU Generator does not use offset. Received: {offset}")

    def __repr__(self):
        return f"<torch.Generator object at {hex(id(self))}>"

    # PyTorch's pickled form: (seed, offset, state), of which a CPU generator needs the state alone.
    def __reduce__(self):
        return type(self), (self._device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state):
        self.set_state(state[-1])


default_generator = Generator()
default_generator.seed()


def stream_of(generator, name):
    """The stream to draw from: of `generator`, or of the default one for None.

    Raises TypeError, in the name of the operator, for what is no Generator.
    """
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}"
        )
    return generator.stream
