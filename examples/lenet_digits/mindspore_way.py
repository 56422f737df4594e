"""LeNet trained with MindSpore's functional loop and optimizer; the net and the data are those of pytorch_way.py."""

import time

import mindspore as ms
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
optimizer = ms.nn.SGD(net.trainable_params(), learning_rate=0.02, momentum=0.9, weight_decay=0.0005)


def forward_fn(data, label):
    logits = net(data)
    loss = criterion(logits, label)
    return loss, logits


grad_fn = ms.ops.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)


def train_step(data, label):
    (loss, _), grads = grad_fn(data, label)
    optimizer(grads)
    return loss


started = time.perf_counter()
net.train()
for epoch in range(args.epochs):
    losses = []
    for X, y in tqdm(train_loader, desc=f"epoch {epoch}", leave=False):
        X, y = X.to(args.device), y.to(args.device)
        res = train_step(X, y)
        losses.append(float(res.asnumpy()))
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.6f}")
seconds = (time.perf_counter() - started) / args.epochs

print(f"test accuracy {100 * accuracy(net, test_loader):.2f} %, {seconds:.2f} seconds per epoch")
