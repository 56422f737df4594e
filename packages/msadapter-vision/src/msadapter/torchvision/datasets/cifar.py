"""CIFAR-10 and CIFAR-100: 60,000 colour pictures of 32 by 32 pixels."""

import os
import pickle

import numpy as np
from PIL import Image

from msadapter.torchvision.datasets.utils import check_integrity, download_and_extract_archive
from msadapter.torchvision.datasets.vision import VisionDataset


class CIFAR10(VisionDataset):
    """(picture, number of the class) of 10 classes; 50,000 for training, 10,000 for testing.

    Args:
        root: the folder that holds `cifar-10-batches-py`.
        train: which of the two parts.
        download: whether to fetch what is missing.

    Raises RuntimeError where the files are missing or damaged.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(
                "Dataset not found or corrupted. You can use download=True to download it. "
                f"Received: the folder {self._path('')} without the files of {self.filename}, or with damaged ones"
            )
        batches = [_unpickled(self._path(name)) for name, _ in (self.train_list if train else self.test_list)]
        data = np.concatenate([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
        self.data = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
        self.targets = [
            label
            for batch in batches
            for label in (batch["labels"] if "labels" in batch else batch["fine_labels"])
        ]
        self.classes = _unpickled(self._path(self.meta["filename"]))[self.meta["key"]]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _check_integrity(self):
        files = [*self.train_list, *self.test_list, (self.meta["filename"], self.meta["md5"])]
        return all(check_integrity(self._path(name), md5) for name, md5 in files)

    def download(self):
        """Fetch and unpack the archive, unless the files are there."""
        if not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)

    def __getitem__(self, index):
        img, target = Image.fromarray(self.data[index]), self.targets[index]
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """CIFAR10 with 100 classes; the folder is `cifar-100-python`."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}


class _ArraysOnly(pickle.Unpickler):
    """Reads arrays, lists and strings; a file that asks for anything else could run code, and is refused."""

    _allowed = {"_reconstruct", "ndarray", "dtype", "encode", "scalar", "_frombuffer"}

    def find_class(self, module, name):
        module = module.replace("numpy._core", "numpy.core")
        if module.split(".")[0] in ("numpy", "_codecs") and name in self._allowed:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"a data set of arrays does not need {module}.{name}")


def _unpickled(path):
    with open(path, "rb") as file:
        return _ArraysOnly(file, encoding="latin1").load()
