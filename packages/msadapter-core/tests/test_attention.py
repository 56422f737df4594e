"""Scaled dot-product attention; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


def triple(rows=2, keys=3, lead=()):
    return wave(*lead, rows, 2) * 3, wave(*lead, keys, 2) + 0.2, wave(*lead, keys, 2) - 0.1


def mask():
    return torch.tensor([[True, False, True], [False, False, False]])


attend = functional.scaled_dot_product_attention

VALUES = [
    (lambda: attend(*triple()), [[0.82043, 0.403074], [-0.668833, -0.81528]]),
    (lambda: attend(*triple(), is_causal=True), [[0.855336, 0.440302], [-0.129597, -0.720432]]),
    (lambda: attend(*triple(), scale=0.3), [[0.534569, 0.134689], [-0.461839, -0.670522]]),
    (lambda: attend(*triple(), mask()), [[0.847276, 0.434812], [0.0, 0.0]]),
    (lambda: attend(*triple(), wave(2, 3)), [[0.834588, 0.417187], [-0.70114, -0.810441]]),
    (lambda: attend(*triple(), torch.full((1, 3), -math.inf, dtype=torch.float64)), [[0.0, 0.0], [0.0, 0.0]]),
    (
        lambda: attend(*triple(lead=(2, 1)), wave(1, 3)),
        [[[[0.834588, 0.417187], [-0.470571, -0.752873]]], [[[-0.166761, 0.279271], [0.155479, 0.496835]]]],
    ),
    (
        lambda: attend(wave(1, 4, 1, 2), wave(1, 2, 2, 2), wave(1, 2, 2, 2), enable_gqa=True),
        [
            [
                [[0.708315, 0.24919]],
                [[0.215453, -0.331643]],
                [[-0.825121, -0.512955]],
                [[-0.546328, -0.0675432]],
            ]
        ],
    ),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


def test_gradients_of_both_orders():
    inputs = tuple(t.requires_grad_() for t in triple())
    for masked in (None, mask(), wave(2, 3)):
        assert gradcheck(lambda q, k, v, m=masked: attend(q, k, v, m), inputs)
        assert gradgradcheck(lambda q, k, v, m=masked: attend(q, k, v, m), inputs)


def test_a_mask_that_is_added_has_a_gradient():
    assert gradcheck(lambda m: attend(*triple(), m), (wave(2, 3, grad=True),))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_compute_in_float32_and_round_once(dtype):
    halves = [t.to(dtype) for t in triple()]
    result = attend(*halves)
    assert result.dtype == dtype
    assert torch.equal(result, attend(*(t.float() for t in halves)).to(dtype))


def test_dropout_draws_as_pytorch(same):
    torch.manual_seed(4)
    same(attend(*(t.float() for t in triple()), dropout_p=0.4), [[1.3769, 0.706608], [-1.01886, -0.825895]])


REFUSED = [
    (lambda q, k, v: attend(q, k.float(), v), "Expected query, key, and value to have the same dtype"),
    (lambda q, k, v: attend(q[0], k[0], v[0]), "Expected query, key, and value to all be  at least 2 dimensional"),
    (lambda q, k, v: attend(q, k, v, torch.ones(2, 3).long()), "Expected attn_mask dtype to be bool or float"),
    (lambda q, k, v: attend(q, k, v, mask(), is_causal=True), "Explicit attn_mask should not be set when is_causal=True"),
    (lambda q, k, v: attend(q.long(), k.long(), v.long()), "expected scalar type Float but found Long"),
    (lambda q, k, v: attend(wave(1, 4, 1, 2), wave(1, 3, 1, 2), wave(1, 3, 1, 2), enable_gqa=True), "must divide the number of heads"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "message"), REFUSED)
def test_refusals(run, message):
    with pytest.raises(RuntimeError, match=message):
        run(*triple())
