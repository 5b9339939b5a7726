"""Datasets that have a folder for each class."""

from __future__ import annotations

import csv
import os
import tarfile
from pathlib import Path
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple, Union

from .base import (
    ListedImages,
    Loader,
    PathLike,
    SampledImages,
    SplitImages,
    Transform,
    VisionDataset,
    choose,
    load_image,
    not_found,
    unpack,
)

__all__ = [
    "GTSRB",
    "IMG_EXTENSIONS",
    "SUN397",
    "Country211",
    "DatasetFolder",
    "EuroSAT",
    "ImageFolder",
    "ImageNet",
    "Imagenette",
    "RenderedSST2",
    "find_classes",
    "has_file_allowed_extension",
    "is_image_file",
    "make_dataset",
]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
Samples = List[Tuple[str, int]]
Check = Optional[Callable[[str], bool]]


def has_file_allowed_extension(filename: str, extensions: Union[str, Sequence[str]]) -> bool:
    """Whether a file's name ends in one of the extensions, in capitals or not."""
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename: str) -> bool:
    """Whether a file's name is that of an image."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory: PathLike) -> Tuple[List[str], Dict[str, int]]:
    """Return the folders in ``directory``, sorted, and their numbers. Raises FileNotFoundError where there is none."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: number for number, name in enumerate(classes)}


def make_dataset(
    directory: PathLike,
    class_to_idx: Optional[Dict[str, int]] = None,
    extensions: Optional[Union[str, Sequence[str]]] = None,
    is_valid_file: Check = None,
    allow_empty: bool = False,
) -> Samples:
    """Return (path, class) of the files in and below each class's folder, sorted.

    Raises FileNotFoundError where a class has no file, unless ``allow_empty``.
    """
    directory = os.path.expanduser(os.fspath(directory))
    if class_to_idx is None:
        class_to_idx = find_classes(directory)[1]
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    samples: Samples = []
    empty = []
    for name, number in sorted(class_to_idx.items()):
        before = len(samples)
        for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            for path in (os.path.join(folder, file) for file in sorted(files)):
                if is_valid_file(path) if is_valid_file else has_file_allowed_extension(path, extensions or ()):
                    samples.append((path, number))
        if len(samples) == before:
            empty.append(name)
    if empty and not allow_empty:
        kinds = [extensions] if isinstance(extensions, str) else extensions or ()
        supported = f"Supported extensions are: {', '.join(kinds)}" if kinds else ""
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(empty)}. {supported}")
    return samples


class DatasetFolder(VisionDataset):
    """One folder a class, sorted by name; files of the given extensions in it and below, sorted."""

    def __init__(
        self,
        root: PathLike,
        loader: Loader,
        extensions: Optional[Sequence[str]] = None,
        transform: Transform = None,
        target_transform: Transform = None,
        is_valid_file: Check = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [label for _, label in self.samples]

    @staticmethod
    def make_dataset(
        directory: PathLike,
        class_to_idx: Dict[str, int],
        extensions: Optional[Sequence[str]] = None,
        is_valid_file: Check = None,
        allow_empty: bool = False,
    ) -> Samples:
        """Return (path, class) of the files."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory: PathLike) -> Tuple[List[str], Dict[str, int]]:
        """Return the class names and their numbers. Raises FileNotFoundError where there is no folder."""
        return find_classes(directory)

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        path, label = self.samples[index]
        return self._finish(self.loader(path), label)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Image files, one folder a class."""

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = load_image,
        is_valid_file: Check = None,
        allow_empty: bool = False,
    ) -> None:
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples


class EuroSAT(ImageFolder):
    """EuroSAT in RGB: ``root/eurosat/2750``, a folder a class."""

    archives = ("eurosat/EuroSAT.zip",)
    url = "https://github.com/phelber/eurosat"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        self.root = os.path.expanduser(root)
        folder = os.path.join(self.root, "eurosat", "2750")
        self._need([folder], download)
        super().__init__(folder, transform, target_transform, loader)
        self.root = os.path.expanduser(root)


