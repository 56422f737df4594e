"""The DataLoader; batches, order and errors are those of real PyTorch 2.13."""

import logging
import pickle

import mindspore as ms
import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data import (
    DataLoader,
    IterableDataset,
    TensorDataset,
    dataloader,
    get_worker_info,
)


def batches(*args, **kwargs):
    return [batch.tolist() for batch in DataLoader(*args, **kwargs)]


BASE_SEED_AFTER_0 = 900450186894289455  # the first that a loader draws after torch.manual_seed(0)


class Stream(IterableDataset):
    """0 to count - 1, shared out among the workers; `promised` is its length, which may be a lie."""

    def __init__(self, count, promised=None):
        self.count, self.promised = count, promised

    def __iter__(self):
        info = get_worker_info()
        return iter(range(self.count) if info is None else range(info.id, self.count, info.num_workers))

    def __len__(self):
        if self.promised is None:
            raise TypeError("object of type 'Stream' has no len()")
        return self.promised


class WhoAmI(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        info = get_worker_info()
        return -1 if info is None else info.id


def test_order_with_a_seed_is_pytorchs():
    torch.manual_seed(0)
    assert batches(range(10), 3, shuffle=True) == [[6, 7, 1], [4, 2, 0], [9, 8, 3], [5]]
    assert batches(range(10), 3, shuffle=True, drop_last=True) == [[2, 4, 7], [0, 8, 9], [5, 3, 6]]
    assert torch.rand(2).tolist() == pytest.approx([0.4556, 0.6323], abs=5e-5)


def test_order_with_a_generator_is_pytorchs():
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(range(10), 4, shuffle=True, generator=generator)
    assert [b.tolist() for b in loader] == [[7, 4, 8, 1], [2, 3, 6, 5], [9, 0]]


def test_batches_of_tensors_numbers_and_single_samples():
    dataset = TensorDataset(torch.arange(6).reshape(3, 2), torch.tensor([7, 8, 9]))
    first, last = DataLoader(dataset, batch_size=2)
    assert first[0].tolist() == [[0, 1], [2, 3]] and first[1].tolist() == [7, 8]
    assert last[0].tolist() == [[4, 5]] and isinstance(last, list)
    assert list(DataLoader([1, 2.5], batch_size=None)) == [1, 2.5]
    assert batches([np.float32(1)], batch_size=None) == [1.0]


def test_samplers_and_collate_fn():
    assert batches(range(9), sampler=[3, 1]) == [[3], [1]]
    assert batches(range(9), batch_sampler=[[0, 8], [4]]) == [[0, 8], [4]]
    assert list(DataLoader(range(4), 2, collate_fn=tuple)) == [(0, 1), (2, 3)]
    assert list(DataLoader({"a": 1, "b": 2}, sampler=["b", "a"], batch_size=None)) == [2, 1]


def test_len_of_loader_and_iterator():
    assert len(DataLoader(range(7), 3)) == 3
    assert len(DataLoader(range(7), 3, drop_last=True)) == 2
    assert len(iter(DataLoader(range(7), 3))) == 3
    assert len(DataLoader([], 3)) == 0


def test_break_and_start_again():
    loader = DataLoader(range(6), 2)
    for batch in loader:
        assert batch.tolist() == [0, 1]
        break
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4, 5]]
    iterator = iter(loader)
    list(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_an_error_of_the_dataset_comes_through():
    class Broken(WhoAmI):
        def __getitem__(self, index):
            raise KeyError("sample two")

    for workers in (0, 2):
        with pytest.raises(KeyError, match="sample two"):
            list(DataLoader(Broken(), num_workers=workers))


def test_iterable_style():
    assert batches(Stream(5), 2) == [[0, 1], [2, 3], [4]]
    assert batches(Stream(5), 2, drop_last=True, shuffle=False) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    with pytest.raises(TypeError, match="has no len"):
        len(DataLoader(Stream(3)))
    assert [len(DataLoader(Stream(3, promised=5), size)) for size in (2, None)] == [3, 5]
    assert len(DataLoader(Stream(3, promised=5), 2, drop_last=True)) == 2


def test_an_iterable_that_gives_more_than_it_promised_is_reported():
    loader = DataLoader(Stream(3, promised=2), 1)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2 .* but 3 samples have been fetched"):
        assert len(list(loader)) == 3


@pytest.mark.parametrize("name", ["shuffle", "sampler", "batch_sampler"])
def test_an_iterable_has_no_order_to_set(name):
    with pytest.raises(ValueError, match=rf"expected unspecified {name} option, but got {name}=\[\[1\]\]"):
        DataLoader(Stream(3), **{name: [[1]]})


def test_workers_take_turns():
    who = batches(WhoAmI(), 2, num_workers=2)
    assert who == [[0, 0], [1, 1], [0, 0]]
    assert batches(WhoAmI(), 3) == [[-1, -1, -1]] * 2
    assert batches(range(5), 2, num_workers=2) == [[0, 1], [2, 3], [4]]


def test_workers_share_out_an_iterable():
    assert batches(Stream(7), 2, num_workers=2) == [[0, 2], [1, 3], [4, 6], [5]]
    assert batches(Stream(7), 2, num_workers=2, drop_last=True) == [[0, 2], [1, 3], [4, 6]]


def test_workers_are_set_up_and_seeded():
    infos = []
    torch.manual_seed(0)
    loader = DataLoader(
        range(4),
        num_workers=2,
        worker_init_fn=lambda id: infos.append((id, get_worker_info())),
        persistent_workers=True,
    )
    assert loader.prefetch_factor == 2
    for _ in range(2):
        assert [b.tolist() for b in loader] == [[0], [1], [2], [3]]
    assert [(id, info.id, info.num_workers) for id, info in infos] == [(0, 0, 2), (1, 1, 2)]
    assert [info.seed for _, info in infos] == [BASE_SEED_AFTER_0, BASE_SEED_AFTER_0 + 1]
    assert infos[0][1].dataset is loader.dataset
    assert get_worker_info() is None


def test_workers_that_are_no_processes_say_so_once(caplog, monkeypatch):
    monkeypatch.setattr(dataloader._WorkersInTurnIter, "_told", False)
    with caplog.at_level(logging.INFO, logger=dataloader.__name__):
        for _ in range(2):
            list(DataLoader(range(2), num_workers=1))
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert "batches are loaded in this process" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_workers": -1}, ValueError, "num_workers option should be non-negative"),
        ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, ValueError, "only be specified in multiprocessing"),
        (
            {"prefetch_factor": -1, "num_workers": 1},
            ValueError,
            "prefetch_factor option should be non-negative",
        ),
        ({"persistent_workers": True}, ValueError, "needs num_workers > 0"),
        ({"sampler": [0], "shuffle": True}, ValueError, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "batch_sampler option is mutually exclusive"),
        (
            {"batch_sampler": [[0]], "drop_last": True},
            ValueError,
            "batch_sampler option is mutually exclusive",
        ),
        (
            {"batch_size": None, "drop_last": True},
            ValueError,
            "batch_size=None option disables auto-batching",
        ),
        ({"batch_size": 0}, ValueError, "got batch_size=0"),
        ({"multiprocessing_context": "fork"}, ValueError, "can only be used with multi-process loading"),
        ({"multiprocessing_context": "x", "num_workers": 1}, ValueError, "valid start method in"),
        ({"multiprocessing_context": 3, "num_workers": 1}, TypeError, "valid context object"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        DataLoader(range(3), **arguments)


def test_shuffling_nothing_is_an_error():
    with pytest.raises(
        ValueError, match="num_samples should be a positive integer value, but got num_samples=0"
    ):
        DataLoader([], shuffle=True)


def test_what_the_order_depends_on_is_fixed():
    loader = DataLoader(range(3))
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader"):
            setattr(loader, name, None)
    loader.collate_fn = tuple
    assert list(loader) == [(0,), (1,), (2,)]


def test_an_iterator_does_not_pickle_and_waits_for_nobody():
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(DataLoader(range(3))))
    with pytest.raises(AssertionError, match="timeout needs num_workers > 0"):
        iter(DataLoader(range(3), timeout=1))


