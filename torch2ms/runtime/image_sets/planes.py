"""Images in memory from text, tables, MATLAB and NumPy files, and images of random numbers."""

from __future__ import annotations

import bz2
import csv
import os
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Tuple

import numpy as np
from mindspore import Tensor
from PIL import Image

from ..seed import Generator
from .base import PathLike, Transform, VisionDataset, choose

__all__ = ["FER2013", "SEMEION", "STL10", "SVHN", "USPS", "FakeData", "MovingMNIST", "PhotoTour"]


class _Planes(VisionDataset):
    """Images in memory by channel (``data``: uint8 (N, 3, height, width)) with ``labels`` (-1: the image has none)."""

    data: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    shown = "Split: {split}"

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        pixels = np.ascontiguousarray(self.data[index].transpose(1, 2, 0))
        return self._finish(Image.fromarray(pixels), int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)


class SVHN(_Planes):
    """Street View House Numbers: 32 x 32 colour images of the digits 0 to 9; ``split`` is train, test or extra.

    Reads ``train_32x32.mat`` and the like (with SciPy, which MindSpore brings).
    """

    url = "http://ufldl.stanford.edu/housenumbers/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = choose(split, "split", ("train", "test", "extra"))
        path = Path(self.root) / f"{split}_32x32.mat"
        self._need([path], download)
        from scipy.io import loadmat

        content = loadmat(str(path))
        self.data = np.ascontiguousarray(content["X"].transpose(3, 2, 0, 1))
        self.labels = content["y"].astype(np.int64).reshape(-1) % 10  # the files call the digit 0 "10"


class STL10(_Planes):
    """STL-10: 96 x 96 colour images of 10 classes; ``split`` is train, test, unlabeled or train+unlabeled.

    Reads the binary files below ``stl10_binary``; ``folds`` (0 to 9) takes the training images of one fold. Unlabeled
    images have the label -1.
    """

    archives = ("stl10_binary.tar.gz",)
    url = "https://cs.stanford.edu/~acoates/stl10/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        folds: Optional[int] = None,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = choose(split, "split", ("train", "train+unlabeled", "unlabeled", "test"))
        if folds is not None and folds not in range(10):
            raise ValueError(f"Value for argument folds should be in the range [0, 10), but got {folds}.")
        self.folds, self._folder = folds, Path(self.root) / "stl10_binary"
        names = [f"{part}_X.bin" for part in split.split("+")]
        names += [f"{part}_y.bin" for part in split.split("+") if part != "unlabeled"]
        self._need((self._folder / name for name in names), download)
        parts = [self._read(part) for part in split.split("+")]
        self.data = np.concatenate([images for images, _ in parts])
        self.labels = np.concatenate([labels for _, labels in parts])
        file = self._folder / "class_names.txt"
        if file.is_file():
            self.classes = file.read_text(encoding="utf-8").splitlines()

    def _read(self, part: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        # MATLAB stores columns first
        images = np.fromfile(self._folder / f"{part}_X.bin", np.uint8).reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        if part == "unlabeled":
            return images, np.full(len(images), -1, np.int64)
        labels = np.fromfile(self._folder / f"{part}_y.bin", np.uint8) - 1
        if part == "train" and self.folds is not None:
            lines = (self._folder / "fold_indices.txt").read_text(encoding="utf-8").splitlines()
            chosen = np.array(lines[self.folds].split(), np.int64)
            images, labels = images[chosen], labels[chosen]
        return images, labels


class USPS(VisionDataset):
    """USPS: 16 x 16 grey images of digits, in LIBSVM's text (``root/usps.bz2``, ``usps.t.bz2``)."""

    url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        path = os.path.join(self.root, "usps.bz2" if train else "usps.t.bz2")
        self._need([path], download)
        with bz2.open(path, "rt", encoding="utf-8") as stream:
            rows = [line.split() for line in stream]
        values = np.asarray([[part.split(":")[-1] for part in row[1:]] for row in rows], np.float32)
        self.data = ((values.reshape(-1, 16, 16) + 1) / 2 * 255).astype(np.uint8)
        self.targets = [int(row[0]) - 1 for row in rows]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(Image.fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)


class SEMEION(VisionDataset):
    """SEMEION: 16 x 16 black and white images of digits, as text (``root/semeion.data``)."""

    url = "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = True,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        path = os.path.join(self.root, "semeion.data")
        self._need([path], download)
        rows = np.loadtxt(path)
        self.data = (rows[:, :256] * 255).astype(np.uint8).reshape(-1, 16, 16)
        self.labels = np.nonzero(rows[:, 256:])[1]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(Image.fromarray(self.data[index]), int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)


class FER2013(VisionDataset):
    """FER2013: 48 x 48 grey faces and their emotions, in one of the tables below ``root/fer2013``.

    ``fer2013.csv`` is taken first, then ``icml_face_data.csv``, then ``train.csv`` or ``test.csv`` (without emotions).
    """

    shown = "split={_split}"
    url = "https://www.kaggle.com/c/challenges-in-representation-learning-facial-expression-recognition-challenge"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
    ) -> None:
        self._split = choose(split, "split", ("train", "test"))
        super().__init__(root, transform=transform, target_transform=target_transform)
        folder = Path(self.root) / "fer2013"
        names = ("fer2013.csv", "icml_face_data.csv", f"{split}.csv")
        path = next((folder / name for name in names if (folder / name).is_file()), folder / names[-1])
        self._need([path], download=False)
        usages = (None, "Training") if split == "train" else (None, "PublicTest", "PrivateTest")
        self._samples = []
        with open(path, newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream, skipinitialspace=True):
                if row.get("Usage") in usages:
                    pixels = np.array(row["pixels"].split(), np.uint8).reshape(48, 48)
                    self._samples.append((Tensor(pixels), int(row["emotion"]) if "emotion" in row else None))

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        pixels, label = self._samples[index]
        return self._finish(Image.fromarray(pixels.asnumpy()), label)

    def __len__(self) -> int:
        return len(self._samples)


