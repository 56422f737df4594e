"""Initial values: the random ones are real PyTorch 2.13's from seed 0 (the literals)."""

import math

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn
from msadapter.pytorch.nn import init

# On a tensor of 6 x 5: the first three values, the sum and the sum of squares.
# fmt: off
FILLED = [
    (lambda t: init.uniform_(t, -1, 2), [0.48877, 1.30467, -0.73457, 11.9522, 24.37375]),
    (lambda t: init.normal_(t, 1, 2), [-1.25168, -1.30472, 0.49884, 23.62618, 118.74903]),
    (lambda t: init.trunc_normal_(t), [-1.12584, -1.15236, -0.25058, -1.31393, 10.42613]),
    (lambda t: init.trunc_normal_(t, 0, 1, 2.0, 3.0), [2.49626, 2.52995, 2.08848, 68.88765, 159.55211]),
    (lambda t: init.xavier_uniform_(t), [-0.00553, 0.39619, -0.60786, -1.50063, 4.82947]),
    (lambda t: init.xavier_normal_(t, 0.5), [-0.24003, -0.24568, -0.05342, -0.67945, 1.15337]),
    (lambda t: init.kaiming_uniform_(t, nonlinearity="relu"), [-0.0082, 0.58764, -0.9016, -2.2258, 10.62483]),
    (lambda t: init.kaiming_normal_(t, mode="fan_out"), [-0.65, -0.66532, -0.14467, -1.83996, 8.45806]),
    (lambda t: init.orthogonal_(t), [-0.68483, -0.56264, -0.12001, -1.59889, 5.0]),
    (lambda t: init.sparse_(t, 0.3), [0.0, -0.01152, -0.00251, -0.00144, 0.00179]),
    (init.eye_, [1, 0, 0, 5, 5]),
    (init.ones_, [1, 1, 1, 30, 30]),
    (init.zeros_, [0, 0, 0, 0, 0]),
    (lambda t: init.constant_(t, 3.0), [3, 3, 3, 90, 270]),
]
# The sum of all parameters, and their mean weighted by position.
LAYERS = [
    (lambda: nn.Linear(30, 20), [-0.7524, 0.4676]),
    (lambda: nn.Bilinear(5, 6, 7), [-4.9781, -2.8094]),
    (lambda: nn.Conv2d(6, 4, 3, groups=2), [-0.6938, -0.2711]),
    (lambda: nn.ConvTranspose1d(4, 6, 3), [-0.0865, 0.482]),
    (lambda: nn.Embedding(20, 5, padding_idx=2), [0.5817, 1.4155]),
    (lambda: nn.MultiheadAttention(8, 2, add_bias_kv=True), [-4.5673, -1.8069]),
    (lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6), [-6.4108, -2.8248]),
    (lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), [52.064, 34.1462]),
    (lambda: nn.LSTM(3, 4, 2, bidirectional=True), [-1.4194, 1.7474]),
    (lambda: nn.GRUCell(3, 4), [-1.9421, -0.8751]),
]
# fmt: on


@pytest.mark.parametrize(("fill", "values"), FILLED)
def test_values(fill, values):
    torch.manual_seed(0)
    tensor = torch.zeros(6, 5)
    assert fill(tensor) is tensor
    found = [
        *tensor.flatten()[:3].tolist(),
        tensor.double().sum().item(),
        (tensor.double() ** 2).sum().item(),
    ]
    assert found == pytest.approx(values, abs=2e-5)


@pytest.mark.parametrize(("make", "values"), LAYERS)
def test_initial_weights(make, values):
    torch.manual_seed(0)
    weights = torch.cat([p.detach().flatten().double() for p in make().parameters()])
    mean = (weights * torch.arange(len(weights))).sum().item() / len(weights)
    assert [weights.sum().item(), mean] == pytest.approx(values, abs=2e-4)


def test_values_are_set_outside_the_graph():
    parameter = nn.Parameter(torch.zeros(2, 2))
    init.ones_(parameter)
    assert parameter.requires_grad and parameter.is_leaf and parameter.sum().item() == 4


def test_dirac_passes_its_channels_through():
    net = nn.Conv1d(4, 4, 3, padding=1, groups=2, bias=False)
    init.dirac_(net.weight, groups=2)
    x = torch.arange(20.0).reshape(1, 4, 5)
    assert torch.equal(net(x), x)


def test_gains():
    names = ("linear", "conv_transpose2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")
    assert [init.calculate_gain(name) for name in names] == pytest.approx(
        [1, 1, 1, 5 / 3, math.sqrt(2), math.sqrt(2 / 1.0001), 0.75]
    )
    assert init.calculate_gain("leaky_relu", 1) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.eye_(torch.ones(2)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.dirac_(torch.ones(2, 2)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda: init.dirac_(torch.ones(3, 2, 2), 2), "dim 0 must be divisible by groups"),
        (lambda: init.xavier_uniform_(torch.ones(2)), "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(torch.ones(2, 2), mode="x"), "Mode x not supported, please use one of ['fan_in', 'fan_out']"),
        (lambda: init.calculate_gain("x"), "Unsupported nonlinearity x"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
        (lambda: init.orthogonal_(torch.ones(2)), "Only tensors with 2 or more dimensions are supported"),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises(ValueError) as raised:
        call()
    assert str(raised.value) == message


def test_warnings():
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        init.kaiming_uniform_(torch.empty(0, 2))
    with pytest.warns(
        FutureWarning, match="`nn.init.uniform` is now deprecated in favor of `nn.init.uniform_`"
    ):
        init.uniform(torch.empty(2))
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        init.trunc_normal_(torch.empty(2), mean=5.0)
