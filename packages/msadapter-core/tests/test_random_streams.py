"""PyTorch's random streams: every expected value was drawn by PyTorch 2.13 on a CPU with AVX2."""

import concurrent.futures
import zlib

import numpy as np
import pytest

from msadapter.pytorch import _random_twister
from msadapter.pytorch._random_streams import Stream

SEED = 1234


def case(method, first, checksum, after, **arguments):
    """A draw from a stream seeded with SEED: its first value, the CRC-32 of its bytes, and the word after it."""
    parts = (f"{name}={value}" for name, value in arguments.items() if not isinstance(value, np.ndarray))
    return pytest.param(method, first, checksum, after, arguments, id=f"{method}-{','.join(parts)}")


def checksum_of(values):
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


def next_word(stream):
    """Where the stream is: the low 24 bits of its next word."""
    return int(stream.randint(0, 2**24, ())[()])


CATEGORIES = np.array([0.1, 0.0, 0.4, 0.2, 0.3], np.float32)
EXACT = [
    case("uniform", 0.028979241847991943, 4160224929, 10086842, shape=(20,), dtype="float32"),
    case("uniform", 0.2318341720884639, 2712062429, 6892263, shape=(20,), dtype="float64"),
    case("uniform", 0.0289764404296875, 1035148571, 10086842, shape=(20,), dtype="float16"),
    case("uniform", 0.0289306640625, 199928484, 10086842, shape=(20,), dtype="bfloat16"),
    case(
        "uniform",
        (0.028979241847991943 + 0.4018985629081726j),
        1711267834,
        6892263,
        shape=(20,),
        dtype="complex64",
    ),
    case("uniform", -0.24204152822494507, 3829054920, 11437214, shape=(3, 5), low=-0.3, high=1.7),
    case(
        "uniform", 0.16366834417692783, 4148161936, 6892263, shape=(20,), dtype="float64", low=-0.3, high=1.7
    ),
    case("uniform", 1.03125, 1110029475, 3015071, shape=(3000,), dtype="bfloat16", low=1.0, high=2.0),
    case("uniform", 0.028979241847991943, 2606205253, 16215365, shape=(2, 3, 4), strides=(12, 1, 3)),
    case(
        "uniform",
        (0.028979241847991943 + 0.4018985629081726j),
        2018455784,
        12999834,
        shape=(3, 2),
        dtype="complex64",
        strides=(1, 3),
    ),
    case("normal", 0.0461304634809494, 839195179, 12999834, shape=(5,), dtype="float32"),
    case("normal", -0.1117185652256012, 1457346361, 4759276, shape=(16,), dtype="float32"),
    case("normal", -0.1117185652256012, 1944608417, 13195883, shape=(45,), dtype="float32"),
    case("normal", 0.046142578125, 1089240336, 12999834, shape=(5,), dtype="float16"),
    case("normal", -0.1116943359375, 3534110736, 4759276, shape=(16,), dtype="float16"),
    case("normal", -0.1116943359375, 46562458, 14828819, shape=(45,), dtype="float16"),
    case("normal", 0.046142578125, 1109710021, 12999834, shape=(5,), dtype="bfloat16"),
    case("normal", -0.11181640625, 2487886974, 4759276, shape=(16,), dtype="bfloat16"),
    case("normal", -0.11181640625, 2222055908, 14828819, shape=(45,), dtype="bfloat16"),
    case(
        "normal",
        (0.032619163393974304 + 0.2845417559146881j),
        3756322040,
        10086842,
        shape=(5,),
        dtype="complex64",
    ),
    case(
        "normal",
        (-0.07899695634841919 - 0.3511422276496887j),
        3176051473,
        13242096,
        shape=(16,),
        dtype="complex64",
    ),
    case(
        "normal",
        (-0.07899695634841919 - 0.3511422276496887j),
        4081453513,
        12274223,
        shape=(45,),
        dtype="complex64",
    ),
    case("normal", -0.1117185652256012, 103491465, 3767759, shape=(100000,)),
    case("normal", 0.4977656304836273, 4163231382, 5358378, shape=(64, 3, 3), mean=0.5, std=0.02),
    case("normal", 0.5009226202964783, 3489793376, 12999834, shape=(5,), mean=0.5, std=0.02),
    case("normal", 0.0461304634809494, 1067842178, 6892263, shape=(4, 5), strides=(1, 4)),
    case("normal", 0.0461304634809494, 3791140711, 6892263, shape=(4, 5), strides=(10, 2)),
    case(
        "normal_around",
        0.0230652317404747,
        2987451884,
        11304591,
        mean=np.arange(4, dtype=np.float32),
        std=0.5,
    ),
    case("normal_around", 0.25, 1219683868, 11304591, mean=0.25, std=np.arange(4, dtype=np.float32)),
    case(
        "normal_around",
        1.0,
        3315322437,
        1846286,
        mean=np.ones((2, 1), np.float32),
        std=np.arange(20, dtype=np.float32),
    ),
    case(
        "normal_around",
        0.11383056640625,
        2582730668,
        11304591,
        mean=np.full(3, 0.1, np.float16),
        std=np.full((), 0.3, np.float32),
        dtype="float16",
    ),
    case("log_normal", 1.667845368385315, 991754759, 6892263, shape=(20,), mean=0.5, std=0.25),
    case("exponential", 0.1758330911397934, 3279833616, 6892263, shape=(20,), lambd=1.5),
    case("exponential", 0.263671875, 3609119897, 9083520, shape=(3, 7), dtype="bfloat16", strides=(1, 3)),
    case("cauchy", 0.43940651416778564, 330397766, 6892263, shape=(20,), median=1.0, sigma=0.5),
    case("geometric", 7.0, 2258422182, 6892263, shape=(20,), p=0.2),
    case("geometric", 7, 118428995, 6892263, shape=(20,), dtype="int64", p=0.2),
    case("bernoulli_p", True, 41034294, 6892263, shape=(20,), p=0.3),
    case("bernoulli_p", True, 1760092625, 6892263, shape=(4, 5), p=0.3, strides=(1, 4)),
    case("bernoulli", False, 3407468153, 10086842, p=np.linspace(0, 1, 20, dtype=np.float32)),
    case("bernoulli", False, 1153107574, 6892263, p=np.linspace(0, 1, 20)),
    case(
        "bernoulli",
        False,
        2114666884,
        10086842,
        p=np.linspace(0, 1, 5, dtype=np.float32),
        shape=(4, 5),
        strides=(1, 4),
    ),
    case("dropout_mask", True, 2420292594, 6892263, shape=(4, 5), p=0.3),
    case("dropout_mask", True, 957638751, 14828819, shape=(2, 3, 2, 2), p=0.3, strides=(12, 1, 6, 3)),
    case("dropout_mask", True, 2426165043, 12999834, shape=(2, 3, 4), p=0.5, features=True),
    case("dropout_mask", False, 265657229, 486191, shape=(4, 5), p=1.0),
    case(
        "rrelu_noise",
        0.14636683464050293,
        2883046440,
        13148439,
        values=np.linspace(-1, 1, 9, dtype=np.float32),
        lower=0.1,
        upper=0.3,
    ),
    case("randint", -2, 3320032512, 10086842, low=-3, high=10, shape=(20,)),
    case("randint", 17263410, 2760413124, 10086842, low=0, high=2**28 - 1, shape=(20,)),
    case("randint", 258400979, 2615842217, 6892263, low=0, high=2**28, shape=(20,)),
    case("randint", -1078775733986860333, 2462095196, 6892263, low=-(2**62), high=2**62, shape=(20,)),
    case("randint", 3532910284440527571, 4278206312, 6892263, low=-(2**63), high=None, shape=(20,)),
    case("randint", 1773212354, 3953412083, 6892263, low=5, high=None, shape=(20,), dtype="int32"),
    case("randint", 816.0, 2440530613, 10086842, low=5, high=None, shape=(20,), dtype="float16"),
    case("randint", True, 2393771298, 10086842, low=0, high=2, shape=(20,), dtype="bool"),
    case("randint", 6, 4214380991, 12999834, low=0, high=9, shape=(3, 4), dtype="uint8", strides=(1, 3)),
    case("random", 3532910284440527571, 323731470, 6892263, shape=(20,), dtype="int64"),
    case("random", 2088176582058315.0, 1284600671, 6892263, shape=(20,), dtype="float64"),
    case("random", 486142.0, 3961755309, 10086842, shape=(20,), dtype="float32"),
    case("random", 155.0, 1496386465, 10086842, shape=(20,), dtype="bfloat16"),
    case("random", 27439, 924499316, 10086842, shape=(20,), dtype="int16"),
    case("random", 47, 20648555, 10086842, shape=(20,), dtype="uint8"),
    case("random", True, 2393771298, 10086842, shape=(20,), dtype="bool"),
    case("randperm", 0, 1696784233, 486191, n=1),
    case("randperm", 75, 254972660, 14719008, n=300),
    case("multinomial", 2, 654825492, 13148439, prob=CATEGORIES, num_samples=1),
    case("multinomial", 2, 3326525700, 13148439, prob=CATEGORIES, num_samples=4),
    case("multinomial", 2, 3280541758, 6892263, prob=CATEGORIES, num_samples=20, replacement=True),
    case("multinomial", 2, 2946876981, 11177391, prob=np.stack([CATEGORIES] * 3), num_samples=2),
    case(
        "multinomial", 2, 3670267063, 11177391, prob=np.stack([CATEGORIES] * 3), num_samples=2, strides=(1, 3)
    ),
    case(
        "multinomial",
        2,
        1463445698,
        14153506,
        prob=np.stack([CATEGORIES] * 3).astype(np.float64),
        num_samples=6,
        replacement=True,
        dtype="float64",
    ),
    case("poisson", 0.0, 3319206291, 10428781, rates=np.linspace(0, 40, 30, dtype=np.float32)),
    case("poisson", 1.0, 50335537, 10534998, rates=np.full(3000, 3.5)[::2], dtype="float64"),
    case(
        "binomial",
        0.0,
        2873234549,
        9892413,
        count=np.arange(30, dtype=np.float32) * 4,
        prob=np.linspace(0, 1, 30, dtype=np.float32),
    ),
    case(
        "gamma", 1.1754943508222875e-38, 1455855084, 12236153, alpha=np.linspace(0, 5, 30, dtype=np.float32)
    ),
    case(
        "dirichlet",
        0.046475619077682495,
        1382125794,
        7578569,
        alpha=np.linspace(0.1, 5, 6, dtype=np.float32).reshape(2, 3),
    ),
]
# Logarithms and the like in float64 are the C library's: only what float32 holds is compared.
CLOSE = [
    case("normal", 0.0461304634809494, 839195179, 12999834, shape=(5,), dtype="float64"),
    case(
        "normal", 0.4982337951660156, 3304739648, 12274223, shape=(37,), dtype="float64", mean=0.5, std=0.02
    ),
    case("log_normal", 2.981006383895874, 326348264, 6892263, shape=(20,), dtype="float64"),
    case("exponential", 0.3767852187156677, 1572709434, 6892263, shape=(20,), dtype="float64", lambd=0.7),
    case(
        "cauchy", 0.43940651416778564, 330397766, 6892263, shape=(20,), dtype="float64", median=1.0, sigma=0.5
    ),
    case("gamma", 0.0, 161821388, 12236153, alpha=np.linspace(0, 5, 30)),
    case("dirichlet", 0.008214191533625126, 612280536, 7578569, alpha=np.linspace(0.1, 5, 6)),
]


