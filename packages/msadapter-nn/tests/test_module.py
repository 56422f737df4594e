"""torch.nn.Module: PyTorch's rules, and the names it shares with MindSpore's Cell."""

import copy
import pickle
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

import mindspore as ms
import numpy as np
import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(4.0).reshape(2, 2))
        self.register_buffer("count", torch.tensor([1.0, 2.0]))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.bias = None

    def forward(self, x):
        return torch.matmul(x, self.weight)


class Net(nn.Module):
    """Two blocks with one weight, one of them under two names."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.second.weight = self.first.weight
        self.again = self.first
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.second(self.first(x)) * self.scale


# --- names, order, ties -------------------------------------------------------------------------------------------------


def test_named_members_come_in_pytorchs_order_each_once():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["scale", "first.weight"]
    assert [name for name, _ in net.named_parameters(remove_duplicate=False)] == [
        "scale",
        "first.weight",
        "second.weight",
        "again.weight",
    ]
    assert [name for name, _ in net.named_buffers()] == [
        "first.count",
        "first.scratch",
        "second.count",
        "second.scratch",
    ]
    assert [name for name, _ in net.named_modules()] == ["", "first", "second"]
    assert [name for name, _ in net.named_modules(remove_duplicate=False)] == ["", "first", "second", "again"]
    assert [name for name, _ in net.named_children()] == ["first", "second"]


def test_the_mindspore_name_of_a_parameter_is_its_path():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Net()
            self.inner.extra = Block()

    net = Outer()
    assert [p.name for p in net.trainable_params()] == [name for name, _ in net.named_parameters()]
    assert net.inner.extra.weight.name == "inner.extra.weight"
    assert [name for name, _ in net.parameters_and_names()] == [name for name, _ in net.named_parameters()]


def test_lookup_by_path():
    net = Net()
    assert net.get_submodule("") is net
    assert net.get_submodule("first") is net.first
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_buffer("second.count") is net.second.count
    for look, path, message in (
        (net.get_submodule, "x.y", "Net has no attribute `x`"),
        (net.get_submodule, "scale", "`scale` is not an nn.Module"),
        (net.get_parameter, "first.q", "Block has no attribute `q`"),
        (net.get_parameter, "first.count", "`count` is not an nn.Parameter"),
        (net.get_buffer, "first.weight", "`weight` is not a buffer"),
    ):
        with pytest.raises(AttributeError) as error:
            look(path)
        assert str(error.value) == message


# --- attributes ---------------------------------------------------------------------------------------------------------


def test_attributes_before_init():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    assert Early(1).value == 1
    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early(Block())
    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Early(nn.Parameter(torch.ones(1)))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", torch.zeros(1), "cannot assign 'torch.FloatTensor' as parameter 'scale' (torch.nn.Parameter or None expected)"),
        ("scale", 3, "cannot assign 'int' as parameter 'scale' (torch.nn.Parameter or None expected)"),
        ("first", 3, "cannot assign 'int' as child module 'first' (torch.nn.Module or None expected)"),
    ],
)  # fmt: skip
def test_assigning_another_kind_raises(name, value, message):
    with pytest.raises(TypeError) as error:
        setattr(Net(), name, value)
    assert str(error.value) == message


def test_buffers_take_tensors_and_none_only():
    block = Block()
    with pytest.raises(TypeError, match="cannot assign 'int' as buffer 'count'"):
        block.count = 3
    block.count = torch.ones(3)
    assert block._buffers["count"].tolist() == [1, 1, 1]
    block.count = None
    assert list(block.state_dict()) == ["weight"]


def test_registration_errors():
    block = Block()
    for register, name, value, error in (
        (block.register_parameter, "a.b", None, KeyError('parameter name can\'t contain "."')),
        (block.register_parameter, "", None, KeyError('parameter name can\'t be empty string ""')),
        (block.register_parameter, "training", None, KeyError("attribute 'training' already exists")),
        (block.register_parameter, 3, None, TypeError("parameter name should be a string. Got int")),
        (block.register_buffer, "weight", None, KeyError("attribute 'weight' already exists")),
        (block.register_buffer, "q", 3, TypeError("cannot assign 'int' object to buffer 'q' (torch Tensor or None required)")),
        (block.add_module, "a.b", None, KeyError('module name can\'t contain ".", got: a.b')),
        (block.add_module, "q", 3, TypeError("int is not a Module subclass")),
    ):  # fmt: skip
        with pytest.raises(type(error)) as raised:
            register(name, value)
        assert str(raised.value) == str(error)


def test_an_attribute_moves_between_the_tables():
    block = Block()
    block.weight = None
    assert dict(block.named_parameters()) == {}
    del block.weight
    block.weight = Block()
    assert [name for name, _ in block.named_parameters()] == ["weight.weight"]
    del block.weight
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'weight'"):
        block.weight  # noqa: B018
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'weight'"):
        del block.weight


# --- names that MindSpore's Cell has too --------------------------------------------------------------------------------


class Clashing(nn.Module):
    """Every kind of attribute under names of Cell's."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Block()])
        self.phase = 3.5
        self.name = "mine"
        self.params = [1]
        self.construct = "not a method"
        self.cls_name = "x"
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("bprop_debug", torch.zeros(1))
        self._phase = 7
        self._params = 8
        self._cells = 9

    def forward(self, x):
        return self.cells[0](x) * self.scale


