"""Embedding, bags of it, and one_hot; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


def index():
    return torch.tensor([[0, 1], [1, 3]])


VALUES = [
    (lambda: functional.embedding(index(), wave(4, 2)), [[[0.955336, 0.540302], [-0.128844, -0.737394]], [[-0.128844, -0.737394], [-0.210796, 0.468517]]]),
    (lambda: torch.embedding(wave(4, 2), torch.tensor(2)), [-0.999135, -0.790968]),
    (lambda: functional.embedding_bag(index(), wave(4, 2)), [[0.413246, -0.0985457], [-0.16982, -0.134439]]),
    (lambda: functional.embedding_bag(index(), wave(4, 2), mode="max", padding_idx=1), [[0.955336, 0.540302], [-0.210796, 0.468517]]),
    (lambda: functional.embedding_bag(torch.tensor([0, 1, 1, 3]), wave(4, 2), torch.tensor([0, 2, 2]), mode="sum", per_sample_weights=wave(4)), [[0.843053, 0.117755], [0.0, 0.0], [0.17204, -0.250472]]),
    (lambda: functional.embedding_bag(torch.tensor([0, 1, 1, 3]), wave(4, 2), torch.tensor([0, 3, 4]), include_last_offset=True), [[0.232549, -0.311495], [-0.210796, 0.468517]]),
    (lambda: functional.embedding_bag(torch.tensor([0, 1, 1, 3]), wave(4, 2), torch.tensor([0, 0, 3]), mode="max"), [[0.0, 0.0], [0.955336, 0.540302], [-0.210796, 0.468517]]),
    (lambda: functional.embedding_bag(index(), wave(4, 2), mode="sum", padding_idx=-1), [[0.826492, -0.197091], [-0.128844, -0.737394]]),
    (lambda: functional.one_hot(index()), [[[1, 0, 0, 0], [0, 1, 0, 0]], [[0, 1, 0, 0], [0, 0, 0, 1]]]),
    (lambda: functional.one_hot(torch.tensor(1), 3), [0, 1, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


def gradient(**arguments):
    weight = wave(4, 2, grad=True)
    functional.embedding(index(), weight, **arguments).sum().backward()
    return weight.grad


def test_gradients_count_each_use(same):
    same(gradient(), [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [1.0, 1.0]])
    same(gradient(padding_idx=-1), [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    same(gradient(scale_grad_by_freq=True), [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_gradients_have_the_dtype_of_the_table(dtype):
    weight = wave(4, 2, dtype=dtype).requires_grad_()
    functional.embedding(index(), weight, padding_idx=0).sum().backward()
    assert weight.grad.dtype == dtype and weight.grad.tolist()[1] == [2.0, 2.0]


def test_max_norm_shrinks_the_named_rows_in_place(same):
    weight = wave(4, 2)
    version = weight._version
    functional.embedding(index(), weight, max_norm=0.5)
    same(
        weight, [[0.435217, 0.246142], [-0.0860609, -0.492538], [-0.999135, -0.790968], [-0.205153, 0.455974]]
    )
    assert weight._version > version
    weight = wave(4, 2)
    functional.embedding(index(), weight, max_norm=0.5, norm_type=1.0)
    same(
        weight, [[0.319374, 0.180626], [-0.0743701, -0.42563], [-0.999135, -0.790968], [-0.155154, 0.344846]]
    )


GRADIENTS = {
    "embedding": lambda w: functional.embedding(index(), w) ** 2,
    "mean": lambda w: functional.embedding_bag(index(), w) ** 2,
    "max": lambda w: functional.embedding_bag(index(), w, mode="max") ** 2,
    "sum": lambda w: functional.embedding_bag(index(), w, mode="sum", per_sample_weights=w[:2].exp()),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name):
    assert gradcheck(GRADIENTS[name], (wave(4, 2, grad=True),))
    assert gradgradcheck(GRADIENTS[name], (wave(4, 2, grad=True),))


def test_an_empty_bag_is_zero(same):
    none = torch.zeros(0).long()
    for mode in ("sum", "mean", "max"):
        same(
            functional.embedding_bag(none, wave(4, 2), torch.tensor([0, 0]), mode=mode),
            [[0.0, 0.0], [0.0, 0.0]],
        )


REFUSED = [
    (lambda: functional.embedding(index() + 1, wave(4, 2)), IndexError, "index out of range in self"),
    (lambda: functional.embedding(index() - 1, wave(4, 2)), IndexError, "index out of range in self"),
    (lambda: functional.embedding(wave(2), wave(4, 2)), RuntimeError, "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int"),
    (lambda: functional.embedding(index(), wave(4)), RuntimeError, "'weight' must be 2-D"),
    (lambda: functional.embedding(index(), wave(4, 2), padding_idx=4), AssertionError, "Padding_idx must be within num_embeddings"),
    (lambda: functional.embedding_bag(torch.tensor([0]), wave(4, 2)), ValueError, "offsets has to be a 1D Tensor but got None"),
    (lambda: functional.embedding_bag(index(), wave(4, 2), torch.tensor([0])), ValueError, "if input is 2D, then offsets has to be None"),
    (lambda: functional.embedding_bag(torch.tensor([0]), wave(4, 2), torch.tensor([1])), RuntimeError, r"offsets\[0\] has to be 0"),
    (lambda: functional.embedding_bag(index() + 1, wave(4, 2)), RuntimeError, "Index 3 of input takes value 4 which is not in the valid range"),
    (lambda: functional.embedding_bag(index(), wave(4, 2), mode="min"), ValueError, "mode has to be one of sum, mean or max"),
    (lambda: functional.embedding_bag(index(), wave(4, 2), per_sample_weights=wave(2, 2)), NotImplementedError, "only supported for mode='sum'"),
    (lambda: functional.one_hot(index(), 3), RuntimeError, "Class values must be smaller than num_classes"),
    (lambda: functional.one_hot(index() - 1), RuntimeError, "Class values must be non-negative"),
    (lambda: functional.one_hot(index().int()), RuntimeError, "only applicable to index tensor of type LongTensor"),
    (lambda: functional.one_hot(torch.zeros(0).long()), RuntimeError, "Can not infer total number of classes from empty tensor"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "error", "message"), REFUSED)
def test_refusals(run, error, message):
    with pytest.raises(error, match=message):
        run()
