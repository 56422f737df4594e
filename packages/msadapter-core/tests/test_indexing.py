"""Brackets, read and write: PyTorch's grammar, sharing, gradients and errors."""

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd import gradcheck, gradgradcheck


def cube():
    return torch.arange(24.0).reshape(2, 3, 4)


def index(*values, dtype=torch.int64):
    return torch.tensor(list(values), dtype=dtype)


def shares_memory(view, tensor):
    return tensor.data_ptr() <= view.data_ptr() < tensor.data_ptr() + tensor.numel() * tensor.element_size()


VIEWS = [
    (lambda x: x[1], (3, 4), 12.0),
    (lambda x: x[-1, 2], (4,), 20.0),
    (lambda x: x[:, 1:], (2, 2, 4), 4.0),
    (lambda x: x[..., ::2], (2, 3, 2), 0.0),
    (lambda x: x[None, 1], (1, 3, 4), 12.0),
    (lambda x: x[1, None, ..., 3], (1, 3), 15.0),
    (lambda x: x[...], (2, 3, 4), 0.0),
    (lambda x: x[()], (2, 3, 4), 0.0),
    (lambda x: x[(1, 1, 1)], (), 17.0),
    (lambda x: x[torch.tensor(1)], (3, 4), 12.0),
    (lambda x: x[np.int64(1)], (3, 4), 12.0),
    (lambda x: x[torch.tensor(1) :], (1, 3, 4), 12.0),
]
COPIES = [
    (lambda x: x[[1]], (1, 3, 4), 12.0),
    (lambda x: x[index(1, 0)], (2, 3, 4), 12.0),
    (lambda x: x[index(1, 0, dtype=torch.int32)], (2, 3, 4), 12.0),
    (lambda x: x[index([0, 1], [1, 0])], (2, 2, 3, 4), 0.0),
    (lambda x: x[:, [2, 0]], (2, 2, 4), 8.0),
    (lambda x: x[[0, 1], [1, 2]], (2, 4), 4.0),
    (lambda x: x[[0, 1], :, [1, 2]], (2, 3), 1.0),
    (lambda x: x[0, :, [1, 2]], (3, 2), 1.0),
    (lambda x: x[[0, 1], 1], (2, 4), 4.0),
    (lambda x: x[[0, 1], None], (2, 1, 3, 4), 0.0),
    (lambda x: x[..., [3, 0]], (2, 3, 2), 3.0),
    (lambda x: x[range(2)], (2, 3, 4), 0.0),
    (lambda x: x[np.array([1, 0])], (2, 3, 4), 12.0),
    (lambda x: x[x > 20], (3,), 21.0),
    (lambda x: x[:, x[0] > 9], (2, 2), 10.0),
    (lambda x: x[x[:, 0, 0] > 3], (1, 3, 4), 12.0),
    (lambda x: x[torch.tensor([True, True]), index(0, 2)], (2, 4), 0.0),
    (lambda x: x[[True, False]], (1, 3, 4), 0.0),
    (lambda x: x[True], (1, 2, 3, 4), 0.0),
    (lambda x: x[1, True, [0, 1]], (2, 4), 12.0),
    (lambda x: x[torch.tensor(True)], (1, 2, 3, 4), 0.0),
    (lambda x: x[[-1]], (1, 3, 4), 12.0),
]
NOTHING = [
    (lambda x: x[2:], (0, 3, 4)),
    (lambda x: x[1:0], (0, 3, 4)),
    (lambda x: x[[]], (0, 3, 4)),
    (lambda x: x[False], (0, 2, 3, 4)),
    (lambda x: x[x > 99], (0,)),
    (lambda x: x[index(dtype=torch.int64)], (0, 3, 4)),
    (lambda x: x[:, torch.zeros(2, 0, dtype=torch.int64)], (2, 2, 0, 4)),
]


@pytest.mark.parametrize("pick, shape, first", VIEWS)
def test_views(pick, shape, first):
    x = cube()
    view = pick(x)
    assert view.shape == shape and view.flatten()[0].item() == first
    assert shares_memory(view, x)


@pytest.mark.parametrize("pick, shape, first", COPIES)
def test_copies(pick, shape, first):
    x = cube()
    copy = pick(x)
    assert copy.shape == shape and copy.flatten()[0].item() == first
    assert not shares_memory(copy, x)


@pytest.mark.parametrize("pick, shape", NOTHING)
def test_no_elements(pick, shape):
    assert pick(cube()).shape == shape


