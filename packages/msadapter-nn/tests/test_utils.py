"""torch.nn.utils: parametrizations, norms, pruning, fusion, calls with other tensors. Values are PyTorch's."""

import copy
import pickle

import mindspore as ms
import numpy as np
import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn
from msadapter.pytorch.nn.utils import parametrizations, parametrize, prune, stateless


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).mT


class Exponential(nn.Module):
    def forward(self, X):
        return X.exp()

    def right_inverse(self, A):
        return A.log()


class Sum(nn.Module):
    def forward(self, x, y):
        return x + y

    def right_inverse(self, z):
        return z / 2, z - z / 2


def linear(*weight):
    layer = nn.Linear(len(weight[0]), len(weight))
    layer.weight.data = torch.tensor(weight)
    layer.bias.data.zero_()
    return layer


def test_a_parametrized_weight_is_computed_and_its_original_trained():
    layer = linear([1.0, 2.0], [3.0, 4.0])
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.weight.tolist() == [[1, 2], [2, 4]]
    assert layer.parametrizations.weight.original is weight
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert repr(layer) == (
        "ParametrizedLinear(\n  in_features=2, out_features=2, bias=True\n  (parametrizations): ModuleDict(\n"
        "    (weight): ParametrizationList(\n      (0): Symmetric()\n    )\n  )\n)"
    )
    layer(torch.ones(1, 2)).sum().backward()
    assert weight.grad.tolist() == [[1, 2], [0, 1]]
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        layer.weight = torch.ones(2, 2)
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is weight and weight.tolist() == [[1, 2], [2, 4]]
    assert type(layer) is nn.Linear


def test_an_assignment_goes_through_the_inverse():
    layer = linear([1.0, 2.0])
    parametrize.register_parametrization(layer, "weight", Sum())
    assert layer.weight.tolist() == [[1, 2]]
    layer.weight = torch.tensor([[4.0, 6.0]])
    assert layer.parametrizations.weight.original1.tolist() == [[2, 3]]
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.register_parametrization(layer, "weight", Exponential())
    np.testing.assert_allclose(layer.weight.tolist(), np.exp([[4, 6]]), rtol=1e-6)


def test_parametrized_modules_are_copied_and_not_pickled():
    layer = parametrize.register_parametrization(linear([1.0, 2.0], [3.0, 4.0]), "weight", Symmetric())
    clone = copy.deepcopy(layer)
    assert clone.weight.tolist() == layer.weight.tolist()
    assert clone.parametrizations.weight.original is not layer.parametrizations.weight.original
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight


