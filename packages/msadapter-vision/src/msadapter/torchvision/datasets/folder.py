"""Pictures in one folder per class."""

import os

from PIL import Image

from msadapter.torchvision.datasets.vision import VisionDataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename, extensions):
    """Whether a name ends in one of the extensions, in whatever case."""
    return str(filename).lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename):
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """The names of the folders in `directory`, sorted, and the number of each. Raises FileNotFoundError for none."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: i for i, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """A list of (path, number of the class), from the folders of the classes and all folders below them.

    Args:
        extensions, is_valid_file: which files count; exactly one of the two.
        allow_empty: whether a class without files is right.

    Raises ValueError for no classes or not exactly one rule, FileNotFoundError for a class without files.
    """
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    if is_valid_file is None:

        def is_valid_file(path):
            return has_file_allowed_extension(path, extensions)

    samples, empty = [], []
    for name in sorted(class_to_idx):
        paths = list(filter(is_valid_file, _files_below(os.path.join(directory, name))))
        samples += [(path, class_to_idx[name]) for path in paths]
        if not paths:
            empty.append(name)
    if empty and not allow_empty:
        message = f"Found no valid file for the classes {', '.join(empty)}. "
        if extensions is not None:
            known = extensions if isinstance(extensions, str) else ", ".join(extensions)
            message += f"Supported extensions are: {known}"
        raise FileNotFoundError(message)
    return samples


def _files_below(folder):
    for home, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            yield os.path.join(home, name)


def pil_loader(path):
    """The picture at `path`, in RGB."""
    with open(path, "rb") as file:  # Pillow would keep the file open until it reads the pixels
        return Image.open(file).convert("RGB")


def default_loader(path):
    return pil_loader(path)


class DatasetFolder(VisionDataset):
    """(sample, number of the class) from `root/class/.../file`, in the order of the names.

    Args:
        loader: reads the file at a path.
        extensions, is_valid_file, allow_empty: as in `make_dataset`.
    """

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader
        self.extensions = extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(
            self.root, self.class_to_idx, extensions, is_valid_file, allow_empty=allow_empty
        )
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        """`make_dataset`, for a subclass to override."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory):
        """`find_classes`, for a subclass to override."""
        return find_classes(directory)

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """(picture, number of the class) from `root/class/.../picture.png`."""

    def __init__(
        self,
        root,
        transform=None,
        target_transform=None,
        loader=default_loader,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(
            root,
            loader,
            IMG_EXTENSIONS if is_valid_file is None else None,
            transform,
            target_transform,
            is_valid_file,
            allow_empty,
        )
        self.imgs = self.samples