def test_strides_of_new_dimensions():
    assert cube()[None, :, None].stride() == (24, 12, 12, 4, 1)
    assert cube()[0, 0, 0, None].stride() == (1,)


@pytest.mark.filterwarnings("ignore:Using a non-tuple")
def test_a_list_of_sequences_is_a_tuple():
    x = cube()
    assert x[[[0, 1], [1, 2]]].tolist() == x[[0, 1], [1, 2]].tolist()
    assert x[[slice(0, 1), 0]].shape == (1, 4)


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_uint8_is_a_mask():
    assert cube()[index(0, 1, dtype=torch.uint8)].shape == (1, 3, 4)


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.complex64]
)
def test_every_dtype(dtype):
    x = torch.tensor([[1, 0, 1], [0, 0, 1]]).to(dtype)
    mask = torch.tensor([True, False, True])
    assert x[:, mask].dtype == dtype and x[:, mask].tolist() == [[1, 1], [0, 1]]
    assert x[1, [2, 0]].tolist() == [1, 0]
    x[0, mask] = 0
    x[[1]] = 1
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    "pick, error, message",
    [
        (lambda x: x[2], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[0, -4], IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        (lambda x: x[[0, 2]], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[0, 0, 0, 0], IndexError, "too many indices for tensor of dimension 3"),
        (lambda x: x[x > 3, 0], IndexError, "too many indices for tensor of dimension 3"),
        (lambda x: x[0, 0, 0][0], IndexError, "invalid index of a 0-dim tensor"),
        (lambda x: x[0, 0, 0][:], IndexError, "slice.. cannot be applied to a 0-dim tensor"),
        (lambda x: x[1.0], IndexError, "only integers, slices .*are valid indices .got float"),
        (
            lambda x: x[torch.tensor([0.0])],
            IndexError,
            "tensors used as indices must be long, int, byte or bool",
        ),
        (lambda x: x[::-1], ValueError, "step must be greater than zero"),
        (
            lambda x: x[torch.tensor([True])],
            IndexError,
            r"The shape of the mask \[1\] at index 0 does not match",
        ),
        (
            lambda x: x[[0, 1], [0, 1, 2]],
            IndexError,
            r"could not be broadcast together with shapes \[2\], \[3\]",
        ),
    ],
)
def test_refused(pick, error, message):
    with pytest.raises(error, match=message):
        pick(cube())


# --- writing --------------------------------------------------------------------------------------------------------


def written(where, value):
    x = torch.arange(6.0).reshape(2, 3)
    x[where] = value
    return x.tolist()


@pytest.mark.parametrize(
    "where, value, expected",
    [
        (0, 1, [[1, 1, 1], [3, 4, 5]]),
        (0, torch.tensor([[[7, 8, 9]]]), [[7, 8, 9], [3, 4, 5]]),
        ((slice(None), slice(1, None)), 0.5, [[0, 0.5, 0.5], [3, 0.5, 0.5]]),
        ((Ellipsis, -1), torch.tensor([7.0, 8.0]), [[0, 1, 7], [3, 4, 8]]),
        ([0, 0], torch.tensor([[1.0, 2, 3], [4, 5, 6]]), [[4, 5, 6], [3, 4, 5]]),
        (([0, 1], [0, 1]), torch.tensor([7.0, 8.0]), [[7, 1, 2], [3, 8, 5]]),
        ((slice(None), [0, 2]), torch.tensor([[7.0], [8.0]]), [[7, 1, 7], [8, 4, 8]]),
        (
            torch.tensor([[True, False, True], [False, True, False]]),
            torch.tensor([7.0, 8, 9]),
            [[7, 1, 8], [3, 9, 5]],
        ),
        (torch.tensor([True, False]), 7, [[7, 7, 7], [3, 4, 5]]),
        (True, 9, [[9, 9, 9], [9, 9, 9]]),
        (False, 9, [[0, 1, 2], [3, 4, 5]]),
        ([], 9, [[0, 1, 2], [3, 4, 5]]),
        ((None, 1), 9, [[0, 1, 2], [9, 9, 9]]),
        (slice(2, 9), torch.tensor([1.0, 2, 3]), [[0, 1, 2], [3, 4, 5]]),
    ],
)
def test_writes(where, value, expected):
    assert written(where, value) == expected


