"""torch.autograd.Function: both styles, the context, and what may go wrong."""

import pytest

import msadapter.pytorch as torch
from msadapter.pytorch.autograd.function import once_differentiable


def leaf(*values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x * ctx.factor, None


def test_first_and_second_derivative():
    x = leaf()
    (g,) = torch.autograd.grad(Cube.apply(x, 2).sum(), x, create_graph=True)
    assert g.tolist() == [6.0, 24.0, 54.0]
    g.sum().backward()
    assert x.grad.tolist() == [12.0, 24.0, 36.0]


def test_setup_context_style_with_a_default():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    x = leaf()
    Scale.apply(x, 4).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_saved_output_keeps_its_graph():
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            (result,) = ctx.saved_tensors
            return grad * result

    x = leaf(0.0, 1.0)
    (g,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([1.0, 2.7182817], rel=1e-5)


def test_needs_input_grad_and_non_differentiable_outputs():
    needs = []

    class Sorted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            order = torch.tensor([2, 1, 0])
            ctx.mark_non_differentiable(order)
            return x * w, order

        @staticmethod
        def backward(ctx, grad, grad_order):
            needs.append(ctx.needs_input_grad)
            return grad, None

    x = leaf()
    y, order = Sorted.apply(x, torch.ones(3))
    assert y.requires_grad and not order.requires_grad
    y.sum().backward()
    assert needs == [(True, False)]


def test_mark_dirty_returns_the_input_itself():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf()
    y = x * 1
    assert Double.apply(y) is y
    (y * y).sum().backward()
    assert x.grad.tolist() == [8.0, 16.0, 24.0]


def test_returned_input_is_another_tensor_with_the_functions_gradient():
    class Times5(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = leaf()
    y = Times5.apply(x)
    y.sum().backward()
    assert y is not x and not y.is_leaf
    assert x.grad.tolist() == [5.0, 5.0, 5.0]


def test_unused_outputs_are_zeros_or_none():
    seen = []

    def make(materialize):
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, first, second):
                seen.append(None if first is None else first.tolist())
                return second * 3

        return Two

    for materialize in (True, False):
        make(materialize).apply(leaf())[1].sum().backward()
    assert seen == [[0.0, 0.0, 0.0], None]


def test_nothing_is_recorded_without_grad():
    with torch.no_grad():
        assert not Cube.apply(leaf(), 2).requires_grad
    assert not Cube.apply(torch.ones(2), 2).requires_grad


def test_a_saved_tensor_that_was_written_to_raises():
    x = leaf()
    y = x * 1
    z = Cube.apply(y, 1)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@pytest.mark.parametrize(
    "result, message",
    [
        (lambda grad: grad, "incorrect number of gradients"),
        (lambda grad: (grad, grad), "different than None at position 2"),
        (lambda grad: (grad[:2], None), "invalid gradient at index 0"),
    ],
)
def test_a_wrong_backward_raises(result, message):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, number):
            return x * number

        @staticmethod
        def backward(ctx, grad):
            return result(grad)

    with pytest.raises(RuntimeError, match=message):
        Wrong.apply(leaf(), 2.0).sum().backward()


def test_once_differentiable_refuses_the_second_derivative():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    x = leaf()
    (g,) = torch.autograd.grad((Square.apply(x) * x).sum(), x, create_graph=True)
    assert g.tolist() == [3.0, 12.0, 27.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_save_for_backward_takes_only_tensors():
    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(TypeError, match="can only save variables"):
        Saves.apply(leaf())
