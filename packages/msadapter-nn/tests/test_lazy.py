"""Modules that learn the sizes of their parameters from the first input."""

import copy
import pickle

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn


def test_the_first_input_gives_the_sizes_and_the_class():
    net = nn.LazyLinear(3)
    assert repr(net) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    assert repr(net.weight) == "<UninitializedParameter>"
    weight = net.weight
    out = net(torch.ones(2, 5))
    assert type(net) is nn.Linear and net.in_features == 5 and net.weight is weight
    out.sum().backward()
    assert net.weight.grad.tolist() == [[2.0] * 5] * 3
    assert not net._forward_pre_hooks


@pytest.mark.parametrize(
    ("make", "shape", "weight"),
    [
        (lambda: nn.LazyConv1d(6, 3, groups=2), (1, 4, 8), (6, 2, 3)),
        (lambda: nn.LazyConv2d(6, 3, 1, 0, 1, 1, False), (1, 4, 8, 8), (6, 4, 3, 3)),
        (lambda: nn.LazyConvTranspose2d(6, 3), (4, 8, 8), (4, 6, 3, 3)),
        (lambda: nn.LazyBatchNorm2d(), (2, 4, 3, 3), (4,)),
        (lambda: nn.LazyInstanceNorm1d(), (2, 4, 3), (4,)),
    ],
)
def test_shapes(make, shape, weight):
    net = make()
    net(torch.ones(shape))
    assert net.weight.shape == weight
    assert not type(net).__name__.startswith("Lazy")


def test_loading_gives_the_shapes_too():
    source = nn.Linear(4, 3)
    net = nn.LazyLinear(3)
    net.load_state_dict(source.state_dict())
    assert torch.equal(net.weight, source.weight)
    assert net(torch.ones(1, 4)).tolist() == source(torch.ones(1, 4)).tolist()
    assert repr(nn.LazyLinear(3).state_dict()["weight"]) == "<UninitializedParameter>"


def test_uninitialized_parameters_refuse_use():
    net = nn.LazyLinear(3)
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        net.weight + 1
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        net.weight.shape  # noqa: B018
    assert net.half().weight.dtype == torch.float16
    for clone in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert clone.weight is not net.weight and clone.weight.dtype == torch.float16
        assert clone.float()(torch.ones(1, 2)).shape == (1, 3)


def test_wrong_number_of_dimensions():
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d, but got input of size: torch.Size\(\[3, 3\]\)"):  # fmt: skip
        nn.LazyConv2d(3, 3)(torch.ones(3, 3))
