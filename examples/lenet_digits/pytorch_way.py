"""LeNet trained with PyTorch's loop. Nothing but the imports differs from the same program for PyTorch."""

import time

from data import channels, loaders, options
from model import LeNet, accuracy
from tqdm import tqdm

import msadapter.pytorch as torch
import msadapter.pytorch.nn as nn

args = options()
torch.manual_seed(0)
train_loader, test_loader = loaders(args)

net = LeNet(channels(args)).to(args.device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=0.0005)

started = time.perf_counter()
net.train()
for epoch in range(args.epochs):
    losses = []
    for X, y in tqdm(train_loader, desc=f"epoch {epoch}", leave=False):
        X, y = X.to(args.device), y.to(args.device)
        out = net(X)
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.6f}")
seconds = (time.perf_counter() - started) / args.epochs

print(f"test accuracy {100 * accuracy(net, test_loader):.2f} %, {seconds:.2f} seconds per epoch")
