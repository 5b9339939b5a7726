"""What all datasets of images share: root, transforms, the text that ``print`` shows, and the search for files.

Nothing is downloaded. ``download=True`` unpacks archives that lie where torchvision leaves them; where files are
missing after that, DatasetNotFoundError (a RuntimeError, as torchvision's) names them. Checksums are not compared.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

from PIL import Image

from ..data import Dataset

__all__ = [
    "DatasetNotFoundError",
    "ListedImages",
    "Loader",
    "PathLike",
    "SampledImages",
    "SplitImages",
    "StandardTransform",
    "Transform",
    "VisionDataset",
    "choose",
    "load_image",
    "not_found",
    "unpack",
]

PathLike = Union[str, "os.PathLike[str]"]
Transform = Optional[Callable[..., Any]]
Loader = Callable[[Any], Any]


class DatasetNotFoundError(RuntimeError):
    """The files of a dataset are not where they were looked for."""


def not_found(name: str, root: object, wanted: Sequence[object], url: str) -> DatasetNotFoundError:
    """Return the error that says which files were wanted."""
    origin = f"; get the files from {url}" if url else ""
    return DatasetNotFoundError(
        f"Dataset not found: {name} is not below {str(root)!r}. Wanted there: {', '.join(map(str, wanted))}. "
        f"Datasets are not downloaded{origin}"
    )


def choose(value: Any, argument: str, choices: Iterable[str]) -> Any:
    """Return ``value``, which must be one of the texts ``choices``: ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"Expected type str for argument {argument}, but got type {type(value)}.")
    if value not in choices:
        valid = "', '".join(choices)
        raise ValueError(f"Unknown value '{value}' for argument {argument}. Valid values are {{'{valid}'}}.")
    return value


def load_image(path: PathLike) -> Image.Image:
    """Read an image file as RGB."""
    with open(path, "rb") as stream:
        return Image.open(stream).convert("RGB")


def unpack(archive: PathLike, folder: PathLike) -> None:
    """Unpack a tar or zip file; of a tar file, members that lead out of ``folder`` are refused where Python can."""
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as content:
            options: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            content.extractall(folder, **options)
    else:
        shutil.unpack_archive(os.fspath(archive), os.fspath(folder))


class StandardTransform:
    """One function for images and one for targets, as a function of both."""

    def __init__(self, transform: Transform = None, target_transform: Transform = None) -> None:
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input: Any, target: Any) -> Tuple[Any, Any]:
        """Return image and target, each through its function."""
        if self.transform is not None:
            input = self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for head, part in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if part is not None:
                first, *rest = repr(part).splitlines()
                lines += [head + first, *(" " * len(head) + line for line in rest)]
        return "\n".join(lines)


class VisionDataset(Dataset[Any]):
    """Base of datasets of images: ``transforms`` of image and target together, or one transform for each.

    ``archives``: files below ``root`` that ``download=True`` unpacks where content is missing. ``shown``: what
    ``print`` tells besides length, root and transforms, with the attributes of the dataset in braces.
    """

    archives: Sequence[str] = ()
    shown: str = ""
    url: Any = ""
    root: Any

    def __init__(
        self,
        root: Optional[PathLike] = None,
        transforms: Transform = None,
        transform: Transform = None,
        target_transform: Transform = None,
    ) -> None:
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform, self.target_transform = transform, target_transform
        self.transforms: Any = StandardTransform(transform, target_transform) if separate else transforms

    def _need(self, paths: Iterable[PathLike], download: bool) -> None:
        """Raise DatasetNotFoundError where one of the paths, which are below the root, does not exist."""
        paths = list(paths)
        if download and not all(map(os.path.exists, paths)):
            for archive in (Path(self.root) / name for name in self.archives):
                if archive.is_file():
                    unpack(archive, archive.parent)
        missing = [os.path.relpath(path, self.root) for path in paths if not os.path.exists(path)]
        if missing:
            raise not_found(type(self).__name__, self.root, missing, self.url)

    def _finish(self, image: Any, target: Any) -> Tuple[Any, Any]:
        """Return image and target, each through its own transform."""
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def _finish_together(self, image: Any, target: Any) -> Tuple[Any, Any]:
        """Return image and target through the transform of both."""
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")

    def __repr__(self) -> str:
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            body.append(repr(self.transforms))
        return "\n".join([f"Dataset {type(self).__name__}", *("    " + line for line in body)])

    def extra_repr(self) -> str:
        """Return further lines of the text that ``print`` shows."""
        return self.shown.format(**self.__dict__)


class ListedImages(VisionDataset):
    """Image files (``_image_files``) with a label each (``_labels``)."""

    loader: Loader
    classes: List[Any]
    _image_files: List[Any]
    _labels: List[Any]

    def _number(self, classes: Iterable[str]) -> None:
        self.classes = list(classes)
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(self.loader(self._image_files[index]), self._labels[index])

    def __len__(self) -> int:
        return len(self._image_files)


class SampledImages(ListedImages):
    """Image files with a label each, as pairs (``_samples``)."""

    _samples: List[Tuple[str, int]]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        path, label = self._samples[index]
        return self._finish(self.loader(path), label)

    def __len__(self) -> int:
        return len(self._samples)


class SplitImages(ListedImages):
    """Image files of one ``split``, in ``root/folder``; ``needs``: what must exist there, with {split} in it."""

    folder: str
    splits: Tuple[str, ...] = ("train", "val", "test")
    needs: Tuple[str, ...] = ("",)
    shown = "split={_split}"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split, self.loader = choose(split, "split", self.splits), loader
        self._base_folder = Path(self.root) / self.folder
        self._need((self._base_folder / name.format(split=split) for name in self.needs), download)
        self._read()

    def _read(self) -> None:
        """Set the image files and their labels."""
        raise NotImplementedError
