"""Connectionist temporal classification: the loss of a sequence of labels under per-step probabilities.

Each target is extended by blanks around its labels; a path stays, moves on, or skips a blank between different labels.
`alpha` and `beta` sum over the paths up to and from a step, in logarithms: [T, N, 2 * S + 1].
"""

import mindspore as ms
import numpy as np

from msadapter.pytorch import _dtype
from msadapter.pytorch._engine import native
from msadapter.pytorch._engine.kernel import kernel, on_cpu
from msadapter.pytorch._engine.native import MsTensor, shape_of
from msadapter.pytorch._ops.losses import chosen_reduction
from msadapter.pytorch._ops.registry import op

_REASON = "MindSpore's computes float64 in float32 and takes no concatenated targets"


def _moved(states, steps):
    """`states` [N, S] as seen `steps` places further (positive) or back, -inf where nothing is."""
    result = np.full_like(states, -np.inf)
    if steps > 0:
        result[:, steps:] = states[:, :-steps]
    else:
        result[:, :steps] = states[:, -steps:]
    return result


def _of_states(log_probs, states):
    """The log-probability of each state's label at each step: [T, N, states]."""
    return log_probs[:, np.arange(len(states))[:, None], states]


def _skips(states, blank):
    """Where a state may be entered from two places before."""
    skips = np.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return skips


@kernel(reason=_REASON, saves=("log_probs", "out", "out1"))
def _losses(log_probs, states, steps, lengths, blank, zero_infinity):
    """(the loss of each sequence, alpha)."""
    emitted = _of_states(log_probs, states)
    barred = np.where(_skips(states, blank), 0, -np.inf).astype(emitted.dtype)
    alpha = np.full_like(emitted, -np.inf)
    if len(alpha):
        alpha[0, :, :2] = emitted[0, :, :2]
    for t in range(1, len(alpha)):
        before = alpha[t - 1]
        entered = np.logaddexp(np.logaddexp(before, _moved(before, 1)), _moved(before, 2) + barred)
        alpha[t] = entered + emitted[t]
    rows = np.arange(len(states))
    last = alpha[steps - 1, rows] if len(alpha) else np.full(states.shape, -np.inf, emitted.dtype)
    ends = np.where(lengths > 0, last[rows, 2 * lengths - 1], -np.inf)
    likelihood = np.logaddexp(last[rows, 2 * lengths], ends)
    likelihood = np.where(steps > 0, likelihood, np.where(lengths > 0, -np.inf, 0))
    return -likelihood.astype(emitted.dtype), alpha


@kernel(reason="the gradient of ctc_loss; PyTorch does not differentiate it either")
def _losses_gradient(grad, log_probs, losses, alpha, states, steps, lengths, blank, zero_infinity):
    emitted = _of_states(log_probs, states)
    count, (rows, width) = len(alpha), states.shape
    # One may leave a state for two places on where that one may be entered so.
    barred = _moved(np.where(_skips(states, blank), 0, -np.inf).astype(emitted.dtype), -2)
    places = np.arange(width)
    ends = (places == 2 * lengths[:, None]) | (places == 2 * lengths[:, None] - 1)
    beta = np.full(states.shape, -np.inf, emitted.dtype)
    occupied = np.full_like(log_probs, -np.inf)
    row = np.arange(rows)
    for t in reversed(range(count)):
        left = np.logaddexp(np.logaddexp(beta, _moved(beta, -1)), _moved(beta, -2) + barred)
        left[t == steps - 1] = -np.inf
        left[(t == steps - 1)[:, None] & ends] = 0
        beta = left + emitted[t]
        for place in range(width):
            label = states[:, place]
            occupied[t, row, label] = np.logaddexp(
                occupied[t, row, label], alpha[t, :, place] + beta[:, place]
            )
    result = np.exp(log_probs) - np.exp(occupied + losses[:, None] - log_probs)
    result *= grad[:, None]
    result[np.arange(count)[:, None] >= steps] = 0
    if zero_infinity:
        result[:, np.isinf(losses)] = 0
    return result


@_losses.gradient
def _(ctx, grad, _):
    log_probs, losses, alpha = ctx.saved
    return _losses_gradient(grad, log_probs, losses, alpha, *ctx.args[1:])


@on_cpu(_losses)
def _on_device(log_probs, states, steps, lengths, blank, zero_infinity):
    targets, steps, lengths = (
        ms.Tensor(np.ascontiguousarray(a), ms.int32) for a in (states[:, 1::2], steps, lengths)
    )
    return ms.ops.ctc_loss(log_probs, targets, steps, lengths, blank, "none", zero_infinity)