def test_cell_names_are_the_users():
    net = Clashing()
    assert (net.phase, net.name, net.params, net.construct, net.cls_name) == (
        3.5,
        "mine",
        [1],
        "not a method",
        "x",
    )
    assert (net._phase, net._params, net._cells) == (7, 8, 9)
    assert net(torch.ones(1, 2)).tolist() == [[2, 4]]
    assert [name for name, _ in net.named_parameters()] == ["scale", "cells.0.weight"]
    assert list(net.state_dict()) == ["scale", "bprop_debug", "cells.0.weight", "cells.0.count"]
    with pytest.raises(AttributeError):
        del nn.Module().phase
    net.param_prefix = nn.Parameter(torch.ones(1))
    assert net.param_prefix is dict(net.named_parameters())["param_prefix"]


def test_a_module_with_clashing_names_still_trains_as_a_cell():
    net = Clashing()
    step = ms.nn.TrainOneStepCell(
        ms.nn.WithLossCell(net, ms.nn.MSELoss()), ms.nn.SGD(net.trainable_params(), 0.5)
    )
    step.set_train()
    loss = step(ms.Tensor(np.ones((1, 2), np.float32)), ms.Tensor(np.zeros((1, 2), np.float32)))
    assert loss.asnumpy() == 10
    assert net.scale.tolist() == [-1, -7]
    model = ms.Model(net)
    assert model.predict(ms.Tensor(np.ones((1, 2), np.float32))).shape == (1, 2)
    assert (net.phase, net.construct, net.training) == (3.5, "not a method", False)


def test_class_attributes_of_cell_names_are_the_users():
    class Methods(nn.Module):
        def cells(self):
            return "mine"

        @property
        def phase(self):
            return self.__dict__.get("stored", "unset")

        @phase.setter
        def phase(self, value):
            self.stored = value

    class Derived(Methods):
        def cells(self):
            return super().cells() + "!"

    net = Derived()
    net.phase = 4
    assert (net.cells(), net.phase) == ("mine!", 4)
    assert net.set_train() is net
    assert [cell for _, cell in net.cells_and_names()] == [net]


def test_nothing_of_mindspore_shows_in_the_fields():
    fields = vars(nn.Module())
    assert not [name for name in fields if "cell" in name or "phase" in name]
    assert set(fields) >= {"training", "_parameters", "_buffers", "_modules", "_forward_hooks"}


def test_abstract_base_classes_mix_in():
    class Base(nn.Module, ABC):
        @abstractmethod
        def forward(self, x): ...

    class Real(Base):
        def forward(self, x):
            return x

    with pytest.raises(TypeError, match="abstract"):
        Base()
    assert Real()(torch.ones(1)).tolist() == [1]
    assert isinstance(Real(), ms.nn.Cell)


def test_init_arguments():
    with pytest.raises(TypeError, match=r"Module.__init__\(\) takes 1 positional argument but 2 were given"):
        nn.Module(1)
    with pytest.raises(TypeError, match=r"Module.__init__\(\) got an unexpected keyword argument 'a'"):
        nn.Module(a=1)
    with pytest.raises(
        NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'
    ):
        nn.Module()(1)


# --- state_dict ---------------------------------------------------------------------------------------------------------


def test_state_dict_shares_memory_and_carries_versions():
    net = Net()
    state = net.state_dict()
    assert list(state) == [
        "scale",
        "first.weight",
        "first.count",
        "second.weight",
        "second.count",
        "again.weight",
        "again.count",
    ]
    assert state._metadata == {name: {"version": 1} for name in ("", "first", "second", "again")}
    assert not state["scale"].requires_grad
    state["scale"].fill_(5)
    assert net.scale.item() == 5


