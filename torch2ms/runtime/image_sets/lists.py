"""Datasets whose splits are lists: text, JSON, CSV or MATLAB files that name images and their labels."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Tuple

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
)

__all__ = [
    "DTD",
    "CLEVRClassification",
    "FGVCAircraft",
    "Flowers102",
    "Food101",
    "LFWPairs",
    "LFWPeople",
    "Places365",
    "StanfordCars",
]


def _lines(path: PathLike) -> List[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


class DTD(ListedImages):
    """Describable textures: ``root/dtd/dtd``; ``labels/SPLITn.txt`` names the images of a partition, 1 to 10."""

    shown = "split={_split}, partition={_partition}"
    archives = ("dtd/dtd-r1.0.1.tar.gz",)
    url = "https://www.robots.ox.ac.uk/~vgg/data/dtd/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        partition: int = 1,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split, self._partition = choose(split, "split", ("train", "val", "test")), partition
        self.loader, folder = loader, Path(self.root) / "dtd" / "dtd"
        self._need([folder], download)
        pairs = [line.strip().split("/") for line in _lines(folder / "labels" / f"{split}{partition}.txt")]
        self._number(sorted({name for name, _ in pairs}))
        self._image_files = [folder / "images" / name / file for name, file in pairs]
        self._labels = [self.class_to_idx[name] for name, _ in pairs]


class Food101(SplitImages):
    """Food-101: ``root/food-101``; ``meta/SPLIT.json`` names the images of each dish."""

    folder = "food-101"
    splits = ("train", "test")
    needs = ("meta", "images")
    archives = ("food-101.tar.gz",)
    url = "https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/"

    def _read(self) -> None:
        dishes = json.loads((self._base_folder / "meta" / f"{self._split}.json").read_text(encoding="utf-8"))
        self._number(sorted(dishes))
        pairs = [(dish, name) for dish, names in dishes.items() for name in names]
        self._labels = [self.class_to_idx[dish] for dish, _ in pairs]
        self._image_files = [self._base_folder / "images" / f"{name}.jpg" for _, name in pairs]


class CLEVRClassification(SplitImages):
    """CLEVR: ``root/clevr/CLEVR_v1.0``; the label is the number of objects in the picture, None to test with."""

    folder = "clevr"
    needs = ("CLEVR_v1.0",)
    archives = ("clevr/CLEVR_v1.0.zip",)
    url = "https://cs.stanford.edu/people/jcjohns/clevr/"

    def _read(self) -> None:
        folder = self._base_folder / "CLEVR_v1.0"
        self._image_files = sorted((folder / "images" / self._split).glob("*"))
        self._labels: List[Optional[int]] = [None] * len(self._image_files)
        if self._split != "test":
            scenes = json.loads((folder / "scenes" / f"CLEVR_{self._split}_scenes.json").read_text(encoding="utf-8"))
            counts = {scene["image_filename"]: len(scene["objects"]) for scene in scenes["scenes"]}
            self._labels = [counts[file.name] for file in self._image_files]


class FGVCAircraft(ListedImages):
    """FGVC Aircraft: ``root/fgvc-aircraft-2013b``; classes are variants, families or manufacturers."""

    archives = ("fgvc-aircraft-2013b.tar.gz",)
    url = "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/"
    levels: ClassVar[Dict[str, str]] = {
        "variant": "variants.txt", "family": "families.txt", "manufacturer": "manufacturers.txt",
    }  # fmt: skip

    def __init__(
        self,
        root: PathLike,
        split: str = "trainval",
        annotation_level: str = "variant",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split = choose(split, "split", ("train", "val", "trainval", "test"))
        self._annotation_level = choose(annotation_level, "annotation_level", self.levels)
        self.loader, data = loader, os.path.join(self.root, "fgvc-aircraft-2013b", "data")
        self._need([data], download)
        self._number(line.strip() for line in _lines(os.path.join(data, self.levels[annotation_level])))
        rows = _lines(os.path.join(data, f"images_{annotation_level}_{split}.txt"))
        pairs = [line.strip().split(" ", 1) for line in rows]
        self._image_files = [os.path.join(data, "images", f"{name}.jpg") for name, _ in pairs]
        self._labels = [self.class_to_idx[label] for _, label in pairs]


class Flowers102(SplitImages):
    """Oxford's flowers: ``root/flowers-102``; splits and labels are MATLAB files, read with SciPy."""

    folder = "flowers-102"
    needs = ("jpg", "imagelabels.mat", "setid.mat")
    archives = ("flowers-102/102flowers.tgz",)
    url = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
    classes: List[Any] = (
        "pink primrose,hard-leaved pocket orchid,canterbury bells,sweet pea,english marigold,tiger lily,moon orchid,"
        "bird of paradise,monkshood,globe thistle,snapdragon,colt's foot,king protea,spear thistle,yellow iris,"
        "globe-flower,purple coneflower,peruvian lily,balloon flower,giant white arum lily,fire lily,pincushion flower,"
        "fritillary,red ginger,grape hyacinth,corn poppy,prince of wales feathers,stemless gentian,artichoke,"
        "sweet william,carnation,garden phlox,love in the mist,mexican aster,alpine sea holly,ruby-lipped cattleya,"
        "cape flower,great masterwort,siam tulip,lenten rose,barbeton daisy,daffodil,sword lily,poinsettia,"
        "bolero deep blue,wallflower,marigold,buttercup,oxeye daisy,common dandelion,petunia,wild pansy,primula,"
        "sunflower,pelargonium,bishop of llandaff,gaura,geranium,orange dahlia,pink-yellow dahlia?,cautleya spicata,"
        "japanese anemone,black-eyed susan,silverbush,californian poppy,osteospermum,spring crocus,bearded iris,"
        "windflower,tree poppy,gazania,azalea,water lily,rose,thorn apple,morning glory,passion flower,lotus,toad lily,"
        "anthurium,frangipani,clematis,hibiscus,columbine,desert-rose,tree mallow,magnolia,cyclamen,watercress,"
        "canna lily,hippeastrum,bee balm,ball moss,foxglove,bougainvillea,camellia,mallow,mexican petunia,bromelia,"
        "blanket flower,trumpet creeper,blackberry lily"
    ).split(",")

    def _read(self) -> None:
        from scipy.io import loadmat

        part = {"train": "trnid", "val": "valid", "test": "tstid"}[self._split]
        numbers = loadmat(str(self._base_folder / "setid.mat"), squeeze_me=True)[part].tolist()
        labels = loadmat(str(self._base_folder / "imagelabels.mat"), squeeze_me=True)["labels"]
        self._labels = [int(labels[number - 1]) - 1 for number in numbers]
        self._image_files = [self._base_folder / "jpg" / f"image_{number:05d}.jpg" for number in numbers]


