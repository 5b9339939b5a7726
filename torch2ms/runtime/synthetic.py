"""Synthetic images that can be learned, in memory and in the files of CIFAR-10, for runs without data.

Every class has a colour and a stripe pattern of its own; position, brightness and noise vary from image to image. A
small network reaches a high accuracy within a few dozen steps, a broken training loop stays at chance.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple, Union

import numpy as np

from .image_sets.arrays import CIFAR10, ImagesInMemory

__all__ = ["SyntheticImages", "draw_images", "write_cifar10_binary", "write_cifar10_python"]

PathLike = Union[str, "os.PathLike[str]"]


def draw_images(
    count: int, num_classes: int = 10, size: int = 32, seed: int = 0
) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return uint8 images (count, size, size, 3) and int64 labels (count,), equal for equal arguments."""
    stream = np.random.RandomState(seed)
    labels = np.arange(count) % num_classes
    stream.shuffle(labels)
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32) / size
    angle = np.pi * labels / num_classes
    phase = stream.uniform(0, 2 * np.pi, count)
    across = np.cos(angle)[:, None, None] * columns + np.sin(angle)[:, None, None] * rows
    waves = np.sin(2 * np.pi * (2 + labels % 3)[:, None, None] * across + phase[:, None, None])
    hue = 2 * np.pi * labels / num_classes
    colour = 0.5 + 0.5 * np.cos(hue[:, None] + np.array([0.0, 2.1, 4.2]))
    light = stream.uniform(0.7, 1.0, count)[:, None, None, None]
    images = light * (0.35 + 0.3 * colour[:, None, None, :] + 0.25 * waves[..., None] * colour[:, None, None, :])
    images = images + stream.normal(0.0, 0.08, images.shape)
    return (np.clip(images, 0, 1) * 255).astype(np.uint8), labels.astype(np.int64)


class SyntheticImages(ImagesInMemory):
    """Images of :func:`draw_images` as (PIL image, label): ``size`` of them to train, a quarter of that to test."""

    def __init__(
        self,
        size: int = 512,
        train: bool = True,
        transform: Optional[Callable[[Any], Any]] = None,
        target_transform: Optional[Callable[[Any], Any]] = None,
        num_classes: int = 10,
        image_size: int = 32,
        channels: int = 3,
        seed: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.train = train
        count = size if train else max(num_classes, size // 4)
        self.data, labels = draw_images(count, num_classes, image_size, 2 * seed + (0 if train else 1))
        if channels == 1:
            self.data = self.data.mean(axis=3).astype(np.uint8)
        self.targets = labels.tolist()
        self.classes = [str(number) for number in range(num_classes)]


def _parts(
    train_images: int, test_images: int, seed: int
) -> List[Tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Return CIFAR-10's six files as (name, planes (N, 3072), labels)."""
    images, labels = draw_images(train_images, seed=2 * seed)
    test, test_labels = draw_images(test_images, seed=2 * seed + 1)
    planes = images.transpose(0, 3, 1, 2).reshape(-1, 3072)
    names = CIFAR10.train_files
    parts = list(zip(names, np.array_split(planes, len(names)), np.array_split(labels, len(names))))
    return [*parts, ("test_batch", test.transpose(0, 3, 1, 2).reshape(-1, 3072), test_labels)]


def write_cifar10_python(root: PathLike, train_images: int = 500, test_images: int = 100, seed: int = 0) -> Path:
    """Write synthetic images as ``root/cifar-10-batches-py``, the pickles torchvision reads; return that folder."""
    folder = Path(root) / CIFAR10.folders[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, planes, labels in _parts(train_images, test_images, seed):
        content = {
            "batch_label": f"synthetic {name}",
            "labels": labels.tolist(),
            "data": planes,
            "filenames": [f"{name}_{number}.png" for number in range(len(labels))],
        }
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    names = {"num_cases_per_batch": train_images // 5, "label_names": list(CIFAR10.default_classes), "num_vis": 3072}
    (folder / "batches.meta").write_bytes(pickle.dumps(names, protocol=2))
    return folder


def write_cifar10_binary(root: PathLike, train_images: int = 500, test_images: int = 100, seed: int = 0) -> Path:
    """Write synthetic images as ``root/cifar-10-batches-bin``, the files MindSpore reads; return that folder."""
    folder = Path(root) / CIFAR10.folders[1]
    folder.mkdir(parents=True, exist_ok=True)
    for name, planes, labels in _parts(train_images, test_images, seed):
        rows = np.concatenate([labels.astype(np.uint8)[:, None], planes], axis=1)
        (folder / f"{name}.bin").write_bytes(rows.tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(CIFAR10.default_classes) + "\n", encoding="utf-8")
    return folder
