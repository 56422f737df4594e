"""MindSpore's own training flows over Modules, with gradients checked against the same computation in NumPy."""

import threading

import mindspore as ms
import numpy as np
import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn

RATE = 0.1


def data():
    rng = np.random.default_rng(0)
    arrays = {"x": (6, 4), "y": (6, 2), "w1": (4, 8), "w2": (8, 2)}
    return {name: rng.standard_normal(shape).astype(np.float32) * 0.5 for name, shape in arrays.items()}


class Net(nn.Module):
    """Two products with a view, in-place writes and a relu between them."""

    def __init__(self):
        super().__init__()
        arrays = data()
        self.w1 = nn.Parameter(torch.from_numpy(arrays["w1"].copy()))
        self.w2 = nn.Parameter(torch.from_numpy(arrays["w2"].copy()))

    def forward(self, x):
        hidden = torch.matmul(x, self.w1)
        hidden[:, 0:2].mul_(2)
        hidden.add_(1)
        return torch.matmul(torch.relu(hidden), self.w2)


def expected():
    """The loss, the gradients of w1 and w2."""
    arrays = data()
    scale = np.ones(8, np.float32)
    scale[:2] = 2
    before = arrays["x"] @ arrays["w1"] * scale + 1
    hidden = np.maximum(before, 0)
    difference = hidden @ arrays["w2"] - arrays["y"]
    upstream = 2 * difference / difference.size
    inner = upstream @ arrays["w2"].T * (before > 0) * scale
    return (difference**2).mean(), arrays["x"].T @ inner, hidden.T @ upstream


def squared_error(output, target):
    return torch.mean((output - target) ** 2)


def assert_stepped(net):
    """The weights are one step of plain gradient descent away from where they began."""
    arrays = data()
    _, for_w1, for_w2 = expected()
    np.testing.assert_allclose(net.w1.asnumpy(), arrays["w1"] - RATE * for_w1, atol=1e-5)
    np.testing.assert_allclose(net.w2.asnumpy(), arrays["w2"] - RATE * for_w2, atol=1e-5)


def assert_gradients(net):
    _, for_w1, for_w2 = expected()
    np.testing.assert_allclose(net.w1.grad.numpy(), for_w1, atol=1e-5)
    np.testing.assert_allclose(net.w2.grad.numpy(), for_w2, atol=1e-5)


def ours():
    arrays = data()
    return torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])


def native():
    arrays = data()
    return ms.Tensor(arrays["x"]), ms.Tensor(arrays["y"])


def backward(net):
    x, y = ours()
    squared_error(net(x), y).backward()


def test_value_and_grad_with_aux():
    net = Net()

    def forward(x, y):
        output = net(x)
        return squared_error(output, y), output

    (loss, output), grads = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)(*ours())
    wanted = expected()
    np.testing.assert_allclose(loss.asnumpy(), wanted[0], rtol=1e-5)
    np.testing.assert_allclose(grads[0].asnumpy(), wanted[1], atol=1e-5)
    np.testing.assert_allclose(grads[1].asnumpy(), wanted[2], atol=1e-5)
    assert output.shape == (6, 2)
    assert net.w1.grad is None


def test_native_optimizer():
    net = Net()
    optimizer = ms.nn.SGD(net.trainable_params(), learning_rate=RATE)
    grads = ms.grad(lambda x, y: squared_error(net(x), y), None, optimizer.parameters)(*ours())
    optimizer(grads)
    assert_stepped(net)
    assert type(net.w1) is nn.Parameter


@pytest.mark.parametrize("loss", [lambda: ms.nn.MSELoss(), lambda: SquaredError()])
def test_train_one_step_cell(loss):
    net = Net()
    step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, loss()), ms.nn.SGD(net.trainable_params(), RATE))
    step.set_train()
    assert net.training
    np.testing.assert_allclose(step(*native()).asnumpy(), expected()[0], rtol=1e-5)
    assert_stepped(net)


