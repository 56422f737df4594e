"""Recurrent layers and cells."""

import math
import numbers
import warnings

from msadapter.pytorch import empty, zeros
from msadapter.pytorch.nn import init
from msadapter.pytorch.nn._recurrent import run_layer, run_layers
from msadapter.pytorch.nn.modules.module import Module
from msadapter.pytorch.nn.parameter import Parameter
from msadapter.pytorch.nn.utils.rnn import PackedSequence

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters, checks, and the call.

    Args:
        num_layers: layers one over the other. bias: whether there are biases.
        batch_first: (N, T, features) instead of (T, N, features).
        dropout: probability of dropout between the layers in training.
        bidirectional: a second direction, whose output is joined to that of the first.
        proj_size: features of a projection of the output (LSTM only), 0 for none.
    """

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        _check_dropout(dropout, num_layers)
        _check_sizes(bias, batch_first, input_size, hidden_size, num_layers, proj_size)
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes = self._weight_shapes(layer)
                for name, shape in shapes.items():
                    setattr(
                        self, f"{name}_l{layer}{suffix}", Parameter(empty(shape, device=device, dtype=dtype))
                    )
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self.reset_parameters()

    def _weight_shapes(self, layer):
        output = self.proj_size or self.hidden_size
        input = output * (2 if self.bidirectional else 1) if layer else self.input_size
        gates = _GATES[self.mode] * self.hidden_size
        shapes = {"weight_ih": (gates, input), "weight_hh": (gates, output)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    def flatten_parameters(self):
        """Nothing to do: there is no cuDNN whose memory layout could be prepared."""

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text

    # --- the call ---------------------------------------------------------------------------------------------------

    def forward(self, input, hx=None):
        """Run over a sequence, a batch of them or a PackedSequence, from `hx` or zeros.

        Returns (output, final states): each state (layers * directions, N, features), without N for unbatched input.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            what = "tensor instead" if self.mode.startswith("RNN") else "instead"
            raise ValueError(f"{self._kind()}: Expected input to be 2D or 3D, got {input.dim()}D {what}")
        is_batched = input.dim() == 3
        states = self._given_states(hx, is_batched)
        if not is_batched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        length, batch = input.shape[:2]
        states = self._checked_states(input, states, batch)
        output, states = self._run(input.reshape(length * batch, -1), (batch,) * length, states)
        output = output.reshape(length, batch, -1)
        if not is_batched:
            return output.squeeze(1), self._returned([state.squeeze(1) for state in states])
        return (output.transpose(0, 1) if self.batch_first else output), self._returned(states)

    def _forward_packed(self, input, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = input
        sizes = tuple(batch_sizes.tolist())
        states = None if hx is None else self._as_states(hx)
        if states is not None and sorted_indices is not None:
            states = [state.index_select(1, sorted_indices) for state in states]
        states = self._checked_states(data, states, sizes[0], packed=True)
        output, states = self._run(data, sizes, states)
        if unsorted_indices is not None:
            states = [state.index_select(1, unsorted_indices) for state in states]
        return PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices), self._returned(states)

    def _run(self, data, batch_sizes, states):
        weights = [self._layer_weights(names) for names in self._all_weights]
        dropout = self.dropout if self.training else 0.0
        directions = 2 if self.bidirectional else 1
        return run_layers(self.mode, data, batch_sizes, states, weights, directions, dropout)

    def _layer_weights(self, names):
        held = [getattr(self, name) for name in names]
        biases = held[2:4] if self.bias else [None, None]
        return (*held[:2], *biases, held[-1] if self.proj_size else None)

    def _kind(self):
        return self.mode.split("_")[0]

    # --- states -----------------------------------------------------------------------------------------------------

    def _as_states(self, hx):
        return [hx]

    def _returned(self, states):
        return states[0]

    def _state_features(self):
        return (self.hidden_size,)

    def _given_states(self, hx, is_batched):
        """The states of a call as a list with a batch dimension; None where there are none."""
        if hx is None:
            return None
        dims = 3 if is_batched else 2
        if hx.dim() != dims:
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {dims}-D but got {hx.dim()}-D tensor")
        return [hx if is_batched else hx.unsqueeze(1)]

    def _checked_states(self, input, states, batch, packed=False):
        """The states, zeros where none are given. Raises ValueError or RuntimeError for what does not fit."""
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 2 if packed else 3
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        rows = self.num_layers * (2 if self.bidirectional else 1)
        expected = [(rows, batch, features) for features in self._state_features()]
        if states is None:
            return [zeros(shape, dtype=input.dtype) for shape in expected]
        for index, (state, shape) in enumerate(zip(states, expected, strict=True)):
            if state.shape != shape:
                which = f"hidden[{index}]" if len(states) > 1 else "hidden"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(state.shape)}")
        return states


def _check_dropout(dropout, num_layers):
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )


def _check_sizes(bias, batch_first, input_size, hidden_size, num_layers, proj_size):
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """`h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or relu with `nonlinearity="relu"`."""

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


def _refuse_projection(kwargs):
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class LSTM(RNNBase):
    """Long short-term memory; the states are a pair (h, c)."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def _as_states(self, hx):
        return list(hx)

    def _returned(self, states):
        return tuple(states)

    def _state_features(self):
        return (self.proj_size or self.hidden_size, self.hidden_size)

    def _given_states(self, hx, is_batched):
        if hx is None:
            return None
        h, c = hx
        dims = 3 if is_batched else 2
        if h.dim() != dims or c.dim() != dims:
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {dims}-D but got ({h.dim()}-D, {c.dim()}-D) tensors"
            )
        return [h, c] if is_batched else [h.unsqueeze(1), c.unsqueeze(1)]


class RNNCellBase(Module):
    """What the cells share: one step of a layer in one direction."""

    _mode = None

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        for name, shape in (("weight_ih", (gates, input_size)), ("weight_hh", (gates, hidden_size))):
            setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            parameter = Parameter(empty(gates, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, mode, input, states, names):
        """The new states, of the shape of the given ones (or zeros)."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for name, state in zip(names, states, strict=True):
            if state is not None and state.dim() not in (1, 2):
                raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        is_batched = input.dim() == 2
        rows = input if is_batched else input.unsqueeze(0)
        states = [
            zeros((rows.shape[0], self.hidden_size), dtype=input.dtype)
            if state is None
            else (state if is_batched else state.unsqueeze(0))
            for state in states
        ]
        self._check_shapes(rows, states)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        _, new = run_layer(mode, rows, (rows.shape[0],), states, weights)
        return new if is_batched else tuple(state.squeeze(0) for state in new)

    def _check_shapes(self, rows, states):
        if rows.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.shape[1]} expected {self.input_size}"
            )
        for index, state in enumerate(states):
            if state.shape[0] != rows.shape[0]:
                raise RuntimeError(
                    f"Input batch size {rows.shape[0]} doesn't match hidden{index} batch size {state.shape[0]}"
                )
            if state.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{index} has inconsistent hidden_size: got {state.shape[1]}, expected {self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """One step of RNN: (N, input_size) and (N, hidden_size) to (N, hidden_size), N left out for both or none."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, (hx,), ("hidden",))[0]


class GRUCell(RNNCellBase):
    """One step of GRU."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step("GRU", input, (hx,), ("hidden",))[0]


class LSTMCell(RNNCellBase):
    """One step of LSTM; the states are a pair (h, c)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        states = (None, None) if hx is None else tuple(hx)
        return self._step("LSTM", input, states, ("hx[0]", "hx[1]"))