def test_load_state_dict_reports_every_problem():
    net = Block()
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict({"weight": torch.zeros(3), "zz": torch.zeros(1)})
    assert str(error.value) == (
        "Error(s) in loading state_dict for Block:\n\t"
        'Missing key(s) in state_dict: "count". \n\t'
        'Unexpected key(s) in state_dict: "zz". \n\t'
        "size mismatch for weight: copying a param with shape torch.Size([3]) from checkpoint, the shape in current "
        "model is torch.Size([2, 2])."
    )
    result = net.load_state_dict({"count": torch.zeros(2), "zz": 1}, strict=False)
    assert (result.missing_keys, result.unexpected_keys) == (["weight"], ["zz"])
    assert net.count.tolist() == [0, 0]
    assert repr(net.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>."):
        net.load_state_dict(3)


def test_loading_keeps_the_parameters_and_assign_replaces_them():
    net, held = Block(), torch.full((2, 2), 7.0)
    weight = net.weight
    net.load_state_dict({"weight": held, "count": torch.zeros(2)})
    assert net.weight is weight and weight.tolist() == [[7, 7], [7, 7]]
    net.load_state_dict({"weight": held, "count": torch.zeros(2)}, assign=True)
    assert net.weight is not weight and net.weight.requires_grad
    held.zero_()
    assert net.weight.tolist() == [[0, 0], [0, 0]]


def test_state_hooks_and_extra_state():
    class WithExtra(Block):
        extra = None

        def get_extra_state(self):
            return {"a": 1}

        def set_extra_state(self, state):
            self.extra = state

    net = WithExtra()
    net.register_state_dict_pre_hook(lambda module, prefix, keep: setattr(module, "seen", prefix))
    net.register_state_dict_post_hook(lambda module, state, prefix, meta: state.update(added=torch.ones(1)))
    state = net.state_dict(prefix="p.")
    assert list(state) == ["p.weight", "p.count", "p._extra_state", "added"]
    assert net.seen == "p."
    net.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("added"))
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.append("by hook"))
    result = net.load_state_dict(net.state_dict(), strict=False)
    assert net.extra == {"a": 1}
    assert (result.missing_keys, result.unexpected_keys) == (["by hook"], [])


# --- hooks --------------------------------------------------------------------------------------------------------------


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    def forward(self, x, scale=1):
        return torch.matmul(x, self.weight.t()) * scale


def test_hooks_run_in_order_and_change_what_passes():
    net, log = Product(), []
    net.register_forward_pre_hook(lambda m, args: log.append(("pre", args[0].tolist())) or (args[0] * 2,))
    net.register_forward_hook(lambda m, args, out: log.append(("forward", out.tolist())) or out + 1)
    net.register_full_backward_pre_hook(lambda m, go: log.append(("output", go[0].tolist())) or (go[0] * 10,))
    net.register_full_backward_hook(lambda m, gi, go: log.append(("input", gi[0].tolist())) or (gi[0] * 100,))
    x = torch.tensor([[1.0, 1.0]], requires_grad=True)
    out = net(x)
    out.sum().backward()
    assert out.tolist() == [[7, 15]]
    assert log == [
        ("pre", [[1, 1]]),
        ("forward", [[6, 14]]),
        ("output", [[1, 1]]),
        ("input", [[40, 60]]),
    ]
    assert x.grad.tolist() == [[8000, 12000]]
    assert net.weight.grad.tolist() == [[20, 20], [20, 20]]


def test_hooks_with_keyword_arguments_and_removal():
    net = Product()
    handle = net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"scale": 3}), with_kwargs=True)
    net.register_forward_hook(lambda m, args, kwargs, out: out * kwargs["scale"], with_kwargs=True)
    assert net(torch.ones(1, 2), scale=2).tolist() == [[27, 63]]
    handle.remove()
    assert net(torch.ones(1, 2), scale=2).tolist() == [[12, 28]]
    net.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(
        RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3."
    ):
        net(torch.ones(1, 2))


def test_always_called_hooks_see_an_error():
    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("boom")

    net, log = Failing(), []
    net.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    net.register_forward_hook(lambda m, args, out: log.append("never"))
    with pytest.raises(ValueError, match="boom"):
        net(1)
    assert log == [None]


