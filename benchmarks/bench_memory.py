"""Growth of resident memory over 1,000 training steps, after the first 100."""

import numpy as np
from measure import finish, judge

import msadapter.pytorch as torch
from msadapter.pytorch import nn

PAGE = 4096


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE / 2**20


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    data = torch.from_numpy(np.random.default_rng(0).standard_normal((32, 64)).astype("float32"))
    target = torch.arange(32) % 10
    for step in range(1000):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(data), target)
        loss.backward()
        optimizer.step()
        if step == 99:
            start = resident_megabytes()
    judge("resident memory over 900 training steps", resident_megabytes() - start, 10, "MB more")
    finish()
