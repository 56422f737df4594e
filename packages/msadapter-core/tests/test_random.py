"""Random tensors and generators, held against what PyTorch 2.13 draws after `torch.manual_seed(11)`.

The streams themselves are tested in `test_random_streams`; here every operator's way to them.
"""

import copy
import pickle

import pytest

import msadapter.pytorch as torch

F = [0.14904171228408813, 0.4865531325340271, 0.985661506652832, 0.16840142011642456, 0.5839434266090393]
N = [0.7376294732093811, 1.9459291696548462, -0.6995416283607483, -1.3022973537445068]
T = torch.tensor


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(11)


NEW = [
    (lambda: torch.rand(3), torch.float32, F[:3]),
    (lambda: torch.rand((2, 2)), torch.float32, [F[:2], F[2:4]]),
    (lambda: torch.rand(size=(2,)), torch.float32, F[:2]),
    (lambda: torch.rand(()), torch.float32, F[0]),
    (lambda: torch.rand(0, 3), torch.float32, []),
    (lambda: torch.rand(2, dtype=torch.float64), torch.float64, [0.19233373084394845, 0.8852923701860037]),
    (lambda: torch.rand(2, dtype=torch.complex64), torch.complex64, [F[0] + F[1] * 1j, F[2] + F[3] * 1j]),
    (lambda: torch.rand(2, generator=torch.Generator()), torch.float32, [0.267295241355896, 0.8725283145904541]),
    (lambda: torch.rand(3, out=torch.empty(3)), torch.float32, F[:3]),
    (lambda: torch.rand(2, out=torch.empty(2, dtype=torch.float64)), torch.float64, [0.19233373084394845, 0.8852923701860037]),
    (lambda: torch.rand(2, 2, out=torch.empty(2, 2).t()), torch.float32, [[F[0], F[2]], [F[1], F[3]]]),
    (lambda: torch.rand_like(T([[1.0, 2], [4, 5]]).t()), torch.float32, [[F[0], F[2]], [F[1], F[3]]]),
    (lambda: torch.rand_like(T([[1.0, 2], [4, 5]]).t(), memory_format=torch.contiguous_format), torch.float32, [F[:2], F[2:4]]),
    (lambda: torch.rand_like(T([1, 2]), dtype=torch.float32), torch.float32, F[:2]),
    (lambda: torch.randn(3), torch.float32, N[:3]),
    (lambda: torch.randn(2, dtype=torch.bfloat16), torch.bfloat16, [0.73828125, 1.9453125]),
    (lambda: torch.randn(20)[:2], torch.float32, [-0.5107975602149963, 1.0282717943191528]),
    (lambda: torch.randn_like(T([1.0, 2], dtype=torch.float16)), torch.float16, [0.73779296875, 1.9462890625]),
    (lambda: torch.randint(10, (2, 2)), torch.int64, [[1, 9], [0, 7]]),
    (lambda: torch.randint(high=10, size=[2, 2]), torch.int64, [[1, 9], [0, 7]]),
    (lambda: torch.randint(10, size=(2,)), torch.int64, [1, 9]),
    (lambda: torch.randint(3, 10, (2, 2)), torch.int64, [[7, 5], [3, 7]]),
    (lambda: torch.randint(3, high=10, size=(2,)), torch.int64, [7, 5]),
    (lambda: torch.randint(low=3, high=10, size=(2,)), torch.int64, [7, 5]),
    (lambda: torch.randint(T(2), T(5), (2,)), torch.int64, [2, 2]),
    (lambda: torch.randint(0, 2**40, (2,)), torch.int64, [657423371967, 346452335707]),
    (lambda: torch.randint(5, (2,), dtype=float), torch.float64, [1, 4]),
    (lambda: torch.randint(5, (2,), out=torch.empty(2)), torch.float32, [1, 4]),
    (lambda: torch.randint_like(T([1.0, 2]), 10), torch.float32, [1, 9]),
    (lambda: torch.randint_like(T([1.0, 2]), low=3, high=10), torch.float32, [7, 5]),
    (lambda: torch.randint_like(T([1, 2]), T(3), T(10)), torch.int64, [7, 5]),
    (lambda: torch.randint_like(T([1.0, 2]), T(10.0)), torch.float32, [1, 9]),
    (lambda: torch.randperm(5), torch.int64, [1, 4, 2, 0, 3]),
    (lambda: torch.randperm(5, dtype=torch.float32), torch.float32, [1, 4, 2, 0, 3]),
    (lambda: torch.randperm(5, out=torch.empty(10, dtype=torch.int64)[::2]), torch.int64, [1, 4, 2, 0, 3]),
    (lambda: torch.randperm(n=0), torch.int64, []),
    (lambda: torch.normal(0, 1, (3,)), torch.float32, N[:3]),
    (lambda: torch.normal(mean=2.0, std=3, size=(2,), dtype=torch.float64), torch.float64, [4.212888355285828, 7.8377874574888065]),
    (lambda: torch.normal(T([1.0, 2, 3])), torch.float32, [1.7376294136047363, 3.9459290504455566, 2.3004584312438965]),
    (lambda: torch.normal(T([1.0, 2, 3]), std=2.0), torch.float32, [2.4752588272094727, 5.891858100891113, 1.6009167432785034]),
    (lambda: torch.normal(2.0, T([1.0, 2, 3])), torch.float32, [2.7376294136047363, 5.891858100891113, -0.09862494468688965]),
    (
        lambda: torch.normal(T([1.0, 2, 3]), T([[1.0], [2.0]])),
        torch.float32,
        [[1.7376294136047363, 3.9459290504455566, 2.3004584312438965], [-1.6045947074890137, 0.9734755754470825, 2.4607608318328857]],
    ),
    (lambda: torch.normal(T([1.0]), T([2.0]), out=torch.empty(1)), torch.float32, [2.4752588272094727]),
    (lambda: torch.normal(T([1.0, 2, 3]).bfloat16(), T([0.1, 0.2, 0.3])), torch.bfloat16, [1.0703125, 2.390625, 2.796875]),
    (lambda: torch.bernoulli(T([0.0, 0.5, 1])), torch.float32, [0, 1, 1]),
    (lambda: torch.bernoulli(T([0, 1]), 0.5), torch.int64, [1, 0]),
    (lambda: T([0.0, 0.5, 1]).bernoulli(p=0.9), torch.float32, [1, 1, 1]),
    (lambda: torch.multinomial(T([0.2, 0.3, 0.5]), 2), torch.int64, [0, 2]),
    (lambda: torch.multinomial(T([[0.2, 0.3, 0.5], [1, 0, 0]]), 5, True), torch.int64, [[0, 2, 2, 2, 2], [0] * 5]),
    (lambda: T([0.2, 0.3, 0.5]).multinomial(num_samples=1), torch.int64, [0]),
    (lambda: torch.multinomial(torch.ones(0, 3), 2), torch.int64, []),
    (lambda: torch.poisson(T([1.0, 5.0, 100.0])), torch.float32, [0, 5, 87]),
    (lambda: torch.poisson(T([1.0, 5.0]), torch.Generator()), torch.float32, [0, 9]),
    (lambda: torch.binomial(count=T([10.0, 20.0]), prob=T([0.3, 0.5])), torch.float32, [4, 7]),
    (lambda: torch.binomial(T([10.0, 20.0]), T(0.5)), torch.float32, [6, 11]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "dtype", "values"), NEW)