class MovingMNIST(VisionDataset):
    """Moving MNIST: uint8 Tensors (20, 1, 64, 64); ``split_ratio``: how many of the 20 frames are to train with."""

    url = "http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy"

    def __init__(
        self,
        root: PathLike,
        split: Optional[str] = None,
        split_ratio: int = 10,
        download: bool = False,
        transform: Transform = None,
    ) -> None:
        super().__init__(root, transform=transform)
        self.split = split if split is None else choose(split, "split", ("train", "test"))
        if not isinstance(split_ratio, int):
            raise TypeError(f"`split_ratio` should be an integer, but got {type(split_ratio)}")
        if not 1 <= split_ratio <= 19:
            raise ValueError(f"`split_ratio` should be `1 <= split_ratio <= 19`, but got {split_ratio} instead.")
        self.split_ratio = split_ratio
        path = os.path.join(self.root, type(self).__name__, "mnist_test_seq.npy")
        self._need([path], download)
        part = {"train": slice(split_ratio), "test": slice(split_ratio, None)}.get(str(split), slice(None))
        self.data = Tensor(np.ascontiguousarray(np.load(path)[part].swapaxes(0, 1)[:, :, None]))

    def __getitem__(self, index: Any) -> Any:
        return self.data[index] if self.transform is None else self.transform(self.data[index])

    def __len__(self) -> int:
        return len(self.data)


class PhotoTour(VisionDataset):
    """Patches of photographs of buildings: ``root/NAME`` with ``bmp`` images, ``info.txt`` and matches.

    A sample is a patch, a uint8 Tensor (64, 64); with ``train=False`` two patches and whether they show one point.
    Where the folder is missing, ``root/NAME.pt`` is read, which torchvision writes.
    """

    url = "http://matthewalunbrown.com/patchdata/patchdata.html"
    means: ClassVar[Dict[str, float]] = {"notredame": 0.4854, "yosemite": 0.4844, "liberty": 0.4437}
    stds: ClassVar[Dict[str, float]] = {"notredame": 0.1864, "yosemite": 0.1818, "liberty": 0.2019}
    lens: ClassVar[Dict[str, int]] = {
        "notredame": 468159, "yosemite": 633587, "liberty": 450092,
        "notredame_harris": 325295, "yosemite_harris": 450912, "liberty_harris": 379587,
    }  # fmt: skip

    def __init__(
        self,
        root: PathLike,
        name: str,
        train: bool = True,
        transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform)
        choose(name, "name", self.lens)
        self.name, self.train, self.archives = name, train, ()
        place = name.partition("_")[0]
        self.mean, self.std = self.means[place], self.stds[place]
        self.data_dir, self.data_file = (os.path.join(self.root, name + end) for end in ("", ".pt"))
        if os.path.isfile(self.data_file):
            from ..checkpoint import load

            self.data, self.labels, self.matches = load(self.data_file)
            return
        self._need([self.data_dir], download)
        folder = Path(self.data_dir)
        patches = [patch for path in sorted(folder.glob("*bmp")) for patch in _patches(path)]
        points = [int(line.split()[0]) for line in _lines(folder / "info.txt")]
        rows = [line.split() for line in _lines(folder / "m50_100000_100000_0.txt")]
        matches = [[int(row[0]), int(row[3]), int(row[1] == row[4])] for row in rows]
        self.data = Tensor(np.array(patches[: self.lens[name]], np.uint8))
        self.labels, self.matches = Tensor(np.array(points, np.int64)), Tensor(np.array(matches, np.int64))

    def __getitem__(self, index: Any) -> Any:
        transform = self.transform or (lambda patch: patch)
        if self.train:
            return transform(self.data[index])
        first, second, same = self.matches[index]
        return transform(self.data[int(first)]), transform(self.data[int(second)]), same

    def __len__(self) -> int:
        return len(self.data if self.train else self.matches)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


def _patches(path: Path) -> List[np.ndarray[Any, Any]]:
    """Return the patches of 64 x 64 pixels of an image, row by row."""
    pixels = np.asarray(Image.open(path), np.uint8)
    height, width = (range(0, size, 64) for size in pixels.shape)
    return [pixels[y : y + 64, x : x + 64] for y in height for x in width]


def _lines(path: Path) -> Sequence[str]:
    return path.read_text(encoding="utf-8").splitlines()


class FakeData(VisionDataset):
    """Random images and labels, the same ones each time, and torchvision's."""

    def __init__(
        self,
        size: int = 1000,
        image_size: Sequence[int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform = None,
        target_transform: Transform = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes, self.random_offset = size, image_size, num_classes, random_offset

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        stream = Generator().manual_seed(index + self.random_offset)
        numbers = stream.randns(int(np.prod(self.image_size))) * np.float32(255)
        # Negative numbers wrap around in bytes, as they do where PyTorch makes them such.
        pixels = numbers.astype(np.int64).astype(np.uint8).reshape(*self.image_size)
        label = stream.randint(0, self.num_classes)
        image = Image.fromarray(pixels[0] if len(pixels) == 1 else np.ascontiguousarray(pixels.transpose(1, 2, 0)))
        return self._finish(image, label)

    def __len__(self) -> int:
        return self.size
