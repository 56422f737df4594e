"""Shared memory, in-place writes through views, version counts, and their gradients."""

import copy
import pickle

import numpy as np
import pytest

import msadapter.pytorch as torch


def leaf(*values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0, 4.0], requires_grad=True)


def test_writes_show_through_every_alias():
    base = torch.zeros(2, 3)
    flat, turned, array = base.view(6), base.t(), base.numpy()
    flat[1] = 5.0
    turned[2].fill_(7.0)
    array[1, 0] = 9
    assert base.tolist() == [[0.0, 5.0, 7.0], [9.0, 0.0, 7.0]]
    assert flat.tolist() == [0.0, 5.0, 7.0, 9.0, 0.0, 7.0]


def test_gradient_flows_through_writes_into_views():
    x = leaf()
    y = x * 1
    a, b = y[0:3], y.view(2, 2)
    c = b.t()
    a.mul_(10)
    c[0].add_(1)
    (b * b * 2).sum().backward()
    assert y.tolist() == [11.0, 20.0, 31.0, 4.0]
    assert x.grad.tolist() == [440.0, 800.0, 1240.0, 16.0]


def test_a_buffer_that_is_filled_from_results_requires_grad():
    x = leaf()
    buffer = torch.zeros(4)
    view = buffer[2:]
    buffer[1:3].add_(x[:2])
    buffer[0] = x[3]
    assert buffer.requires_grad and view.requires_grad
    (view * view).sum().backward()
    assert x.grad.tolist() == [0.0, 4.0, 0.0, 0.0]


def test_views_survive_a_write_outside_the_graph():
    x = leaf()
    y = x * 2
    v = y[1:]
    with torch.no_grad():
        y.add_(1)
    (v * 3).sum().backward()
    assert v.tolist() == [5.0, 7.0, 9.0]
    assert x.grad.tolist() == [0.0, 6.0, 6.0, 6.0]


@pytest.mark.parametrize(
    "write, message",
    [
        (lambda x: x.add_(1), "a leaf Variable that requires grad"),
        (lambda x: x[0:2].mul_(2), "a view of a leaf Variable that requires grad"),
        (lambda x: x.__setitem__(0, 1.0), "a view of a leaf Variable that requires grad"),
        (lambda x: (x * 1).chunk(2)[0].mul_(2), "returns multiple views"),
        (lambda x: x.data.expand(2, 4).add_(1), "single memory location"),
        (lambda x: x.data.add_(torch.ones(3, 4)), "doesn't match the broadcast shape"),
        (lambda x: torch.zeros(2, dtype=torch.int64).add_(1.5), "result type Float can't be cast"),
    ],
)
def test_forbidden_writes_raise(write, message):
    with pytest.raises(RuntimeError, match=message):
        write(leaf())


def test_a_view_made_without_grad_may_not_be_written_with_it():
    y = leaf() * 1
    with torch.no_grad():
        v = y[:2]
    with pytest.raises(RuntimeError, match="no_grad mode"):
        v.mul_(2)


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.add_(1),
        lambda y: y[:2].mul_(2),
        lambda y: y.detach().zero_(),
        lambda y: y.__setitem__(0, 5.0),
    ],
)
def test_a_stale_saved_tensor_raises_in_backward(write):
    y = leaf() * 1
    z = y * y
    write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_data_writes_are_not_counted():
    x = leaf()
    y = x * 1
    z = (y * y).sum()
    y.data.mul_(10)
    z.backward()
    assert x.grad.tolist() == [20.0, 40.0, 60.0, 80.0]


def test_each_write_is_counted_once():
    plain = torch.zeros(3)
    start = plain._version
    plain.add_(1)
    plain[0] = 1
    plain[1:].mul_(2)
    assert plain._version - start == 3
    recorded = leaf() * 1
    start = recorded._version
    recorded.add_(1)
    recorded[0] = 1.0
    assert recorded._version - start == 2


def test_overlapping_copies_read_before_they_write():
    a = torch.tensor([0.0, 1.0, 2.0, 3.0])
    a[1:] = a[:-1]
    assert a.tolist() == [0.0, 0.0, 1.0, 2.0]
    b = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    b.copy_(b.t())
    assert b.tolist() == [[0.0, 2.0], [1.0, 3.0]]


def test_giving_a_tensor_other_data_leaves_old_views_alone():
    a = torch.zeros(4)
    v = a[:2]
    a.data = torch.ones(3)
    a.add_(1)
    assert a.tolist() == [2.0, 2.0, 2.0] and v.tolist() == [0.0, 0.0]


def test_base_and_strides_are_pytorchs():
    y = torch.zeros(2, 3)
    v = y.t()
    assert v._base is y and v[0]._base is y and y._base is None
    assert v.stride() == (1, 3) and not v.is_contiguous() and v.contiguous().stride() == (2, 1)
    assert y[1:].storage_offset() == 3 and y[1:].data_ptr() == y.data_ptr() + 12


def test_arrays_share_memory_both_ways_with_their_strides():
    array = np.arange(6.0, dtype=np.float32)
    t = torch.from_numpy(array[::2])
    assert t.stride() == (2,)
    t.mul_(10)
    array[4] = -1
    assert array.tolist() == [0.0, 1.0, 20.0, 3.0, -1.0, 5.0]
    assert t.tolist() == [0.0, 20.0, -1.0]
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(array[::-1])


def test_an_array_keeps_its_memory_when_the_tensor_moves_on():
    t = torch.ones(1000)
    array = t.numpy()
    t.data = torch.zeros(2)
    del t
    torch.ones(1000)
    assert array.sum() == 1000


def test_copies_and_pickles_are_leaves_with_their_attributes():
    x = leaf()
    x.note = "kept"
    first, second = copy.deepcopy([x, x])
    assert first is second and first.requires_grad and first.note == "kept"
    assert first.data_ptr() != x.data_ptr()
    back = pickle.loads(pickle.dumps(x))
    assert back.requires_grad and back.tolist() == x.tolist() and back.note == "kept"
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_a_subclass_stays_itself_and_sees_the_calls():
    calls = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    m = torch.ones(3).as_subclass(Logged)
    assert type(torch.add(m, 1)) is Logged and type(torch.add(torch.ones(3), m)) is Logged
    assert type(m + 1) is Logged and type(m[0]) is Logged
    assert "add" in calls


def test_the_grad_state_survives_a_view_that_cannot_be_made_again():
    base = leaf() * 1
    view = base[1:]
    view.__dict__["_recipe"] = (None, lambda root: 1 / 0, (), None)
    with torch.no_grad():
        with pytest.raises(ZeroDivisionError):
            base.add_(1)
        assert not torch.is_grad_enabled()
