"""Samplers: orders are those of real PyTorch 2.13 for the same seeds."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

NEXT_AFTER_SEED_3 = 0.2858  # of torch.rand(1), after any sampler has drawn its one seed


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        ({"replacement": True}, [1, 0, 3, 5, 2, 2]),
        ({"num_samples": 13}, [1, 4, 5, 2, 0, 3, 2, 3, 4, 0, 5, 1, 4]),
        ({"num_samples": 3}, [1, 4, 5]),
        (
            {"replacement": True, "num_samples": 40},  # more than one block of draws
            [1, 0, 3, 5, 2, 2, 4, 0, 1, 3, 4, 0, 0, 3, 3, 2, 4, 5, 2, 4]
            + [3, 4, 5, 3, 5, 3, 1, 4, 4, 5, 1, 5, 1, 3, 3, 0, 1, 0, 4, 1],
        ),
    ],
)
def test_random_sampler(arguments, order):
    torch.manual_seed(3)
    sampler = RandomSampler(range(6), **arguments)
    assert list(sampler) == order
    assert len(sampler) == len(order)
    assert torch.rand(1).item() == pytest.approx(NEXT_AFTER_SEED_3, abs=5e-5)


def test_random_sampler_moves_its_generator_on_as_pytorch_does():
    generator = torch.Generator().manual_seed(5)
    sampler = RandomSampler(range(10), generator=generator)
    assert list(sampler) == [1, 4, 9, 6, 3, 5, 0, 2, 8, 7]
    assert list(sampler) == [7, 5, 0, 4, 3, 9, 6, 8, 1, 2]


def test_random_sampler_follows_a_growing_source():
    source = [0, 1]
    sampler = RandomSampler(source)
    source.append(2)
    assert len(sampler) == 3 and sorted(sampler) == [0, 1, 2]


def test_subset_and_weighted_sampler():
    torch.manual_seed(4)
    assert list(SubsetRandomSampler([5, 9, 1, 2])) == [1, 9, 2, 5]
    assert list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 6)) == [3, 1, 1, 3, 3, 3]
    assert list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 3, replacement=False)) == [2, 3, 1]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomSampler(range(3), replacement=1), TypeError, "got replacement=1"),
        (lambda: RandomSampler(range(3), num_samples=0), ValueError, "got num_samples=0"),
        (lambda: RandomSampler([]), ValueError, "got num_samples=0"),
        (lambda: WeightedRandomSampler([1.0], True), ValueError, "got num_samples=True"),
        (lambda: WeightedRandomSampler([1.0], 1, replacement=0), ValueError, "got replacement=0"),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, r"weights have shape \(1, 1\)"),
        (lambda: BatchSampler([0], True, False), ValueError, "got batch_size=True"),
        (lambda: BatchSampler([0], 1, None), ValueError, "got drop_last=None"),
    ],
)
def test_wrong_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_base_sampler():
    with pytest.raises(NotImplementedError):
        list(Sampler())
    with pytest.raises(TypeError, match="has no len"):
        len(Sampler())


def test_batch_sampler():
    batches = BatchSampler(SequentialSampler(range(7)), 3, drop_last=False)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]] and len(batches) == 3
    batches = BatchSampler(range(7), 3, drop_last=True)
    assert list(batches) == [[0, 1, 2], [3, 4, 5]] and len(batches) == 2


@pytest.mark.parametrize(
    ("count", "replicas", "arguments", "orders"),
    [
        (10, 3, {}, [[8, 5, 0, 3], [7, 6, 4, 8], [1, 9, 2, 7]]),
        (10, 4, {"drop_last": True}, [[8, 6], [7, 9], [1, 0], [5, 4]]),
        (10, 3, {"shuffle": False}, [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]),
        (2, 7, {}, [[0], [1], [0], [1], [0], [1], [0]]),  # filled up more than once
        (9, 2, {"seed": 7}, [[1, 7, 6, 2, 3], [5, 8, 0, 4, 1]]),
    ],
)
def test_distributed_sampler(count, replicas, arguments, orders):
    samplers = [DistributedSampler(range(count), replicas, rank, **arguments) for rank in range(replicas)]
    for sampler in samplers:
        sampler.set_epoch(2)
    assert [list(sampler) for sampler in samplers] == orders
    assert {len(sampler) for sampler in samplers} == {len(orders[0])}


def test_distributed_sampler_repeats_its_order_until_the_epoch_is_set():
    sampler = DistributedSampler(range(20), num_replicas=2, rank=0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


@pytest.mark.parametrize("rank", [2, -1])
def test_distributed_sampler_checks_its_rank(rank):
    with pytest.raises(ValueError, match=rf"Invalid rank {rank}, rank should be in the interval \[0, 1\]"):
        DistributedSampler(range(3), num_replicas=2, rank=rank)
