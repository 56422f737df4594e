"""One LeNet training step, batch 128, in the framework named on the command line; prints its median seconds as JSON."""

import importlib
import json
import sys

import numpy as np
from measure import seconds


def pytorch_step(name):
    """The step as a PyTorch user writes it, for `torch` or `msadapter.pytorch`."""
    torch = importlib.import_module(name)
    nn = importlib.import_module(f"{name}.nn")
    optim = importlib.import_module(f"{name}.optim")
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loss_function = nn.CrossEntropyLoss()
    data = torch.from_numpy(np.random.default_rng(0).standard_normal((128, 3, 32, 32)).astype("float32"))
    target = torch.from_numpy(np.arange(128) % 10)

    def step():
        optimizer.zero_grad()
        loss_function(net(data), target).backward()
        optimizer.step()

    return step


def mindspore_step():
    """The same net in plain MindSpore: its cells, its gradient, its optimizer."""
    import mindspore as ms
    from mindspore import nn

    ms.runtime.launch_blocking()
    net = nn.SequentialCell(
        nn.Conv2d(3, 6, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
    )  # fmt: skip
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01, momentum=0.9)
    loss_function = nn.CrossEntropyLoss()
    data = ms.Tensor(np.random.default_rng(0).standard_normal((128, 3, 32, 32)).astype("float32"))
    target = ms.Tensor(np.arange(128) % 10, ms.int32)
    gradient = ms.value_and_grad(lambda x, y: loss_function(net(x), y), None, optimizer.parameters)

    def step():
        _, gradients = gradient(data, target)
        optimizer(gradients)

    return step


if __name__ == "__main__":
    side = sys.argv[1]
    step = mindspore_step() if side == "mindspore" else pytorch_step(side)
    print(json.dumps(seconds(step, repeat=3 if side == "mindspore" else 15)))