class StanfordCars(SampledImages, SplitImages):
    """Stanford's cars: ``root/stanford_cars``; labels and names of classes are MATLAB files, read with SciPy."""

    folder = "stanford_cars"
    splits = ("train", "test")
    needs = ("devkit", "cars_{split}")
    shown = ""
    url = "https://github.com/pytorch/vision/issues/7545"

    def _need(self, paths: Any, download: bool) -> None:
        if download:
            raise ValueError("The original URL is broken so the StanfordCars dataset cannot be downloaded anymore.")
        super()._need(paths, download)

    def _read(self) -> None:
        from scipy.io import loadmat

        base = self._base_folder
        labels = {"train": base / "devkit" / "cars_train_annos.mat", "test": base / "cars_test_annos_withlabels.mat"}
        self._need([labels[self._split]], download=False)
        rows = loadmat(str(labels[self._split]), squeeze_me=True)["annotations"]
        folder = base / f"cars_{self._split}"
        self._samples = [(str(folder / row["fname"]), row["class"] - 1) for row in rows]
        self._number(loadmat(str(base / "devkit" / "cars_meta.mat"), squeeze_me=True)["class_names"].tolist())


class Places365(VisionDataset):
    """Places365: lists of files below ``root``, images in ``data_large_standard``, ``val_256`` and the like."""

    splits = ("train-standard", "train-challenge", "val", "test")
    archives = ("filelist_places365-standard.tar", "filelist_places365-challenge.tar", "val_large.tar", "val_256.tar")
    shown = "Split: {split}\nSmall: {small}"
    url = "http://places2.csail.mit.edu/download.html"

    def __init__(
        self,
        root: PathLike,
        split: str = "train-standard",
        small: bool = False,
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split, self.small, self.loader = choose(split, "split", self.splits), small, loader
        names = os.path.join(self.root, "categories_places365.txt")
        files = os.path.join(self.root, f"places365_{split.replace('-', '_')}.txt")
        self._need([names, files, *([self.images_dir] if download else [])], download)
        self.class_to_idx = {name: int(number) for name, number in (line.split() for line in _lines(names))}
        self.classes = sorted(self.class_to_idx)
        rows = [line.split() for line in _lines(files)]
        self.targets = [int(row[1]) if len(row) > 1 else None for row in rows]
        paths = [os.path.join(self.images_dir, row[0].lstrip("/").replace("/", os.sep)) for row in rows]
        self.imgs = list(zip(paths, self.targets))

    @property
    def variant(self) -> str:
        """Which of the two lists of training images the split is of."""
        return "challenge" if "challenge" in self.split else "standard"

    @property
    def images_dir(self) -> str:
        """The folder of the split's images."""
        size = "256" if self.small else "large"
        name = f"data_{size}_{self.variant}" if self.split.startswith("train") else f"{self.split}_{size}"
        return os.path.join(self.root, name)

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        path, label = self.imgs[index]
        return self._finish_together(self.loader(path), label)

    def __len__(self) -> int:
        return len(self.imgs)


class _LFW(VisionDataset):
    """Labelled faces in the wild: ``root/lfw-py`` with lists of people and pairs."""

    folders: ClassVar[Dict[str, str]] = {
        "original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled",
    }  # fmt: skip
    parts: ClassVar[Dict[str, str]] = {"10fold": "", "train": "DevTrain", "test": "DevTest"}
    view: str
    shown = "Alignment: {image_set}\nSplit: {split}"
    url = "https://www.kaggle.com/datasets/jessicali9530/lfw-dataset"

    def __init__(
        self,
        root: PathLike,
        split: str = "10fold",
        image_set: str = "funneled",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(os.path.join(root, "lfw-py"), transform=transform, target_transform=target_transform)
        self.image_set = choose(image_set.lower(), "image_set", self.folders)
        self.split, self._loader = choose(split.lower(), "split", self.parts), loader
        if download:
            raise ValueError(f"LFW is no longer available for automatic download: get it from {self.url}")
        self.images_dir = os.path.join(self.root, self.folders[self.image_set])
        self.labels_file = f"{self.view}{self.parts[self.split]}.txt"
        path = os.path.join(self.root, self.labels_file)
        self._need([self.images_dir, path], download)
        self.data: List[Any] = []
        self.targets: List[int] = []
        self._read([line.split("\t") for line in _lines(path)])

    def _read(self, rows: List[List[str]]) -> None:
        raise NotImplementedError

    def _get_path(self, identity: str, number: Any) -> str:
        return os.path.join(self.images_dir, identity, f"{identity}_{int(number):04d}.jpg")

    def __len__(self) -> int:
        return len(self.data)


class LFWPeople(_LFW):
    """Faces with the person's number."""

    view = "people"
    shown = _LFW.shown + "\nClasses (identities): {_count}"

    def _read(self, rows: List[List[str]]) -> None:
        names = os.path.join(self.root, "lfw-names.txt")
        self._need([names], download=False)
        self.class_to_idx = {line.split()[0]: number for number, line in enumerate(_lines(names))}
        self._count = len(self.class_to_idx)
        folds = int(rows.pop(0)[0]) if self.split == "10fold" else 1
        for _ in range(folds):
            people = [rows.pop(0) for _ in range(int(rows.pop(0)[0]))]
            for identity, count in people:
                for number in range(1, int(count) + 1):
                    self.data.append(self._get_path(identity, number))
                    self.targets.append(self.class_to_idx[identity])

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(self._loader(self.data[index]), self.targets[index])


class LFWPairs(_LFW):
    """Pairs of faces; 1: of the same person, 0: of two."""

    view = "pairs"

    def _read(self, rows: List[List[str]]) -> None:
        self.pair_names: List[Tuple[str, str]] = []
        folds, count = (int(part) for part in (rows[0] if self.split == "10fold" else ["1", rows[0][0]]))
        for row in rows[1 : 1 + folds * 2 * count]:  # of one person: name, number, number; else name, number, twice
            name, number, other = row[0], row[1], row[-1]
            second = name if len(row) == 3 else row[2]
            self.pair_names.append((name, second))
            self.data.append((self._get_path(name, number), self._get_path(second, other)))
            self.targets.append(int(len(row) == 3))

    def __getitem__(self, index: Any) -> Tuple[Any, Any, Any]:
        first, second = (self._loader(path) for path in self.data[index])
        if self.transform is not None:
            first, second = self.transform(first), self.transform(second)
        target = self.targets[index]
        return first, second, target if self.target_transform is None else self.target_transform(target)
