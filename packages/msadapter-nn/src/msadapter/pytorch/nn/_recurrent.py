"""RNN, GRU and LSTM over packed sequences: the steps of a layer on the CPU in NumPy, elsewhere in operators.

Packed: the rows of all sequences at time 0, then those at time 1, ..., the longest sequences first; `batch_sizes` says how
many there are at each time. A dense batch is the case of equal sizes, and a cell one time.
"""

import numpy as np

from msadapter import pytorch as torch
from msadapter.pytorch._engine import native, storage
from msadapter.pytorch._engine.backward import grad as gradients_of
from msadapter.pytorch._engine.function import Function
from msadapter.pytorch._engine.grad_mode import is_grad_enabled
from msadapter.pytorch.nn import functional as F


def run_layers(mode, data, batch_sizes, hidden, weights, directions, dropout):
    """All layers of a recurrent module.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU". data: (rows, features), packed.
        hidden: the initial states (h,) or (h, c), each (layers * directions, N, features).
        weights: for each layer and direction (w_ih, w_hh, b_ih, b_hh, w_hr), None for what is not there.
        dropout: probability between the layers, 0 in evaluation.

    Returns (output (rows, directions * features), final states as `hidden`).
    """
    finals = []
    for index, layer in enumerate(weights):
        backwards = directions == 2 and index % 2 == 1
        if not backwards:
            outputs = []
            if index and dropout:
                data = F.dropout(data, dropout)
        output, final = run_layer(mode, data, batch_sizes, [h[index] for h in hidden], layer, backwards)
        outputs.append(output)
        finals.append(final)
        if len(outputs) == directions:
            data = outputs[0] if directions == 1 else torch.cat(outputs, -1)
    return data, tuple(torch.stack(states) for states in zip(*finals, strict=True))


def run_layer(mode, data, batch_sizes, hidden, weights, backwards=False):
    """One layer in one direction. Returns (output (rows, features), final states)."""
    cell = hidden[1] if len(hidden) == 2 else None
    if not storage.ON_CPU:
        output, *final = _by_operators(mode, batch_sizes, backwards, data, hidden[0], cell, *weights)
    else:
        output, *final = _Layer.apply(mode, batch_sizes, backwards, data, hidden[0], cell, *weights)
    return output, tuple(final)


# --- the cells, on arrays -----------------------------------------------------------------------------------------------
# forward(from_input, from_hidden, h, c, saved) -> (h, c); backward(dh, dc, h, saved) -> (d from_input, d from_hidden, dh, dc)
# `saved` is (rows, width * hidden features), written by forward; h and c before the step, dh and dc after it.


class _Tanh:
    gates, width = 1, 1

    @staticmethod
    def forward(from_input, from_hidden, h, c, saved):
        np.tanh(from_input + from_hidden, out=saved)
        return saved, None

    @staticmethod
    def backward(dh, dc, h, saved):
        inner = dh * (1 - saved * saved)
        return inner, inner, None, None


class _Relu(_Tanh):
    @staticmethod
    def forward(from_input, from_hidden, h, c, saved):
        np.maximum(from_input + from_hidden, 0, out=saved)
        return saved, None

    @staticmethod
    def backward(dh, dc, h, saved):
        inner = dh * (saved > 0)
        return inner, inner, None, None


class _Gru:
    gates, width = 3, 4

    @staticmethod
    def forward(from_input, from_hidden, h, c, saved):
        size = h.shape[1]
        reset, update, new, inner = (saved[:, i * size : (i + 1) * size] for i in range(4))
        _sigmoid(from_input[:, : 2 * size] + from_hidden[:, : 2 * size], saved[:, : 2 * size])
        inner[...] = from_hidden[:, 2 * size :]
        np.tanh(from_input[:, 2 * size :] + reset * inner, out=new)
        return new + update * (h - new), None

    @staticmethod
    def backward(dh, dc, h, saved):
        reset, update, new, inner = np.split(saved, 4, axis=1)
        for_new = dh * (1 - update) * (1 - new * new)
        for_update = dh * (h - new) * update * (1 - update)
        for_reset = for_new * inner * reset * (1 - reset)
        from_input = np.concatenate([for_reset, for_update, for_new], axis=1)
        from_hidden = np.concatenate([for_reset, for_update, for_new * reset], axis=1)
        return from_input, from_hidden, dh * update, None


