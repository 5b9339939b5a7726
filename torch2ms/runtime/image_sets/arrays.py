"""Images in memory: the pickles and binary files of CIFAR, the idx files of MNIST and its relatives."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import string
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Tuple

import numpy as np
from mindspore import Tensor
from PIL import Image

from ..array_pickles import ArrayUnpickler
from .base import DatasetNotFoundError, PathLike, Transform, VisionDataset, choose, not_found, unpack

__all__ = ["CIFAR10", "CIFAR100", "EMNIST", "KMNIST", "MNIST", "QMNIST", "FashionMNIST", "ImagesInMemory"]


def _read_pickle(path: Path) -> Dict[str, Any]:
    with open(path, "rb") as stream:
        try:
            content = ArrayUnpickler(stream, encoding="latin1").load()
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError) as error:
            raise DatasetNotFoundError(f"{path} is damaged: {error}") from error
    return {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in content.items()}


class ImagesInMemory(VisionDataset):
    """Images in memory (``data``) with their labels (``targets``)."""

    data: Any
    targets: Any
    classes: List[str]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(Image.fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {'Train' if self.__dict__.get('train', True) else 'Test'}"

    @property
    def class_to_idx(self) -> Dict[str, int]:
        """The classes' numbers by name."""
        return {name: number for number, name in enumerate(self.classes)}


class CIFAR10(ImagesInMemory):
    """CIFAR-10: 32 x 32 colour images, 10 classes; the python files (``cifar-10-batches-py``) or the binary ones.

    ``data``: uint8 (N, 32, 32, 3); ``targets``: a list. ``base_folder``, ``train_list``,
    ``test_list`` and ``meta`` are torchvision's: a class of a program may name other files with them.
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
    archives: Sequence[str] = ("cifar-10-python.tar.gz", "cifar-10-binary.tar.gz")
    url = "https://www.cs.toronto.edu/~kriz/cifar.html"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        names = [entry[0] for entry in (self.train_list if train else self.test_list)]
        if download and not self._check_integrity():
            for archive in (Path(self.root) / name for name in self.archives if (Path(self.root) / name).is_file()):
                unpack(archive, archive.parent)
        for folder in [Path(self.root) / name for name in (self.base_folder, self.folders[1], "")]:
            if all((folder / name).is_file() for name in names):
                parts = [self._read_python(folder / name) for name in names]
                break
            if all((folder / f"{name}.bin").is_file() for name in names):
                parts = [self._read_binary(folder / f"{name}.bin") for name in names]
                break
        else:
            wanted = [f"{self.base_folder}/{name}" for name in names] + [f"or {self.folders[1]}/{names[0]}.bin ..."]
            raise not_found(type(self).__name__, root, wanted, self.url)
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
            raise not_found(type(self).__name__, self.root, [self.base_folder], self.url)


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
    archives = ("cifar-100-python.tar.gz", "cifar-100-binary.tar.gz")


class MNIST(ImagesInMemory):
    """MNIST: 28 x 28 grey images of digits; idx files, packed (``.gz``) or not, below ``root/MNIST/raw``.

    ``data``: uint8 Tensor (N, 28, 28); ``targets``: int64 Tensor (N,), as torchvision has them; both can be set anew.
    """

    classes = "0 - zero,1 - one,2 - two,3 - three,4 - four,5 - five,6 - six,7 - seven,8 - eight,9 - nine".split(",")
    url = "https://ossci-datasets.s3.amazonaws.com/mnist/"
    mirrors: ClassVar[List[str]] = [url, "http://yann.lecun.com/exdb/mnist/"]
    resources: ClassVar[Any] = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        self._pixels: Any
        self._numbers: Any
        self._pixels, self._numbers = self._load()

    def _load(self) -> Tuple[Any, Any]:
        """Return images and labels: arrays until the tensors are asked for, reading items from which takes longer."""
        images, labels = (
            f"{'train' if self.train else 't10k'}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1")
        )
        return _read_idx(self._find(images), 3), _read_idx(self._find(labels), 1).astype(np.int64)

    @property
    def raw_folder(self) -> str:
        """The folder of the files."""
        return os.path.join(self.root, type(self).__name__, "raw")

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
        if not isinstance(self._numbers, Tensor):
            self._numbers = Tensor(self._numbers)
        return self._numbers

    @targets.setter
    def targets(self, value: Any) -> None:
        self._numbers = value

    # The names that torchvision had before 0.2.2, and still answers to
    train_data = test_data = data
    train_labels = test_labels = targets

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        pixels = self._pixels[index]
        if isinstance(pixels, Tensor):
            pixels = pixels.asnumpy()
        return self._finish(Image.fromarray(pixels), int(self._numbers[index]))

    def __len__(self) -> int:
        return len(self._pixels)

    def _find(self, name: str) -> Path:
        root, own = Path(self.root), type(self).__name__
        for folder in (root / own / "raw", root / own, root / "raw", root):
            for path in (folder / f"{name}{packed}" for packed in ("", ".gz", ".xz")):
                if path.is_file():
                    return path
        raise not_found(own, root, [f"{own}/raw/{name} or {own}/raw/{name}.gz"], self.url)


class FashionMNIST(MNIST):
    """Fashion-MNIST: 28 x 28 grey images of clothes, in MNIST's files below ``root/FashionMNIST/raw``."""

    classes = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot".split(",")
    url = "https://github.com/zalandoresearch/fashion-mnist"


