"""What LeNet is trained on: handwritten digits that come with scikit-learn, or MNIST or CIFAR-10 from a folder."""

import argparse

import numpy as np
from PIL import Image

import msadapter.pytorch as torch
from msadapter.pytorch.utils.data import DataLoader, Dataset, random_split
from msadapter.torchvision import datasets, transforms


class Digits(Dataset):
    """scikit-learn's 1,797 handwritten digits: (picture of 8 by 8 pixels, digit)."""

    def __init__(self, transform):
        from sklearn.datasets import load_digits  # only this data set needs it

        digits = load_digits()
        self.images = (digits.images * (255 / 16)).astype(np.uint8)
        self.labels = digits.target.tolist()
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.images[index])), self.labels[index]


def options():
    """The command line of both scripts."""
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--dataset", choices=("digits", "mnist", "cifar10"), default="digits")
    parser.add_argument("--data", default="./data", help="the folder of MNIST and CIFAR-10")
    parser.add_argument("--download", action="store_true", help="fetch MNIST or CIFAR-10 into that folder")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def channels(args):
    """How many channels the pictures have."""
    return 3 if args.dataset == "cifar10" else 1


def loaders(args):
    """The DataLoaders of the training and of the test pictures."""
    transform = transforms.Compose(
        [
            transforms.Resize((32, 32)),
            transforms.ToTensor(),
            transforms.Normalize((0.5,) * channels(args), (0.5,) * channels(args)),
        ]
    )
    if args.dataset == "digits":
        digits = Digits(transform)
        train_set, test_set = random_split(digits, [0.8, 0.2], generator=torch.Generator().manual_seed(0))
    else:
        kind = datasets.MNIST if args.dataset == "mnist" else datasets.CIFAR10
        train_set, test_set = (
            kind(args.data, train=train, transform=transform, download=args.download)
            for train in (True, False)
        )
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    return train_loader, DataLoader(test_set, batch_size=256)
