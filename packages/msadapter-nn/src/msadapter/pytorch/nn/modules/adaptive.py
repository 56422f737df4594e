"""The adaptive softmax: a loss over very many classes, most of them rare."""

import itertools
from collections import namedtuple

from msadapter.pytorch import argmax
from msadapter.pytorch.nn import functional as F
from msadapter.pytorch.nn.modules.container import ModuleList, Sequential
from msadapter.pytorch.nn.modules.linear import Linear
from msadapter.pytorch.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax in clusters: the frequent classes in the head, the rarer ones in tails that share one place there.

    Args:
        in_features: size of an input vector. n_classes: number of classes, the most frequent first.
        cutoffs: the class at which each tail begins, increasing.
        div_value: by how much a tail's vectors are shorter than those of the tail before it.
        head_bias: whether the head has a bias.
    Shape:
        input (N, in_features) and target (N,), or (in_features,) and (). The output is (output, loss): the log
        probability of each target, and the mean of its negative.
    Raises ValueError for cutoffs that are not increasing classes, RuntimeError for shapes and targets out of range.
    """

    def __init__(
        self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        increasing = cutoffs == sorted(set(cutoffs)) and all(int(cutoff) == cutoff for cutoff in cutoffs)
        if not increasing or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for place, (low, high) in enumerate(itertools.pairwise(self.cutoffs), 1):
            width = int(in_features // div_value**place)
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, device=device, dtype=dtype),
                    Linear(width, high - low, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self):
        self.head.reset_parameters()
        for narrowing, classes in self.tail:
            narrowing.reset_parameters()
            classes.reset_parameters()

    def forward(self, input_, target_):
        _check_shapes(input_, target_)
        batched = target_.dim() == 1
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if ((target < 0) | (target >= self.n_classes)).any():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output = input.new_zeros(target.size(0))
        in_head = target.clone()
        for cluster, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            in_head.index_fill_(0, rows, self.shortlist_size + cluster)
            log_prob = F.log_softmax(self.tail[cluster](input.index_select(0, rows)), dim=1)
            within = target.index_select(0, rows) - low
            output = output.index_copy(0, rows, log_prob.gather(1, within.unsqueeze(1)).squeeze(1))
        head_log_prob = F.log_softmax(self.head(input), dim=1)
        output = output + head_log_prob.gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        head = F.log_softmax(head_output, dim=1)
        out = input.new_empty((head_output.size(0), self.n_classes))
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for cluster, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            log_prob = F.log_softmax(self.tail[cluster](input), dim=1)
            out[:, low:high] = log_prob + head[:, self.shortlist_size + cluster].unsqueeze(1)
        return out

    def log_prob(self, input):
        """The log probability of every class: (N, in_features) to (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The most probable class of each input; tails are evaluated for those whose head points to one."""
        head_output = self.head(input)
        output = argmax(head_output, dim=1)
        in_a_tail = output >= self.shortlist_size
        if in_a_tail.any():
            log_prob = self._get_full_log_prob(input[in_a_tail], head_output[in_a_tail])
            output[in_a_tail] = argmax(log_prob, dim=1)
        return output


def _check_shapes(input, target):
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size "
            f"{input.size()}"
        )
