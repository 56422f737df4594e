# One transformer encoder block from tensor operations, with a causal mask, trained by hand.
import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(2)
N, T, E, H = 2, 5, 8, 2


def weight(*shape):
    return torch.tensor(0.3 * rng.standard_normal(shape).astype("float32"), requires_grad=True)


wq, wk, wv, wo, w1, w2 = (
    weight(E, E),
    weight(E, E),
    weight(E, E),
    weight(E, E),
    weight(E, 4 * E),
    weight(4 * E, E),
)
weights = [wq, wk, wv, wo, w1, w2]
x = torch.from_numpy(rng.standard_normal((N, T, E)).astype("float32"))
mask = torch.ones(T, T, dtype=torch.bool).tril()


def heads(t):
    return t.view(N, T, H, E // H).transpose(1, 2)


def block(x):
    q, k, v = heads(x @ wq), heads(x @ wk), heads(x @ wv)
    scores = (q @ k.transpose(-2, -1)) / (E // H) ** 0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(N, T, E)
    x = F.layer_norm(x + mixed @ wo, (E,))
    return F.layer_norm(x + F.gelu(x @ w1) @ w2, (E,))


for _ in range(4):
    loss = (block(x)[:, :-1] - x[:, 1:]).pow(2).mean()
    grads = torch.autograd.grad(loss, weights)
    with torch.no_grad():
        for w, g in zip(weights, grads):
            w -= 0.5 * g
    print(round(loss.item(), 4), [round(g.abs().sum().item(), 3) for g in grads])
