# An MLP with Adam, a hook and a frozen layer.
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(1)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
for parameter in net.parameters():
    parameter.data.copy_(torch.from_numpy(0.3 * rng.standard_normal(parameter.shape).astype("float32")))
net[2].weight.requires_grad_(False)
seen = []
net[0].weight.register_hook(lambda grad: seen.append(grad.shape))
x = torch.from_numpy(rng.standard_normal((32, 8)).astype("float32"))
y = torch.from_numpy(rng.integers(0, 3, 32))
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)
for _ in range(8):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}", net[2].weight.grad, len(seen))
print(list(net.state_dict()))
print(seen[0], optimizer.param_groups[0]["lr"])
