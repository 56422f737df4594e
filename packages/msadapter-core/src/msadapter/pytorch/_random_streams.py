"""PyTorch's CPU random numbers, draw for draw, from the same seed: the measure is PyTorch 2.13.

`Stream` is what a `torch.Generator` holds. A method is one PyTorch operator: it takes shapes, dtype names and
numbers, gives a NumPy array (bfloat16 values in float32), and leaves the stream where PyTorch's would be.
Values are PyTorch's bit for bit on a CPU with AVX2, except where a method says otherwise.

`strides`, in elements, are those of the tensor an in-place draw fills: PyTorch fills memory in its order in
storage, so a transposed tensor gets its numbers transposed. Leave them out for a new, contiguous tensor.
"""

import functools
import math

import numpy as np

from msadapter.pytorch._random_arguments import (
    COMPLEX,
    FLOATS,
    INTS,
    KINDS,
    cast,
    check_continuous,
    check_dtype,
    check_each,
    check_multinomial,
    check_uniform_bounds,
    check_whole_range,
    draw_complex,
    is_contiguous,
    laid_out,
    whole_range,
)
from msadapter.pytorch._random_math import (
    box_muller,
    fma32,
    fma64,
    libm,
    sample_binomial,
    sample_gamma,
    sample_poisson,
)
from msadapter.pytorch._random_twister import Twister, whole_draw

_RANDPERM_LIMIT = (2**32 - 1) // 20  # where PyTorch finds one word too coarse and shuffles another way


