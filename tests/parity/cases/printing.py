# What print shows.
import torch

x = torch.tensor([[1.0, -2.5, 1e-8], [float("nan"), float("inf"), 12345.678]])
print(x)
print(torch.arange(5), torch.tensor(3), torch.tensor(2.5), torch.tensor([True, False]))
print(
    torch.zeros(0, 3),
    torch.tensor([]),
    torch.ones(2, dtype=torch.float64),
    torch.ones(1, dtype=torch.float16),
)
print(torch.arange(2000).reshape(40, 50))
print(torch.tensor([1e10, 1.0]), torch.tensor([1.0, 2.0]), torch.tensor([0.001, 1000.0]))
w = torch.ones(2, requires_grad=True)
print(w, w * 2, (w * 2).sum(), w.detach(), w.data)
print(f"{torch.tensor(3.14159):.2f} {torch.tensor(7)} {torch.tensor(7):04d}")
print(repr(x.shape), x.dtype, x.device, x.size(0), x.numel())
torch.set_printoptions(precision=2, sci_mode=False)
print(x)
