"""Averages of weights over training: AveragedModel, SWALR, update_bn."""

import itertools
import math
from copy import deepcopy

from msadapter.pytorch import int64, tensor
from msadapter.pytorch._engine.grad_mode import no_grad
from msadapter.pytorch.nn.modules.batchnorm import _BatchNorm
from msadapter.pytorch.nn.modules.module import Module
from msadapter.pytorch.optim import _updates
from msadapter.pytorch.optim._lr_base import LRScheduler, per_group

__all__ = [
    "AveragedModel",
    "update_bn",
    "SWALR",
    "get_ema_multi_avg_fn",
    "get_swa_multi_avg_fn",
    "get_ema_avg_fn",
    "get_swa_avg_fn",
]


def _check_decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _lerp(average, current, *, weight):
    average.lerp_(current, weight)


def get_ema_multi_avg_fn(decay=0.999):
    """A function of two lists of tensors and a count that moves the first towards the second by `1 - decay`."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                _updates.run(_lerp, average, current, weight=1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """A function of two lists of tensors and a count that takes the second into the mean of `count` in the first."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        weight = 1 / (float(num_averaged) + 1)
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                _updates.run(_lerp, average, current, weight=weight)
            else:
                average.copy_(average + (current - average) * weight)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """A function of an average, a tensor and a count that returns the exponential moving average."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """A function of a mean, a tensor and the count of the mean that returns the new mean."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's, taken at each `update_parameters(model)`.

    Args:
        avg_fn, multi_avg_fn: how to average, one tensor or all at a time; default: the mean of all updates.
        use_buffers: average the buffers too, instead of copying them.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model):
        """Take the model's parameters into the averages; the first time they are copied."""
        averages, current = self._averaged_tensors(self.module), self._averaged_tensors(model)
        if self.n_averaged.item() == 0:
            for average, value in zip(averages, current, strict=False):
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in zip(averages, current, strict=False):
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, current, self.n_averaged)
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                average.copy_(value)
        self.n_averaged.add_(1)

    def _averaged_tensors(self, model):
        found = itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())
        return [value.detach() for value in found]


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the running statistics of the BatchNorm layers anew, over one pass of `loader`.

    A batch that is a list or tuple gives its first element to the model.
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the current rates to `swa_lr` in `anneal_epochs` steps, "cos" or "linear", and constant from there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, rate in zip(optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t):
        """The share of `swa_lr` when the part `t` of the way is done."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def _share(self, step):
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        self._check_inside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            start = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