def test_new_tensors_are_pytorchs(make, dtype, values):
    result = make()
    assert result.dtype == dtype
    assert result.tolist() == values


def _zeros(**options):
    return torch.zeros(3, **options)


FILLS = [
    (lambda: _zeros().uniform_(), F[:3]),
    (lambda: _zeros().uniform_(2, 3), [2.1490416526794434, 2.486553192138672, 2.985661506652832]),
    (lambda: _zeros().uniform_(**{"from": -1.0, "to": 3.0}), [-0.40383315086364746, 0.9462125301361084, 2.942646026611328]),
    (lambda: _zeros().uniform_(T(1.0), T(2.0)), [1.1490416526794434, 1.4865531921386719, 1.985661506652832]),
    (lambda: _zeros(dtype=torch.float16).uniform_(), [0.1490478515625, 0.486572265625, 0.98583984375]),
    (lambda: torch.zeros(2, 2).t().uniform_(), [[F[0], F[2]], [F[1], F[3]]]),
    (lambda: torch.zeros(2, 6)[:, 1::3].uniform_(), [F[:2], F[2:4]]),
    (lambda: _zeros().normal_(), N[:3]),
    (lambda: _zeros().normal_(mean=1, std=0.0), [1, 1, 1]),
    (lambda: torch.zeros(5, 4).t().normal_()[0, :2], [0.7376294732093811, -0.5132622122764587]),
    (lambda: _zeros().random_(), [2500459, 8162990, 16536652]),
    (lambda: _zeros().random_(5), [1, 4, 0]),
    (lambda: _zeros().random_(to=5), [1, 4, 0]),
    (lambda: _zeros().random_(2, 5), [2, 2, 2]),
    (lambda: _zeros().random_(2, to=5), [2, 2, 2]),
    (lambda: _zeros().random_(**{"from": 2, "to": 5}), [2, 2, 2]),
    (lambda: _zeros().random_(2, None), [2500553, 8163026, 16536662]),
    (lambda: _zeros(dtype=torch.int64).random_(), [3325388913236545215, 359254775711865947, 8544873655684927415]),
    (lambda: _zeros(dtype=torch.bool).random_(), [True, True, False]),
    (lambda: _zeros(dtype=torch.uint8).random_(), [153, 191, 80]),
    (lambda: _zeros().bernoulli_(), [1, 0, 0]),
    (lambda: _zeros(dtype=torch.bool).bernoulli_(p=0.9), [True, True, True]),
    (lambda: _zeros(dtype=torch.int64).bernoulli_(T([0.1, 0.5, 0.9])), [0, 1, 0]),
    (lambda: torch.zeros(2, 3).bernoulli_(T([0.1, 0.5, 0.9])), [[0, 1, 0], [0, 0, 1]]),
    (lambda: _zeros().bernoulli_(T(0.5, dtype=torch.float64)), [1, 0, 0]),
    (lambda: _zeros().exponential_(lambd=2), [0.10680317133665085, 1.0826843976974487, 0.5566815137863159]),
    (lambda: _zeros().cauchy_(1, 2), [-1.8969932794570923, 6.307584762573242, 2.1959586143493652]),
    (lambda: _zeros().log_normal_(mean=0, std=0.5), [1.4460196495056152, 2.6457765102386475, 0.7048496007919312]),
    (lambda: _zeros(dtype=torch.int64).geometric_(0.3), [5, 1, 2]),
    (lambda: _zeros().geometric_(p=T(0.5)), [3, 1, 1]),
    (lambda: _zeros().exponential_(generator=torch.Generator()), [0.14892011880874634, 1.1466821432113647, 0.3523383140563965]),
]  # fmt: skip


