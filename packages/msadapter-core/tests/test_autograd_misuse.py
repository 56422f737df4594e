"""Wrong arguments to autograd, tensor attributes and devices: PyTorch's error class, and what was received."""

import numpy as np
import pytest

import msadapter.pytorch as torch


def leaf(*size):
    return torch.ones(*(size or (2,)), requires_grad=True)


def named(gradient):
    return gradient[:1]


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (named, RuntimeError, r"hook 'named' has changed the size of value \(was \[2\] got \[1\]\)"),
        (lambda g: g.view(2, 1), RuntimeError, "hook '<lambda>' has changed the size of value"),
        (
            lambda g: g.double(),
            RuntimeError,
            r"hook '<lambda>' has changed the type of value \(was torch.FloatTensor got torch.DoubleTensor\)",
        ),
        (lambda g: "a", TypeError, "expected Variable, but hook returned 'str'"),
    ],
)
@pytest.mark.parametrize("is_leaf", [True, False])
def test_a_hook_cannot_make_the_gradient_another_kind(hook, error, message, is_leaf):
    x = leaf() if is_leaf else leaf() * 2
    x.register_hook(hook)
    with pytest.raises(error, match=message):
        x.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: torch.autograd.grad(leaf().sum(), []),
            RuntimeError,
            r"`inputs` argument to `grad\(\)` cannot",
        ),
        (
            lambda: torch.autograd.grad(leaf().sum(), "a"),
            RuntimeError,
            "all inputs have to be Tensors .* got str",
        ),
        (
            lambda: leaf().sum().backward(inputs=["a"]),
            RuntimeError,
            "all inputs have to be Tensors .* got str",
        ),
        (
            lambda: torch.autograd.grad([1], leaf()),
            AssertionError,
            "Expected output to be a torch.Tensor.* int",
        ),
        (lambda: torch.autograd.backward("a"), AssertionError, "Expected output to be a torch.Tensor.* str"),
        (
            lambda: torch.autograd.grad(leaf().sum(), leaf()),
            RuntimeError,
            "The differentiated Tensor at index 0 appears to not have been used in the graph",
        ),
        (lambda: torch.autograd.grad([], leaf()), RuntimeError, "The differentiated Tensor at index 0"),
        (lambda: torch.ones(2).requires_grad_("a"), TypeError, "must be bool, not str"),
        (
            lambda: setattr(torch.ones(2), "requires_grad", 1),
            RuntimeError,
            "requires_grad must be a bool.* int",
        ),
        (lambda: torch.set_grad_enabled("a"), TypeError, "'enabled' .* must be bool, not str"),
        (lambda: setattr(leaf(), "data", "a"), TypeError, "Variable data has to be a tensor, but got str"),
        (
            lambda: setattr(leaf(), "data", torch.ones(2).long()),
            RuntimeError,
            "data set to a tensor that requires gradients must be floating point or complex dtype.* torch.int64",
        ),
        (
            lambda: torch.ones(2).size("a"),
            TypeError,
            r"size\(\): argument 'dim' \(position 1\) must be int, not str",
        ),
        (lambda: torch.ones(2, 2).stride(5), IndexError, r"Dimension out of range .* \[-2, 1\], but got 5"),
        (lambda: torch.ones(2).is_contiguous(5), TypeError, "must be torch.memory_format, not int"),
        (
            lambda: torch.device("cpu", "a"),
            TypeError,
            r"argument 'index' \(position 2\) must be int, not str",
        ),
        (lambda: torch.device("cpu", -1), RuntimeError, "Device index must not be negative.* -1"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert torch.is_grad_enabled()


@pytest.mark.skipif(
    torch.ones(1).device.type != "cpu", reason="a number names an accelerator where there is one"
)
def test_a_number_is_no_device_without_an_accelerator():
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available.* 0"):
        torch.ones(1, device=0)


def test_backward_of_nothing_does_nothing():
    assert torch.autograd.backward([]) is None


class Unfinished(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


class Named(Unfinished):
    @staticmethod
    def backward(ctx, grad):
        return "a"


class Mine(RuntimeError):
    pass


class Raising(Unfinished):
    @staticmethod
    def backward(ctx, grad):
        raise Mine("from backward")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (Unfinished, NotImplementedError, "You must implement either the backward or vjp method"),
        (Named, RuntimeError, r"expected Variable or None \(got str\)"),
        (Raising, Mine, "^from backward$"),
    ],
)
def test_errors_in_a_users_backward_keep_their_class(function, error, message):
    with pytest.raises(error, match=message) as caught:
        function.apply(leaf()).sum().backward()
    assert any(entry.name in ("backward", "_check_gradients") for entry in caught.traceback)


def test_numpy_sized_dims_are_dims():
    x = torch.ones(2, 3)
    assert (x.size(np.int64(1)), x.stride(np.int64(0)), x.stride(-1)) == (3, 3, 1)
