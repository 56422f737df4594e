"""Containers of modules and parameters."""

from collections import OrderedDict

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn


def relu_tanh():
    return nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))


def names(module):
    return [name for name, _ in module.named_children()]


def test_sequential_indexing_and_slices():
    net = relu_tanh()
    assert type(net[0]) is nn.ReLU and type(net[-1]) is nn.Tanh
    assert names(net[1:]) == ["b"]
    net[0] = nn.Identity()
    assert type(net.a) is nn.Identity
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"index {index} is out of range"):
            net[index]
    del net[0]
    assert names(net) == ["0"] and type(net[0]) is nn.Tanh


def test_sequential_as_a_list():
    net = nn.Sequential(nn.ReLU()).append(nn.Tanh()).extend([nn.Identity()])
    net.insert(0, nn.Sigmoid())
    assert [type(m).__name__ for m in net] == ["Sigmoid", "ReLU", "Tanh", "Identity"]
    assert names(net) == ["0", "1", "2", "3"]
    assert type(net.pop(0)) is nn.Sigmoid and len(net) == 3
    assert len(net + net) == 6 and len(net * 2) == 6 and len(2 * net) == 6
    with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
        net + [nn.ReLU()]
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        net * 0
    with pytest.raises(IndexError, match="Index out of range: 9"):
        net.insert(9, nn.ReLU())
    assert not nn.Sequential() and nn.Identity()


def test_sequential_calls_in_turn():
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert net(torch.tensor([-1.0, 0.0])).tolist() == [0, 0]


def test_renumbering_keeps_the_mindspore_names():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1))

    net = nn.Module()
    net.layers = nn.ModuleList([Layer(), Layer()])
    net.layers.insert(0, Layer())
    del net.layers[1]
    assert [p.name for p in net.trainable_params()] == ["layers.0.weight", "layers.1.weight"]


def test_module_list():
    layers = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    assert repr(layers) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    assert type(layers[1:]) is nn.ModuleList and len(layers[1:]) == 2
    layers += [nn.Identity()]
    layers.insert(0, nn.Sigmoid())
    assert [type(m).__name__ for m in layers] == ["Sigmoid", "ReLU", "ReLU", "Tanh", "Identity"]
    assert len(layers + [nn.ReLU()]) == 6
    del layers[-1]
    assert names(layers) == ["0", "1", "2", "3"]
    with pytest.raises(TypeError, match="ModuleList.extend should be called with an iterable, but got int"):
        layers.extend(3)
    with pytest.raises(NotImplementedError):
        layers(1)
    assert repr(nn.ModuleList()) == "ModuleList()"


def test_module_dict():
    modules = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    assert list(modules) == ["b", "a"] and "a" in modules
    modules.update([("c", nn.Identity())])
    assert names(modules) == ["b", "a", "c"]
    assert type(modules.pop("b")) is nn.ReLU
    with pytest.raises(ValueError, match="ModuleDict update sequence element #0 has length 1; 2 is required"):
        modules.update([("c",)])
    with pytest.raises(
        TypeError, match="ModuleDict.update should be called with an iterable of key/value pairs"
    ):
        modules.update(3)
    modules.clear()
    assert len(modules) == 0


def test_parameter_list():
    held = nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.zeros(1)), 3])
    assert [name for name, _ in held.named_parameters()] == ["0", "1"]
    assert held[2] == 3 and held[-1] == 3 and len(held[:2]) == 2
    assert repr(held) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Parameter containing: [torch.float32 of size 1]\n"
        "    (2): Object of type: int\n"
        ")"
    )
    with pytest.raises(
        TypeError, match="ParameterList.extend should be called with an iterable, but got Tensor"
    ):
        held.extend(torch.ones(2))
    with pytest.raises(RuntimeError, match="ParameterList should not be called."):
        held(1)


def test_parameter_dict():
    held = nn.ParameterDict({"b": torch.ones(1), "a": torch.ones(2)})
    assert list(held) == ["a", "b"]  # a plain dict is taken in sorted order
    held["c"] = 1
    assert held.setdefault("d", torch.ones(1)).requires_grad
    assert held.popitem()[0] == "d"
    assert (held.get("x"), held.get("c")) == (None, 1)
    assert list(held | nn.ParameterDict({"z": torch.ones(1)})) == ["a", "b", "c", "z"]
    assert "(a): Parameter containing: [torch.FloatTensor of size 2]" in repr(held)
    with pytest.raises(
        TypeError, match="Index given to ParameterDict cannot be used as a key as it is not a string"
    ):
        held[3] = torch.ones(1)
