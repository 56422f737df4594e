"""softmax and its kind; expected values are those of real PyTorch 2.13."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import msadapter.pytorch as torch
from msadapter.pytorch._ops.registry import exports
from msadapter.pytorch.autograd import gradcheck, gradgradcheck

functional = SimpleNamespace(**exports("torch.nn.functional"))

INF, NAN = math.inf, math.nan


def wave(*shape, dtype=torch.float64, grad=False):
    """Distinct values between -1 and 1."""
    tensor = torch.tensor(np.cos(0.7 * np.arange(math.prod(shape)) + 0.3).reshape(shape)).to(dtype)
    return tensor.requires_grad_() if grad else tensor


VALUES = [
    (lambda: torch.softmax(wave(2, 3), 0), [[0.844583, 0.823383, 0.659737], [0.155417, 0.176617, 0.340263]]),
    (lambda: wave(2, 3).softmax(-1), [[0.500376, 0.330407, 0.169217], [0.367979, 0.283237, 0.348784]]),
    (
        lambda: torch.log_softmax(wave(2, 3), 1),
        [[-0.692395, -1.10743, -1.77658], [-0.999729, -1.26147, -1.0533]],
    ),
    (
        lambda: functional.softmin(wave(2, 3), 1),
        [[0.182767, 0.276787, 0.540446], [0.298131, 0.38733, 0.314539]],
    ),
    (lambda: torch.softmax(torch.tensor([INF, 1.0]), 0), [NAN, NAN]),
    (lambda: torch.softmax(torch.tensor([-INF, -INF]), 0), [NAN, NAN]),
    (lambda: torch.log_softmax(torch.tensor([-INF, 1.0, 1e30]), 0), [-INF, -1e30, 0.0]),
    (lambda: torch.softmax(torch.tensor([NAN, 1.0]), 0), [NAN, NAN]),
    (lambda: torch.softmax(torch.tensor(3.0), 0), 1.0),
    (lambda: torch.softmax(torch.tensor([1000.0, 1001.0]), 0), [0.268941, 0.731059]),
    (lambda: torch.log_softmax(torch.tensor([[1, 2]]), 1, dtype=torch.float64), [[-1.31326, -0.313262]]),
]


@pytest.mark.parametrize(("run", "expected"), VALUES)
def test_values(run, expected, same):
    same(run(), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes_stay_unless_one_is_asked_for(dtype):
    x = wave(2, 3, dtype=dtype)
    assert torch.softmax(x, 1).dtype == torch.log_softmax(x, 1).dtype == dtype
    assert torch.softmax(x, 1, dtype=torch.float32).dtype == torch.float32
    assert torch.allclose(torch.softmax(x, 1).double(), torch.softmax(wave(2, 3), 1), atol=4e-3)


@pytest.mark.parametrize("run", [torch.softmax, torch.log_softmax, functional.softmin])
def test_gradients_of_both_orders(run):
    assert gradcheck(lambda x: run(x, 1), (wave(2, 3, grad=True),))
    assert gradgradcheck(lambda x: run(x, 0), (wave(3, 2, grad=True),))


def test_zero_elements():
    assert torch.softmax(wave(0, 3), 0).shape == (0, 3)
    assert torch.log_softmax(wave(3, 0), 1).shape == (3, 0)


def test_without_a_dimension_functional_softmax_warns_and_takes_pytorchs():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        result = functional.softmax(wave(2, 3))
    assert torch.equal(result, torch.softmax(wave(2, 3), 1))


def test_refusals():
    x = wave(2, 3)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.softmax(x, 2)
    with pytest.raises(TypeError, match=r"argument 'dim' \(position 2\) must be int, not NoneType"):
        torch.softmax(x, None)
    for wrong in (x.long(), x > 0, torch.complex(x, x)):
        with pytest.raises(NotImplementedError, match='"softmax_kernel_impl" not implemented'):
            torch.softmax(wrong, 0)


def test_gumbel_softmax_draws_as_pytorch(same):
    torch.manual_seed(3)
    same(
        functional.gumbel_softmax(wave(2, 3, dtype=torch.float32), tau=0.5),
        [[0.99536, 0.00457752, 6.23834e-05], [0.953406, 0.0105343, 0.03606]],
    )
    torch.manual_seed(3)
    x = wave(2, 3, dtype=torch.float32, grad=True)
    hard = functional.gumbel_softmax(x, tau=0.5, hard=True)
    assert hard.sum(-1).tolist() == [1.0, 1.0] and set(hard.reshape(-1).tolist()) == {0.0, 1.0}
    hard[:, 0].sum().backward()
    assert x.grad.abs().min() > 0
