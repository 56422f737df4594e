"""Noise in the shape of a data set, for trying things out."""

import msadapter.pytorch as torch
from msadapter.torchvision import transforms
from msadapter.torchvision.datasets.vision import VisionDataset


class FakeData(VisionDataset):
    """`size` random pictures of `image_size` (channels, height, width) with random classes, the same each time.

    Raises IndexError beyond `size`.
    """

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.num_classes = num_classes
        self.image_size = image_size
        self.random_offset = random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        generator = torch.Generator().manual_seed(index + self.random_offset)
        img = transforms.ToPILImage()(torch.randn(*self.image_size, generator=generator))
        target = torch.randint(0, self.num_classes, size=(1,), generator=generator)[0]
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target.item()

    def __len__(self):
        return self.size
