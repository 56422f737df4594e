"""Functions that make tensors, held against values printed by PyTorch 2.13."""

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck

VALUES = [
    (lambda: torch.zeros(2, dtype=int), torch.int64, [0, 0]),
    (lambda: torch.zeros(torch.tensor(1), 2), torch.float32, [[0, 0]]),
    (lambda: torch.zeros(size=(2,), dtype=bool), torch.bool, [False, False]),
    (lambda: torch.ones(1, dtype=torch.complex64), torch.complex64, [1]),
    (lambda: torch.full((2,), 3), torch.int64, [3, 3]),
    (lambda: torch.full((2,), True), torch.bool, [True, True]),
    (lambda: torch.full((1,), 1j), torch.complex64, [1j]),
    (lambda: torch.full((2,), -1, dtype=torch.uint8), torch.uint8, [255, 255]),
    (lambda: torch.full((2,), 2.7, dtype=torch.int64), torch.int64, [2, 2]),
    (lambda: torch.full_like(torch.ones(2, dtype=torch.int64), 3.7), torch.int64, [3, 3]),
    (lambda: torch.ones(2, dtype=torch.int8).new_full((1,), True), torch.int8, [1]),
    (lambda: torch.ones(2, dtype=torch.float64).new_tensor([1, 2]), torch.float64, [1, 2]),
    (lambda: torch.zeros(1, dtype=torch.int64).new([1.5]), torch.int64, [1]),
    (lambda: torch.arange(1, 2.5, 0.5), torch.float32, [1, 1.5, 2]),
    (lambda: torch.arange(5, 0, -2), torch.int64, [5, 3, 1]),
    (lambda: torch.arange(0.5, 5, 1.5, dtype=torch.int64), torch.int64, [0, 1, 2, 3, 4]),
    (lambda: torch.arange(1, end=4), torch.int64, [1, 2, 3]),
    (lambda: torch.arange(2**53, 2**53 + 2), torch.int64, [2**53, 2**53 + 1]),
    (lambda: torch.arange(254, 258, dtype=torch.uint8), torch.uint8, [254, 255, 0, 1]),
    (lambda: torch.linspace(10, -3, 7, dtype=torch.int32), torch.int32, [10, 7, 5, 3, 1, 0, -3]),
    (lambda: torch.linspace(0, 1j, 3), torch.complex64, [0, 0.5j, 1j]),
    (lambda: torch.linspace(0, torch.tensor(1.0), 3), torch.float32, [0, 0.5, 1]),
    (lambda: torch.logspace(0, 2, 3), torch.float32, [1, 10, 100]),
    (lambda: torch.logspace(0, 2, 3, base=2, dtype=torch.int64), torch.int64, [1, 2, 4]),
    (lambda: torch.eye(2, 3, dtype=torch.int64), torch.int64, [[1, 0, 0], [0, 1, 0]]),
    (lambda: torch.tril_indices(3, 4, -1), torch.int64, [[1, 2, 2], [0, 0, 1]]),
    (lambda: torch.triu_indices(2, 3, offset=1), torch.int64, [[0, 0, 1], [1, 2, 2]]),
    (lambda: torch.scalar_tensor(True), torch.float32, 1),
    (lambda: torch.complex(torch.tensor([1.0, 2]), torch.tensor([3.0, 4])), torch.complex64, [1 + 3j, 2 + 4j]),
    (lambda: torch.hann_window(4), torch.float32, [0, 0.5, 1, 0.5]),
    (lambda: torch.bartlett_window(5, periodic=False), torch.float32, [0, 0.5, 1, 0.5, 0]),
    (lambda: torch.signal.windows.hann(5), torch.float32, [0, 0.5, 1, 0.5, 0]),
    (lambda: torch.signal.windows.cosine(1), torch.float32, [1]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "dtype", "values"), VALUES)
def test_values_and_dtypes(make, dtype, values):
    result = make()
    assert result.dtype == dtype
    assert result.tolist() == values


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (
            lambda: torch.kaiser_window(5, False, 8.0),
            [0.002338829915970564, 0.36897262930870056, 1.0, 0.36897262930870056, 0.002338829915970564],
        ),
        (
            lambda: torch.hamming_window(5, True, 0.5, 0.4),
            [0.1, 0.37639319896698, 0.8236068487167358, 0.8236068487167358, 0.3763931393623352],
        ),
        (
            lambda: torch.signal.windows.exponential(5, tau=2.0),
            [0.3678794503211975, 0.6065306663513184, 1.0, 0.6065306663513184, 0.3678794503211975],
        ),
        (
            lambda: torch.signal.windows.gaussian(5, std=2.0, sym=False),
            [0.45783336, 0.7548396, 0.9692332, 0.9692332, 0.7548396],
        ),
        (
            lambda: torch.signal.windows.nuttall(5),
            [0.00036279670894145966, 0.22698242962360382, 1.0, 0.22698242962360382, 0.00036279670894145966],
        ),
    ],
)
def test_windows(make, values):
    assert make().numpy() == pytest.approx(values, abs=1e-6)


