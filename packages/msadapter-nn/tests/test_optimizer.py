"""Optimizers: groups, state, hooks and in-place steps. The updates themselves are held against PyTorch's by the
conformance cases."""

import copy
import pickle

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn


def parameter(*values):
    return nn.Parameter(torch.tensor(values, dtype=torch.float32))


def stepped(optimizer, *gradients):
    """Give the parameters their gradients and step."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    for param, gradient in zip(params, gradients, strict=True):
        param.grad = None if gradient is None else torch.tensor(gradient, dtype=param.dtype)
    optimizer.step()


def test_sgd_by_hand():
    param = parameter(1.0, 2.0)
    optimizer = torch.optim.SGD([param], lr=0.5, momentum=0.9, weight_decay=0.1)
    stepped(optimizer, [1.0, 1.0])
    assert param.tolist() == pytest.approx([1 - 0.5 * 1.1, 2 - 0.5 * 1.2])
    buffer = optimizer.state[param]["momentum_buffer"]
    assert buffer.tolist() == pytest.approx([1.1, 1.2])
    stepped(optimizer, [0.0, 0.0])
    assert buffer.tolist() == pytest.approx([0.9 * 1.1 + 0.045, 0.9 * 1.2 + 0.14])


def test_adam_by_hand():
    param = parameter(1.0)
    optimizer = torch.optim.Adam([param], lr=0.1)
    stepped(optimizer, [3.0])
    assert param.item() == pytest.approx(0.9)  # the first step has the size of lr
    state = optimizer.state[param]
    assert state["step"].item() == 1 and state["exp_avg"].item() == pytest.approx(0.3)


def test_a_step_is_in_place_and_counted():
    param = parameter(1.0, 2.0)
    alias, version = param.detach(), param._version
    optimizer = torch.optim.SGD([param], lr=1.0)
    stepped(optimizer, [1.0, 1.0])
    assert alias.tolist() == [0, 1]
    assert param._version == version + 1
    loss = (param * param).sum()
    stepped(optimizer, [1.0, 1.0])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_large_parameter_is_updated_in_blocks():
    param = nn.Parameter(torch.zeros(300, 301))
    param.grad = torch.arange(300 * 301, dtype=torch.float32).reshape(300, 301)
    torch.optim.SGD([param], lr=1.0).step()
    assert torch.equal(param, -param.grad)


def test_half_bfloat16_complex_and_strided_parameters():
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        param = nn.Parameter(torch.ones(3, dtype=dtype))
        param.grad = torch.ones(3, dtype=dtype)
        torch.optim.AdamW([param], lr=0.5, weight_decay=0.0).step()
        assert param.tolist() == pytest.approx([0.5] * 3, rel=1e-2)
    param = nn.Parameter(torch.zeros(2, dtype=torch.complex64))
    param.grad = torch.tensor([1 + 2j, 3j])
    torch.optim.SGD([param], lr=1.0).step()
    assert param.tolist() == [-1 - 2j, -3j]
    strided = nn.Parameter(torch.zeros(3, 2).t())
    strided.grad = torch.arange(6.0).reshape(2, 3)
    torch.optim.SGD([strided], lr=1.0).step()
    assert strided.tolist() == [[0, -1, -2], [-3, -4, -5]]


def test_parameters_without_gradient_are_left_alone():
    first, second = parameter(1.0), parameter(1.0)
    optimizer = torch.optim.Adam([first, second], lr=0.1)
    stepped(optimizer, [1.0], None)
    assert second.item() == 1 and second not in optimizer.state


def test_closure():
    param = parameter(2.0)
    optimizer = torch.optim.SGD([param], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (param * param).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 4
    assert param.item() == 1


def test_differentiable_steps_are_recorded():
    param = parameter(2.0)
    rate = torch.tensor([1.0], requires_grad=True)
    moved = param * 1
    moved.grad = rate * 3
    torch.optim.SGD([moved], lr=0.5, differentiable=True).step()
    moved.sum().backward()
    assert rate.grad.item() == -1.5


def test_repr_and_state_dict_layout():
    groups = [{"params": [parameter(1.0)], "lr": 0.1}, {"params": [parameter(1.0), parameter(2.0)]}]
    optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.9)
    assert repr(optimizer) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n    fused: None\n"
        "    lr: 0.1\n    maximize: False\n    momentum: 0.9\n    nesterov: False\n    weight_decay: 0\n"
        "Parameter Group 1\n    dampening: 0\n    differentiable: False\n    foreach: None\n    fused: None\n"
        "    lr: 0.5\n    maximize: False\n    momentum: 0.9\n    nesterov: False\n    weight_decay: 0\n)"
    )
    stepped(optimizer, [1.0], None, [1.0])
    state = optimizer.state_dict()
    assert sorted(state["state"]) == [0, 2]
    assert [group["params"] for group in state["param_groups"]] == [[0], [1, 2]]


def test_state_round_trip_continues_the_same_way():
    first, second = parameter(1.0, 2.0), parameter(1.0, 2.0)
    optimizer, other = torch.optim.Adam([first], lr=0.1), torch.optim.Adam([second], lr=0.7)
    stepped(optimizer, [1.0, -1.0])
    second.data.copy_(first.data)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    stepped(optimizer, [0.5, 1.0])
    stepped(other, [0.5, 1.0])
    assert first.tolist() == second.tolist()
    assert other.param_groups[0]["lr"] == 0.1
    thawed = pickle.loads(pickle.dumps(optimizer))
    assert thawed.param_groups[0]["lr"] == 0.1
    with pytest.raises(ValueError, match="loaded state dict has a different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(
        ValueError, match="contains a parameter group that doesn't match the size of optimizer's group"
    ):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": []}]})


def test_state_is_cast_to_the_parameter():
    param = nn.Parameter(torch.ones(2, dtype=torch.float64))
    source = torch.optim.Adam([parameter(1.0, 1.0)])
    stepped(source, [1.0, 1.0])
    optimizer = torch.optim.Adam([param])
    optimizer.load_state_dict(source.state_dict())
    assert optimizer.state[param]["exp_avg"].dtype == torch.float64
    assert optimizer.state[param]["step"].dtype == torch.float32


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: torch.optim.SGD(torch.ones(1)), TypeError, "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.FloatTensor"),
        (lambda: torch.optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda: torch.optim.SGD([1]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda: torch.optim.SGD([parameter(1.0) * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: torch.optim.SGD([{"params": {parameter(1.0)}}]), TypeError, "optimizer parameters need to be organized in ordered collections"),
        (lambda: torch.optim.SGD([parameter(1.0)], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: torch.optim.SGD([parameter(1.0)], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: torch.optim.Adam([parameter(1.0)], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda: torch.optim.Adam([parameter(1.0)], foreach=True, fused=True), RuntimeError, "`fused` and `foreach` cannot be `True` together."),
        (lambda: torch.optim.Muon([parameter(1.0)]), ValueError, "Muon only supports 2D parameters"),
    ],
)  # fmt: skip
def test_bad_arguments(make, error, message):
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value).startswith(message)


def test_groups_are_disjoint_and_named_alike():
    param = parameter(1.0)
    optimizer = torch.optim.SGD([("w", param)], lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["w"]
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        optimizer.add_param_group({"params": [("v", param)]})
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer"):
        optimizer.add_param_group({"params": [parameter(1.0)]})
    with pytest.raises(TypeError, match="param_group must be a dict, but got <class 'int'>"):
        optimizer.add_param_group(3)


def test_hooks_and_zero_grad():
    param, log = parameter(1.0), []
    optimizer = torch.optim.SGD([param], lr=1.0)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(param.item()))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    stepped(optimizer, [2.0])
    assert log == ["before", -1]
    assert optimizer.state_dict()["more"] == 1
    gradient = param.grad
    optimizer.zero_grad(set_to_none=False)
    assert param.grad is gradient and gradient.item() == 0
    optimizer.zero_grad()
    assert param.grad is None


def test_a_users_own_optimizer():
    class Halving(torch.optim.Optimizer):
        def __init__(self, params, factor=0.5):
            super().__init__(params, {"factor": factor})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for param in group["params"]:
                    param.mul_(group["factor"])

    param = parameter(4.0)
    optimizer = Halving([param])
    optimizer.step()
    assert param.item() == 2
    schedule = torch.optim.lr_scheduler
    with pytest.raises(KeyError):
        schedule.StepLR(optimizer, 1)


def test_schedule_order_warning():
    optimizer = torch.optim.SGD([parameter(1.0)], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(
        UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before `optimizer.step\\(\\)`"
    ):
        schedule.step()
    optimizer = torch.optim.SGD([parameter(1.0)], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.1] and optimizer.param_groups[0]["lr"] == 0.1


def test_clipping():
    first, second = parameter(0.0, 0.0), parameter(0.0)
    first.grad, second.grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0])
    total = nn.utils.clip_grad_norm_([first, second], 1.0)
    assert total.item() == 5 and total.dtype == torch.float32
    assert first.grad.tolist() == pytest.approx([0.6, 0]) and second.grad.item() == pytest.approx(0.8)
    assert nn.utils.clip_grad_norm_([first, second], 10.0, norm_type="inf").item() == pytest.approx(0.8)
    nn.utils.clip_grad_value_([first, second], 0.5)
    assert first.grad.tolist() == [0.5, 0] and second.grad.item() == 0.5
    first.grad.fill_(float("nan"))
    with pytest.raises(
        RuntimeError, match="The total norm of order 2.0 for gradients from `parameters` is non-finite"
    ):
        nn.utils.clip_grad_norm_([first], 1.0, error_if_nonfinite=True)


def test_parameters_as_one_vector():
    first, second = nn.Parameter(torch.arange(4.0).reshape(2, 2)), parameter(9.0)
    vector = nn.utils.parameters_to_vector([first, second])
    assert vector.tolist() == [0, 1, 2, 3, 9]
    nn.utils.vector_to_parameters(torch.tensor([5.0, 6.0, 7.0, 8.0, 1.0]), [first, second])
    assert first.tolist() == [[5, 6], [7, 8]] and second.tolist() == [1]


def test_averaged_model():
    model = nn.Module()
    model.weight = parameter(1.0)
    average = torch.optim.swa_utils.AveragedModel(model)
    for value in (1.0, 3.0, 8.0):
        model.weight.data.fill_(value)
        average.update_parameters(model)
    assert average.module.weight.item() == pytest.approx(4)
    assert average.n_averaged.item() == 3
