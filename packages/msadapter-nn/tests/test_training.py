"""Losses of whole trainings from a seed, held against those of real PyTorch 2.13 (the literals, every fourth step)."""

import resource

import pytest

from msadapter import pytorch as torch
from msadapter.pytorch import nn

LENET_SGD = [2.29421, 2.22942, 2.09067, 2.03545, 1.97799, 1.91531]
LENET_ADAM = [2.29766, 2.13763, 2.02163, 1.95449, 1.87741, 1.80399]
TRANSFORMER = [1.59399, 1.3693, 1.17403, 1.00002, 0.846997, 0.730105]
LSTM = [1.59065, 1.00642, 0.0623048, 0.0108229, 0.00673848, 0.00465211]
NORMALISED = [1.27705, 0.825184, 0.618578, 0.567889, 0.707447, 0.601692]
RUNNING_VAR = [0.392844, 0.425104, 0.390273, 0.375946, 0.472335, 0.395158, 0.541495, 0.343397]
EVALUATED = [4.35131, 3.62335, -3.58217, -3.11277]
ADVERSARIAL = [6.71913, -0.247079, 6.10572, -0.279449, 5.36456]


def losses(net, x, y, optimizer, steps=20):
    found = []
    criterion = nn.CrossEntropyLoss()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return [*found[::4], found[-1]]


def near(values):
    return pytest.approx(values, rel=1e-3, abs=1e-4)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def test_lenet():
    torch.manual_seed(0)
    x, y = torch.randn(16, 1, 32, 32), torch.randint(0, 10, (16,))
    net = lenet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    assert losses(net, x, y, optimizer) == near(LENET_SGD)
    net = lenet()
    assert losses(net, x, y, torch.optim.Adam(net.parameters(), lr=1e-3)) == near(LENET_ADAM)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(32, 5)

    def forward(self, x):
        return self.out(self.encoder(self.embedding(x)).mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, 2, batch_first=True, dropout=0.2, bidirectional=True)
        self.out = nn.Linear(48, 5)

    def forward(self, x):
        return self.out(self.lstm(self.embedding(x))[0][:, -1])


def words():
    torch.manual_seed(0)
    return torch.randint(0, 50, (8, 12)), torch.randint(0, 5, (8,))


def test_transformer_encoder():
    x, y = words()
    net = Encoder()
    assert losses(net, x, y, torch.optim.AdamW(net.parameters(), lr=1e-3)) == near(TRANSFORMER)


def test_lstm():
    x, y = words()
    net = Recurrent()
    assert losses(net, x, y, torch.optim.RMSprop(net.parameters(), lr=1e-2)) == near(LSTM)


def test_normalisation_and_dropout():
    torch.manual_seed(0)
    x, y = torch.randn(8, 3, 16, 16), torch.randint(0, 4, (8,))
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        nn.GroupNorm(4, 16),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(16, 4),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)
    assert losses(net, x, y, optimizer) == near(NORMALISED)
    assert net[1].num_batches_tracked.item() == 20
    assert net[1].running_var.tolist() == near(RUNNING_VAR)
    net.eval()
    assert net(x)[0].tolist() == near(EVALUATED)


def test_gradient_penalty():
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    for_generator = torch.optim.Adam(generator.parameters(), 1e-3, betas=(0.5, 0.9))
    for_critic = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0.5, 0.9))
    real = torch.randn(16, 2) + 2
    found = []
    for _ in range(20):
        fake = generator(torch.randn(16, 4)).detach()
        share = torch.rand(16, 1)
        between = (share * real + (1 - share) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        for_critic.zero_grad()
        loss.backward()
        for_critic.step()
        cost = -critic(generator(torch.randn(16, 4))).mean()
        for_generator.zero_grad()
        cost.backward()
        for_generator.step()
        found += [loss.item(), cost.item()]
    assert found[::9] == near(ADVERSARIAL)


def test_memory_does_not_grow():
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = torch.ones(16, 32), torch.zeros(16, dtype=torch.int64)
    losses(net, x, y, optimizer, steps=100)
    before = resident()
    losses(net, x, y, optimizer, steps=500)
    assert resident() - before < 10 << 20


def resident():
    """Bytes of the process in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()