class Stream(Twister):
    """A generator and what PyTorch draws from it; constructed as `Twister`."""

    # --- uniform and normal ---

    @whole_draw
    def uniform(self, shape, dtype="float32", low=0.0, high=1.0, strides=None):
        """`torch.rand` and `uniform_(low, high)`: u * (high - low) + low, fused; `high` itself becomes `low`.

        Raises: NotImplementedError unless the dtype is floating or complex; RuntimeError for bounds out of
            order or beyond the dtype's range.
        """
        if dtype in COMPLEX:
            return draw_complex(self.uniform, shape, dtype, low, high, strides=strides)
        check_dtype(dtype, FLOATS, "check_uniform_bounds")
        check_uniform_bounds(low, high, dtype)
        values = self._doubles(math.prod(shape)) if dtype == "float64" else self._floats(math.prod(shape))
        if (low, high) != (0, 1) or dtype in ("float16", "bfloat16"):
            values = _stretched(values, low, high, dtype)
        return laid_out(values, shape, strides)

    @whole_draw
    def normal(self, shape, dtype="float32", mean=0.0, std=1.0, strides=None):
        """`torch.randn`, `normal_(mean, std)`, `torch.normal(mean, std, size)`.

        In blocks from 16 contiguous values on, otherwise in pairs; complex parts share the variance.
        Raises: RuntimeError for a negative std; NotImplementedError unless the dtype is floating or complex.
        """
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        if dtype in COMPLEX:
            return draw_complex(self.normal, shape, dtype, mean, std / math.sqrt(2), strides=strides)
        check_dtype(dtype, FLOATS, "normal_kernel_cpu")
        count = math.prod(shape)
        if count >= 16 and is_contiguous(shape, strides):
            values = self._normals_in_blocks(count, dtype, mean, std)
        else:
            values = fma64(self._normals_in_pairs(count), std, mean)
        return laid_out(cast(values, dtype), shape, strides)

    def _normals_in_blocks(self, count, dtype, mean, std):
        """Blocks of 16 uniforms; where they don't come out even, 16 more make the last 16 values anew."""
        real, draw = (np.float64, self._doubles) if dtype == "float64" else (np.float32, self._floats)
        even = count - count % 16
        uniforms = draw(count if dtype in ("float32", "float64") else even)  # the narrow dtypes skip the rest
        mean, std = float(real(mean)), float(real(std))
        values = np.empty(count, real)
        values[:even] = box_muller(uniforms[:even], mean, std)
        if even < count:
            values[-16:] = box_muller(draw(16), mean, std)
        return values

    def _normals_in_pairs(self, count):
        """float64 from pairs: u1 the angle, u2 the radius, cosine first; a sine left over is kept."""
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

    @whole_draw
    def normal_around(self, mean, std, dtype="float32"):
        """`torch.normal(mean, std)` with an array for mean, std or both, which broadcast.

        A standard normal times an array of stds, rounded, plus the mean; a number is std of the draw itself.
        Raises: RuntimeError for a negative std; as `normal` for a dtype, which is the result's.
        """
        shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
        if isinstance(std, np.ndarray):
            if np.iscomplexobj(std):
                raise RuntimeError(f"normal expects standard deviation to be non-complex, got {std.dtype}")
            check_each(std, std >= 0, "normal expects all elements of std >= 0.0")
            values = cast(_mixed(np.multiply, self.normal(shape, dtype), std), dtype)
        else:
            values = self.normal(shape, dtype, 0.0, std)
        return cast(_mixed(np.add, values, cast(np.asarray(mean), dtype)), dtype)

    @whole_draw
    def log_normal(self, shape, dtype="float32", mean=1.0, std=2.0, strides=None):
        """`log_normal_(mean, std)`: exp of a normal drawn in pairs, whatever the size.

        Raises: RuntimeError for std <= 0; NotImplementedError unless the dtype is floating.
        """
        if not std > 0:
            raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        check_dtype(dtype, FLOATS, "log_normal_cpu")
        normals = fma64(self._normals_in_pairs(math.prod(shape)), std, mean)
        with np.errstate(over="ignore"):
            values = libm(np.exp, normals, exact=dtype == "float64")
        return laid_out(cast(values, dtype), shape, strides)

    # --- other continuous distributions, of one float64 uniform each ---

    @whole_draw
    def exponential(self, shape, dtype="float32", lambd=1.0, strides=None):
        """`exponential_(lambd)`: -1 / lambd * log1p(-u).

        Raises: RuntimeError for lambd <= 0 or a dtype not floating.
        """
        if not lambd > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
        check_continuous(dtype, "Exponential", KINDS[dtype].scalar)
        logs = libm(np.log1p, -self._doubles(math.prod(shape)), exact=dtype == "float64")
        return laid_out(cast(-1.0 / lambd * logs, dtype), shape, strides)

    @whole_draw
    def cauchy(self, shape, dtype="float32", median=0.0, sigma=1.0, strides=None):
        """`cauchy_(median, sigma)`: median + sigma * tan(pi * (u - 0.5)), fused.

        Raises: RuntimeError for sigma <= 0 or a dtype not floating.
        """
        if not sigma > 0:
            raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        check_continuous(dtype, "Cauchy", KINDS[dtype].ctype)
        angles = math.pi * (self._doubles(math.prod(shape)) - 0.5)
        values = fma64(libm(np.tan, angles, exact=dtype == "float64"), sigma, median)
        return laid_out(cast(values, dtype), shape, strides)

    @whole_draw
    def geometric(self, shape, dtype="float32", p=0.5, strides=None):
        """`geometric_(p)`: ceil(log(u) / log1p(-p)).

        Raises: RuntimeError unless 0 < p < 1; NotImplementedError unless the dtype is floating or integer.
        """
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        check_dtype(dtype, FLOATS + INTS, "geometric_cpu")
        with np.errstate(divide="ignore"):  # the log of a zero
            trials = np.ceil(np.log(self._doubles(math.prod(shape))) / math.log1p(-p))
        return laid_out(cast(trials, dtype), shape, strides)

    @whole_draw
    def rrelu_noise(self, values, lower, upper):
        """The slopes of `rrelu` in training: u * (upper - lower) + lower where a value is <= 0, elsewhere 1.

        Drawn in row-major order, at values <= 0 only; values are float32 or float64, as is the result.
        """
        noise = np.ones(values.shape, values.dtype)
        chosen = values <= 0
        low, high = (float(values.dtype.type(bound)) for bound in (lower, upper))
        noise[chosen] = self._doubles(np.count_nonzero(chosen)) * (high - low) + low
        return noise

    # --- coins ---

    @whole_draw
    def bernoulli_p(self, shape, p, strides=None):
        """`bernoulli_(p)` with a number: bool, u < p with a float64 uniform each.

        Raises: RuntimeError unless 0 <= p <= 1.
        """
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return laid_out(self._doubles(math.prod(shape)) < p, shape, strides)

    @whole_draw
    def bernoulli(self, p, shape=None, strides=None):
        """`torch.bernoulli(p)`, `bernoulli_(p)` with an array: bool, u < p, with a float32 uniform each.

        A float64 p takes float64 uniforms. `shape` is that of the tensor to fill, to which p expands.
        Raises: RuntimeError for a p outside [0, 1]; NotImplementedError unless p's dtype is floating.
        """
        check_dtype(p.dtype.name, FLOATS, "bernoulli_tensor_cpu_p_")
        check_each(p, (p >= 0) & (p <= 1), "Expected p_in >= 0 && p_in <= 1 to be true, but got false")
        shape = p.shape if shape is None else shape
        draw = self._doubles if p.dtype == np.float64 else self._floats
        return laid_out(draw(math.prod(shape)), shape, strides) < p

    @whole_draw
    def dropout_mask(self, shape, p, *, features=False, strides=None):
        """What `dropout` and `alpha_dropout` keep of an input, bool: `bernoulli_p` of 1 - p in its layout.

        With `features`, one draw a channel: shape (N, C, 1, ...). For p = 0, p = 1 and no input, no draw.
        Raises: RuntimeError for p outside [0, 1], and for features of fewer than 2 dimensions.
        """
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        empty = 0 in shape
        if features:
            if len(shape) < 2:
                raise RuntimeError(
                    f"Feature dropout requires at least 2 dimensions in the input, got {len(shape)}"
                )
            shape, strides = (*shape[:2], *(1 for _ in shape[2:])), None
        if empty or p in (0, 1):
            return np.full(shape, p < 1)
        return self.bernoulli_p(shape, 1 - p, strides)

    # --- whole numbers ---

    @whole_draw
    def randint(self, low, high, shape, dtype="int64", strides=None):
        """`torch.randint`, `random_(low, high)`: low + word % range, two words from 2**28 on.

        `high=None` goes up to the dtype's largest. Floating dtypes move the ends inwards to values they hold,
        and warn beyond the whole numbers they hold without gaps.
        Raises: RuntimeError for an empty range, ends beyond the dtype's range, complex dtypes.
        """
        count = math.prod(shape)
        if high is None and low == -(2**63):
            return laid_out(self._all_64_bits(count, dtype), shape, strides)
        low, high = check_whole_range(low, high, dtype)
        words = self._words(count) if high - low < 2**28 else self._wide_words(count)
        words %= np.uint64(high - low)
        values = words.view(np.int64)
        values += np.int64(low)
        return laid_out(cast(values, dtype), shape, strides)

    def _all_64_bits(self, count, dtype):
        """`random_(-2**63, None)`: two words each, as they are."""
        kernel = "random_full_64_bits_range_kernel_cpu"
        check_dtype(dtype, ("bfloat16", "float32", "float64", *INTS), kernel)
        if dtype in INTS and dtype != "int64":
            raise RuntimeError(f"{kernel} handles only int64, double, float and bfloat16, got {dtype}")
        return cast(self._wide_words(count).view(np.int64), dtype)

    @whole_draw
    def random(self, shape, dtype="int64", strides=None):
        """`random_()`: word % (largest + 1), the largest of a floating dtype being 2**digits.

        Two words each for int64 and float64. NotImplementedError for complex and the wider unsigned dtypes.
        """
        check_dtype(dtype, (*FLOATS, *INTS, "bool"), "random_kernel_cpu")
        count = math.prod(shape)
        words = self._wide_words(count) if dtype in ("int64", "float64") else self._words(count)
        largest = 2 ** KINDS[dtype].digits if dtype in FLOATS else whole_range(dtype)[1]
        words %= np.uint64(largest + 1)
        return laid_out(cast(words.view(np.int64), dtype), shape, strides)

    @whole_draw
    def randperm(self, n):
        """`torch.randperm(n)`, int64, whatever its dtype: place i changes with place i + word % (n - i).

        Raises: RuntimeError for n < 0, and from 214748364 on.
        """
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        if n < 2:
            return np.arange(n)
        if n >= _RANDPERM_LIMIT:
            raise RuntimeError(
                f"torch.randperm: PyTorch's order from {_RANDPERM_LIMIT} on is not reproduced; permute in parts, or "
                f"use numpy.random.Generator.permutation, got n={n}"
            )
        words = self._words(n - 1)
        words %= np.arange(n, 1, -1, dtype=np.uint64)
        words += np.arange(n - 1, dtype=np.uint64)
        order = list(range(n))
        for i, j in enumerate(words.tolist()):
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    # --- choices and counts ---

    @whole_draw
    def multinomial(self, prob, num_samples, replacement=False, dtype="float32", strides=None):
        """`torch.multinomial` of prob, shape (n,) or (m, n): int64 indices; `dtype` and `strides` are prob's.

        One sample, or several without replacement: the largest of prob / exponential. With replacement: a
        float64 uniform each, looked up in the running sums. Without replacement, equal quotients (zeros;
        bfloat16 or thousands of samples) come out in the order of their indices, which isn't PyTorch's.
        Raises: RuntimeError for shapes, counts and probabilities PyTorch refuses.
        """
        check_multinomial(prob, num_samples, replacement, dtype)
        if not replacement or num_samples == 1:
            with np.errstate(over="ignore"):
                quotients = cast(prob / self.exponential(prob.shape, dtype, strides=strides), dtype)
            return np.argsort(-quotients, axis=-1, kind="stable")[..., :num_samples]
        running = np.add.accumulate(prob, axis=-1, dtype=np.float64 if dtype == "float64" else np.float32)
        running /= running[..., -1:].copy()
        running[..., -1] = 1
        rows = running.reshape(math.prod(prob.shape[:-1]), prob.shape[-1])
        uniforms = self._doubles(len(rows) * num_samples).reshape(len(rows), num_samples)
        chosen = [np.searchsorted(row, drawn) for row, drawn in zip(rows, uniforms, strict=True)]
        return np.array(chosen, np.int64).reshape(*prob.shape[:-1], num_samples)

    @whole_draw
    def poisson(self, rates, dtype="float32"):
        """`torch.poisson(rates)`, one by one; `dtype` is the name of the rates' own.

        Raises: RuntimeError for a negative, NaN or infinite rate; NotImplementedError for other dtypes.
        """
        check_dtype(dtype, FLOATS, "poisson_cpu")
        check_each(
            rates, (rates >= 0) & (rates < np.inf), "invalid Poisson rate, expected rate to be non-negative"
        )
        with self._one_by_one() as uniform:
            counts = [sample_poisson(rate, uniform) for rate in rates.ravel().tolist()]
        return cast(np.array(counts, np.float64), dtype).reshape(rates.shape)

    @whole_draw
    def binomial(self, count, prob):
        """`torch.binomial(count, prob)`, one by one; both float32 or both float64, of one shape.

        Raises: NotImplementedError for other dtypes; RuntimeError for a count PyTorch hangs on.
        """
        check_dtype(count.dtype.name, ("float32", "float64"), "binomial_cpu")
        check_each(count, np.isfinite(count), "binomial expects a finite number of trials")
        with self._one_by_one() as uniform:
            trials = zip(count.ravel(), prob.ravel(), strict=True)
            values = [sample_binomial(n, p, uniform) for n, p in trials]
        return np.array(values, count.dtype).reshape(count.shape)

    @whole_draw
    def gamma(self, alpha):
        """`torch._standard_gamma(alpha)`, one by one; float32 or float64, never below the smallest normal.

        Raises: NotImplementedError for other dtypes; RuntimeError for an alpha < 0, where PyTorch gives that
            smallest normal.
        """
        check_dtype(alpha.dtype.name, ("float32", "float64"), "gamma_cpu")
        check_each(alpha, alpha >= 0, "_standard_gamma expects alpha >= 0")
        with self._one_by_one() as uniform:
            normal = functools.partial(self._next_normal, uniform)
            values = [sample_gamma(value, uniform, normal) for value in alpha.ravel()]
        return np.maximum(np.array(values, alpha.dtype), np.finfo(alpha.dtype).tiny).reshape(alpha.shape)

    def _next_normal(self, uniform):
        """One value of `_normals_in_pairs`, from uniforms taken one by one."""
        value, self._kept = self._kept, None
        if value is None:
            angle = 2 * math.pi * uniform()
            radius = math.sqrt(-2.0 * math.log1p(-uniform()))
            value, self._kept = radius * math.cos(angle), radius * math.sin(angle)
        return value

    @whole_draw
    def dirichlet(self, alpha):
        """`torch._sample_dirichlet(alpha)`: float64 gammas divided by their sum over the last axis.

        The sum is NumPy's: float64 results may differ from PyTorch's in the last bit. Raises as `gamma`.
        """
        gammas = self.gamma(alpha.astype(np.float64))
        shares = (gammas / gammas.sum(axis=-1, keepdims=True)).astype(alpha.dtype)
        one, zero = alpha.dtype.type(1), alpha.dtype.type(0)
        return np.clip(shares, np.finfo(alpha.dtype).tiny, np.nextafter(one, zero))


def _stretched(values, low, high, dtype):
    """Uniforms in [0, 1) moved to [low, high); `high` itself, which only rounding reaches, becomes `low`."""
    if dtype == "float64":
        values = fma64(values, high - low, low)
    else:
        low, high = np.float32(low), np.float32(high)
        values = cast(fma32(values, float(high - low), float(low)), dtype)
    low, high = cast(np.array([low, high]), dtype)
    values[values == high] = low
    return values


def _mixed(ufunc, values, operand):
    """`ufunc` in the precision PyTorch uses: float16 is widened, a 0-d operand follows the values."""
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    if values.ndim and not operand.ndim:
        operand = operand.astype(values.dtype)
    return ufunc(values, operand)
