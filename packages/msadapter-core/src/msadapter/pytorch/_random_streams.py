"""PyTorch's CPU random streams: the numbers of PyTorch 2.13 from the same seed, draw for draw, on NumPy's MT19937.

`Stream` is what a `torch.Generator` holds. Each method is one PyTorch operator: it takes shapes, dtype names and
numbers, gives a NumPy array (bfloat16 values as float32), and leaves the generator where PyTorch's would be.
Every sample is bit for bit PyTorch's on a CPU with AVX2, but for what a method says.

`strides` (in elements, one a dimension) describe the tensor an in-place draw fills: PyTorch fills memory in its order
in storage, so a transposed tensor gets transposed numbers. Leave them out for a new, contiguous tensor.
"""

import contextlib
import functools
import math
import secrets
import threading
import warnings

import numpy as np

from msadapter.pytorch._random_math import (
    KINDS,
    box_muller,
    cast,
    fma32,
    fma64,
    libm,
    sample_binomial,
    sample_gamma,
    sample_poisson,
)

DEFAULT_SEED = (
    67280421310721  # of a new torch.Generator; torch's global generator starts from `seed()` instead
)

# The bytes of torch.get_rng_state(). A stream's words are 32 bits wide, yet stored in 64.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),  # words to go before the next twist, counting the one under way
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", 624),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),  # the kept normal
        ("normal_rho", "<f8"),
        ("has_normal", "<i4"),
        ("unused", "V12"),
    ]
)
_FRACTION24, _FRACTION53_HIGH = np.uint64(2**24 - 1), np.uint64(2**21 - 1)
_BLOCK = 32768  # words at a time: the temporaries stay in the cache
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_INTS = ("uint8", "int8", "int16", "int32", "int64")
_COMPLEX = {"complex64": "float32", "complex128": "float64"}
_INT64_MIN = -(2**63)


