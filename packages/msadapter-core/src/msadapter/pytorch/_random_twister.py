"""PyTorch's CPU generator on NumPy's MT19937: its seeds, the bytes of its state, its words and uniforms."""

import contextlib
import functools
import secrets
import threading

import numpy as np

DEFAULT_SEED = 67280421310721  # a new torch.Generator's; torch's global generator starts from `seed()`

STATE = np.dtype(  # the bytes of torch.get_rng_state()
    [
        ("seed", "<u8"),
        ("left", "<i4"),  # words before the next twist, counting the one under way
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", 624),  # of 32 bits each
        ("unused_before", "<f8"),
        ("normal", "<f8"),
        ("unused_after", "<f8"),
        ("has_normal", "<i4"),
        ("unused", "V12"),
    ]
)
_BLOCK = 32768  # words at a time: the temporaries stay in the cache


def whole_draw(method):
    """Run a draw under the generator's lock: threads that share one take whole draws in turn."""

    @functools.wraps(method)
    def locked(self, *args, **kwargs):
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class Twister:
    """The state of a `torch.Generator`: a Mersenne twister, and the normal it keeps for the next call.

    Args:
        seed: as for `manual_seed`.
    """

    def __init__(self, seed=DEFAULT_SEED):
        self._lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self.manual_seed(seed)

    # --- seed and state ---

    @whole_draw
    def manual_seed(self, seed):
        """Start over from `seed`, an int in [-2**63, 2**64); ValueError outside. Returns the generator."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"Overflow when unpacking long long: a seed is in [-2**63, 2**64), got {seed}")
        self._seed = int(seed) % 2**64
        np.random.RandomState(self._bits).seed(self._seed % 2**32)  # the twister takes the low half only
        self._kept = None
        return self

    def seed(self):
        """Start over from a seed of the operating system's, and return it."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def initial_seed(self):
        """The seed the generator started from, as an unsigned 64-bit int."""
        return self._seed

    @whole_draw
    def get_state(self):
        """The 5056 bytes of `torch.get_rng_state()`, uint8; PyTorch can continue from them."""
        twister = self._bits.state["state"]
        position, words = twister["pos"], twister["key"]
        record = np.zeros(1, STATE)
        record["seed"], record["seeded"], record["words"] = self._seed, 1, words
        record["left"] = 625 - position
        # Seeding leaves the seed in the first word; PyTorch then counts from 0, NumPy from the end.
        fresh = position == 624 and words[0] == self._seed % 2**32
        record["next"] = 0 if fresh else position
        if self._kept is not None:
            record["normal"], record["has_normal"] = self._kept, 1
        return record.view(np.uint8)

    @whole_draw
    def set_state(self, state):
        """Continue from the bytes of `get_state()`, ours or PyTorch's. RuntimeError for any others."""
        state = np.ascontiguousarray(state, np.uint8).reshape(-1)
        if state.size != STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but found the input RNG state "
                f"size to be {state.size}"
            )
        record = state.view(STATE)[0]
        position = 625 - int(record["left"])
        if not record["seeded"] or not 1 <= position <= 624 or record["next"] not in (position, 0):
            raise RuntimeError(f"Invalid mt19937 state: left {record['left']}, next {record['next']}")
        words = record["words"].astype(np.uint32)
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": position}}
        self._seed = int(record["seed"])
        self._kept = float(record["normal"]) if record["has_normal"] else None

    def clone(self):
        """Another generator that continues from where this one is."""
        twin = type(self)()
        twin.set_state(self.get_state())
        return twin

    # --- words, and the uniforms made of them ---

    def _words(self, count):
        """One 32-bit word each, as uint64."""
        return self._bits.random_raw(count)

    def _wide_words(self, count):
        """Two words each, the first one high."""
        words = self._bits.random_raw(2 * count)
        wide = words[::2] << np.uint64(32)
        wide |= words[1::2]
        return wide

    def _floats(self, count):
        """float32 in [0, 1): the low 24 bits of one word."""
        values = np.empty(count, np.float32)
        for start in range(0, count, _BLOCK):
            part = values[start : start + _BLOCK]
            words = self._bits.random_raw(part.size)
            words &= np.uint64(2**24 - 1)
            np.multiply(words.astype(np.int32), np.float32(2.0**-24), out=part, casting="unsafe")
        return values

    def _doubles(self, count):
        """float64 in [0, 1): the low 53 bits of two words, the first one high."""
        values = np.empty(count)
        for start in range(0, count, _BLOCK):
            part = values[start : start + _BLOCK]
            words = self._bits.random_raw(2 * part.size)
            wide = words[::2] & np.uint64(2**21 - 1)
            wide <<= np.uint64(32)
            wide |= words[1::2]
            np.multiply(wide.view(np.int64), 2.0**-53, out=part)
        return values

    @contextlib.contextmanager
    def _one_by_one(self):
        """A function giving the next float64 uniform; of a block drawn ahead, the rest goes back."""
        start, taken = self._bits.state, 0

        def uniforms():
            nonlocal start, taken
            while True:
                start, taken = self._bits.state, 0
                for value in self._doubles(1024).tolist():
                    taken += 1
                    yield value

        try:
            yield uniforms().__next__
        finally:
            self._bits.state = start
            self._bits.random_raw(2 * taken, output=False)
