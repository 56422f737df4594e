# Reading and writing through every kind of index, with gradients.
import torch

x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
rows, mask = torch.tensor([1, 0, 1]), torch.tensor([True, False, True])
reads = [
    x[0],
    x[-1, ..., 2],
    x[:, 1:],
    x[..., ::2],
    x[None, 0],
    x[rows],
    x[:, mask],
    x[rows, :, 1],
    x[0, rows][:, rows],
    x[x > 20],
    x[:, [0, 2], 1],
    x[torch.tensor(1)],
    x[..., None, 3],
]
for read in reads:
    print(tuple(read.shape), read.tolist())
total = sum((read * (k + 1)).sum() for k, read in enumerate(reads))
total.backward()
print(x.grad.tolist())

y = torch.zeros(3, 4)
y[1] = torch.arange(4.0)
y[:, 0] = 7
y[mask, 1:3] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
y[y == 7] -= 1
y[rows, rows] += 10
view = y[::2, ::2]
view *= -1
print(y.tolist())
for bad in (
    lambda: x[0, 0, 0, 0],
    lambda: x[5],
    lambda: x[:, torch.tensor([9])],
    lambda: y[torch.tensor([True])],
):
    try:
        bad()
    except (IndexError, RuntimeError) as error:
        print(type(error).__name__)
