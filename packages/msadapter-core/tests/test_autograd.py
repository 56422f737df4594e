"""backward and grad: arguments, errors, hooks, higher orders, threads, grad modes."""

import threading

import pytest

import msadapter.pytorch as torch


def leaf(*values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def test_backward_accumulates_into_the_same_object():
    x = leaf()
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert first.tolist() == [4.0, 8.0, 12.0]


def test_two_leaves_get_gradients_of_their_own_memory():
    x, z = leaf(), leaf()
    (x + z).sum().backward()
    x.grad.mul_(10)
    assert z.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_function_that_returns_one_gradient_twice_shares_nothing():
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    x, z = leaf(), leaf()
    Sum.apply(x, z).sum().backward()
    x.grad.zero_()
    assert z.grad.tolist() == [1.0, 1.0, 1.0]


def test_gradient_is_laid_out_like_the_tensor():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x.t() * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.is_contiguous()
    assert x.grad.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_second_backward_needs_retain_graph():
    x = leaf()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_inputs_limit_what_is_accumulated():
    x, w = leaf(), leaf()
    y = x * 2
    (y * w).sum().backward(inputs=[y])
    assert y.grad.tolist() == [1.0, 2.0, 3.0]
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: torch.tensor([1.0]).backward(), "element 0 of tensors does not require grad"),
        (lambda: (leaf() * 2).backward(), "only for scalar outputs"),
        (lambda: (leaf() * 2).backward(torch.ones(2)), "Mismatch in shape"),
        (lambda: torch.autograd.backward([leaf().sum()], [None, None]), "got 1 tensors and 2 gradients"),
        (lambda: leaf().sum().backward(inputs=[]), "cannot be empty"),
        (lambda: torch.autograd.grad(leaf().sum(), leaf()), "not have been used in the graph"),
        (lambda: torch.tensor([1]).requires_grad_(), "floating point"),
        (lambda: (leaf() * 2).requires_grad_(False), "leaf variables"),
        (lambda: torch.ones(2).register_hook(print), "doesn't require gradient"),
        (lambda: torch.ones(2).retain_grad(), "requires_grad=False"),
    ],
)
def test_misuse_raises_pytorchs_error(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_grad_of_intermediates_leaves_and_duplicates():
    x = leaf()
    y = x * 2
    z = (y * y).sum()
    by_y, by_x, again = torch.autograd.grad(z, (y, x, x))
    assert by_y.tolist() == [4.0, 8.0, 12.0]
    assert by_x.tolist() == again.tolist() == [8.0, 16.0, 24.0]
    assert x.grad is None


def test_unused_inputs_are_none_or_zeros():
    x, w = leaf(), leaf()
    assert torch.autograd.grad(x.sum(), [x, w], allow_unused=True)[1] is None
    zeros = torch.autograd.grad(x.sum(), [x, w], allow_unused=True, materialize_grads=True)[1]
    assert zeros.tolist() == [0.0, 0.0, 0.0]


def test_third_derivative():
    x = leaf(2.0)
    y = (x**4).sum()
    for expected in (32.0, 48.0, 48.0):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert g.item() == pytest.approx(expected)
        y = g.sum()


def test_gradcheck_of_views_and_writes():
    x = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]], dtype=torch.float64, requires_grad=True)

    def function(x):
        y = x * 1
        y[0].mul_(2)
        y[:, 1:] = y[:, 1:].clone() * x[:, :2]
        return y.t() * y.t()

    assert torch.autograd.gradcheck(function, (x,))
    assert torch.autograd.gradgradcheck(function, (x,))


def test_gradcheck_finds_a_wrong_gradient():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False) is False
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (x,))


def test_hooks_run_in_order_and_replace_the_gradient():
    x = leaf()
    y = x * 2
    log = []
    y.register_hook(lambda g: log.append("first"))
    second = y.register_hook(lambda g: (log.append("second"), g * 2)[1])
    y.sum().backward(retain_graph=True)
    second.remove()
    y.sum().backward()
    assert log == ["first", "second", "first"]
    assert x.grad.tolist() == [6.0, 6.0, 6.0]


def test_hooks_after_accumulation():
    x, z = leaf(1.0), leaf(1.0)
    log = []
    handle = x.register_post_accumulate_grad_hook(lambda t: log.append((t is x, t.grad.item())))
    (x * 3 + x * 2 + z).backward()
    (z * 2).backward()
    torch.autograd.grad(x * 2, x)
    (x * z).backward(inputs=[z])
    assert log == [(True, 5.0)]
    (x * z).backward(inputs=[x])
    handle.remove()
    (x * 3).backward()
    assert log == [(True, 5.0), (True, 6.0)]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_post_accumulate_grad_hook(print)


def test_a_hook_may_update_and_free():
    x = leaf(1.0)

    def step(t):
        t.sub_(t.grad, alpha=0.5)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.item() == -0.5 and x.grad is None


def test_retained_gradients_are_those_after_the_hooks():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    (y * 3).sum().backward()
    assert y.grad.item() == 30 and x.grad.item() == 60


def test_retain_grad_follows_an_inplace_write():
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    assert y.retains_grad and not y.is_leaf
    assert y.grad.tolist() == [12.0, 24.0, 36.0]


def test_jacobian_and_hessian():
    functional = torch.autograd.functional
    v = torch.tensor([1.0, 2.0])
    assert functional.jacobian(lambda x: x * x.sum(), v).tolist() == [[4.0, 1.0], [2.0, 5.0]]
    assert functional.hessian(lambda x: (x**3).sum(), v).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    outputs, product = functional.jvp(lambda x: x * x, v, torch.ones(2))
    assert outputs.tolist() == [1.0, 4.0] and product.tolist() == [2.0, 4.0]
    assert functional.vhp(lambda x: (x**3).sum(), v, torch.ones(2))[1].tolist() == [6.0, 12.0]


def test_detect_anomaly_names_the_node():
    x = leaf(0.0)
    y = x * 0
    with pytest.warns(UserWarning, match="Anomaly Detection"), torch.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="returned nan values"):
            (y / y).sum().backward()


# --- grad modes -----------------------------------------------------------------------------------------------------


def test_grad_modes_as_contexts_and_decorators():
    @torch.no_grad()
    def with_call(x):
        return (x * 2).requires_grad

    @torch.no_grad
    def without_call(x):
        return (x * 2).requires_grad

    @torch.inference_mode()
    def inference(x):
        return (x * 2).requires_grad, torch.is_inference_mode_enabled()

    assert with_call(leaf()) is False and without_call(leaf()) is False
    assert inference(leaf()) == (False, True)
    with torch.no_grad():
        with torch.enable_grad():
            assert (leaf() * 2).requires_grad
        assert not torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_decorated_generator_switches_only_inside():
    @torch.no_grad()
    def generate():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    assert [(inside, torch.is_grad_enabled()) for inside in generate()] == [(False, True), (False, True)]


def test_a_context_is_left_also_by_an_exception():
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_eight_threads_compute_their_own_gradients():
    results = [None] * 8

    def work(i):
        for _ in range(10):
            x = torch.tensor([float(i)] * 4, requires_grad=True)
            y = x * 2
            y[0:2].mul_(3)
            (y * y).sum().backward()
            results[i] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[72.0 * i, 72.0 * i, 8.0 * i, 8.0 * i] for i in range(8)]


def test_a_new_thread_records_whatever_the_others_do():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append((leaf() * 2).requires_grad))
        thread.start()
        thread.join()
    assert seen == [True]
