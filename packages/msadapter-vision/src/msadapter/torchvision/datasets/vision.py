"""The base of the data sets."""

import os

from msadapter.pytorch.utils.data import Dataset


class VisionDataset(Dataset):
    """A data set in the folder `root`, with transforms for the picture, its target, or both at once.

    Args:
        transforms: called with picture and target; excludes the other two.
        transform, target_transform: called with the one.

    Raises ValueError where both kinds are given.
    """

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def __repr__(self):
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if self.transforms is not None:
            body.append(repr(self.transforms))
        # An entry of several lines brings the indentation of its further lines itself.
        return "\n".join([f"Dataset {type(self).__name__}", *(f"    {entry}" for entry in body)])

    def extra_repr(self):
        """Lines that a subclass adds to its repr."""
        return ""


class StandardTransform:
    """One transform for the picture and one for the target."""

    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input, target):
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self):
        lines = [type(self).__name__]
        for head, transform in (
            ("Transform: ", self.transform),
            ("Target transform: ", self.target_transform),
        ):
            if transform is not None:
                first, *rest = repr(transform).splitlines()
                lines += [head + first, *(" " * len(head) + line for line in rest)]
        return "\n".join(lines)