def _whole(method):
    """Run a draw under the stream's lock: threads that share a stream take whole draws in turn."""

    @functools.wraps(method)
    def locked(self, *args, **kwargs):
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class Stream:
    """A Mersenne twister and the normal it keeps for the next call.

    Args:
        seed: as for `manual_seed`.
    """

    def __init__(self, seed=DEFAULT_SEED):
        self._lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self.manual_seed(seed)

    # --- seed and state ---

    @_whole
    def manual_seed(self, seed):
        """Start over from `seed`, an int in [-2**63, 2**64); ValueError outside. Returns the stream."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"Overflow when unpacking long long: a seed is in [-2**63, 2**64), got {seed}")
        self._seed = int(seed) % 2**64
        np.random.RandomState(self._bits).seed(self._seed % 2**32)  # the twister takes the low half only
        self._kept = None
        return self

    def seed(self):
        """Start over from a seed of the operating system, and return it."""
        self.manual_seed(secrets.randbits(64))
        return self._seed

    def initial_seed(self):
        """The seed the stream started from, as an unsigned 64-bit int."""
        return self._seed

    @_whole
    def get_state(self):
        """The 5056 bytes of `torch.get_rng_state()`, uint8: PyTorch continues from them, and we from PyTorch's."""
        twister = self._bits.state["state"]
        position, words = twister["pos"], twister["key"]
        record = np.zeros(1, _STATE)
        record["seed"], record["seeded"], record["words"] = self._seed, 1, words
        record["left"] = 625 - position
        fresh = position == 624 and words[0] == self._seed % 2**32
        record["next"] = 0 if fresh else position
        if self._kept is not None:
            record["normal_y"], record["has_normal"] = self._kept, 1
        return record.view(np.uint8)

    @_whole
    def set_state(self, state):
        """Continue from the bytes of `get_state()`, ours or PyTorch's. RuntimeError for anything else."""
        state = np.ascontiguousarray(state, np.uint8)
        if state.size != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size "
                f"to be {state.size}"
            )
        record = state.reshape(-1).view(_STATE)[0]
        position = 625 - int(record["left"])
        if not record["seeded"] or not 1 <= position <= 624 or record["next"] not in (position, 0):
            raise RuntimeError(f"Invalid mt19937 state: left {record['left']}, next {record['next']}")
        words = record["words"].astype(np.uint32)
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": position}}
        self._seed = int(record["seed"])
        self._kept = float(record["normal_y"]) if record["has_normal"] else None

    def clone(self):
        """A stream of its own that continues from where this one is."""
        twin = Stream()
        twin.set_state(self.get_state())
        return twin

    # --- words and the uniforms made of them ---

    def _words(self, count):
        """One 32-bit word each, as uint64."""
        return self._bits.random_raw(count)

    def _wide_words(self, count):
        """Two words each, the first one high."""
        words = self._bits.random_raw(2 * count)
        return (words[::2] << np.uint64(32)) | words[1::2]

    def _floats(self, count):
        """float32 in [0, 1): the low 24 bits of one word."""
        values = np.empty(count, np.float32)
        for start in range(0, count, _BLOCK):
            part = values[start : start + _BLOCK]
            words = self._bits.random_raw(part.size)
            words &= _FRACTION24
            np.multiply(words.astype(np.int32), np.float32(2.0**-24), out=part, casting="unsafe")
        return values

    def _doubles(self, count):
        """float64 in [0, 1): the low 53 bits of two words, the first one high."""
        values = np.empty(count)
        for start in range(0, count, _BLOCK):
            part = values[start : start + _BLOCK]
            words = self._bits.random_raw(2 * part.size)
            wide = words[::2] & _FRACTION53_HIGH
            wide <<= np.uint64(32)
            wide |= words[1::2]
            np.multiply(wide.view(np.int64), 2.0**-53, out=part)
        return values

    @contextlib.contextmanager
    def _one_by_one(self):
        """A function that gives the next float64 uniform; what is not taken goes back to the stream."""
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

    # --- uniform and normal ---

    @_whole
    def uniform(self, shape, dtype="float32", low=0.0, high=1.0, strides=None):
        """`torch.rand` and `uniform_(low, high)` for floating and complex dtypes.

        Raises: NotImplementedError for other dtypes; RuntimeError for bounds out of order or out of the dtype's range.
        """
        if dtype in _COMPLEX:  # filled as pairs of reals
            return _as_complex(self.uniform, shape, dtype, low, high, strides=strides)
        kind = _supported(dtype, _FLOATS, "check_uniform_bounds")
        _check_uniform_bounds(low, high, kind)
        count = math.prod(shape)
        if dtype == "float64":  # u * (high - low) + low, fused, in float64 or else float32
            values = fma64(self._doubles(count), high - low, low)
        else:
            low, high = np.float32(low), np.float32(high)
            values = self._floats(count)
            if (low, high) != (0, 1):
                values = fma32(values, float(high - low), float(low))
            values = cast(values, dtype)
        low, high = cast(np.array([low, high]), dtype)
        np.copyto(
            values, low, where=values == high
        )  # `high` itself, which only rounding reaches, becomes `low`
        return _laid_out(values, shape, strides)

    @_whole
    def normal(self, shape, dtype="float32", mean=0.0, std=1.0, strides=None):
        """`torch.randn`, `normal_(mean, std)`, `torch.normal(mean, std, size)` for floating and complex dtypes.

        Raises: RuntimeError for a negative std; NotImplementedError for other dtypes.
        """
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        count = math.prod(shape)
        if dtype in _COMPLEX:  # the variance is shared by the two parts
            return _as_complex(self.normal, shape, dtype, mean, std / math.sqrt(2), strides=strides)
        _supported(dtype, _FLOATS, "normal_kernel_cpu")
        if count >= 16 and _is_contiguous(shape, strides):
            values = self._normals_in_blocks(count, dtype, mean, std)
        else:
            values = cast(fma64(self._normals_in_pairs(count), std, mean), dtype)
        return _laid_out(values, shape, strides)

    def _normals_in_blocks(self, count, dtype, mean, std):
        """Blocks of 16; where they don't come out even, 16 new uniforms make the last 16 values again."""
        real = np.float64 if dtype == "float64" else np.float32
        draw = self._doubles if dtype == "float64" else self._floats
        even = count - count % 16
        uniforms = draw(count if KINDS[dtype].store == real and dtype != "bfloat16" else even)
        mean, std = float(real(mean)), float(real(std))
        values = np.empty(count, real)
        values[:even] = box_muller(uniforms[:even], mean, std)
        if even < count:
            values[-16:] = box_muller(draw(16), mean, std)
        return cast(values, dtype)

    def _normals_in_pairs(self, count):
        """float64 pairs: u1 the angle, u2 the radius, cosine first; a sine left over is kept for the next call."""
        values = np.empty(count)
        if not count:
            return values
        start = 0
        if self._kept is not None:
            values[0], start, self._kept = self._kept, 1, None
        pairs = self._doubles(2 * ((count - start + 1) // 2)).reshape(-1, 2)
        radius = np.sqrt(-2.0 * libm(np.log1p, -pairs[:, 1], exact=True))
        angle = 2 * math.pi * pairs[:, 0]
        made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
        values[start:] = made[: count - start]
        if made.size > count - start:
            self._kept = float(made[-1])
        return values

    @_whole
    def normal_around(self, mean, std, dtype="float32"):
        """`torch.normal(mean, std)` with an array for mean, std or both; they broadcast, `dtype` is the result's.

        A standard normal is drawn, multiplied, rounded, then moved; a std that is a number goes into the draw.
        Raises: RuntimeError for a negative std; NotImplementedError as `normal`.
        """
        if np.iscomplexobj(std):
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if not np.all(np.asarray(std) >= 0) and np.ndim(std):
            raise RuntimeError("normal expects all elements of std >= 0.0")
        shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
        if not isinstance(std, np.ndarray):
            return _combined(np.add, self.normal(shape, dtype, 0.0, std), mean, dtype)
        return _combined(np.add, _combined(np.multiply, self.normal(shape, dtype), std, dtype), mean, dtype)

    @_whole
    def log_normal(self, shape, dtype="float32", mean=1.0, std=2.0, strides=None):
        """`log_normal_(mean, std)`: exp of a normal drawn in pairs, whatever the size.

        Raises: RuntimeError for std <= 0; NotImplementedError unless the dtype is floating.
        """
        if not std > 0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        _supported(dtype, _FLOATS, "log_normal_cpu")
        normals = fma64(self._normals_in_pairs(math.prod(shape)), std, mean)
        return _laid_out(cast(_quiet(libm, np.exp, normals, dtype == "float64"), dtype), shape, strides)

    # --- other continuous distributions: one float64 uniform each ---

    @_whole
    def exponential(self, shape, dtype="float32", lambd=1.0, strides=None):
        """`exponential_(lambd)`: -log(1 - u) / lambd. RuntimeError for lambd <= 0 and for dtypes not floating."""
        if not lambd > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
        if dtype not in _FLOATS:
            raise RuntimeError(_CONTINUOUS.format("Exponential", KINDS[dtype].scalar))
        logs = libm(np.log1p, -self._doubles(math.prod(shape)), dtype == "float64")
        return _laid_out(cast((-1.0 / lambd) * logs, dtype), shape, strides)

    @_whole
    def cauchy(self, shape, dtype="float32", median=0.0, sigma=1.0, strides=None):
        """`cauchy_(median, sigma)`: the tangent of a uniform angle. RuntimeError for sigma <= 0 or other dtypes."""
        if not sigma > 0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        if dtype not in _FLOATS:
            raise RuntimeError(_CONTINUOUS.format("Cauchy", KINDS[dtype].ctype))
        tangents = libm(np.tan, math.pi * (self._doubles(math.prod(shape)) - 0.5), dtype == "float64")
        return _laid_out(cast(fma64(tangents, sigma, median), dtype), shape, strides)

    @_whole
    def geometric(self, shape, dtype="float32", p=0.5, strides=None):
        """`geometric_(p)`: ceil(log(u) / log(1 - p)). RuntimeError unless 0 < p < 1; complex and bool have none."""
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        _supported(dtype, _FLOATS + _INTS, "geometric_cpu")
        trials = np.ceil(_quiet(np.log, self._doubles(math.prod(shape))) / math.log1p(-p))
        return _laid_out(cast(trials, dtype), shape, strides)

    @_whole
    def rrelu_noise(self, values, lower, upper):
        """The slopes `rrelu` draws in training: one uniform for each value <= 0 (float32 or float64), 1 elsewhere."""
        noise = np.ones(values.shape, values.dtype)
        chosen = values <= 0
        low, high = (float(values.dtype.type(bound)) for bound in (lower, upper))
        noise[chosen] = self._doubles(int(chosen.sum())) * (high - low) + low
        return noise

    # --- coins ---

    @_whole
    def bernoulli_p(self, shape, p, strides=None):
        """`bernoulli_(p)` with a number, hence dropout with p = 1 - drop: bool, `u < p` with a float64 uniform each.

        Raises: RuntimeError unless 0 <= p <= 1.
        """
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return _laid_out(self._doubles(math.prod(shape)) < p, shape, strides)

    @_whole
    def bernoulli(self, p, shape=None, strides=None):
        """`torch.bernoulli(p)` and `bernoulli_(p)` with an array: bool, `u < p`, the uniform as wide as p's dtype.

        A float64 p takes float64 uniforms, a narrower one float32. `shape` is the filled tensor's, to which p expands.
        Raises: RuntimeError for a p outside [0, 1]; NotImplementedError unless p's dtype is floating.
        """
        _supported(p.dtype.name, _FLOATS, "bernoulli_tensor_cpu_p_")
        if not np.all((p >= 0) & (p <= 1)):
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false: a probability of "
                               f"{p[~((p >= 0) & (p <= 1))][0]:g}")  # fmt: skip
        shape = p.shape if shape is None else shape
        draw = self._doubles if p.dtype == np.float64 else self._floats
        return _laid_out(draw(math.prod(shape)), shape, strides) < p

    @_whole
    def dropout_mask(self, shape, p, *, features=False, strides=None):
        """What dropout keeps of an input, bool; with `features`, one draw a channel: shape (N, C, 1, ...).

        `dropout`, `alpha_dropout` and `feature_dropout` alike draw nothing for p = 0, p = 1 or an empty input, and lay
        their mask out as the input. Raises: RuntimeError for p outside [0, 1], or features of fewer than 2 dimensions.
        """
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        if features:
            if len(shape) < 2:
                raise RuntimeError(
                    f"Feature dropout requires at least 2 dimensions in the input, got {len(shape)}"
                )
            shape, strides = (*shape[:2], *(1 for _ in shape[2:])), None
        if p in (0, 1):
            return np.full(shape, p == 0)
        return self.bernoulli_p(shape, 1 - p, strides)

    # --- whole numbers ---

    @_whole
    def randint(self, low, high, shape, dtype="int64", strides=None):
        """`torch.randint(low, high)` and `random_(low, high)`; `high=None` goes up to the dtype's largest value.

        One word modulo the range below 2**28, two from there. Floating dtypes move both ends inwards to values they
        hold, and warn beyond the whole numbers they hold without gaps.
        Raises: RuntimeError for an empty range, for ends out of the dtype's range, for complex dtypes.
        """
        count = math.prod(shape)
        if high is None and low == _INT64_MIN:
            return _laid_out(self._all_64_bits(count, dtype), shape, strides)
        low, high = _check_range(int(low), high, dtype)
        span = high - low
        words = self._words(count) if span < 2**28 else self._wide_words(count)
        values = (words % np.uint64(span)).view(np.int64)
        values += np.int64(low)
        return _laid_out(cast(values, dtype), shape, strides)

    def _all_64_bits(self, count, dtype):
        """`random_(-2**63, None)`: two words, as they are."""
        _supported(
            dtype, tuple(name for name in KINDS if name != "float16"), "random_full_64_bits_range_kernel_cpu"
        )
        if dtype not in ("int64", "float64", "float32", "bfloat16"):
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16, "
                f"got {KINDS[dtype].scalar}"
            )
        return cast(self._wide_words(count).view(np.int64), dtype)

    @_whole
    def random(self, shape, dtype="int64", strides=None):
        """`random_()`: over the dtype's whole numbers from 0 to the largest, or 2**digits for floating dtypes.

        Two words for int64 and float64, one for the others. NotImplementedError for complex and wider unsigned dtypes.
        """
        kind = _supported(dtype, (*_FLOATS, *_INTS, "bool"), "random_kernel_cpu")
        count = math.prod(shape)
        words = self._wide_words(count) if dtype in ("int64", "float64") else self._words(count)
        largest = 2**kind.digits if kind.digits else 1 if dtype == "bool" else int(np.iinfo(kind.store).max)
        values = (words % np.uint64(largest + 1)).view(np.int64)
        return _laid_out(cast(values, dtype), shape, strides)

    @_whole
    def randperm(self, n):
        """`torch.randperm(n)`, int64 whatever dtype is asked for: place i is exchanged with i + word % (n - i)."""
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        if n < 2:
            return np.arange(n)
        words = self._words(n - 1) if n < _RANDPERM_WIDE else self._wide_words(n - 1)
        offsets = words % np.arange(n, 1, -1, dtype=np.uint64)
        places = (np.arange(n - 1, dtype=np.uint64) + offsets).tolist()
        order = list(range(n))
        for i, j in enumerate(places):
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    # --- choices and counts ---

    @_whole
    def multinomial(self, prob, num_samples, replacement=False, dtype="float32", strides=None):
        """`torch.multinomial` of prob, shape (n,) or (m, n), `dtype` its name (bfloat16 as float32): int64 indices.

        One sample, or samples without replacement: the largest of prob / exponential, drawn in prob's layout. With
        replacement: a float64 uniform each, searched for in the running sums. Where quotients tie in samples without
        replacement (several zeros, bfloat16), the lower index comes first; PyTorch's order among equals differs.
        Raises: RuntimeError as PyTorch for bad shapes, counts and probabilities.
        """
        _check_multinomial(prob, num_samples, replacement, dtype)
        rows = prob.shape[:-1]
        if not math.prod(rows):
            return np.empty((*rows, num_samples), np.int64)
        if not replacement or num_samples == 1:
            quotients = cast(prob / self.exponential(prob.shape, dtype, strides=strides), dtype)
            return np.argsort(-quotients, axis=-1, kind="stable")[..., :num_samples]
        running = np.add.accumulate(prob.astype(np.float64 if dtype == "float64" else np.float32), axis=-1)
        running /= running[..., -1:].copy()
        running[..., -1] = 1
        uniforms = self._doubles(math.prod(rows) * num_samples).reshape(-1, num_samples)
        found = [
            np.searchsorted(row, u)
            for row, u in zip(running.reshape(-1, prob.shape[-1]), uniforms, strict=True)
        ]
        return np.array(found, np.int64).reshape(*rows, num_samples)

    @_whole
    def poisson(self, rates, dtype="float32"):
        """`torch.poisson(rates)`, value by value. RuntimeError for a negative or NaN rate; floating dtypes only."""
        _supported(dtype, _FLOATS, "poisson_cpu")
        if not np.all(rates >= 0):
            raise RuntimeError(
                f"invalid Poisson rate, expected rate to be non-negative, got {rates[~(rates >= 0)][0]:g}"
            )
        with self._one_by_one() as uniform:
            counts = [sample_poisson(rate, uniform) for rate in rates.ravel().tolist()]
        return cast(np.array(counts, np.float64), dtype).reshape(rates.shape)

    @_whole
    def binomial(self, count, prob):
        """`torch.binomial(count, prob)`, float32 or float64, of one shape and dtype; value by value."""
        _supported(count.dtype.name, ("float32", "float64"), "binomial_cpu")
        with self._one_by_one() as uniform:
            values = [
                sample_binomial(n, p, uniform) for n, p in zip(count.ravel(), prob.ravel(), strict=True)
            ]
        return np.array(values, count.dtype).reshape(count.shape)

    @_whole
    def gamma(self, alpha):
        """`torch._standard_gamma(alpha)`, float32 or float64, value by value; at least the smallest normal number.

        Raises: RuntimeError for a negative or NaN alpha, where PyTorch returns a number without meaning.
        """
        _supported(alpha.dtype.name, ("float32", "float64"), "gamma_cpu")
        if not np.all(alpha >= 0):
            raise RuntimeError(f"_standard_gamma expects alpha >= 0, got {alpha[~(alpha >= 0)][0]:g}")
        with self._one_by_one() as uniform:
            normal = functools.partial(self._next_normal, uniform)
            values = [sample_gamma(value, uniform, normal) for value in alpha.ravel()]
        values = np.array(values, np.float64).reshape(alpha.shape).astype(alpha.dtype)
        return np.maximum(values, np.finfo(alpha.dtype).tiny)

    def _next_normal(self, uniform):
        """One standard normal of `_normals_in_pairs`, from uniforms taken one by one."""
        value, self._kept = self._kept, None
        if value is None:
            u1, u2 = uniform(), uniform()
            radius = math.sqrt(-2.0 * math.log1p(-u2))
            angle = 2 * math.pi * u1
            value, self._kept = radius * math.cos(angle), radius * math.sin(angle)
        return value

    @_whole
    def dirichlet(self, alpha):
        """`torch._sample_dirichlet(alpha)`: float64 gammas divided by their sum over the last axis.

        The sum is NumPy's, so values may differ from PyTorch's in the last bit.
        """
        gammas = self.gamma(alpha.astype(np.float64))
        shares = (gammas / gammas.sum(axis=-1, keepdims=True)).astype(alpha.dtype)
        one, zero = alpha.dtype.type(1), alpha.dtype.type(0)
        return np.clip(shares, np.finfo(alpha.dtype).tiny, np.nextafter(one, zero))


