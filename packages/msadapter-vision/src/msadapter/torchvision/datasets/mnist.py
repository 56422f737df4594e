"""MNIST and its relatives: 70,000 gray pictures of 28 by 28 pixels."""

import os

import numpy as np
from PIL import Image

import msadapter.pytorch as torch
from msadapter.torchvision.datasets.utils import check_integrity, download_url, extract_archive
from msadapter.torchvision.datasets.vision import VisionDataset

_DTYPES = {8: np.uint8, 9: np.int8, 11: np.int16, 12: np.int32, 13: np.float32, 14: np.float64}


class MNIST(VisionDataset):
    """(picture, digit); 60,000 for training, 10,000 for testing.

    Args:
        root: the folder that holds `MNIST/raw/train-images-idx3-ubyte` and the like.
        train: which of the two parts.
        download: whether to fetch what is missing.

    Raises RuntimeError where the files are missing.
    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    training_file = "training.pt"
    test_file = "test.pt"
    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            names = [name.removesuffix(".gz") for name, _ in self.resources]
            raise RuntimeError(
                "Dataset not found. You can use download=True to download it. "
                f"Received: the folder {self.raw_folder}, which should hold {', '.join(names)}"
            )
        part = "train" if train else "t10k"
        self.data = read_image_file(os.path.join(self.raw_folder, f"{part}-images-idx3-ubyte"))
        self.targets = read_label_file(os.path.join(self.raw_folder, f"{part}-labels-idx1-ubyte"))

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self):
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    def _check_exists(self):
        paths = (os.path.join(self.raw_folder, name.removesuffix(".gz")) for name, _ in self.resources)
        return all(check_integrity(path) for path in paths)

    def download(self):
        """Fetch and unpack the files, from the first address that gives them, unless they are there."""
        if self._check_exists():
            return
        for name, md5 in self.resources:
            self._download_one(name, md5)
            extract_archive(os.path.join(self.raw_folder, name))

    def _download_one(self, name, md5):
        for number, mirror in enumerate(self.mirrors, 1):
            try:
                return download_url(mirror + name, self.raw_folder, name, md5)
            except RuntimeError:
                if number == len(self.mirrors):
                    raise

    def __getitem__(self, index):
        img, target = Image.fromarray(self.data[index].numpy()), int(self.targets[index])
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """MNIST with clothes instead of digits."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]


class KMNIST(MNIST):
    """MNIST with Kuzushiji characters instead of digits."""

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


def read_sn3_pascalvincent_tensor(path, strict=True):
    """The array in a file of MNIST's format: a head of dtype, rank and sizes, then the values, big-endian."""
    with open(path, "rb") as file:
        content = file.read()
    kind, rank = content[2], content[3]
    if content[:2] != b"\0\0" or kind not in _DTYPES or not 1 <= rank <= 3:
        raise ValueError(f"{path} is no file of MNIST's format. It begins with {content[:4].hex()}")
    sizes = np.frombuffer(content, ">i4", rank, offset=4)
    dtype = np.dtype(_DTYPES[kind])
    values = np.frombuffer(content, dtype.newbyteorder(">"), offset=4 + 4 * rank)
    if strict and values.size != np.prod(sizes):
        raise ValueError(f"{path} should hold {list(sizes)} values, and holds {values.size}")
    return torch.from_numpy(values.astype(dtype).reshape(sizes))


def read_label_file(path):
    """Labels, int64 of shape (n,)."""
    return read_sn3_pascalvincent_tensor(path, strict=False).to(torch.int64)


def read_image_file(path):
    """Pictures, uint8 of shape (n, rows, columns)."""
    return read_sn3_pascalvincent_tensor(path, strict=False)