class KMNIST(MNIST):
    """Kuzushiji-MNIST: 28 x 28 grey images of Japanese letters, in MNIST's files below ``root/KMNIST/raw``."""

    classes = "o ki su tsu na ha ma ya re wo".split()
    url = "https://github.com/rois-codh/kmnist"


class EMNIST(MNIST):
    """EMNIST: 28 x 28 grey images of letters and digits below ``root/EMNIST/raw``, in one of six ``splits``."""

    url = "https://www.nist.gov/itl/products-and-services/emnist-dataset"
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    _all: ClassVar[List[str]] = sorted(string.digits + string.ascii_letters)
    # Without the small letters that are drawn as their capitals are
    _merged: ClassVar[List[str]] = [letter for letter in _all if letter not in "cijklmopsuvwxyz"]
    classes_split_dict: ClassVar[Dict[str, List[str]]] = {
        "byclass": _all,
        "bymerge": _merged,
        "balanced": _merged,
        "letters": ["N/A", *string.ascii_lowercase],
        "digits": list(string.digits),
        "mnist": list(string.digits),
    }

    def __init__(self, root: PathLike, split: str, **kwargs: Any) -> None:
        self.split = choose(split, "split", self.splits)
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[split]

    def _load(self) -> Tuple[Any, Any]:
        name = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        labels = _read_idx(self._find(f"{name}-labels-idx1-ubyte"), 1)
        return _read_idx(self._find(f"{name}-images-idx3-ubyte"), 3), labels.astype(np.int64)


class QMNIST(MNIST):
    """QMNIST: MNIST's digits with their origin, below ``root/QMNIST/raw``.

    ``what``: train, test, test10k (MNIST's own), test50k or nist (all); ``compat``: the label is the digit alone.
    """

    url = "https://github.com/facebookresearch/qmnist"
    subsets: ClassVar[Dict[str, str]] = {
        "train": "qmnist-train", "test": "qmnist-test", "test10k": "qmnist-test", "test50k": "qmnist-test",
        "nist": "xnist",
    }  # fmt: skip

    def __init__(
        self, root: PathLike, what: Optional[str] = None, compat: bool = True, train: bool = True, **kwargs: Any
    ) -> None:
        what = ("train" if train else "test") if what is None else what
        self.what, self.compat = choose(what, "what", self.subsets), compat
        super().__init__(root, train, **kwargs)

    def _load(self) -> Tuple[Any, Any]:
        name = self.subsets[self.what]
        part = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(self.what, slice(None))
        labels = _read_idx(self._find(f"{name}-labels-idx2-int"), 2).astype(np.int64)
        return _read_idx(self._find(f"{name}-images-idx3-ubyte"), 3)[part], labels[part]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        pixels, label = self._pixels[index], self._numbers[index]
        image = Image.fromarray(pixels.asnumpy() if isinstance(pixels, Tensor) else pixels)
        whole = label if isinstance(label, Tensor) else Tensor(label)
        return self._finish(image, int(label[0]) if self.compat else whole)

    def extra_repr(self) -> str:
        """Return which part it is."""
        return f"Split: {self.what}"


_IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def _read_idx(path: Path, dimensions: int) -> np.ndarray[Any, Any]:
    """Read an idx file: 0, 0, type, number of dimensions, sizes (big-endian 32 bits), values."""
    content = path.read_bytes()
    if path.suffix in (".gz", ".xz"):
        content = gzip.decompress(content) if path.suffix == ".gz" else lzma.decompress(content)
    start = 4 + 4 * dimensions
    kind = np.dtype(_IDX_TYPES.get(content[2], "u1"))
    if content[:4] != bytes([0, 0, content[2], dimensions]) or content[2] not in _IDX_TYPES:
        raise DatasetNotFoundError(f"{path} is no idx file of {dimensions} dimensions")
    shape = np.frombuffer(content[4:start], ">u4").astype(int)
    size = int(shape.prod()) * kind.itemsize
    if len(content) - start != size:
        raise DatasetNotFoundError(f"{path} is cut off: {len(content) - start} bytes of {size}")
    return np.frombuffer(content, kind, offset=start).reshape(tuple(shape))