DATA = [
    (1, torch.int64),
    (True, torch.bool),
    ([True, 2], torch.int64),
    ([1, 2.5, True], torch.float32),
    ([1j, 2], torch.complex64),
    ([], torch.float32),
    (np.float32(2), torch.float32),
    (np.float64(2), torch.float64),
    ([np.float32(1), 2.5], torch.float32),
    ([2.5, np.float64(1)], torch.float64),
    ([1, np.int8(1)], torch.int64),
    ([np.arange(2, dtype=np.float32), np.arange(2, dtype=np.float64)], torch.float64),
    ([np.bool_(True)], torch.bool),
    (range(3), torch.int64),
]


@pytest.mark.parametrize(("data", "dtype"), DATA)
def test_dtype_of_data(data, dtype):
    result = torch.tensor(data)
    assert result.dtype == dtype
    assert result.tolist() == np.asarray(data).tolist()


def test_tensor_takes_numbers_exactly():
    assert torch.tensor([0.1], dtype=torch.float64).item() == 0.1
    assert torch.tensor([2**63 - 1]).item() == 2**63 - 1
    assert torch.tensor(2**63, dtype=torch.uint64).item() == 2**63
    assert torch.tensor([torch.tensor(1.0), 2]).tolist() == [1, 2]


ERRORS = [
    (lambda: torch.tensor([[1, 2], [3]]), ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
    (lambda: torch.tensor([[1, 2], 3]), TypeError, "not a sequence"),
    (lambda: torch.tensor("a"), TypeError, r"new\(\): invalid data type 'str'"),
    (lambda: torch.tensor(None), RuntimeError, "Could not infer dtype of NoneType"),
    (lambda: torch.tensor({}), RuntimeError, "Could not infer dtype of dict"),
    (lambda: torch.tensor(2**63), ValueError, "Overflow when unpacking long long"),
    (lambda: torch.tensor([300], dtype=torch.uint8), RuntimeError, "value cannot be converted to type uint8 without"),
    (lambda: torch.tensor([1e20], dtype=torch.int64), RuntimeError, "value cannot be converted to type int64 without"),
    (lambda: torch.tensor([1j], dtype=torch.float32), TypeError, "must be real number, not complex"),
    (lambda: torch.tensor([torch.ones(2)]), ValueError, "only one element tensors can be converted to Python scalars"),
    (lambda: torch.tensor(np.arange(4)[::-1]), ValueError, "At least one stride in the given numpy array is negative"),
    (lambda: torch.tensor([1, 2], requires_grad=True), RuntimeError, "Only Tensors of floating point and complex dtype"),
    (lambda: torch.zeros(2, dtype="float32"), TypeError, r"zeros\(\): argument 'dtype' must be torch.dtype, not str"),
    (lambda: torch.zeros(-1), RuntimeError, "zeros: Dimension size must be non-negative"),
    (lambda: torch.zeros(2.5), TypeError, r"zeros\(\): argument 'size' \(position 1\) must be tuple of ints, not float"),
    (lambda: torch.zeros(), TypeError, r"zeros\(\) missing 1 required positional arguments: \"size\""),
    (lambda: torch.zeros(2, layout=torch.sparse_coo), NotImplementedError, "torch.zeros: layout torch.sparse_coo is not"),
    (lambda: torch.ones_like([1]), TypeError, r"ones_like\(\): argument 'input' \(position 1\) must be Tensor, not list"),
    (lambda: torch.full((2,), 300, dtype=torch.uint8), RuntimeError, "value cannot be converted to type uint8_t without"),
    (lambda: torch.full((2,), 1e40), RuntimeError, "value cannot be converted to type float without overflow"),
    (lambda: torch.full((2,), "a"), TypeError, r"full\(\): argument 'fill_value' \(position 2\) must be Number, not str"),
    (lambda: torch.arange(0, 5, 0), RuntimeError, "step must be nonzero"),
    (lambda: torch.arange(5, 0), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
    (lambda: torch.arange(float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
    (lambda: torch.arange(2, dtype=torch.bool), NotImplementedError, "\"arange_cpu\" not implemented for 'Bool'"),
    (lambda: torch.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
    (lambda: torch.eye(-1), RuntimeError, "n must be greater or equal to 0, got -1"),
    (lambda: torch.empty_strided((2, 3), (1,)), RuntimeError, r"dimensionality of sizes \(2\) must match"),
    (lambda: torch.complex(torch.ones(1), torch.ones(1, dtype=torch.float64)), RuntimeError,
     "Expected object of scalar type Float but got scalar type Double for second argument"),
    (lambda: torch.asarray([1], copy=False), ValueError, "can't alias arbitrary sequence into a tensor"),
    (lambda: torch.from_numpy(np.arange(3, dtype=">f4")), ValueError, "given numpy array has byte order different"),
    (lambda: torch.frombuffer(bytearray(7), dtype=torch.float32), ValueError, r"buffer length \(7 bytes\) after offset"),
    (lambda: torch.hann_window(-1), RuntimeError, "hann_window requires non-negative window_length"),
    (lambda: torch.signal.windows.hann(5, dtype=torch.int64), ValueError, "general_cosine expects float32 or float64"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "message"), ERRORS)
def test_errors(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_out_gives_dtype_and_takes_shape():
    out = torch.zeros(0, dtype=torch.int64)
    assert torch.arange(3.0, out=out) is out
    assert out.tolist() == [0, 1, 2]
    assert torch.full((3,), 2.5, out=out).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match=r"dtype Float does not match dtype of out parameter \(Long\)"):
        torch.ones(3, dtype=torch.float32, out=out)


def test_like_keeps_the_order_of_dimensions():
    x = torch.zeros(2, 3, 4).permute(2, 0, 1)
    for make in (torch.zeros_like, torch.ones_like, torch.empty_like, lambda t: torch.full_like(t, 2)):
        assert make(x).stride() == (1, 12, 4)
    assert torch.ones_like(x).tolist() == torch.ones(4, 2, 3).tolist()
    assert torch.zeros_like(x, memory_format=torch.contiguous_format).is_contiguous()
    assert torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert torch.empty_permuted((2, 3, 4), (0, 2, 1)).stride() == (12, 1, 3)


def test_subclass_follows_its_like():
    class Mine(torch.Tensor):
        pass

    mine = torch.ones(2).as_subclass(Mine)
    assert type(torch.zeros_like(mine)) is Mine
    assert type(mine.new_zeros(3)) is Mine


def test_what_shares_memory():
    array = np.arange(3.0)
    tensors = torch.as_tensor(array), torch.asarray(array), torch.from_numpy(array)
    array[0] = 9
    assert [t[0].item() for t in tensors] == [9, 9, 9]
    copies = torch.tensor(array), torch.as_tensor(array, dtype=torch.float32), torch.asarray(array, copy=True)
    array[0] = 5
    assert [t[0].item() for t in copies] == [9, 9, 9]
    buffer = bytearray(4)
    view = torch.frombuffer(buffer, dtype=torch.int16, offset=2)
    buffer[2] = 7
    assert view.tolist() == [7]
    assert torch.from_numpy(np.arange(6).reshape(2, 3).T).stride() == (1, 3)


def test_tensor_of_a_tensor_warns():
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert torch.tensor(torch.ones(2)).tolist() == [1, 1]


def test_complex_numbers_differentiate():
    parts = tuple(torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([1.0, 2.0], [0.5, -1.0]))
    assert gradcheck(lambda a, b: torch.view_as_real(torch.complex(a, b)), parts)
    assert gradcheck(lambda a, b: torch.view_as_real(torch.polar(a, b)), parts)
    scalar = torch.tensor(2.0, requires_grad=True)
    torch.complex(scalar, scalar * 3).imag.backward()
    assert scalar.grad.item() == 3


def test_filling():
    x = torch.zeros(2, 3, dtype=torch.uint8)
    assert x.t().fill_(-1) is not x and x.tolist() == [[255] * 3] * 2
    assert torch.zero_(x) is x and x.sum().item() == 0
    assert torch.fill(x, 7).tolist() == [[7] * 3] * 2
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        x.fill_(300)
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor"):
        x.fill_(torch.ones(1))
    value = torch.tensor(2.0, requires_grad=True)
    torch.fill(torch.zeros(3), value).sum().backward()
    assert value.grad.item() == 3
