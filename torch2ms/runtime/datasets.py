"""Image datasets in the files that torchvision leaves on disk; samples are (PIL image, label).

Nothing is downloaded: where files are missing, the error names them. ``transform`` and ``target_transform`` are applied
to image and label. Python pickles (CIFAR) are read by an unpickler that knows NumPy arrays and nothing else.
"""

from __future__ import annotations

import gzip
import os
import pickle
from os.path import expanduser as _home
from pathlib import Path
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from mindspore import Tensor
from PIL import Image

from .array_pickles import ArrayUnpickler
from .data import Dataset
from .seed import Generator

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "STL10",
    "SVHN",
    "DatasetFolder",
    "DatasetNotFoundError",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "create",
]

PathLike = Union[str, "os.PathLike[str]"]
Transform = Optional[Callable[[Any], Any]]


class DatasetNotFoundError(RuntimeError):
    """The files of a dataset are not where they were looked for."""


def _not_found(name: str, root: PathLike, wanted: Sequence[str], url: str) -> DatasetNotFoundError:
    return DatasetNotFoundError(
        f"{name} is not below {str(root)!r}. Wanted there: {', '.join(wanted)}. "
        f"Datasets are not downloaded; get the files from {url}"
    )


def _read_pickle(path: Path) -> Dict[str, Any]:
    with open(path, "rb") as stream:
        try:
            content = ArrayUnpickler(stream, encoding="latin1").load()
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError) as error:
            raise DatasetNotFoundError(f"{path} is damaged: {error}") from error
    return {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in content.items()}


