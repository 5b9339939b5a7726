"""Images with annotations of their own kind: attributes, boxes, segmentations, trees of XML."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Tuple, Union
from xml.etree import ElementTree

import numpy as np
from mindspore import Tensor
from PIL import Image

from .base import PathLike, Transform, VisionDataset, choose

__all__ = ["CelebA", "Kitti", "OxfordIIITPet", "SBDataset", "VOCDetection", "VOCSegmentation", "WIDERFace"]


def _one_or_all(targets: Sequence[Any]) -> Any:
    """Return None for no target, the target where there is one, else a tuple."""
    return tuple(targets) if len(targets) > 1 else targets[0] if targets else None


class CelebA(VisionDataset):
    """Faces of celebrities: ``root/celeba`` with ``img_align_celeba`` and the five lists.

    ``target_type``: attr (int64 Tensor of 0 and 1), identity, bbox (x, y, width, height), landmarks, or a list of them.
    """

    base_folder = "celeba"
    archives = ("celeba/img_align_celeba.zip",)
    shown = "Target type: {target_type}\nSplit: {split}"
    url = "http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        target_type: Union[List[str], str] = "attr",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split, self.target_type = split, target_type if isinstance(target_type, list) else [target_type]
        if not self.target_type and target_transform is not None:
            raise RuntimeError("target_transform is specified but target_type is empty")
        self._folder = Path(self.root) / self.base_folder
        lists = ("list_eval_partition", "identity_CelebA", "list_bbox_celeba", "list_landmarks_align_celeba")
        names = [f"{name}.txt" for name in (*lists, "list_attr_celeba")]
        self._need((self._folder / name for name in ("img_align_celeba", *names)), download)
        wanted = choose(split.lower() if isinstance(split, str) else split, "split", ("train", "valid", "test", "all"))
        _, files, parts = self._read(names[0], 0)
        number = {"train": 0, "valid": 1, "test": 2}.get(wanted)
        chosen = np.ones(len(files), bool) if number is None else parts[:, 0] == number
        self.filename = [name for name, is_chosen in zip(files, chosen) if is_chosen]
        self.identity = Tensor(self._read(names[1], 0)[2][chosen])
        self.bbox, self.landmarks_align = (Tensor(self._read(name, 2)[2][chosen]) for name in names[2:4])
        self.attr_names, _, attributes = self._read(names[4], 2)
        self.attr = Tensor((attributes[chosen] + 1) // 2)  # the files say -1 and 1

    def _read(self, name: str, start: int) -> Tuple[List[str], List[str], np.ndarray[Any, Any]]:
        """Return the names of the columns, the files and the numbers of a list that begins at line ``start``."""
        with open(self._folder / name, encoding="utf-8") as stream:
            rows = list(csv.reader(stream, delimiter=" ", skipinitialspace=True))
        numbers = np.array([[int(number) for number in row[1:]] for row in rows[start:]], np.int64)
        return rows[start - 1] if start else [], [row[0] for row in rows[start:]], numbers

    def _target(self, kind: str, index: Any) -> Any:
        if kind == "identity":
            return self.identity[index, 0]
        found = {"attr": self.attr, "bbox": self.bbox, "landmarks": self.landmarks_align}
        if kind not in found:
            raise ValueError(f'Target type "{kind}" is not recognized.')
        return found[kind][index]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        image = Image.open(self._folder / "img_align_celeba" / self.filename[index])
        target = _one_or_all([self._target(kind, index) for kind in self.target_type])
        return self._finish(image, target)

    def __len__(self) -> int:
        return len(self.filename)


class _VOC(VisionDataset):
    """Pascal VOC: ``root/VOCdevkit/VOCyear``; a list of names for each ``image_set``."""

    lists: str
    folder: str
    suffix: str
    url = "http://host.robots.ox.ac.uk/pascal/VOC/"

    def __init__(
        self,
        root: PathLike,
        year: str = "2012",
        image_set: str = "train",
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Transform = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.year = choose(year, "year", [str(number) for number in range(2007, 2013)])
        sets = ("train", "trainval", "val", *(("test",) if year == "2007" else ()))
        self.image_set = choose(image_set, "image_set", sets)
        day = ["06-Nov", "14-Jul", "11-May", "03-May", "25-May", "11-May"][int(year) - 2007]
        self.archives = (f"VOC{'test' if image_set == 'test' else 'trainval'}_{day}-{year}.tar",)
        base = Path(self.root, *(["TrainVal"] if year == "2011" else []), "VOCdevkit", f"VOC{year}")
        listed = base / "ImageSets" / self.lists / f"{image_set}.txt"
        self._need([listed], download)
        names = [line.strip() for line in listed.read_text(encoding="utf-8").splitlines()]
        self.images = [str(base / "JPEGImages" / f"{name}.jpg") for name in names]
        self.targets = [str(base / self.folder / f"{name}{self.suffix}") for name in names]

    def _target(self, path: str) -> Any:
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        image = Image.open(self.images[index]).convert("RGB")
        return self._finish_together(image, self._target(self.targets[index]))

    def __len__(self) -> int:
        return len(self.images)


class VOCSegmentation(_VOC):
    """Pascal VOC, images and their segmentations."""

    lists, folder, suffix = "Segmentation", "SegmentationClass", ".png"

    @property
    def masks(self) -> List[str]:
        """The files of the segmentations."""
        return self.targets

    def _target(self, path: str) -> Any:
        return Image.open(path)


class VOCDetection(_VOC):
    """Pascal VOC, images and the tree of their annotations as dictionaries."""

    lists, folder, suffix = "Main", "Annotations", ".xml"

    @property
    def annotations(self) -> List[str]:
        """The files of the annotations."""
        return self.targets

    def _target(self, path: str) -> Any:
        return self.parse_voc_xml(ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node: ElementTree.Element) -> Dict[str, Any]:
        """Return an element as {name: text or the elements in it}; several of one name are a list, as objects are."""
        if not len(node):
            return {node.tag: node.text.strip()} if node.text else {}
        several: Dict[str, List[Any]] = {}
        for child in node:
            for name, content in VOCDetection.parse_voc_xml(child).items():
                several.setdefault(name, []).append(content)
        inner: Dict[str, Any] = {name: items if len(items) > 1 else items[0] for name, items in several.items()}
        if node.tag == "annotation":
            inner["object"] = several.get("object", [])
        return {node.tag: inner}


class SBDataset(VisionDataset):
    """Semantic boundaries: lists and folders ``img`` and ``cls`` below ``root``; targets are MATLAB files.

    ``mode``: boundaries, an array (20, height, width), or segmentation, an image. Read with SciPy.
    """

    shown = "Image set: {image_set}\nMode: {mode}"
    url = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/semantic_contours/benchmark.tgz"
    num_classes = 20

    def __init__(
        self,
        root: PathLike,
        image_set: str = "train",
        mode: str = "boundaries",
        download: bool = False,
        transforms: Transform = None,
    ) -> None:
        super().__init__(root, transforms)
        self.image_set = choose(image_set, "image_set", ("train", "val", "train_noval"))
        self.mode = choose(mode, "mode", ("segmentation", "boundaries"))
        listed = Path(self.root) / f"{image_set}.txt"
        self._need([listed], download)
        names = [line.strip() for line in listed.read_text(encoding="utf-8").splitlines()]
        self.images = [os.path.join(self.root, "img", f"{name}.jpg") for name in names]
        self.masks = [os.path.join(self.root, "cls", f"{name}.mat") for name in names]

    def _target(self, path: str) -> Any:
        from scipy.io import loadmat

        truth = loadmat(path)["GTcls"][0]
        if self.mode == "segmentation":
            return Image.fromarray(truth["Segmentation"][0])
        return np.stack([truth["Boundaries"][0][number][0].toarray() for number in range(self.num_classes)])

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        image = Image.open(self.images[index]).convert("RGB")
        return self._finish_together(image, self._target(self.masks[index]))

    def __len__(self) -> int:
        return len(self.images)


class WIDERFace(VisionDataset):
    """WIDER FACE: ``root/widerface``; a target is a dictionary of int64 Tensors, None to test with."""

    archives = ("WIDER_train.zip", "WIDER_val.zip", "WIDER_test.zip", "wider_face_split.zip")
    shown = "Split: {split}"
    url = "http://shuoyang1213.me/WIDERFACE/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(os.path.join(root, "widerface"), transform=transform, target_transform=target_transform)
        self.split = choose(split, "split", ("train", "val", "test"))
        name = "wider_face_test_filelist.txt" if split == "test" else f"wider_face_{split}_bbx_gt.txt"
        listed, folder = Path(self.root) / "wider_face_split" / name, Path(self.root) / f"WIDER_{split}"
        self._need([listed, folder], download)
        lines = listed.read_text(encoding="utf-8").splitlines()
        self.img_info: List[Dict[str, Any]] = []
        while lines:
            info: Dict[str, Any] = {"img_path": os.path.abspath(folder / "images" / lines.pop(0).rstrip())}
            if split != "test":  # an image without faces has one line of zeros
                count = max(1, int(lines.pop(0)))
                info["annotations"] = np.array([line.split() for line in lines[:count]], np.int64)
                del lines[:count]
            self.img_info.append(info)

    def _target(self, index: Any) -> Optional[Dict[str, Any]]:
        if self.split == "test":
            return None
        rows = self.img_info[index]["annotations"]
        parts = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")
        columns = {name: Tensor(np.ascontiguousarray(rows[:, 4 + place])) for place, name in enumerate(parts)}
        return {"bbox": Tensor(np.ascontiguousarray(rows[:, :4])), **columns}

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(Image.open(self.img_info[index]["img_path"]), self._target(index))

    def __len__(self) -> int:
        return len(self.img_info)


class Kitti(VisionDataset):
    """KITTI's objects: ``root/Kitti/raw/training`` with a text of boxes for each image, or ``testing`` without."""

    archives = ("Kitti/raw/data_object_image_2.zip", "Kitti/raw/data_object_label_2.zip")
    url = "https://www.cvlibs.net/datasets/kitti/eval_object.php"
    image_dir_name, labels_dir_name = "image_2", "label_2"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.train = train
        folder = os.path.join(self.root, type(self).__name__, "raw", "training" if train else "testing")
        images, labels = (os.path.join(folder, name) for name in (self.image_dir_name, self.labels_dir_name))
        self._need([images, labels] if train else [images], download)
        names = os.listdir(images)
        self.images = [os.path.join(images, name) for name in names]
        self.targets = [os.path.join(labels, f"{name.split('.')[0]}.txt") for name in names] if train else []

    def _target(self, index: Any) -> Optional[List[Dict[str, Any]]]:
        if not self.train:
            return None
        rows = [line.split() for line in Path(self.targets[index]).read_text(encoding="utf-8").splitlines()]
        found = []
        for kind, *rest in rows:
            numbers = [float(number) for number in rest]
            parts = {"bbox": numbers[3:7], "dimensions": numbers[7:10], "location": numbers[10:13]}
            seen = {"truncated": numbers[0], "occluded": int(numbers[1]), "alpha": numbers[2]}
            found.append({"type": kind, **seen, **parts, "rotation_y": numbers[13]})
        return found

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish_together(Image.open(self.images[index]), self._target(index))

    def __len__(self) -> int:
        return len(self.images)


