"""Datasets whose classes are made of folders in a way of their own: alphabets, outlines, a tree of life."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Dict, List, Optional, Tuple, Union

from PIL import Image

from .base import DatasetNotFoundError, Loader, PathLike, Transform, VisionDataset, choose

__all__ = ["Caltech101", "Caltech256", "INaturalist", "Omniglot"]


class Omniglot(VisionDataset):
    """Omniglot: drawings of characters, a folder each, in ``root/omniglot-py``; the background set or the other."""

    archives = ("images_background.zip", "images_evaluation.zip")
    url = "https://github.com/brendenlake/omniglot"

    def __init__(
        self,
        root: PathLike,
        background: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Optional[Loader] = None,
    ) -> None:
        super().__init__(os.path.join(root, "omniglot-py"), transform=transform, target_transform=target_transform)
        self.background, self.loader = background, loader
        self.target_folder = os.path.join(self.root, "images_background" if background else "images_evaluation")
        self._need([self.target_folder], download)
        self._alphabets = _folders(self.target_folder)
        self._characters = [
            os.path.join(alphabet, character)
            for alphabet in self._alphabets
            for character in _folders(os.path.join(self.target_folder, alphabet))
        ]
        self._flat_character_images = [
            (name, number)
            for number, character in enumerate(self._characters)
            for name in os.listdir(os.path.join(self.target_folder, character))
            if name.endswith(".png")
        ]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        name, number = self._flat_character_images[index]
        path = os.path.join(self.target_folder, self._characters[number], name)
        return self._finish(Image.open(path).convert("L") if self.loader is None else self.loader(path), number)

    def __len__(self) -> int:
        return len(self._flat_character_images)


def _folders(directory: str) -> List[str]:
    return [name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))]


class Caltech101(VisionDataset):
    """Caltech 101: ``root/caltech101``; ``target_type``: category, annotation (the outline), or both."""

    shown = "Target type: {target_type}"
    url = "https://data.caltech.edu/records/20086"
    outlines: ClassVar[Dict[str, str]] = {
        "Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2",
    }  # fmt: skip

    def __init__(
        self,
        root: PathLike,
        target_type: Union[List[str], str] = "category",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(os.path.join(root, "caltech101"), transform=transform, target_transform=target_transform)
        kinds = [target_type] if isinstance(target_type, str) else target_type
        self.target_type = [choose(kind, "target_type", ("category", "annotation")) for kind in kinds]
        folder = os.path.join(self.root, "101_ObjectCategories")
        self._need([folder], download)
        self.categories = sorted(name for name in os.listdir(folder) if name != "BACKGROUND_Google")
        self.annotation_categories = [self.outlines.get(name, name) for name in self.categories]
        counts = [len(os.listdir(os.path.join(folder, name))) for name in self.categories]
        self.index = [number for count in counts for number in range(1, count + 1)]
        self.y = [category for category, count in enumerate(counts) for _ in range(count)]

    def _target(self, kind: str, index: Any) -> Any:
        category, number = self.y[index], self.index[index]
        if kind == "category":
            return category
        from scipy.io import loadmat

        folder = os.path.join(self.root, "Annotations", self.annotation_categories[category])
        return loadmat(os.path.join(folder, f"annotation_{number:04d}.mat"))["obj_contour"]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        folder = os.path.join(self.root, "101_ObjectCategories", self.categories[self.y[index]])
        image = Image.open(os.path.join(folder, f"image_{self.index[index]:04d}.jpg"))
        targets = tuple(self._target(kind, index) for kind in self.target_type)
        return self._finish(image, targets if len(targets) > 1 else targets[0])

    def __len__(self) -> int:
        return len(self.index)


class Caltech256(VisionDataset):
    """Caltech 256: ``root/caltech256/256_ObjectCategories``, a folder a class."""

    archives = ("256_ObjectCategories.tar",)
    url = "https://data.caltech.edu/records/20087"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(os.path.join(root, "caltech256"), transform=transform, target_transform=target_transform)
        self._folder = os.path.join(self.root, "256_ObjectCategories")
        self._need([self._folder], download)
        self.categories = sorted(os.listdir(self._folder))
        counts = [
            sum(item.endswith(".jpg") for item in os.listdir(os.path.join(self._folder, name)))
            for name in self.categories
        ]
        self.index = [number for count in counts for number in range(1, count + 1)]
        self.y = [category for category, count in enumerate(counts) for _ in range(count)]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        category = self.y[index]
        name = f"{category + 1:03d}_{self.index[index]:04d}.jpg"
        return self._finish(Image.open(os.path.join(self._folder, self.categories[category], name)), category)

    def __len__(self) -> int:
        return len(self.index)


class INaturalist(VisionDataset):
    """iNaturalist: ``root/VERSION``, a folder a species; ``target_type``: full, super, or kingdom to genus."""

    versions = ("2017", "2018", "2019", "2021_train", "2021_train_mini", "2021_valid")
    ranks = ("kingdom", "phylum", "class", "order", "family", "genus")
    url = "https://github.com/visipedia/inat_comp"

    def __init__(
        self,
        root: PathLike,
        version: str = "2021_train",
        target_type: Union[List[str], str] = "full",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Optional[Loader] = None,
    ) -> None:
        self.version, self.loader = choose(version, "version", self.versions), loader
        super().__init__(os.path.join(root, version), transform=transform, target_transform=target_transform)
        self._need([self.root], download)
        self.all_categories: List[str] = []
        self.categories_index: Dict[str, Dict[str, int]] = {}
        self.categories_map: List[Dict[str, int]] = []
        kinds = target_type if isinstance(target_type, list) else [target_type]
        ranks = self.ranks if version.startswith("2021") else ("super",)
        self.target_type = [choose(kind, "target_type", ("full", *ranks)) for kind in kinds]
        self.categories_index = {rank: {} for rank in ranks}
        (self._read_ranks if version.startswith("2021") else self._read_groups)()
        self.index = [
            (number, file)
            for number, name in enumerate(self.all_categories)
            for file in os.listdir(os.path.join(self.root, name))
        ]

    def _read_ranks(self) -> None:
        """Read folders such as ``00000_Animalia_Annelida_Clitellata_Haplotaxida_Lumbricidae_Lumbricus_terrestris``."""
        self.all_categories = sorted(os.listdir(self.root))
        for number, folder in enumerate(self.all_categories):
            pieces = folder.split("_")
            if len(pieces) != 8 or pieces[0] != f"{number:05d}":
                raise DatasetNotFoundError(f"Unexpected category name {folder}: wanted {number:05d} and seven names")
            found = {}
            for rank, name in zip(self.ranks, pieces[1:]):
                known = self.categories_index[rank]
                found[rank] = known.setdefault(name, len(known))
            self.categories_map.append(found)

    def _read_groups(self) -> None:
        """Read folders such as ``Plantae/5436``; in 2017 the species have names, and numbers in their order."""
        groups = sorted(os.listdir(self.root))
        pairs = [(group, name) for group in groups for name in sorted(os.listdir(os.path.join(self.root, group)))]
        self.categories_index["super"] = {group: number for number, group in enumerate(groups)}
        try:
            numbers = [number if self.version == "2017" else int(pair[1]) for number, pair in enumerate(pairs)]
        except ValueError as error:
            raise DatasetNotFoundError(f"Unexpected non-numeric dir name: {error}") from error
        if sorted(numbers) != list(range(len(pairs))):
            raise DatasetNotFoundError("A category is missing, or there twice")
        for _, (group, name) in sorted(zip(numbers, pairs)):
            self.all_categories.append(os.path.join(group, name))
            self.categories_map.append({"super": self.categories_index["super"][group]})

    def category_name(self, category_type: str, category_id: int) -> str:
        """Return the name of a category of one type."""
        if category_type == "full":
            return self.all_categories[category_id]
        if category_type not in self.categories_index:
            raise ValueError(f"Invalid category type '{category_type}'")
        for name, number in self.categories_index[category_type].items():
            if number == category_id:
                return name
        raise ValueError(f"Invalid category id {category_id} for {category_type}")

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        number, file = self.index[index]
        path = os.path.join(self.root, self.all_categories[number], file)
        image = Image.open(path) if self.loader is None else self.loader(path)
        targets = tuple(number if kind == "full" else self.categories_map[number][kind] for kind in self.target_type)
        return self._finish(image, targets if len(targets) > 1 else targets[0])

    def __len__(self) -> int:
        return len(self.index)