class _Lstm:
    gates, width = 4, 6

    @staticmethod
    def forward(from_input, from_hidden, h, c, saved):
        size = c.shape[1]
        into, forget, new, out, before, squashed = (saved[:, i * size : (i + 1) * size] for i in range(6))
        gates = from_input + from_hidden
        _sigmoid(gates[:, : 2 * size], saved[:, : 2 * size])
        np.tanh(gates[:, 2 * size : 3 * size], out=new)
        _sigmoid(gates[:, 3 * size :], out)
        before[...] = c
        c = forget * c + into * new
        np.tanh(c, out=squashed)
        return out * squashed, c

    @staticmethod
    def backward(dh, dc, h, saved):
        into, forget, new, out, before, squashed = np.split(saved, 6, axis=1)
        dc = dc + dh * out * (1 - squashed * squashed)
        inner = np.concatenate(
            [
                dc * new * into * (1 - into),
                dc * before * forget * (1 - forget),
                dc * into * (1 - new * new),
                dh * squashed * out * (1 - out),
            ],
            axis=1,
        )
        return inner, inner, None, dc * forget


_CELLS = {"RNN_TANH": _Tanh, "RNN_RELU": _Relu, "GRU": _Gru, "LSTM": _Lstm}


def _sigmoid(x, out):
    np.exp(np.negative(x, out=x), out=x)
    x += 1
    np.reciprocal(x, out=out)


# --- a layer, on arrays -------------------------------------------------------------------------------------------------


class _Steps:
    """The steps of one layer over arrays, and what they leave for the gradient."""

    def __init__(self, mode, batch_sizes, backwards):
        self.cell = _CELLS[mode]
        bounds = np.cumsum([0, *batch_sizes])
        self.spans = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        if backwards:
            self.spans.reverse()

    def forward(self, data, h, c, w_ih, w_hh, b_ih, b_hh, w_hr):
        from_input = data @ w_ih.T
        if b_ih is not None:
            from_input += b_ih
        h, c = h.copy(), None if c is None else c.copy()
        size = w_ih.shape[0] // self.cell.gates
        self.saved = np.empty((len(data), self.cell.width * size), data.dtype)
        self.before = np.empty((len(data), h.shape[1]), data.dtype)
        self.wide = None if w_hr is None else np.empty((len(data), size), data.dtype)
        output = np.empty((len(data), h.shape[1]), data.dtype)
        for start, stop in self.spans:
            rows = slice(stop - start)
            self.before[start:stop] = h[rows]
            from_hidden = h[rows] @ w_hh.T
            if b_hh is not None:
                from_hidden += b_hh
            new, new_c = self.cell.forward(
                from_input[start:stop],
                from_hidden,
                h[rows],
                None if c is None else c[rows],
                self.saved[start:stop],
            )
            if w_hr is not None:
                self.wide[start:stop] = new
                new = new @ w_hr.T
            output[start:stop] = h[rows] = new
            if c is not None:
                c[rows] = new_c
        return (output, h) if c is None else (output, h, c)

    def backward(self, d_output, dh, dc, data, w_ih, w_hh, b_ih, b_hh, w_hr):
        """The gradients of data, h, c, w_ih, w_hh, b_ih, b_hh, w_hr."""
        dh, dc = dh.copy(), None if dc is None else dc.copy()
        from_input = np.empty((len(data), w_ih.shape[0]), data.dtype)
        from_hidden = np.empty_like(from_input)
        d_wide = None if w_hr is None else np.empty((len(data), w_hr.shape[0]), data.dtype)
        for start, stop in reversed(self.spans):
            rows = slice(stop - start)
            step = dh[rows] + d_output[start:stop]
            if w_hr is not None:
                d_wide[start:stop] = step
                step = step @ w_hr
            from_input[start:stop], from_hidden[start:stop], direct, new_dc = self.cell.backward(
                step, None if dc is None else dc[rows], self.before[start:stop], self.saved[start:stop]
            )
            dh[rows] = from_hidden[start:stop] @ w_hh
            if direct is not None:
                dh[rows] += direct
            if dc is not None:
                dc[rows] = new_dc
        return (
            from_input @ w_ih,
            dh,
            dc,
            from_input.T @ data,
            from_hidden.T @ self.before,
            None if b_ih is None else from_input.sum(0),
            None if b_hh is None else from_hidden.sum(0),
            None if w_hr is None else d_wide.T @ self.wide,
        )