@pytest.mark.parametrize(("fill", "values"), FILLS)
def test_fills_are_pytorchs(fill, values):
    assert fill().tolist() == values


def test_a_fill_writes_into_the_memory_at_hand():
    base = torch.zeros(4)
    view = base[1:3]
    assert view.uniform_() is view
    assert base.tolist() == [0, *F[:2], 0]
    assert base._version == 1


REFUSED = [
    (lambda: torch.rand(2, dtype=torch.int64), NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
    (lambda: torch.rand(), TypeError, r"rand\(\)"),
    (lambda: torch.rand(2.5), TypeError, r"rand\(\): argument 'size' \(position 1\) must be tuple of ints, not float"),
    (lambda: torch.rand(-1), RuntimeError, r"Trying to create tensor with negative dimension -1: \[-1\]"),
    (lambda: torch.rand(2, generator=3), TypeError, r"rand\(\)"),
    (lambda: torch.randn(2, dtype=torch.int32), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Int'"),
    (lambda: torch.randint(0, 10), TypeError, r"randint\(\): argument 'size' \(position 2\) must be tuple of ints, not int"),
    (lambda: torch.randint((2, 2)), TypeError, r"randint\(\) received an invalid combination of arguments"),
    (lambda: torch.randint(5.0, (2,)), TypeError, r"randint\(\): argument 'high' \(position 1\) must be int, not float"),
    (lambda: torch.randint(5, 5, (2,)), RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
    (lambda: torch.randint(300, (2,), dtype=torch.uint8), RuntimeError, "to - 1 is out of bounds for unsigned char"),
    (lambda: torch.randint(0, 2**63, (2,)), ValueError, "Overflow when unpacking long long"),
    (lambda: torch.randint(5, (2,), requires_grad=True), RuntimeError, "Only Tensors of floating point and complex dtype"),
    (lambda: torch.randint_like(T([1.0]), T([10])), RuntimeError, "high must be a scalar tensor"),
    (lambda: torch.randint_like(T([1.0]), T(3), T(10.0)), TypeError, r"randint_like\(\)"),
    (lambda: torch.randperm(-1), RuntimeError, "Trying to create tensor with negative dimension -1"),
    (lambda: torch.randperm(5.0), TypeError, r"randperm\(\): argument 'n' \(position 1\) must be int, not float"),
    (lambda: torch.randperm(129, dtype=torch.int8), RuntimeError, "value cannot be converted to type int8_t without overflow"),
    (lambda: torch.randperm(2050, dtype=torch.float16), RuntimeError, "n cannot be greater than 2049 for Half type."),
    (lambda: torch.randperm(2, dtype=torch.bool), NotImplementedError, "\"randperm\" not implemented for 'Bool'"),
    (lambda: torch.normal(0.0, 1.0), TypeError, r"normal\(\) received an invalid combination of arguments"),
    (lambda: torch.normal(T([1.0]), 2.0, (1,)), TypeError, r"normal\(\) received an invalid combination of arguments"),
    (lambda: torch.normal(T([1.0]), 2.0, dtype=torch.float64), TypeError, r"normal\(\) received an invalid combination"),
    (lambda: torch.normal(T([1.0, 2, 3]), T([1.0, 2])), RuntimeError, r"The size of tensor a \(3\) must match"),
    (lambda: torch.normal(T([1, 2]), 1.0), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
    (lambda: torch.normal(T([1.0]), T([-1.0])), RuntimeError, "normal expects all elements of std >= 0.0"),
    (lambda: torch.bernoulli(T([1.5])), RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),
    (lambda: torch.bernoulli(T([0, 1])), NotImplementedError, "\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'"),
    (lambda: torch.bernoulli(T([1j])), NotImplementedError, "\"bernoulli_tensor_cpu_self_\" not implemented for 'ComplexFloat'"),
    (lambda: torch.bernoulli([0.5]), TypeError, r"bernoulli\(\): argument 'input' \(position 1\) must be Tensor, not list"),
    (lambda: torch.multinomial(T([0.2, 0.8]), 3), RuntimeError, "cannot sample n_sample > prob_dist"),
    (lambda: torch.multinomial(T([0.2]), 2.5), TypeError, r"multinomial\(\): argument 'num_samples' \(position 2\) must be int"),
    (lambda: torch.multinomial(T([1, 2]), 1), RuntimeError, "multinomial only supports floating-point dtypes for input, got: Long"),
    (lambda: torch.poisson(T([-1.0])), RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
    (lambda: torch.binomial(T([10]), T([0.5])), ValueError, "binomial only supports floating-point dtypes for count, got: Long"),
    (lambda: torch.binomial(T([10.0]), T([0.5]).double()), RuntimeError, "Found dtype Double but expected Float"),
    (lambda: torch.binomial(T([10.0]), 0.5), TypeError, r"binomial\(\): argument 'prob' \(position 2\) must be Tensor, not float"),
    (lambda: _zeros().uniform_("a"), TypeError, r"uniform_\(\): argument 'from' \(position 1\) must be float, not str"),
    (lambda: _zeros().uniform_(T([1.0])), TypeError, r"uniform_\(\): argument 'from' \(position 1\) must be float, not Tensor"),
    (lambda: _zeros().uniform_(2, 1), RuntimeError, r"uniform_ expects to return a \[from, to\) range, but found from=2 > to=1"),
    (lambda: _zeros().uniform_(generator=3), TypeError, r"uniform_\(\): argument 'generator' must be torch.Generator, not int"),
    (lambda: _zeros().normal_(1, 2, 3), TypeError, r"normal_\(\)"),
    (lambda: _zeros().random_(2.5), TypeError, r"random_\(\)"),
    (lambda: _zeros().random_(**{"from": 2}), TypeError, r"random_\(\) received an invalid combination of arguments"),
    (lambda: _zeros(dtype=torch.complex64).random_(), NotImplementedError, "\"random_kernel_cpu\" not implemented"),
    (lambda: _zeros().bernoulli_(T([0.1, 0.5])), RuntimeError, r"The expanded size of the tensor \(3\) must match the existing"),
    (lambda: _zeros(dtype=torch.complex64).bernoulli_(), NotImplementedError, "\"bernoulli_scalar_cpu_\" not implemented"),
    (lambda: _zeros().geometric_(), TypeError, r"geometric_\(\)"),
    (lambda: _zeros().expand(2, 3).normal_(), RuntimeError, "unsupported operation: more than one element of the written-to"),
    (lambda: _zeros(requires_grad=True).uniform_(), RuntimeError, "a leaf Variable that requires grad is being used in an in-place"),
    (lambda: _zeros(requires_grad=True)[0].normal_(), RuntimeError, "a view of a leaf Variable that requires grad"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refused_calls_leave_the_stream_alone(call, error, message):
    state = torch.get_rng_state()
    with pytest.raises(error, match="^" + message):
        call()
    if not (error is RuntimeError and message.startswith("Only Tensors")):
        assert torch.equal(torch.get_rng_state(), state)


def test_requires_grad():
    assert torch.rand(2, requires_grad=True).requires_grad
    assert torch.rand(2, out=torch.empty(2), requires_grad=True).requires_grad
    assert not torch.rand_like(torch.ones(2, requires_grad=True)).requires_grad
    assert not torch.multinomial(torch.ones(2, requires_grad=True), 1).requires_grad


@pytest.mark.parametrize(
    "sample",
    [
        torch.bernoulli,
        torch.poisson,
        lambda x: torch.normal(x, 1.0),
        lambda x: torch.normal(x, x),
        lambda x: torch.zeros(3, 2).bernoulli_(x),
        lambda x: (x * 1).uniform_(),
        lambda x: (x * 1).normal_(),
    ],
)
def test_the_gradient_of_a_sample_is_zero(sample):
    x = T([0.2, 0.7], requires_grad=True)
    y = sample(x)
    assert y.requires_grad
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_a_fill_of_a_view_leaves_the_gradient_of_the_rest():
    x = torch.zeros(3, requires_grad=True)
    y = x * 1
    y[0].uniform_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 1]


def test_derivatives_that_pytorch_lacks_raise():
    x = T([0.3], requires_grad=True)
    for y in (torch.binomial(T([10.0]), x), torch.bernoulli(x, 0.5)):
        with pytest.raises(RuntimeError, match="derivative"):
            y.sum().backward()


class Logged(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_subclasses_see_the_call():
    tensor = torch.zeros(2).as_subclass(Logged)
    Logged.calls.clear()
    tensor.uniform_()
    assert "uniform_" in Logged.calls
    assert tensor.tolist() == F[:2]


# --- generators -----------------------------------------------------------------------------------------------------


def test_seeds():
    generator = torch.Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.manual_seed(-1) is generator
    assert generator.initial_seed() == 2**64 - 1
    assert generator.seed() == generator.initial_seed()
    assert generator.device == torch.device("cpu")
    assert torch.manual_seed(1.7) is torch.default_generator
    assert torch.initial_seed() == torch.random.initial_seed() == 1
    assert torch.seed() == torch.initial_seed() != 1


@pytest.mark.parametrize(("seed", "error"), [("3", RuntimeError), (True, RuntimeError), (1.0, RuntimeError), (2**64, ValueError)])  # fmt: skip
def test_bad_seeds(seed, error):
    with pytest.raises(error, match="manual_seed expected a long, but got|Overflow when unpacking long long"):
        torch.Generator().manual_seed(seed)


def test_state_round_trips():
    state = torch.get_rng_state()
    assert (state.dtype, tuple(state.shape)) == (torch.uint8, (5056,))
    assert state[:4].tolist() == [11, 0, 0, 0]
    first = torch.randn(3)
    torch.set_rng_state(state)
    assert torch.equal(torch.randn(3), first)


def test_a_normal_kept_back_belongs_to_the_state():
    generator = torch.Generator().manual_seed(11)
    assert torch.randn(1, generator=generator).item() == N[0]
    for twin in (generator.clone_state(), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))):
        assert torch.randn(1, generator=twin).item() == N[1]
    assert torch.randn(1, generator=generator).item() == N[1]


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (3, TypeError, "expected a torch.ByteTensor, but got int"),
        (torch.zeros(3), TypeError, "RNG state must be a torch.ByteTensor"),
        (torch.zeros(3, dtype=torch.uint8), RuntimeError, "Expected a CPUGeneratorImplState of size 5056"),
    ],
)
def test_bad_states(state, error, message):
    for set_state in (torch.set_rng_state, torch.Generator().set_state):
        with pytest.raises(error, match="^" + message):
            set_state(state)


def test_what_cpu_generators_refuse():
    generator = torch.Generator()
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.get_offset()
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.set_offset(8)
    with pytest.raises(NotImplementedError, match="graphsafe_get_state is not supported in this Generator"):
        generator.graphsafe_get_state()
    with pytest.raises(NotImplementedError, match="graphsafe_set_state is not supported in this Generator"):
        generator.graphsafe_set_state(generator)


def test_generators_are_independent():
    generator = torch.Generator().manual_seed(11)
    torch.rand(5, generator=generator)
    assert torch.rand(2).tolist() == F[:2]


def test_fork_rng():
    with torch.random.fork_rng():
        torch.manual_seed(99)
        torch.rand(5)
    assert torch.rand(1).item() == F[0]
    with pytest.raises(KeyError), torch.random.fork_rng(devices=[]):
        torch.rand(1)
        raise KeyError
    assert torch.rand(1).item() == F[1]
    with torch.random.fork_rng(enabled=False):
        torch.rand(1)
    assert torch.rand(1).item() == F[3]