@pytest.mark.parametrize(("method", "first", "checksum", "after", "arguments"), EXACT)
def test_draw_is_pytorchs_bit_for_bit(method, first, checksum, after, arguments):
    stream = Stream(SEED)
    drawn = getattr(stream, method)(**arguments)
    assert drawn.flat[0] == first
    assert checksum_of(drawn) == checksum
    assert next_word(stream) == after


@pytest.mark.parametrize(("method", "first", "checksum", "after", "arguments"), CLOSE)
def test_float64_draw_is_pytorchs_within_rounding(method, first, checksum, after, arguments):
    stream = Stream(SEED)
    drawn = getattr(stream, method)(**arguments)
    assert drawn.dtype == np.float64
    assert np.float32(drawn.flat[0]) == np.float32(first)
    assert checksum_of(drawn.astype(np.float32)) == checksum
    assert next_word(stream) == after


def test_mixed_calls_share_one_stream():
    stream = Stream(99)
    drawn = [
        stream.normal((3,)).tolist(),  # keeps a sine
        stream.uniform((1,)).tolist(),
        stream.normal((16,), "float64").sum(),  # blocks leave it alone
        stream.normal((1,)).tolist(),  # takes it
        stream.bernoulli_p((4,), 0.5).tolist(),
        stream.gamma(np.array([0.5, 2.0])).tolist(),  # takes and keeps normals too
        stream.normal((2,)).tolist(),
        stream.randperm(5).tolist(),
        stream.random(()).tolist(),
    ]
    expected = [
        [0.6126858592033386, -1.1753536462783813, -0.7646492719650269],
        [0.8607905507087708],
        3.0769071354870445,
        [-0.6665656566619873],
        [False, False, True, False],
        [0.5375990583812545, 3.7088678179537267],
        [-1.4330203533172607, 0.31374073028564453],
        [2, 4, 0, 1, 3],
        5715119454865314911,
    ]
    for ours, theirs in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("draw", "checksum"),
    [
        (lambda s: None, 3536010857),
        (lambda s: s.uniform((1,)), 405910641),
        (lambda s: s.uniform((624,)), 2853388998),
        (lambda s: s.uniform((625,)), 3834521560),
        (lambda s: s.normal((3,)), 3743489386),
        (lambda s: s.normal((17,)), 2182020521),
    ],
)
def test_state_is_pytorchs_bytes(draw, checksum):
    stream = Stream(-5)
    draw(stream)
    state = stream.get_state()
    assert state.shape == (5056,) and state.dtype == np.uint8
    assert checksum_of(state) == checksum


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625])
def test_state_round_trips_with_its_seed_and_kept_normal(drawn):
    stream = Stream(2**63 + 7)
    stream.random((drawn,), "int32")
    stream.normal((1,))
    state = stream.get_state()
    other, twin = Stream(), stream.clone()
    other.set_state(state)
    assert other.initial_seed() == twin.initial_seed() == 2**63 + 7
    expected = stream.normal((3,)).tolist()
    assert other.normal((3,)).tolist() == expected
    assert twin.normal((3,)).tolist() == expected
    assert other.get_state().tobytes() == stream.get_state().tobytes() != state.tobytes()


