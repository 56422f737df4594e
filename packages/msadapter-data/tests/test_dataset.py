"""Datasets made of others, and random_split; orders are those of real PyTorch 2.13."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Numbers(Dataset):
    def __init__(self, count, first=0):
        self.count, self.first = count, first

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        return self.first + index


class NumbersAtOnce(Numbers):
    def __init__(self, *args):
        super().__init__(*args)
        self.asked = []

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [self.first + i for i in indices]


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def test_dataset_without_getitem_and_len():
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        Dataset()[0]
    with pytest.raises(TypeError, match="has no len"):
        len(Dataset())


def test_tensor_dataset_gives_rows():
    dataset = TensorDataset(torch.arange(6).reshape(3, 2), torch.tensor([7, 8, 9]))
    assert len(dataset) == 3
    assert [t.tolist() for t in dataset[1]] == [[2, 3], 8]
    assert [t.tolist() for t in dataset[1:]] == [[[2, 3], [4, 5]], [8, 9]]
    with pytest.raises(
        AssertionError, match=r"Size mismatch between tensors. Received: shapes \[\(2,\), \(3,\)\]"
    ):
        TensorDataset(torch.ones(2), torch.ones(3))


def test_concat_dataset():
    both = Numbers(2) + Numbers(3, 10)
    assert isinstance(both, ConcatDataset)
    assert len(both) == 5 and both.cumulative_sizes == [2, 5]
    assert [both[i] for i in range(-5, 5)] == [0, 1, 10, 11, 12] * 2
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-6]
    with pytest.raises(IndexError):
        both[5]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Stream(1)])
    with pytest.warns(FutureWarning, match="is renamed"):
        assert both.cummulative_sizes == [2, 5]


def test_chain_dataset():
    chain = Stream(2) + Stream(3)
    assert isinstance(chain, ChainDataset)
    assert list(chain) == [0, 1, 0, 1, 2]
    with pytest.raises(TypeError, match="has no len"):
        len(chain)
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset([[1]]))


def test_stack_dataset_of_tuples_and_dicts():
    at_once = NumbersAtOnce(2, 5)
    pairs = StackDataset(Numbers(2), at_once)
    assert len(pairs) == 2 and pairs[1] == (1, 6)
    assert pairs.__getitems__([1, 0]) == [(1, 6), (0, 5)]
    assert at_once.asked == [[1, 0]]
    named = StackDataset(a=Numbers(2), b=at_once)
    assert named[1] == {"a": 1, "b": 6}
    assert named.__getitems__([0]) == [{"a": 0, "b": 5}]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "At least one dataset"),
        ((Numbers(2),), {"b": Numbers(2)}, "both types are given"),
        ((Numbers(2), Numbers(3)), {}, r"Size mismatch between datasets. Received: lengths \[2, 3\]"),
        ((), {"a": Numbers(2), "b": Numbers(3)}, "Size mismatch between datasets"),
    ],
)
def test_stack_dataset_refuses(args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        StackDataset(*args, **kwargs)


def test_stack_dataset_checks_what_it_is_given():
    class TooFew(Numbers):
        def __getitems__(self, indices):
            return [0]

    with pytest.raises(ValueError, match="output size mismatch. Expected 2, got 1"):
        StackDataset(TooFew(2)).__getitems__([0, 1])


def test_subset_asks_at_once_where_it_can():
    at_once = NumbersAtOnce(9)
    subset = Subset(at_once, [4, 2, 7])
    assert len(subset) == 3 and subset[-1] == 7
    assert [batch.tolist() for batch in DataLoader(subset, 2)] == [[4, 2], [7]]
    assert at_once.asked == [[4, 2], [7]]
    assert Subset(Numbers(5), [4, 2]).__getitems__([1, 0]) == [2, 4]


def test_subset_with_half_of_the_overrides_is_refused():
    class Half(Subset):
        def __getitem__(self, index):
            return 0

    with pytest.raises(NotImplementedError, match="Half overrides __getitem__ but not __getitems__"):
        Half(Numbers(2), [0])


def test_random_split_is_pytorchs():
    torch.manual_seed(1)
    parts = random_split(range(10), [0.5, 0.3, 0.2])
    assert [part.indices for part in parts] == [[5, 6, 1, 2, 0], [8, 9, 3], [7, 4]]
    parts = random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(42))
    assert [part.indices for part in parts] == [[2, 6, 1], [8, 4, 5, 0, 9, 3, 7]]


def test_random_split_refuses_and_warns():
    with pytest.raises(ValueError, match="does not equal the length"):
        random_split(range(3), [1, 1])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(3), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0") as caught:
        parts = random_split(range(2), [0.95, 0.05])
    assert caught[0].filename == __file__
    assert [len(part) for part in parts] == [2, 0]