class _Layer(Function):
    """A layer as one node of the graph."""

    @staticmethod
    def forward(ctx, mode, batch_sizes, backwards, *tensors):
        ctx.settings = mode, batch_sizes, backwards
        ctx.present = [tensor is not None for tensor in tensors]
        ctx.save_for_backward(*(tensor for tensor in tensors if tensor is not None))
        ctx.steps = _Steps(mode, batch_sizes, backwards)
        with np.errstate(all="ignore"):
            outputs = ctx.steps.forward(*map(_array, tensors))
        return tuple(_tensor(output, tensors[0]) for output in outputs)

    @staticmethod
    def backward(ctx, *grads):
        saved = iter(ctx.saved_tensors)
        tensors = [next(saved) if present else None for present in ctx.present]
        if is_grad_enabled():
            return None, None, None, *_differentiable_gradients(ctx, tensors, grads)
        data, _, _, *weights = map(_array, tensors)
        d_output, dh, dc = map(_array, (*grads, None)[:3])
        with np.errstate(all="ignore"):
            found = ctx.steps.backward(d_output, dh, dc, data, *weights)
        return None, None, None, *(None if g is None else _tensor(g, tensors[0]) for g in found)


def _differentiable_gradients(ctx, tensors, grads):
    """For higher derivatives: the gradients of the same layer computed in operators."""
    outputs = _by_operators(*ctx.settings, *tensors)
    wanted = [t for t in tensors if t is not None and t.requires_grad]
    found = iter(gradients_of(outputs, wanted, grads, create_graph=True, allow_unused=True))
    return [next(found) if t is not None and t.requires_grad else None for t in tensors]


def _array(tensor):
    """The values for reading; half precision as float32, in which the steps are computed."""
    if tensor is None:
        return None
    array = storage.read_only_use(tensor)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def _tensor(array, like):
    dtype = storage.numpy_dtype(like)
    return native.from_numpy(np.ascontiguousarray(array if array.dtype == dtype else array.astype(dtype)))


# --- a layer, in operators ----------------------------------------------------------------------------------------------


def _by_operators(mode, batch_sizes, backwards, data, h, c, w_ih, w_hh, b_ih, b_hh, w_hr):
    """Output and final states of a layer, as `_Layer` gives them."""
    steps = list(torch.split(F.linear(data, w_ih, b_ih), list(batch_sizes)))
    outputs = [None] * len(steps)
    order = range(len(steps))
    for time in reversed(order) if backwards else order:
        rows = batch_sizes[time]
        new, new_c = _step_by_operators(
            mode, steps[time], F.linear(h[:rows], w_hh, b_hh), h[:rows], None if c is None else c[:rows]
        )
        new = new if w_hr is None else F.linear(new, w_hr)
        outputs[time] = new
        h = new if rows == h.shape[0] else torch.cat([new, h[rows:]])
        if c is not None:
            c = new_c if rows == c.shape[0] else torch.cat([new_c, c[rows:]])
    output = torch.cat(outputs)
    return (output, h) if c is None else (output, h, c)


def _step_by_operators(mode, from_input, from_hidden, h, c):
    if mode == "GRU":
        for_reset, for_update, for_new = from_input.chunk(3, 1)
        hidden_reset, hidden_update, hidden_new = from_hidden.chunk(3, 1)
        update = (for_update + hidden_update).sigmoid()
        new = (for_new + (for_reset + hidden_reset).sigmoid() * hidden_new).tanh()
        return new + update * (h - new), None
    gates = from_input + from_hidden
    if mode != "LSTM":
        return (gates.tanh() if mode == "RNN_TANH" else gates.relu()), None
    into, forget, new, out = gates.chunk(4, 1)
    c = forget.sigmoid() * c + into.sigmoid() * new.tanh()
    return out.sigmoid() * c.tanh(), c