class _Images(Dataset[Tuple[Any, Any]]):
    """Images in memory (``data``) with their labels (``targets``)."""

    data: np.ndarray[Any, Any]
    targets: List[int]
    classes: List[str]
    transform: Transform
    target_transform: Transform

    def _finish(self, image: Any, label: Any) -> Tuple[Any, Any]:
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(Image.fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    @property
    def class_to_idx(self) -> Dict[str, int]:
        """The classes' numbers by name."""
        return {name: number for number, name in enumerate(self.classes)}


class CIFAR10(_Images):
    """CIFAR-10: 32 x 32 colour images, 10 classes; the python files (``cifar-10-batches-py``) or the binary ones.

    ``data``: uint8 (N, 32, 32, 3); ``targets``: a list. ``download`` is accepted and ignored. ``base_folder``,
    ``train_list``, ``test_list`` and ``meta`` are torchvision's: a class of a program may name other files with them.
    """

    folders: Tuple[str, ...] = ("cifar-10-batches-py", "cifar-10-batches-bin")
    train_files: Tuple[str, ...] = tuple(f"data_batch_{number}" for number in range(1, 6))
    test_files: Tuple[str, ...] = ("test_batch",)
    base_folder = folders[0]
    train_list: Sequence[Sequence[str]] = tuple((name, "") for name in train_files)
    test_list: Sequence[Sequence[str]] = tuple((name, "") for name in test_files)
    label_bytes = 1
    default_classes: Tuple[str, ...] = tuple("airplane automobile bird cat deer dog frog horse ship truck".split())
    meta: ClassVar[Dict[str, str]] = {"filename": "batches.meta", "key": "label_names"}
    url = "https://www.cs.toronto.edu/~kriz/cifar.html"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        self.root, self.train, self.transform, self.target_transform = _home(root), train, transform, target_transform
        names = [entry[0] for entry in (self.train_list if train else self.test_list)]
        for folder in [Path(self.root) / name for name in (self.base_folder, self.folders[1], "")]:
            if all((folder / name).is_file() for name in names):
                parts = [self._read_python(folder / name) for name in names]
                break
            if all((folder / f"{name}.bin").is_file() for name in names):
                parts = [self._read_binary(folder / f"{name}.bin") for name in names]
                break
        else:
            wanted = [f"{self.base_folder}/{name}" for name in names] + [f"or {self.folders[1]}/{names[0]}.bin ..."]
            raise _not_found(type(self).__name__, root, wanted, self.url)
        self.data = np.concatenate([images for images, _ in parts]).transpose(0, 2, 3, 1)
        self.data = np.ascontiguousarray(self.data)
        self.targets = [label for _, labels in parts for label in labels]
        self.classes = self._read_classes(folder)

    def _read_python(self, path: Path) -> Tuple[np.ndarray[Any, Any], List[int]]:
        content = _read_pickle(path)
        labels = content.get("labels", content.get("fine_labels"))
        if "data" not in content or labels is None:
            raise DatasetNotFoundError(f"{path} holds no 'data' and 'labels'")
        return np.asarray(content["data"], np.uint8).reshape(-1, 3, 32, 32), [int(label) for label in labels]

    def _read_binary(self, path: Path) -> Tuple[np.ndarray[Any, Any], List[int]]:
        raw, row = np.fromfile(path, np.uint8), self.label_bytes + 3072
        if raw.size % row:
            raise DatasetNotFoundError(f"{path} is damaged: {raw.size} bytes are no multiple of {row}")
        rows = raw.reshape(-1, row)
        return rows[:, self.label_bytes :].reshape(-1, 3, 32, 32), rows[:, self.label_bytes - 1].tolist()

    def _read_classes(self, folder: Path) -> List[str]:
        path = folder / self.meta["filename"]
        return list(_read_pickle(path)[self.meta["key"]]) if path.is_file() else list(self.default_classes)

    def _check_integrity(self) -> bool:
        """Whether all files are there; the name is torchvision's, and asked for by classes of programs."""
        folder, listed = Path(self.root) / self.base_folder, [*self.train_list, *self.test_list]
        return all((folder / entry[0]).is_file() for entry in listed)

    def download(self) -> None:
        """Raise DatasetNotFoundError where files are missing: nothing is downloaded."""
        if not self._check_integrity():
            raise _not_found(type(self).__name__, self.root, [self.base_folder], self.url)


class CIFAR100(CIFAR10):
    """CIFAR-100: 32 x 32 colour images, 100 classes (the fine labels)."""

    folders: Tuple[str, ...] = ("cifar-100-python", "cifar-100-binary")
    train_files = ("train",)
    test_files = ("test",)
    base_folder = folders[0]
    train_list = (("train", ""),)
    test_list = (("test", ""),)
    label_bytes = 2
    default_classes = tuple(f"class {number}" for number in range(100))
    meta: ClassVar[Dict[str, str]] = {"filename": "meta", "key": "fine_label_names"}


class MNIST(_Images):
    """MNIST: 28 x 28 grey images of digits; idx files, packed (``.gz``) or not, below ``root/MNIST/raw``.

    ``data``: uint8 Tensor (N, 28, 28); ``targets``: int64 Tensor (N,), as torchvision has them; both can be set anew.
    """

    default_classes = tuple(
        f"{number} - {name}"
        for number, name in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    )
    url = "https://ossci-datasets.s3.amazonaws.com/mnist/"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        self.root, self.train, self.transform, self.target_transform = _home(root), train, transform, target_transform
        part = "train" if train else "t10k"
        # Arrays until somebody asks for the tensors: reading items from those takes longer.
        self._pixels: Any = _read_idx(self._find(f"{part}-images-idx3-ubyte"), 3)
        self._labels: Any = _read_idx(self._find(f"{part}-labels-idx1-ubyte"), 1).astype(np.int64)
        self.classes = list(self.default_classes)

    @property
    def data(self) -> Any:
        """The images, uint8 (N, 28, 28); what is written into the tensor is what items are read from."""
        if not isinstance(self._pixels, Tensor):
            self._pixels = Tensor(self._pixels)
        return self._pixels

    @data.setter
    def data(self, value: Any) -> None:
        self._pixels = value

    @property
    def targets(self) -> Any:
        """The labels, int64 (N,)."""
        if not isinstance(self._labels, Tensor):
            self._labels = Tensor(self._labels)
        return self._labels

    @targets.setter
    def targets(self, value: Any) -> None:
        self._labels = value

    # The names that torchvision had before 0.2.2, and still answers to
    train_data = test_data = data
    train_labels = test_labels = targets

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        pixels = self._pixels[index]
        if isinstance(pixels, Tensor):
            pixels = pixels.asnumpy()
        return self._finish(Image.fromarray(pixels), int(self._labels[index]))

    def __len__(self) -> int:
        return len(self._pixels)

    def _find(self, name: str) -> Path:
        root, own = Path(self.root), type(self).__name__
        for folder in (root / own / "raw", root / own, root / "raw", root):
            for path in (folder / name, folder / f"{name}.gz"):
                if path.is_file():
                    return path
        raise _not_found(own, root, [f"{own}/raw/{name} or {own}/raw/{name}.gz"], self.url)


class FashionMNIST(MNIST):
    """Fashion-MNIST: 28 x 28 grey images of clothes, in MNIST's files below ``root/FashionMNIST/raw``."""

    default_classes = (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    )  # fmt: skip
    url = "https://github.com/zalandoresearch/fashion-mnist"


def _read_idx(path: Path, dimensions: int) -> np.ndarray[Any, Any]:
    """Read an idx file of bytes: 0, 0, type 8, number of dimensions, sizes (big-endian 32 bits), values."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as stream:
        content = stream.read()
    start = 4 + 4 * dimensions
    if content[:4] != bytes([0, 0, 8, dimensions]):
        raise DatasetNotFoundError(f"{path} is no idx file of {dimensions}-dimensional bytes")
    shape = np.frombuffer(content[4:start], ">u4").astype(int)
    if len(content) - start != shape.prod():
        raise DatasetNotFoundError(f"{path} is cut off: {len(content) - start} bytes of {shape.prod()}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(tuple(shape))


_IMAGES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def load_image(path: PathLike) -> Image.Image:
    """Read an image file as RGB."""
    with open(path, "rb") as stream:
        return Image.open(stream).convert("RGB")


class _Planes(Dataset[Tuple[Any, Any]]):
    """Images in memory by channel (``data``: uint8 (N, 3, height, width)) with ``labels`` (-1: the image has none)."""

    data: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    transform: Transform
    target_transform: Transform

    def __getitem__(self, index: int) -> Tuple[Any, Any]:
        image: Any = Image.fromarray(np.ascontiguousarray(self.data[index].transpose(1, 2, 0)))
        label: Any = int(self.labels[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, label if self.target_transform is None else self.target_transform(label)

    def __len__(self) -> int:
        return len(self.data)


class SVHN(_Planes):
    """Street View House Numbers: 32 x 32 colour images of the digits 0 to 9; ``split`` is train, test or extra.

    Reads ``train_32x32.mat`` and the like (with SciPy, which MindSpore brings). ``download`` is ignored.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        if split not in ("train", "test", "extra"):
            raise ValueError(f"SVHN has no split {split!r}: choose train, test or extra")
        self.root, self.split, self.transform, self.target_transform = _home(root), split, transform, target_transform
        path = Path(self.root) / f"{split}_32x32.mat"
        if not path.is_file():
            raise _not_found("SVHN", root, [path.name], "http://ufldl.stanford.edu/housenumbers/")
        from scipy.io import loadmat

        content = loadmat(str(path))
        self.data = np.ascontiguousarray(content["X"].transpose(3, 2, 0, 1))
        self.labels = content["y"].astype(np.int64).reshape(-1) % 10  # the files call the digit 0 "10"


class STL10(_Planes):
    """STL-10: 96 x 96 colour images of 10 classes; ``split`` is train, test, unlabeled or train+unlabeled.

    Reads the binary files below ``stl10_binary``; ``folds`` (0 to 9) takes the training images of one fold. Unlabeled
    images have the label -1. ``download`` is ignored.
    """

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
        if split not in ("train", "test", "unlabeled", "train+unlabeled"):
            raise ValueError(f"STL10 has no split {split!r}: choose train, test, unlabeled or train+unlabeled")
        self.root, self.split, self.folds = _home(root), split, folds
        self.transform, self.target_transform = transform, target_transform
        self.folder = Path(self.root) / "stl10_binary"
        parts = [self._read(part) for part in split.split("+")]
        self.data = np.concatenate([images for images, _ in parts])
        self.labels = np.concatenate([labels for _, labels in parts])
        names = self.folder / "class_names.txt"
        self.classes = names.read_text(encoding="utf-8").split() if names.is_file() else []

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise _not_found("STL10", self.root, [f"stl10_binary/{name}"], self.url)
        return path

    def _read(self, part: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        # MATLAB stores columns first
        images = np.fromfile(self._file(f"{part}_X.bin"), np.uint8).reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        if part == "unlabeled":
            return images, np.full(len(images), -1, np.int64)
        labels = np.fromfile(self._file(f"{part}_y.bin"), np.uint8).astype(np.int64) - 1
        if part == "train" and self.folds is not None:
            lines = self._file("fold_indices.txt").read_text(encoding="utf-8").splitlines()
            chosen = np.array(lines[self.folds].split(), np.int64)
            images, labels = images[chosen], labels[chosen]
        return images, labels


class DatasetFolder(Dataset[Tuple[Any, Any]]):
    """One folder a class, sorted by name; files of the given extensions in it and below, sorted."""

    def __init__(
        self,
        root: PathLike,
        loader: Callable[[str], Any],
        extensions: Optional[Sequence[str]] = None,
        transform: Transform = None,
        target_transform: Transform = None,
        is_valid_file: Optional[Callable[[str], bool]] = None,
        allow_empty: bool = False,
    ) -> None:
        self.root, self.loader, self.extensions = _home(os.fspath(root)), loader, extensions
        self.transform, self.target_transform = transform, target_transform
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(f"{type(self).__name__}: give extensions or is_valid_file, one of the two")
        self._fits = is_valid_file or (lambda name: name.lower().endswith(tuple(extensions or ())))
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self._find_samples(allow_empty)
        self.targets = [label for _, label in self.samples]

    def find_classes(self, directory: str) -> Tuple[List[str], Dict[str, int]]:
        """Return the class names and their numbers. Raises FileNotFoundError where there is no folder."""
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(f"no class folders in {directory}")
        return classes, {name: number for number, name in enumerate(classes)}

    def _find_samples(self, allow_empty: bool) -> List[Tuple[str, int]]:
        samples: List[Tuple[str, int]] = []
        for name, number in sorted(self.class_to_idx.items()):
            before = len(samples)
            for folder, _, files in sorted(os.walk(os.path.join(self.root, name), followlinks=True)):
                paths = [os.path.join(folder, file) for file in sorted(files)]
                samples += [(path, number) for path in paths if self._fits(path)]
            if len(samples) == before and not allow_empty:
                raise FileNotFoundError(f"no image of class {name!r} in {self.root}")
        return samples

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        path, label = self.samples[index]
        sample: Any = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, label if self.target_transform is None else self.target_transform(label)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Image files, one folder a class."""

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Callable[[str], Any] = load_image,
        is_valid_file: Optional[Callable[[str], bool]] = None,
        allow_empty: bool = False,
    ) -> None:
        extensions = _IMAGES if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples


class FakeData(Dataset[Tuple[Any, Any]]):
    """Random images and labels, the same ones each time (other numbers than torchvision's)."""

    def __init__(
        self,
        size: int = 1000,
        image_size: Sequence[int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform = None,
        target_transform: Transform = None,
        random_offset: int = 0,
    ) -> None:
        self.size, self.image_size, self.num_classes = size, tuple(image_size), num_classes
        self.transform, self.target_transform, self.random_offset = transform, target_transform, random_offset

    def __getitem__(self, index: int) -> Tuple[Any, Any]:
        if not 0 <= index < self.size:
            raise IndexError(f"FakeData: {index} is not below {self.size}")
        stream = Generator().manual_seed(index + self.random_offset).numpy()
        channels, height, width = self.image_size
        pixels = stream.randint(0, 256, (height, width, channels)).astype(np.uint8)
        image: Any = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
        label: Any = int(stream.randint(0, self.num_classes))
        if self.transform is not None:
            image = self.transform(image)
        return image, label if self.target_transform is None else self.target_transform(label)

    def __len__(self) -> int:
        return self.size


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