def test_both_kinds_of_backward_hooks_do_not_mix():
    net = Product()
    net.register_backward_hook(lambda *args: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        net.register_full_backward_hook(lambda *args: None)


def test_global_hooks():
    from msadapter.pytorch.nn.modules.module import register_module_forward_hook

    seen = []
    with register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__)):
        Net()(torch.ones(1, 2))
    Net()(torch.ones(1, 2))
    assert seen == ["Block", "Block", "Net"]


# --- the whole tree -----------------------------------------------------------------------------------------------------


def test_conversion_keeps_identity_ties_and_gradients():
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    weight, gradient = net.first.weight, net.first.weight.grad
    assert net.double() is net
    assert net.first.weight is weight is net.second.weight
    assert weight.dtype == gradient.dtype == net.first.count.dtype == torch.float64
    assert weight.grad is gradient and gradient.tolist() == [[3, 7], [5, 9]]
    assert net.to(torch.float32).scale.dtype == torch.float32
    assert net.half().scale.dtype == torch.float16
    assert net.bfloat16().scale.dtype == torch.bfloat16
    with pytest.raises(TypeError, match="nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int32"):  # fmt: skip
        net.to(torch.int32)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        net.to(1, 2, 3, 4)


def test_train_eval_requires_grad_zero_grad_apply():
    net, order = Net(), []
    net.eval()
    assert not net.second.training
    net.train()
    assert net.second.training
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train(3)
    net(torch.ones(1, 2)).sum().backward()
    gradient = net.scale.grad
    net.zero_grad(set_to_none=False)
    assert net.scale.grad is gradient and gradient.item() == 0
    net.zero_grad()
    assert net.scale.grad is None
    net.requires_grad_(False)
    assert not net.first.weight.requires_grad
    assert net.apply(lambda module: order.append(type(module).__name__)) is net
    assert order == ["Block", "Block", "Net"]


def test_deepcopy_and_pickle_keep_ties():
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    for clone in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert clone.first is clone.again and clone.first is not net.first
        assert clone.second.weight is clone.first.weight
        assert clone.first.weight.tolist() == [[0, 1], [2, 3]]
        assert clone.first.weight.grad is None
        assert clone(torch.ones(1, 2)).tolist() == net(torch.ones(1, 2)).tolist()
    shallow = copy.copy(net)
    assert shallow.first is net.first


def test_repr():
    class Described(Block):
        def extra_repr(self):
            return "a=1"

    class Holder(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Described()
            self.nothing = nn.Module()

    assert repr(nn.Module()) == "Module()"
    assert repr(Described()) == "Described(a=1)"
    assert repr(Holder()) == "Holder(\n  (block): Described(a=1)\n  (nothing): Module()\n)"


def test_native_tensors_handed_to_a_module_become_ours():
    class Asks(nn.Module):
        def forward(self, x):
            return x.unsqueeze(0).size(1)

    assert Asks()(ms.Tensor(np.ones(3, np.float32))) == 3


def test_gradients_after_a_conversion_have_the_new_dtype_and_shape():
    net = nn.Conv1d(4, 5, 3).double()
    net(torch.ones(2, 4, 6, dtype=torch.float64)).sum().backward()
    assert net.weight.grad.dtype == torch.float64
    net.float()
    assert net.weight.grad.dtype == torch.float32
    net.weight.data = torch.ones(5, 4, 2)
    net(torch.ones(2, 4, 6)).sum().backward()
    assert net.weight.grad.shape == (5, 4, 2)
    assert net.weight.grad[0, 0].tolist() == [10, 10]
    assert net.weight.name == "weight"


def test_call_super_init_reaches_the_classes_mixed_in():
    class Mixin:
        def __init__(self, **settings):
            self.settings = settings

    class Mixed(nn.Module, Mixin):
        call_super_init = True

        def __init__(self, **settings):
            super().__init__(**settings)
            self.layer = nn.Linear(1, 1)

    assert Mixed(a=1).settings == {"a": 1}
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        nn.Module(a=1)


def test_typing_and_dataclass_mixes():
    kind = TypeVar("kind")

    class Of(nn.Module, Generic[kind]):
        def forward(self, x):
            return x + 1

    class Scaled(Of[int]):
        pass

    @dataclass(eq=False)
    class Sized(nn.Module):
        width: int

        def __post_init__(self):
            super().__init__()
            self.layer = nn.Linear(self.width, 1)

    @runtime_checkable
    class Forwards(Protocol):
        def forward(self, x): ...

    assert Scaled()(torch.ones(1)).item() == 2
    assert Sized(3).layer.weight.shape == (1, 3)
    assert isinstance(Scaled(), Forwards)