def test_more_workers_than_processors_are_reported(monkeypatch):
    monkeypatch.setattr(dataloader.os, "sched_getaffinity", lambda pid: {0, 1})
    with pytest.warns(UserWarning, match="will create 3 worker processes in total.*system is 2") as caught:
        DataLoader(range(2), num_workers=3)
    assert caught[0].filename == __file__


@pytest.mark.skipif(
    ms.get_context("device_target") != "CPU", reason="there is an accelerator to pin memory for"
)
def test_pin_memory_without_an_accelerator():
    with pytest.warns(UserWarning, match="no accelerator is found") as caught:
        assert batches(range(2), 2, pin_memory=True) == [[0, 1]]
    assert len(caught) == 1


def test_a_loader_is_a_source_of_mindspores_generator_dataset():
    images, labels = np.arange(24, dtype=np.float32).reshape(6, 4), np.arange(6, dtype=np.int32)
    loader = DataLoader(TensorDataset(torch.from_numpy(images), torch.from_numpy(labels)), batch_size=4)
    source = ms.dataset.GeneratorDataset(source=loader, column_names=["image", "label"], shuffle=False)
    assert source.get_dataset_size() == 2
    for _ in range(2):  # epochs
        rows = list(source.create_tuple_iterator(num_epochs=1))
        assert [row[0].shape for row in rows] == [(4, 4), (2, 4)]
        assert np.concatenate([row[0].asnumpy() for row in rows]).tolist() == images.tolist()
        assert np.concatenate([row[1].asnumpy() for row in rows]).tolist() == labels.tolist()


def test_a_model_is_told_what_takes_a_loader():
    loader = DataLoader([1, 2])
    assert not hasattr(loader, "get_dataset_size")
    model = ms.Model(ms.nn.Dense(1, 1), ms.nn.MSELoss(), None)
    with pytest.raises(
        AttributeError, match=r"Write mindspore.dataset.GeneratorDataset\(source=loader, column"
    ):
        model.train(1, loader)