class Country211(ImageFolder):
    """Country211: ``root/country211/SPLIT``, a folder a country; ``split`` is train, valid or test."""

    archives = ("country211.tgz",)
    url = "https://github.com/openai/CLIP/blob/main/data/country211.md"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        self._split = choose(split, "split", ("train", "valid", "test"))
        self.root = os.path.expanduser(root)
        self._base_folder = Path(self.root) / "country211"
        self._need([self._base_folder], download)
        super().__init__(str(self._base_folder / split), transform, target_transform, loader)
        self.root = os.path.expanduser(root)


class RenderedSST2(SampledImages, SplitImages):
    """Rendered SST2: pictures of sentences, negative or positive, in ``root/rendered-sst2``."""

    folder = "rendered-sst2"
    archives = ("rendered-sst2.tgz",)
    url = "https://github.com/openai/CLIP/blob/main/data/rendered-sst2.md"

    def _read(self) -> None:
        self._number(("negative", "positive"))
        folder = self._base_folder / {"val": "valid"}.get(self._split, self._split)
        self._need((folder / name for name in self.classes), download=False)
        self._samples = make_dataset(folder, extensions=("png",))


class Imagenette(SampledImages):
    """Imagenette: ten classes of ImageNet, in ``root/imagenette2`` (full), ``imagenette2-320`` or ``-160``."""

    names: ClassVar[Dict[str, Tuple[str, ...]]] = {
        "n01440764": ("tench", "Tinca tinca"),
        "n02102040": ("English springer", "English springer spaniel"),
        "n02979186": ("cassette player",),
        "n03000684": ("chain saw", "chainsaw"),
        "n03028079": ("church", "church building"),
        "n03394916": ("French horn", "horn"),
        "n03417042": ("garbage truck", "dustcart"),
        "n03425413": ("gas pump", "gasoline pump", "petrol pump", "island dispenser"),
        "n03445777": ("golf ball",),
        "n03888257": ("parachute", "chute"),
    }
    folders: ClassVar[Dict[str, str]] = {
        "full": "imagenette2", "320px": "imagenette2-320", "160px": "imagenette2-160",
    }  # fmt: skip
    archives = tuple(f"{folder}.tgz" for folder in ("imagenette2", "imagenette2-320", "imagenette2-160"))
    url = "https://github.com/fastai/imagenette"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        size: str = "full",
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split, self._size = choose(split, "split", ("train", "val")), choose(size, "size", self.folders)
        self.loader, folder = loader, Path(self.root) / self.folders[size]
        self._need([folder], download)
        self.wnids, self.wnid_to_idx = find_classes(folder / split)
        self.classes = [self.names[wnid] for wnid in self.wnids]
        self.class_to_idx = {name: number for number, names in enumerate(self.classes) for name in names}
        self._samples = make_dataset(folder / split, self.wnid_to_idx, extensions=".jpeg")