def test_what_cannot_stand_for_the_tensor_is_refused():
    class FirstRow(nn.Module):
        def forward(self, x):
            return x[:1]

    with pytest.raises(ValueError, match="may not change the shape of the tensor"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", FirstRow())
    with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element"):
        parametrize.register_parametrization(nn.Linear(2, 2), "nothing", Symmetric())
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", FirstRow(), unsafe=True)
    assert layer.weight.shape == (1, 2)


def test_mindspore_trains_the_originals():
    layer = parametrize.register_parametrization(linear([1.0, 2.0], [3.0, 4.0]), "weight", Symmetric())
    parameters = layer.trainable_params()
    assert [parameter.name for parameter in parameters] == ["bias", "parametrizations.weight.original"]
    gradients = ms.grad(lambda x: layer(x).sum(), None, parameters)(torch.ones(1, 2))
    assert gradients[1].asnumpy().tolist() == [[1, 2], [0, 1]]


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("dim, length", [(0, [[5.0], [13.0]]), (1, [[13.0, 4.0]]), (None, 194**0.5)])
@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_weight_norm(newer, dim, length):
    layer = linear([5.0, 0.0], [12.0, 5.0])
    if dim == 1:
        layer = linear([5.0, 4.0], [12.0, 0.0])
    before = layer.weight.tolist()
    if newer:
        parametrizations.weight_norm(layer, dim=dim)
        g = layer.parametrizations.weight.original0
    else:
        nn.utils.weight_norm(layer, dim=dim)
        g = layer.weight_g
    np.testing.assert_allclose(g.tolist(), length, rtol=1e-6)
    layer(torch.ones(1, 2)).sum().backward()
    assert g.grad.shape == g.shape
    np.testing.assert_allclose(layer.weight.tolist(), before, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_weight_norms_share_their_state():
    old = nn.utils.weight_norm(linear([3.0, 4.0]))
    new = parametrizations.weight_norm(nn.Linear(2, 1))
    new.load_state_dict(old.state_dict())
    assert new.weight.tolist() == old.weight.tolist()
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
        nn.utils.weight_norm(old)
    nn.utils.remove_weight_norm(old)
    assert [name for name, _ in old.named_parameters()] == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(old)


def test_spectral_norm_finds_the_largest_singular_value():
    layer = parametrizations.spectral_norm(linear([3.0, 0.0], [0.0, 1.0]), n_power_iterations=5)
    np.testing.assert_allclose(layer.weight.tolist(), [[1, 0], [0, 1 / 3]], atol=1e-5)
    old = nn.utils.spectral_norm(linear([3.0, 0.0], [0.0, 1.0]), n_power_iterations=20)
    old(torch.ones(1, 2))
    np.testing.assert_allclose(old.weight.tolist(), [[1, 0], [0, 1 / 3]], atol=1e-5)
    assert list(old.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert old.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    loss = old(torch.ones(1, 2)).sum() - old(torch.ones(1, 2)).sum()  # two calls, one backward
    loss.backward()
    assert old.weight_orig.grad.abs().max() < 1e-6
    nn.utils.remove_spectral_norm(old)
    assert list(old.state_dict()) == ["bias", "weight"]
    old.load_state_dict(old.state_dict())


def test_pruning_masks_what_is_small():
    layer = linear([1.0, -5.0], [0.5, 2.0])
    weight = layer.weight
    prune.l1_unstructured(layer, "weight", 1)
    assert layer.weight.tolist() == [[1, -5], [0, 2]]
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    prune.l1_unstructured(layer, "weight", 1)
    assert layer.weight_mask.tolist() == [[0, 1], [0, 1]]
    prune.ln_structured(layer, "weight", 1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[0, 1], [0, 0]]
    layer(torch.ones(1, 2)).sum().backward()
    assert weight.grad.tolist() == [[0, 1], [0, 0]]
    assert prune.is_pruned(nn.Sequential(layer))
    prune.remove(layer, "weight")
    assert layer.weight is weight and weight.tolist() == [[0, -5], [0, 0]]
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(layer, "weight")


def test_pruning_over_several_parameters():
    net = nn.Sequential(linear([1.0, -5.0], [0.5, 2.0]), linear([0.1, 9.0]))
    prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], prune.L1Unstructured, amount=0.5)
    assert net[0].weight_mask.tolist() == [[0, 1], [0, 1]]
    assert net[1].weight_mask.tolist() == [[0, 1]]
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE'):
        prune.global_unstructured([(net[0], "bias")], prune.LnStructured, amount=1, n=1)
    with pytest.raises(ValueError, match="amount=9 should be smaller"):
        prune.random_structured(net[1], "weight", 9, 0)


@pytest.mark.parametrize(
    "layer, transpose",
    [
        (nn.Conv2d(2, 3, 2), False),
        (nn.ConvTranspose2d(2, 3, 2, bias=False), True),
    ],
)
def test_a_batch_norm_folds_into_a_convolution(layer, transpose):
    norm = nn.BatchNorm2d(3)
    nn.init.uniform_(norm.weight)
    norm(torch.randn(4, 3, 3, 3) * 2 + 1)
    x = torch.randn(1, 2, 4, 4)
    fused = nn.utils.fuse_conv_bn_eval(layer.eval(), norm.eval(), transpose=transpose)
    np.testing.assert_allclose(fused(x).tolist(), norm(layer(x)).tolist(), atol=1e-5)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        nn.utils.fuse_conv_bn_eval(layer.train(), norm)
    layer.eval()


def test_a_batch_norm_folds_into_a_linear_layer():
    layer, norm = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3)
    norm(torch.randn(9, 3))
    fused = nn.utils.fuse_linear_bn_eval(layer, norm.eval())
    np.testing.assert_allclose(
        fused(torch.ones(2, 2)).tolist(), norm(layer(torch.ones(2, 2))).tolist(), atol=1e-6
    )


def test_skip_init_draws_nothing():
    before = torch.get_rng_state()
    assert nn.utils.skip_init(nn.Linear, 3, 2).weight.shape == (2, 3)
    assert torch.equal(before, torch.get_rng_state())
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)


@pytest.mark.filterwarnings("ignore:.*stateless.functional_call. is deprecated")
def test_functional_call():
    net = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1, affine=False))
    own = net[0].weight
    given = {"0.weight": torch.ones(1, 2, requires_grad=True), "1.running_mean": torch.zeros(1)}
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    stateless.functional_call(net, given, x)[0, 0].backward()
    assert net[0].weight is own and own.grad is None
    assert given["0.weight"].grad is not None
    assert given["1.running_mean"].item() != 0 and net[1].running_mean.item() == 0
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'x'.\n\tMissing key\(s\): '0.bias'"):
        stateless.functional_call(net, {"x": x}, x, strict=True)
    net[0].bias = net[0].weight
    with pytest.raises(ValueError, match="multiple values for keys"):
        stateless.functional_call(net, {"0.weight": x, "0.bias": x + 1}, x)


def test_memory_format_of_convolutions():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2))
    nn.utils.convert_conv2d_weight_memory_format(net, torch.channels_last)
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_data_parallel_calls_its_module():
    net = nn.DataParallel(linear([1.0, 2.0]))
    assert net(torch.ones(1, 2)).item() == 3
    assert list(net.state_dict()) == ["module.weight", "module.bias"]
    assert nn.parallel.data_parallel(net.module, torch.ones(1, 2)).item() == 3
    with pytest.raises(ValueError, match="a MindSpore process has one device"):
        nn.DataParallel(net, device_ids=[0, 1])