_RANDPERM_WIDE = (2**32 - 1) // 20  # from here one word is too coarse for PyTorch
_CONTINUOUS = "{} distribution is a continuous probability distribution. dtype must be a floating point but you specified {}"


def _supported(dtype, names, kernel):
    """The kind of `dtype`; NotImplementedError, worded as PyTorch's, if the kernel has no such type."""
    if dtype not in names:
        scalar = KINDS[dtype].scalar if dtype in KINDS else dtype
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar}'")
    return KINDS[dtype]


def _quiet(function, *args):
    """A call in which infinity is a result like any other."""
    with np.errstate(all="ignore"):
        return function(*args)


def _check_uniform_bounds(low, high, kind):
    for name, value in (("from", low), ("to", high)):
        if not -kind.max <= value <= kind.max:
            raise RuntimeError(f"{name} is out of bounds for {kind.ctype}: got {value:g}")
    if not low <= high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if not high - low <= kind.max:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{kind.scalar}>::max(), but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit"
        )


def _check_range(low, high, dtype):
    """The ends [low, high) `randint` draws from, after what PyTorch does to them and its checks."""
    kind = KINDS[dtype]
    if high is not None and not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype in _COMPLEX:
        raise RuntimeError(
            f"check_random_bounds handles only integral, floating-point and boolean types, got {kind.scalar}"
        )
    if kind.digits:
        smallest, largest = -kind.max, kind.max
        low, high = _held_ends(low, high, dtype)
    elif dtype == "bool":
        smallest, largest = 0, 1
    else:
        smallest, largest = (int(end) for end in (np.iinfo(kind.store).min, np.iinfo(kind.store).max))
    if high is None:
        high = largest + 1
    largest = min(largest, 2**63 - 1)  # an end travels as int64
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not smallest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {kind.ctype}: got {value}")
        if kind.digits and abs(value) > 2**kind.digits:
            warnings.warn(
                f"{name} is out of bounds [-(2^{kind.digits}), 2^{kind.digits}]. {kind.ctype} holds whole numbers "
                f"without gaps only within this range, got {value}",
                stacklevel=5,
            )
    return low, high