@pytest.mark.parametrize(
    "where, value, error, message",
    [
        (
            0,
            torch.ones(2),
            RuntimeError,
            r"The expanded size of the tensor \(3\) must match the existing size \(2\)",
        ),
        (
            [0, 1],
            torch.ones(2),
            RuntimeError,
            r"value tensor of shape \[2\] cannot be broadcast to indexing result",
        ),
        (
            [0],
            torch.tensor([1]),
            RuntimeError,
            "Index put requires the source and destination dtypes match, got Float",
        ),
        (0, [1, 2, 3], TypeError, "can't assign a list to a torch.FloatTensor"),
        (0, np.ones(3), TypeError, "can't assign a numpy.ndarray to a torch.FloatTensor"),
        (0, 1j, RuntimeError, "value cannot be converted to type float without overflow"),
        (5, 1, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ],
)
def test_refused_writes(where, value, error, message):
    with pytest.raises(error, match=message):
        written(where, value)


def test_numbers_that_do_not_fit():
    x = torch.zeros(2, dtype=torch.uint8)
    x[0] = -1
    x[1] = 1.7
    assert x.tolist() == [255, 1]
    for value in (300, float("nan"), 1e20):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
            x[0] = value


def test_a_write_shows_in_views_and_arrays():
    x = torch.zeros(3, 2)
    view, array = x[1:], x.numpy()
    x[[1, 2], 0] = torch.tensor([5.0, 6.0])
    assert view.tolist() == [[5, 0], [6, 0]] and array[2, 0] == 6
    view[view > 5] = 7
    assert x[2, 0].item() == 7


def test_a_write_from_its_own_memory():
    # PyTorch refuses some of these and leaves the result of others open; here the values are read first.
    x = torch.arange(5.0)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_a_write_makes_saved_tensors_stale():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y * y
    y[0] = 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_no_write_into_a_leaf():
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        torch.ones(2, requires_grad=True)[0] = 1


# --- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pick",
    [
        lambda x: x[1],
        lambda x: x[:, ::2, None],
        lambda x: x[[0, 0, 1]],
        lambda x: x[:, [2, 2, 0]],
        lambda x: x[[0, 1, 1], [1, 2, 2]],
        lambda x: x[[0, 1], :, [1, 1]],
        lambda x: x[x > 0.5],
        lambda x: x[:, :, torch.tensor([True, False])],
        lambda x: x[True],
    ],
)
def test_gradients(pick):
    x = torch.from_numpy(np.sin(np.arange(12.0) * 1.3).reshape(2, 3, 2)).requires_grad_()
    assert gradcheck(lambda x: pick(x) * 2, (x,))
    assert gradgradcheck(lambda x: pick(x) ** 2, (x,))


@pytest.mark.parametrize("where", [0, (slice(None), 1), [1, 0], ([0, 1], [2, 0]), (Ellipsis, [0, 2])])
def test_gradients_of_writes(where):
    x = torch.from_numpy(np.sin(np.arange(6.0)).reshape(2, 3)).requires_grad_()
    shape = tuple(x[where].shape)
    value = torch.from_numpy(np.cos(np.arange(float(np.prod(shape)))).reshape(shape)).requires_grad_()

    def write(x, value):
        result = x * 1
        result[where] = value
        return result

    assert gradcheck(write, (x, value))
    assert gradgradcheck(lambda x, value: write(x, value) ** 2, (x, value))


@pytest.mark.parametrize("nothing", [slice(2, None), [], False])
def test_gradient_of_no_elements(nothing):
    x = torch.ones(2, 3, requires_grad=True)
    x[nothing].sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_gradient_of_repeated_rows():
    x = torch.zeros(5, 8, requires_grad=True)
    x[index(1, 3, 1, 1)].sum().backward()
    assert x.grad[:, 0].tolist() == [0, 3, 0, 1, 0]


@pytest.mark.parametrize("accumulate, expected", [(False, [0, 7, 8]), (True, [0, 8, 17])])
def test_index_put(accumulate, expected):
    x = torch.tensor([0.0, 1.0, 2.0])
    places, values = (index(1, 2, 2),), torch.tensor([7.0, 7.0, 8.0])
    assert x.index_put(places, values, accumulate).tolist() == expected
    assert x.index_put_(places, values, accumulate) is x and x.tolist() == expected


def test_node_names():
    x = torch.ones(2, 3, requires_grad=True)
    names = [v.grad_fn.name() for v in (x[0], x[:, 1:], x[None], x[0, :], x[[0]])]
    assert names == [
        "SelectBackward0",
        "SliceBackward0",
        "UnsqueezeBackward0",
        "SelectBackward0",
        "IndexBackward0",
    ]