def _array_of_lengths(name, lengths, rows, most):
    """The lengths as an int64 array. Raises RuntimeError where they do not fit the batch."""
    array = native.asnumpy(lengths) if isinstance(lengths, MsTensor) else np.asarray(lengths)
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral. Received: {array.dtype}")
    if array.shape != (rows,):
        raise RuntimeError(f"{name} must be of size batch_size. Received: {array.shape} for {rows}")
    for bound, wrong in (("least 0", array < 0), (f"most {most}", array > most)):
        if most is not None and wrong.any():
            raise RuntimeError(f"Expected {name} to have value at {bound}, but got value {array[wrong][0]}")
    return array.astype(np.int64)


def _extended(targets, lengths, blank, classes):
    """The labels of each target with blanks around: [N, 2 * S + 1]. Raises RuntimeError where targets do not fit."""
    labels = native.asnumpy(targets)
    rows, longest = len(lengths), int(lengths.max(initial=0))
    padded = np.full((rows, longest), blank, np.int64)
    within = np.arange(longest) < lengths[:, None]
    if labels.ndim == 1:
        if labels.size != lengths.sum():
            raise RuntimeError(
                f"Expected tensor to have size {lengths.sum()} at dimension 0, but got size {labels.size} for argument #2 "
                "'targets'"
            )
        padded[within] = labels
    else:
        if labels.ndim != 2 or len(labels) != rows or labels.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size {rows} at dimension 0 and at least {longest} at dimension 1, but got size "
                f"{list(labels.shape)} for argument #2 'targets'"
            )
        padded[within] = labels[:, :longest][within]
    if padded.size and not 0 <= padded.min() <= padded.max() < classes:
        raise RuntimeError(
            f"ctc_loss: labels must be in the range 0 to {classes - 1}. Received: {padded.min()} to {padded.max()}"
        )
    states = np.full((rows, 2 * longest + 1), blank, np.int64)
    states[:, 1::2] = padded
    return states


def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    if len(shape_of(log_probs)) == 2:
        lengths = [n.reshape(1) if isinstance(n, MsTensor) else n for n in (input_lengths, target_lengths)]
        losses = _ctc_loss(
            log_probs.unsqueeze(1), targets.reshape((1, -1)), *lengths, blank, "none", zero_infinity
        )
        return losses.reshape(()) if reduction == "none" else _reduced(losses, lengths[1], reduction)
    if len(shape_of(log_probs)) != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {len(shape_of(log_probs))}-dimensional tensor for argument #1 'log_probs'"
        )
    if log_probs.dtype not in (_dtype.float32, _dtype.float64):
        raise NotImplementedError(
            f"\"ctc_loss_cpu\" not implemented for '{_dtype.SCALAR_NAMES[log_probs.dtype]}'"
        )
    count, rows, classes = shape_of(log_probs)
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range. Received: {blank} for {classes} classes")
    steps = _array_of_lengths("input_lengths", input_lengths, rows, count)
    lengths = _array_of_lengths("target_lengths", target_lengths, rows, np.iinfo(np.int64).max)
    states = _extended(targets, lengths, blank, classes)
    losses, _ = _on_device(log_probs, states, steps, lengths, blank, zero_infinity)
    if zero_infinity:
        losses = losses.masked_fill(losses.detach() == float("inf"), 0)
    return _reduced(losses, lengths, reduction)


def _reduced(losses, lengths, reduction):
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    lengths = native.asnumpy(lengths) if isinstance(lengths, MsTensor) else np.asarray(lengths)
    return (losses / losses.new_tensor(np.maximum(lengths, 1))).mean()


@op(namespace="torch.nn.functional", method=False, out=False, kernel=_losses)
def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False
):
    """The loss of label sequences under log-probabilities `log_probs` [T, N, C] (or [T, C]) of all alignments.

    Args:
        targets: labels [N, S], or those of all targets one after the other.
        input_lengths, target_lengths: how much of each sequence and target counts; tensors or tuples of N ints.
        blank: the class that is no label.
        reduction: "mean" divides each loss by its target's length first.
        zero_infinity: losses of targets too long for their input, and their gradients, are 0.
    Raises RuntimeError where shapes, lengths or labels do not fit.
    """
    reduction = chosen_reduction(reduction)
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@op(name="ctc_loss", method=False, out=False, kernel=_losses)
def _ctc_loss_of_torch(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False
):
    """`torch.nn.functional.ctc_loss` with the reduction as a number: 0 none, 1 mean, 2 sum."""
    reduction = ("none", "mean", "sum")[reduction]
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