class SquaredError(nn.Module):
    def forward(self, output, target):
        return squared_error(output, target)


def test_train_one_step_cell_over_a_module_that_returns_the_loss():
    class WithLoss(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x, y):
            return squared_error(self.net(x), y)

    net = Net()
    step = ms.nn.TrainOneStepCell(WithLoss(net), ms.nn.SGD(net.trainable_params(), RATE))
    np.testing.assert_allclose(step(*native()).asnumpy(), expected()[0], rtol=1e-5)
    assert_stepped(net)


def model_and_data(net):
    arrays = data()
    dataset = ms.dataset.NumpySlicesDataset({"x": arrays["x"], "y": arrays["y"]}, shuffle=False).batch(6)
    optimizer = ms.nn.SGD(net.trainable_params(), learning_rate=RATE)
    return ms.Model(net, ms.nn.MSELoss(), optimizer, metrics={"mse"}), dataset


def test_model_train_eval_predict():
    net = Net()
    model, dataset = model_and_data(net)
    before = model.eval(dataset, dataset_sink_mode=False)
    # MindSpore divides by the number of samples only; each has two outputs.
    np.testing.assert_allclose(before["mse"], 2 * expected()[0], rtol=1e-4)
    assert not net.training
    model.train(1, dataset, dataset_sink_mode=False)
    assert net.training
    assert_stepped(net)
    x, _ = native()
    np.testing.assert_allclose(model.predict(x).asnumpy(), net(ours()[0]).detach().numpy(), atol=1e-6)


def test_pytorch_style_after_native_style():
    net = Net()
    model, dataset = model_and_data(net)
    model.train(1, dataset, dataset_sink_mode=False)
    with torch.no_grad():
        for name in ("w1", "w2"):
            getattr(net, name).copy_(torch.from_numpy(data()[name]))
    backward(net)
    assert_gradients(net)
    torch.optim.SGD(net.parameters(), lr=RATE).step()
    assert_stepped(net)


def test_native_operator_in_the_middle_of_a_graph():
    class Mixed(Net):
        def forward(self, x):
            hidden = torch.matmul(x, self.w1)
            hidden[:, 0:2].mul_(2)
            hidden = ms.ops.relu(ms.ops.add(hidden, 1))
            return torch.matmul(torch.cast_to_adapter_tensor(hidden), self.w2)

    net = Mixed()
    backward(net)
    assert_gradients(net)


def test_native_cell_inside_a_module():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense = ms.nn.Dense(4, 3)
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return (self.dense(x) * self.scale).sum()

    net = Mixed()
    assert [name for name, _ in net.named_parameters()] == ["scale", "dense.weight", "dense.bias"]
    assert [p.name for p in net.trainable_params()] == ["scale", "dense.weight", "dense.bias"]
    x, _ = ours()
    net(x).backward()
    np.testing.assert_allclose(net.dense.weight.grad.numpy(), np.tile(x.sum(0).numpy(), (3, 1)), atol=1e-5)
    assert list(net.state_dict()) == ["scale", "dense.weight", "dense.bias"]


def test_module_inside_a_native_cell():
    class Outer(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def construct(self, x):
            return self.net(x) * 2

    outer = Outer()
    assert [p.name for p in outer.trainable_params()] == ["net.w1", "net.w2"]
    x, _ = native()
    np.testing.assert_allclose(outer(x).asnumpy(), 2 * Net()(ours()[0]).detach().numpy(), atol=1e-6)


def test_eight_threads_compute_gradients_at_once():
    failures = []

    def work():
        try:
            for _ in range(5):
                net = Net()
                backward(net)
                assert_gradients(net)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_bprop_of_a_module_takes_the_place_of_its_gradient():
    class Doubled(nn.Module):
        def forward(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 5,)

    x = torch.ones(3, requires_grad=True)
    Doubled()(x).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


def test_native_style_module_with_construct():
    class Native(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        def construct(self, x):
            return x * self.weight * 3

    assert Native()(torch.ones(2)).tolist() == [3, 3]