class ImageNet(ImageFolder):
    """ImageNet 2012: ``root/train`` or ``root/val`` with a folder a WordNet id, and the names of the classes.

    The names come from ``meta.bin``, which torchvision writes, or from the devkit's archive. Where the folder of the
    split is missing, its archive is unpacked, as torchvision does it.
    """

    devkit = "ILSVRC2012_devkit_t12.tar.gz"
    shown = "Split: {split}"
    url = "https://image-net.org/challenges/LSVRC/2012/2012-downloads.php"

    def __init__(self, root: PathLike, split: str = "train", **kwargs: Any) -> None:
        self.root = os.path.expanduser(root)
        self.split = choose(split, "split", ("train", "val"))
        names, wnids = self._read_meta()
        if not os.path.isdir(self.split_folder):
            self._unpack_images(wnids)
        super().__init__(self.split_folder, **kwargs)
        self.root = os.path.expanduser(root)
        self.wnids, self.wnid_to_idx = self.classes, self.class_to_idx
        self.classes = [names[wnid] for wnid in self.wnids]  # type: ignore[misc]
        self.class_to_idx = {name: number for number, several in enumerate(self.classes) for name in several}

    @property
    def split_folder(self) -> str:
        """The folder of the split's images."""
        return str(Path(self.root) / self.split)

    def _read_meta(self) -> Tuple[Dict[str, Tuple[str, ...]], List[str]]:
        """Return the names of the classes by WordNet id, and the id of each image to validate with."""
        written = Path(self.root) / "meta.bin"
        if written.is_file():
            from ..checkpoint import load

            names, wnids = load(written)
            return names, wnids
        archive = Path(self.root) / self.devkit
        if not archive.is_file():
            raise not_found(type(self).__name__, self.root, ["meta.bin", f"or {self.devkit}"], self.url)
        from scipy.io import loadmat

        with tarfile.open(archive) as content:
            parts = {Path(member.name).name: member for member in content if member.isfile()}
            table = loadmat(content.extractfile(parts["meta.mat"]), squeeze_me=True)["synsets"]
            truth: Any = content.extractfile(parts["ILSVRC2012_validation_ground_truth.txt"])
            numbers = [int(line) for line in truth]
        leaves = [entry for entry in table if entry[4] == 0]  # no children
        by_number = {int(entry[0]): str(entry[1]) for entry in leaves}
        return {str(entry[1]): tuple(entry[2].split(", ")) for entry in leaves}, [by_number[n] for n in numbers]

    def _unpack_images(self, wnids: Sequence[str]) -> None:
        archive = Path(self.root) / f"ILSVRC2012_img_{self.split}.tar"
        if not archive.is_file():
            raise not_found(type(self).__name__, self.root, [self.split, f"or {archive.name}"], self.url)
        folder = Path(self.split_folder)
        unpack(archive, folder)
        files = sorted(folder.iterdir())
        if self.split == "train":  # an archive for each class
            for file in files:
                unpack(file, folder / file.stem)
                file.unlink()
            return
        for wnid, file in zip(wnids, files):
            (folder / wnid).mkdir(exist_ok=True)
            file.replace(folder / wnid / file.name)


class GTSRB(SampledImages):
    """German traffic signs: ``root/gtsrb``; the signs to test with have their classes in ``GT-final_test.csv``."""

    archives = tuple(
        f"gtsrb/{n}.zip" for n in ("GTSRB-Training_fixed", "GTSRB_Final_Test_Images", "GTSRB_Final_Test_GT")
    )
    url = "https://benchmark.ini.rub.de/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split, self.loader = choose(split, "split", ("train", "test")), load_image
        base = Path(self.root) / "gtsrb"
        folder = base / "GTSRB" / ("Training" if split == "train" else "Final_Test/Images")
        self._need([folder], download)
        if split == "train":
            self._samples = make_dataset(folder, extensions=(".ppm",))
            return
        with open(base / "GT-final_test.csv", encoding="utf-8") as stream:
            rows = csv.DictReader(stream, delimiter=";", skipinitialspace=True)
            self._samples = [(str(folder / row["Filename"]), int(row["ClassId"])) for row in rows]


class SUN397(ListedImages):
    """SUN397: ``root/SUN397``; the class of an image is the folder that it lies in."""

    archives = ("SUN397.tar.gz",)
    url = "https://vision.princeton.edu/projects/2010/SUN/"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        folder, self.loader = Path(self.root) / "SUN397", loader
        self._need([folder], download)
        lines = (folder / "ClassName.txt").read_text(encoding="utf-8").splitlines()
        self._number(line[3:].strip() for line in lines)  # "/a/abbey"
        self._image_files = list(folder.rglob("sun_*.jpg"))
        self._labels = [self.class_to_idx["/".join(path.relative_to(folder).parts[1:-1])] for path in self._image_files]
