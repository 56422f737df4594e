"""LeNet-5 for pictures of 32 by 32 pixels, written as for PyTorch: only the imports say that it runs on MindSpore."""

import msadapter.pytorch as torch
import msadapter.pytorch.nn as nn
import msadapter.pytorch.nn.functional as F


class LeNet(nn.Module):
    """Input of shape (N, channels, 32, 32), output of shape (N, 10): one score per class."""

    def __init__(self, channels=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def accuracy(net, loader):
    """The share of pictures in `loader` whose class `net` tells right."""
    net.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in loader:
            right += (net(images).argmax(dim=1) == labels).sum().item()
            total += len(labels)
    net.train()
    return right / total
