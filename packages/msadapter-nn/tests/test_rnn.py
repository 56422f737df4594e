"""Recurrent layers: the NumPy steps against the same in operators, packing, and errors. Values against PyTorch's are in the
conformance cases."""

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn
from msadapter.pytorch.nn import _recurrent
from msadapter.pytorch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
)

MODES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def wave(*shape):
    """Values that differ everywhere, in float64."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.7 + len(shape)).sin().reshape(shape)


def layer_inputs(mode, projected):
    hidden, output = 3, 2 if projected else 3
    rows = MODES[mode] * hidden
    shapes = [
        (6, 4),
        (3, output),
        (3, hidden) if mode == "LSTM" else None,
        (rows, 4),
        (rows, output),
        (rows,),
        (rows,),
    ]
    tensors = [None if shape is None else wave(*shape).requires_grad_() for shape in shapes]
    return [*tensors, wave(2, hidden).requires_grad_() if projected else None]


def total(outputs):
    return sum((output * wave(*output.shape)).sum() for output in outputs)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("mode", "projected"), [*((mode, False) for mode in MODES), ("LSTM", True)])
def test_steps_agree_with_operators(mode, projected, backwards):
    tensors = layer_inputs(mode, projected)
    leaves = [t for t in tensors if t is not None]
    settings = mode, (3, 2, 1), backwards
    ours = _recurrent._Layer.apply(*settings, *tensors)
    reference = _recurrent._by_operators(*settings, *tensors)
    for left, right in zip(ours, reference, strict=True):
        assert torch.allclose(left, right)
    wanted = torch.autograd.grad(total(reference), leaves, create_graph=True)
    found = torch.autograd.grad(total(ours), leaves, retain_graph=True)
    for left, right in zip(found, wanted, strict=True):
        assert torch.allclose(left, right)
    if mode == "RNN_RELU":  # its second derivatives are zero in most places
        return
    twice = torch.autograd.grad(total(ours), leaves, create_graph=True)
    for left, right in zip(
        torch.autograd.grad(total(twice), leaves), torch.autograd.grad(total(wanted), leaves), strict=True
    ):
        assert torch.allclose(left, right)


def test_a_packed_sequence_gives_what_each_sequence_alone_gives():
    torch.manual_seed(0)
    net = nn.LSTM(1, 2, num_layers=2, bidirectional=True, batch_first=True)
    sequences = [torch.arange(2.0).reshape(2, 1), torch.arange(4.0).reshape(4, 1) - 1, torch.ones(3, 1)]
    padded = pad_sequence(sequences, batch_first=True, padding_value=-9)
    packed = pack_padded_sequence(padded, torch.tensor([2, 4, 3]), batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1] and packed.sorted_indices.tolist() == [1, 2, 0]
    output, (h, c) = net(packed)
    dense, lengths = pad_packed_sequence(output, batch_first=True)
    assert dense.shape == (3, 4, 4) and lengths.tolist() == [2, 4, 3]
    for index, sequence in enumerate(sequences):
        alone, (h_alone, c_alone) = net(sequence)
        assert torch.allclose(alone, dense[index, : len(sequence)], atol=1e-6)
        assert torch.allclose(h_alone, h[:, index], atol=1e-6) and torch.allclose(
            c_alone, c[:, index], atol=1e-6
        )


def test_layouts_and_shapes():
    net = nn.LSTM(3, 4, proj_size=2, bias=False)
    assert [tuple(p.shape) for p in net.parameters()] == [(16, 3), (16, 2), (2, 4)]
    output, (h, c) = net(torch.zeros(5, 3))
    assert (output.shape, h.shape, c.shape) == ((5, 2), (1, 2), (1, 4))
    net = nn.GRU(3, 4, 2, bidirectional=True)
    first = nn.GRU(3, 4, 2, bidirectional=True, batch_first=True)
    first.load_state_dict(net.state_dict())
    x = torch.ones(5, 2, 3)
    assert torch.allclose(net(x)[0], first(x.transpose(0, 1))[0].transpose(0, 1))
    assert repr(first) == "GRU(3, 4, num_layers=2, batch_first=True, bidirectional=True)"
    assert [name for name, _ in nn.RNN(3, 4, bidirectional=True).named_parameters()][
        -1
    ] == "bias_hh_l0_reverse"


def test_cells_are_one_step():
    torch.manual_seed(0)
    cell, layer = nn.LSTMCell(3, 4), nn.LSTM(3, 4)
    for name, parameter in cell.named_parameters():
        getattr(layer, f"{name}_l0").data.copy_(parameter.data)
    x = torch.ones(2, 3)
    h, c = cell(x)
    _, (h_layer, c_layer) = layer(x.unsqueeze(0))
    assert torch.equal(h, h_layer[0]) and torch.equal(c, c_layer[0])
    assert nn.GRUCell(3, 4)(torch.ones(3)).shape == (4,)
    assert (
        repr(nn.RNNCell(3, 4, bias=False, nonlinearity="relu"))
        == "RNNCell(3, 4, bias=False, nonlinearity=relu)"
    )


def test_dropout_between_layers_only_in_training():
    torch.manual_seed(0)
    net = nn.RNN(3, 50, 2, dropout=0.5)
    x = torch.ones(4, 1, 3)
    assert not torch.equal(net(x)[0], net(x)[0])
    net.eval()
    assert torch.equal(net(x)[0], net(x)[0])


def test_packing_round_trips_and_errors():
    packed = pack_sequence([torch.ones(2), torch.zeros(1)])
    assert isinstance(packed, PackedSequence) and packed.data.tolist() == [1, 0, 1]
    assert [s.tolist() for s in unpack_sequence(packed)] == [[1, 1], [0]]
    assert packed.double().data.dtype == torch.float64 and packed.float() is packed
    padded = pad_sequence([torch.ones(2), torch.ones(1)], padding_side="left", batch_first=True)
    assert padded.tolist() == [[1, 1], [0, 1]]
    batch = torch.ones(4, 2, 1)
    for lengths, message in (
        ([3, 4], "`lengths` array must be sorted in decreasing order"),
        ([4, 0], "Length of all samples has to be greater than 0"),
        ([4], "Expected `len\\(lengths\\)` to be equal to batch_size, but got 1 \\(batch_size=2\\)"),
        ([5, 1], "Expected the lengths to be at most the padded length 4. Received: 5"),
    ):
        with pytest.raises(RuntimeError, match=message):
            pack_padded_sequence(batch, torch.tensor(lengths))
    with pytest.raises(
        ValueError, match="Expected total_length to be at least the length of the longest sequence"
    ):
        pad_packed_sequence(pack_padded_sequence(batch, [4, 2]), total_length=3)
    assert pad_packed_sequence(pack_padded_sequence(batch, [4, 2]), total_length=6)[0].shape == (6, 2, 1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 2)), RuntimeError, "input.size(-1) must be equal to input_size. Expected 3, got 2"),
        (lambda: nn.LSTM(3, 4)(torch.ones(2)), ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"),
        (lambda: nn.LSTM(3, 4, 2)(torch.ones(2, 2, 3), (torch.ones(2, 2, 3), torch.ones(2, 2, 4))), RuntimeError, "Expected hidden[0] size (2, 2, 4), got [2, 2, 3]"),
        (lambda: nn.RNN(3, 4)(torch.ones(2, 2, 3), torch.ones(2, 4)), RuntimeError, "For batched 3-D input, hx should also be 3-D but got 2-D tensor"),
        (lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 3).double()), ValueError, "RNN input dtype (torch.float64) does not match weight dtype (torch.float32). Convert input: input.to(torch.float32), or convert model: model.to(torch.float64)"),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
        (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "proj_size argument is only supported for LSTM, not RNN or GRU"),
        (lambda: nn.RNN(3, 4, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'. Select from 'tanh' or 'relu'."),
        (lambda: nn.LSTM(3.0, 4), TypeError, "input_size should be of type int, got: float"),
        (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"),
        (lambda: nn.GRUCell(3, 4)(torch.ones(2, 2)), RuntimeError, "input has inconsistent input_size: got 2 expected 3"),
        (lambda: nn.LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(3, 4), torch.ones(2, 4))), RuntimeError, "Input batch size 2 doesn't match hidden0 batch size 3"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
