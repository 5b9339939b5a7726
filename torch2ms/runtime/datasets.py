"""Datasets of images that programs ask for by name; written in the package ``image_sets``.

Nothing is downloaded: where files are missing, the error names them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .image_sets.annotated import *
from .image_sets.archives import *
from .image_sets.arrays import *
from .image_sets.base import *
from .image_sets.captions import *
from .image_sets.categories import *
from .image_sets.folders import *
from .image_sets.lists import *
from .image_sets.planes import *
from .image_sets.scenes import *


def create(name: str, root: PathLike, train: bool, transform: Transform = None, **options: Any) -> Any:
    """Return the dataset that a configuration names: cifar10, cifar100, mnist, fashion_mnist, image_folder, synthetic.

    ``image_folder`` reads ``root/train`` and ``root/val``. ``options`` are those of the synthetic images (size,
    channels, num_classes, image_size). Raises ValueError for another name.
    """
    if name == "synthetic":
        from .synthetic import SyntheticImages

        return SyntheticImages(train=train, transform=transform, **options)
    if name == "image_folder":
        return ImageFolder(Path(root) / ("train" if train else "val"), transform)
    kinds = {"cifar10": CIFAR10, "cifar100": CIFAR100, "mnist": MNIST, "fashion_mnist": FashionMNIST}
    if name not in kinds:
        raise ValueError(f"unknown dataset {name!r}: choose one of {', '.join(sorted(kinds))}, image_folder, synthetic")
    return kinds[name](root, train, transform)