def test_seeds():
    assert Stream().initial_seed() == 67280421310721
    assert Stream(-1).initial_seed() == 2**64 - 1
    assert next_word(Stream(2**32 + SEED)) == next_word(Stream(SEED)) == 486191
    stream = Stream()
    stream.normal((1,))
    assert stream.manual_seed(3) is stream
    assert stream.normal((1,)) == Stream(3).normal((1,))  # the kept normal is gone
    first = stream.seed()
    assert stream.initial_seed() == first
    assert stream.seed() != first
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            stream.manual_seed(seed)


@pytest.mark.parametrize("field", ["left", "seeded", "next"])
def test_damaged_state_is_refused(field):
    stream = Stream(SEED)
    record = stream.get_state().view(_random_twister.STATE)
    record[field] = {"left": 700, "seeded": 0, "next": 3}[field]
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        stream.set_state(record.view(np.uint8))
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 .* to be 100"):
        stream.set_state(stream.get_state()[:100])
    assert next_word(stream) == 486191


def test_empty_draws_leave_the_stream_alone():
    stream = Stream(SEED)
    stream.normal((1,))  # a normal is kept
    before = stream.get_state().tobytes()
    assert stream.normal((0, 3)).shape == (0, 3)
    assert stream.uniform((2, 0), "complex64").shape == (2, 0)
    assert stream.dropout_mask((3, 4, 0), 0.5, features=True).shape == (3, 4, 1)
    assert stream.multinomial(np.ones((0, 3), np.float32), 2).shape == (0, 2)
    assert stream.multinomial(np.ones((0, 3), np.float32), 2, replacement=True).shape == (0, 2)
    assert stream.poisson(np.ones((0,), np.float32)).shape == (0,)
    assert stream.randperm(0).shape == (0,)
    assert stream.get_state().tobytes() == before