class OxfordIIITPet(VisionDataset):
    """Oxford's pets: ``root/oxford-iiit-pet``; ``target_types``: category, binary-category, segmentation, or a list."""

    archives = ("oxford-iiit-pet/images.tar.gz", "oxford-iiit-pet/annotations.tar.gz")
    url = "https://www.robots.ox.ac.uk/~vgg/data/pets/"
    kinds: ClassVar[Tuple[str, ...]] = ("category", "binary-category", "segmentation")

    def __init__(
        self,
        root: PathLike,
        split: str = "trainval",
        target_types: Union[Sequence[str], str] = "category",
        transforms: Transform = None,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        self._split = choose(split, "split", ("trainval", "test"))
        wanted = [target_types] if isinstance(target_types, str) else target_types
        self._target_types = [choose(kind, "target_types", self.kinds) for kind in wanted]
        super().__init__(root, transforms, transform, target_transform)
        folder = Path(self.root) / "oxford-iiit-pet"
        self._need([folder / "images", folder / "annotations"], download)
        lines = (folder / "annotations" / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines]
        self._labels, self._bin_labels = ([int(row[place]) - 1 for row in rows] for place in (1, 2))
        names = sorted({(label, row[0].rpartition("_")[0]) for row, label in zip(rows, self._labels)})
        self.classes = [" ".join(part.title() for part in name.split("_")) for _, name in names]
        self.bin_classes = ["Cat", "Dog"]
        self.class_to_idx, self.bin_class_to_idx = (
            {name: number for number, name in enumerate(names)} for names in (self.classes, self.bin_classes)
        )
        self._images = [folder / "images" / f"{row[0]}.jpg" for row in rows]
        self._segs = [folder / "annotations" / "trimaps" / f"{row[0]}.png" for row in rows]

    def _target(self, kind: str, index: Any) -> Any:
        if kind == "segmentation":
            return Image.open(self._segs[index])
        return (self._labels if kind == "category" else self._bin_labels)[index]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        target = _one_or_all([self._target(kind, index) for kind in self._target_types])
        return self._finish_together(Image.open(self._images[index]).convert("RGB"), target)

    def __len__(self) -> int:
        return len(self._images)
