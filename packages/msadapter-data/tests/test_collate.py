"""default_collate, default_convert and collate; results are those of real PyTorch 2.13."""

import types
from collections import OrderedDict, UserDict, UserList, defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data import default_collate, default_convert
from msadapter.pytorch.utils.data._utils.collate import collate, default_collate_fn_map
from msadapter.pytorch.utils.data._utils.pin_memory import pin_memory

Pair = namedtuple("Pair", "a b")


@dataclass
class Record:
    value: int


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ([1, 2], "tensor([1, 2])"),
        ([1.5, 2], "tensor([1.5000, 2.0000], dtype=torch.float64)"),
        ([True, False], "tensor([ True, False])"),
        ([np.float32(1), np.float32(2)], "tensor([1., 2.])"),
        ([np.int8(1), np.int8(2)], "tensor([1, 2], dtype=torch.int8)"),
        ([np.bool_(True)], "tensor([True])"),
        ([np.array(3), np.array(4)], "tensor([3, 4])"),
        ([np.arange(2), np.arange(2)], "tensor([[0, 1],\n        [0, 1]])"),
        (["a", "b"], "['a', 'b']"),
        ([b"a"], "[b'a']"),
        ([np.str_("s")], "['s']"),
        ([(1, 2.0), (3, 4.0)], "[tensor([1, 3]), tensor([2., 4.], dtype=torch.float64)]"),
        ([[1, "a"], [2, "b"]], "[tensor([1, 2]), ('a', 'b')]"),
        ([Pair(1, "x"), Pair(2, "y")], "Pair(a=tensor([1, 2]), b=('x', 'y'))"),
        ([{"a": {"b": [1, 2]}}, {"a": {"b": [3, 4]}}], "{'a': {'b': [tensor([1, 3]), tensor([2, 4])]}}"),
        ([OrderedDict(a=1), OrderedDict(a=2)], repr(OrderedDict(a="?")).replace("'?'", "tensor([1, 2])")),
        ([defaultdict(list, a=1)] * 2, "defaultdict(<class 'list'>, {'a': tensor([1, 1])})"),
        ([range(2), range(2)], "[tensor([0, 0]), tensor([1, 1])]"),
        ([UserList([1, 2])] * 2, "[tensor([1, 1]), tensor([2, 2])]"),
        ([UserDict(a=1)] * 2, "{'a': tensor([1, 1])}"),
        ([types.MappingProxyType({"a": 1})] * 2, "mappingproxy({'a': tensor([1, 1])})"),
    ],
)
def test_default_collate(batch, expected):
    assert repr(default_collate(batch)) == expected


def test_containers_keep_their_kind():
    assert type(default_collate([UserList([1])] * 2)) is UserList
    assert type(default_collate([types.MappingProxyType({"a": 1})] * 2)) is types.MappingProxyType
    assert default_collate([defaultdict(list, a=1)])["missing"] == []


def test_collate_of_tensors_copies_them():
    sample = torch.ones(2, dtype=torch.bfloat16)
    batch = default_collate([sample, sample])
    assert batch.dtype == torch.bfloat16 and batch.shape == (2, 2)
    sample.fill_(5)
    assert batch.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        ([None, None], TypeError, "batch must contain tensors, .* found <class 'NoneType'>"),
        ([Record(1)], TypeError, "found <class '.*Record'>"),
        ([1j, 2j], TypeError, "found <class 'complex'>"),
        ([np.array(["s"])], TypeError, "found <U1"),
        ([np.array([1], dtype=object)], TypeError, "found object"),
        ([[1, 2], [3]], RuntimeError, "each element in list of batch should be of equal size"),
        ([{"a": 1}, {"b": 2}], KeyError, "a"),
        ([torch.ones(2), torch.ones(3)], RuntimeError, "stack expects each tensor to be equal size"),
        ([], IndexError, "out of range"),
    ],
)
def test_default_collate_refuses(batch, error, message):
    with pytest.raises(error, match=message):
        default_collate(batch)


def test_collate_takes_a_map_and_default_collate_can_be_extended():
    def values(batch, *, collate_fn_map=None):
        return [record.value for record in batch]

    assert collate([[Record(1)], [Record(2)]], collate_fn_map={(Record, str): values}) == [[1, 2]]
    with pytest.raises(TypeError, match="found <class 'int'>"):
        collate([1, 2])
    default_collate_fn_map[Record] = values
    try:
        assert default_collate([{"r": Record(3)}]) == {"r": [3]}
    finally:
        del default_collate_fn_map[Record]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (1, "1"),
        (None, "None"),
        ("a", "'a'"),
        (np.str_("a"), repr(np.str_("a"))),
        (np.array(["a"]), repr(np.array(["a"]))),
        (Record(1), "Record(value=1)"),
        (np.arange(2), "tensor([0, 1])"),
        (np.float32(2), "tensor(2.)"),
        ((1, np.ones(1)), "[1, tensor([1.], dtype=torch.float64)]"),
        (Pair(np.ones(1), 2), "Pair(a=tensor([1.], dtype=torch.float64), b=2)"),
        ({"a": [np.array([1, 2])]}, "{'a': [tensor([1, 2])]}"),
        (range(2), "[0, 1]"),
    ],
)
def test_default_convert(data, expected):
    assert repr(default_convert(data)) == expected


def test_default_convert_shares_memory_and_leaves_its_argument_alone():
    data = [np.zeros(2)]
    converted = default_convert(data)
    converted[0].fill_(3)
    assert data[0].tolist() == [3.0, 3.0]
    assert isinstance(data[0], np.ndarray)


def test_pin_memory_asks_objects_however_deep():
    class Pinnable:
        pinned = False

        def pin_memory(self):
            self.pinned = True
            return self

    one, two = Pinnable(), Pinnable()
    result = pin_memory({"a": (one, "text"), "b": Pair([two], None)})
    assert one.pinned and two.pinned
    assert result == {"a": (one, "text"), "b": Pair([two], None)}