def test_fused_arithmetic_survives_the_ends_of_the_range():
    assert Stream(SEED).uniform((3,), "float64", -8e307, 8e307).max() < 8e307
    assert np.isinf(Stream(SEED).normal((20,), "float16", 0.0, 1e6)).all()
    assert Stream(SEED).uniform((5,), "float32", 2.0, 2.0).tolist() == [2.0] * 5


def test_threads_take_whole_draws():
    rates = np.full(200, 3.5)
    alone, shared = Stream(SEED), Stream(SEED)
    expected = sorted(alone.poisson(rates, "float64").tolist() for _ in range(24))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(shared.poisson, rates, "float64") for _ in range(24)]
    assert sorted(future.result().tolist() for future in futures) == expected
    assert next_word(shared) == next_word(alone)


def refusal(error, message, method, *args, **kwargs):
    return pytest.param(error, message, method, args, kwargs, id=f"{method}: {message}")


F32 = np.float32
NAN = float("nan")
REFUSALS = [
    refusal(
        NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'", "uniform", (4,), "int64"
    ),
    refusal(RuntimeError, "from is out of bounds for float", "uniform", (4,), "float32", -1e39, 0),
    refusal(RuntimeError, "to is out of bounds for c10::Half", "uniform", (4,), "float16", 0, 70000),
    refusal(RuntimeError, "to is out of bounds for double", "uniform", (4,), "float64", 0, NAN),
    refusal(
        RuntimeError,
        "uniform_ expects to return a [from, to) range, but found from=1 > to=0",
        "uniform",
        (4,),
        "float32",
        1,
        0,
    ),
    refusal(
        RuntimeError,
        "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38",
        "uniform",
        (4,),
        "float32",
        -3e38,
        3e38,
    ),
    refusal(
        RuntimeError, "normal expects std >= 0.0, but found std -1", "normal", (4,), "float32", 0.0, -1.0
    ),
    refusal(NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Bool'", "normal", (4,), "bool"),
    refusal(
        RuntimeError,
        "normal expects all elements of std >= 0.0",
        "normal_around",
        0.0,
        np.array([1, -1], F32),
    ),
    refusal(
        RuntimeError,
        "normal expects standard deviation to be non-complex",
        "normal_around",
        0.0,
        np.ones(2, np.complex64),
    ),
    refusal(
        RuntimeError,
        "log_normal_ expects std > 0.0, but found std=0",
        "log_normal",
        (4,),
        "float32",
        0.0,
        0.0,
    ),
    refusal(
        NotImplementedError, "\"log_normal_cpu\" not implemented for 'Long'", "log_normal", (4,), "int64"
    ),
    refusal(
        RuntimeError,
        "exponential_ expects lambda > 0.0, but found lambda=0",
        "exponential",
        (4,),
        "float32",
        0.0,
    ),
    refusal(
        RuntimeError,
        "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified Long",
        "exponential",
        (4,),
        "int64",
    ),
    refusal(
        RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=0", "cauchy", (4,), "float32", 0.0, 0.0
    ),
    refusal(
        RuntimeError,
        "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified long int",
        "cauchy",
        (4,),
        "int64",
    ),
    refusal(
        RuntimeError, "geometric_ expects p to be in (0, 1), but got p=1", "geometric", (4,), "float32", 1.0
    ),
    refusal(NotImplementedError, "\"geometric_cpu\" not implemented for 'Bool'", "geometric", (4,), "bool"),
    refusal(RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p=nan", "bernoulli_p", (4,), NAN),
    refusal(
        RuntimeError,
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false",
        "bernoulli",
        np.array([0.5, 1.5], F32),
    ),
    refusal(
        NotImplementedError,
        "\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'",
        "bernoulli",
        np.ones(2, np.int64),
    ),
    refusal(
        RuntimeError, "dropout probability has to be between 0 and 1, but got 1.5", "dropout_mask", (4,), 1.5
    ),
    refusal(
        RuntimeError,
        "Feature dropout requires at least 2 dimensions in the input",
        "dropout_mask",
        (4,),
        0.5,
        features=True,
    ),
    refusal(
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=3 >= to=3",
        "randint",
        3,
        3,
        (4,),
    ),
    refusal(RuntimeError, "from is out of bounds for unsigned char", "randint", -1, 5, (4,), "uint8"),
    refusal(RuntimeError, "to - 1 is out of bounds for unsigned char", "randint", 0, 257, (4,), "uint8"),
    refusal(RuntimeError, "to - 1 is out of bounds for bool", "randint", 0, 3, (4,), "bool"),
    refusal(
        RuntimeError, "to - 1 is out of bounds for long unsigned int", "randint", 3, None, (4,), "uint64"
    ),
    refusal(RuntimeError, "to - 1 is out of bounds for c10::Half", "randint", 0, 70000, (4,), "float16"),
    refusal(
        RuntimeError,
        "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got from=33554432 > to_inc=16777216",
        "randint",
        2**25,
        None,
        (4,),
        "float32",
    ),
    refusal(
        RuntimeError,
        "check_random_bounds handles only integral, floating-point and boolean types",
        "randint",
        0,
        3,
        (4,),
        "complex64",
    ),
    refusal(
        RuntimeError,
        "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16",
        "randint",
        -(2**63),
        None,
        (4,),
        "int32",
    ),
    refusal(
        NotImplementedError,
        "\"random_full_64_bits_range_kernel_cpu\" not implemented for 'Half'",
        "randint",
        -(2**63),
        None,
        (4,),
        "float16",
    ),
    refusal(
        NotImplementedError, "\"random_kernel_cpu\" not implemented for 'UInt16'", "random", (4,), "uint16"
    ),
    refusal(RuntimeError, "Trying to create tensor with negative dimension -1: [-1]", "randperm", -1),
    refusal(
        RuntimeError,
        "torch.randperm: PyTorch's order from 214748364 on is not reproduced",
        "randperm",
        214748364,
    ),
    refusal(RuntimeError, "prob_dist must be 1 or 2 dim", "multinomial", np.ones((2, 2, 2), F32), 1),
    refusal(
        RuntimeError,
        "multinomial only supports floating-point dtypes for input, got: Long",
        "multinomial",
        np.ones(3, np.int64),
        1,
        dtype="int64",
    ),
    refusal(RuntimeError, "cannot sample n_sample <= 0 samples", "multinomial", CATEGORIES, 0),
    refusal(
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
        "multinomial",
        CATEGORIES,
        6,
    ),
    refusal(
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0",
        "multinomial",
        -CATEGORIES,
        1,
    ),
    refusal(
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0",
        "multinomial",
        CATEGORIES * F32(NAN),
        1,
        True,
    ),
    refusal(
        RuntimeError,
        "invalid multinomial distribution (sum of probabilities <= 0)",
        "multinomial",
        CATEGORIES * 0,
        1,
    ),
    refusal(
        RuntimeError,
        "invalid Poisson rate, expected rate to be non-negative",
        "poisson",
        np.array([1, -1], F32),
    ),
    refusal(
        NotImplementedError, "\"poisson_cpu\" not implemented for 'Long'", "poisson", np.ones(2), "int64"
    ),
    refusal(
        NotImplementedError,
        "\"binomial_cpu\" not implemented for 'Half'",
        "binomial",
        np.ones(2, np.float16),
        np.ones(2, np.float16),
    ),
    refusal(
        RuntimeError,
        "binomial expects a finite number of trials, got nan",
        "binomial",
        np.full(1, NAN),
        np.full(1, 0.5),
    ),
    refusal(NotImplementedError, "\"gamma_cpu\" not implemented for 'Half'", "gamma", np.ones(2, np.float16)),
    refusal(RuntimeError, "_standard_gamma expects alpha >= 0, got -1", "gamma", np.array([1, -1], F32)),
]


@pytest.mark.parametrize(("error", "message", "method", "args", "kwargs"), REFUSALS)
def test_refusal_starts_as_pytorchs(error, message, method, args, kwargs):
    stream = Stream(SEED)
    with pytest.raises(error) as caught:
        getattr(stream, method)(*args, **kwargs)
    assert str(caught.value).startswith(message)
    assert next_word(stream) == 486191


def test_floating_randint_warns_beyond_whole_numbers():
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]") as caught:
        drawn = Stream(SEED).randint(0, 2**30, (4,), "float32")
    assert drawn.tolist() == [114443088.0, 333685312.0, 731945472.0, 314259904.0]
    assert caught[0].filename == __file__