def _held_ends(low, high, dtype):
    """`low` and `high` moved inwards where converting a drawn number to `dtype` could round it out of the range."""
    digits = KINDS[dtype].digits
    above = _held(low + 1, dtype)
    if above < low:
        low = above + 2 ** (abs(low + 1).bit_length() - digits)
    if high is None:
        if not low < 2**digits:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
                f"but got from={low} > to_inc={2**digits}"
            )
        return low, 2**digits + 1
    below = _held(high - 1, dtype)
    if below >= high:
        high = below - 2 ** (abs(high - 1).bit_length() - digits)
    if not low < high:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
            f"but got from={low} >= to={high}"
        )
    return low, high


def _held(value, dtype):
    """A whole number as `dtype` holds it."""
    value = float(cast(np.array([value], np.int64), dtype)[0])
    return int(value) if math.isfinite(value) else 2**63 * (1 if value > 0 else -1)


def _check_multinomial(prob, num_samples, replacement, dtype):
    if prob.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {prob.ndim}")
    if dtype not in _FLOATS:
        scalar = KINDS[dtype].scalar
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {scalar}")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    categories = prob.shape[-1]
    if not replacement and num_samples > categories:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement, "
            f"got {num_samples} of {categories}"
        )
    if categories > 2**24:
        raise RuntimeError(f"number of categories cannot exceed 2^24, got {categories}")
    if not np.all((prob >= 0) & (prob < np.inf)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.all(prob.sum(axis=-1) > 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


# --- layout ---


def _laid_out(values, shape, strides):
    """Flat `values` as an array of `shape` whose elements, taken in the order of `strides`, are the values."""
    if _is_contiguous(shape, strides):
        return values.reshape(shape)
    order = _memory_order(shape, strides)
    return values.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))


