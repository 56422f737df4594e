# LeNet from given weights on given images: the losses of six SGD steps and the last gradients.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)


def fill(module):
    for parameter in module.parameters():
        values = rng.standard_normal(parameter.shape).astype("float32")
        parameter.data.copy_(torch.from_numpy(0.1 * values))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.classifier = nn.Sequential(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 10))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


net = LeNet()
fill(net)
images = torch.from_numpy(rng.standard_normal((16, 1, 32, 32)).astype("float32"))
labels = torch.from_numpy(rng.integers(0, 10, 16))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss()
for _ in range(6):
    optimizer.zero_grad()
    loss = criterion(net(images), labels)
    loss.backward()
    optimizer.step()
    print(f"{loss:.4f}")
for name, parameter in net.named_parameters():
    print(name, tuple(parameter.shape), f"{parameter.grad.abs().sum().item():.3f}")