def _is_contiguous(shape, strides):
    if strides is None or 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _memory_order(shape, strides):
    """The axes, slowest first. An axis of stride 0 stays where it is, as in PyTorch's TensorIterator."""
    axes = list(reversed(range(len(shape))))
    for end in range(1, len(axes)):
        here = end
        for before in reversed(range(end)):
            earlier, later = axes[before], axes[here]
            if 0 in (strides[earlier], strides[later]):
                continue
            if (strides[earlier], shape[earlier]) > (strides[later], shape[later]):
                axes[before], axes[here] = later, earlier
                here = before
            elif strides[earlier] < strides[later]:
                break
    return axes[::-1]


def _as_complex(draw, shape, dtype, *args, strides):
    """A complex draw: pairs of reals, as `torch.view_as_real` lays them out."""
    if strides is not None:
        strides = (*(2 * stride for stride in strides), 1)
    pairs = draw((*shape, 2), _COMPLEX[dtype], *args, strides=strides)
    return np.ascontiguousarray(pairs).view(KINDS[dtype].store)[..., 0]


def _combined(ufunc, values, operand, dtype):
    """`values.op_(operand)` in PyTorch: a number or 0-d array takes the dtype of an array with dimensions."""
    operand = np.asarray(operand)
    if not operand.ndim and values.ndim and operand.dtype.kind == "f":
        operand = operand.astype(values.dtype)
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    return cast(ufunc(values, operand), dtype)
