"""Cityscapes: photographs of streets with instances, classes, colours and polygons."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar, Dict, List, NamedTuple, Tuple, Union

from PIL import Image

from .base import PathLike, Transform, VisionDataset, choose

__all__ = ["Cityscapes", "CityscapesClass"]


class CityscapesClass(NamedTuple):
    """A class of Cityscapes; ``train_id`` is 255 or -1 for those that are not learned."""

    name: str
    id: int
    train_id: int
    category: str
    category_id: int
    has_instances: bool
    ignore_in_eval: bool
    color: Tuple[int, int, int]


# name, train_id, colour; those of a category with it, in the order of their numbers
_CLASSES: Dict[str, str] = {
    "void": "unlabeled 255 0 0 0, ego vehicle 255 0 0 0, rectification border 255 0 0 0, out of roi 255 0 0 0, "
    "static 255 0 0 0, dynamic 255 111 74 0, ground 255 81 0 81",
    "flat": "road 0 128 64 128, sidewalk 1 244 35 232, parking 255 250 170 160, rail track 255 230 150 140",
    "construction": "building 2 70 70 70, wall 3 102 102 156, fence 4 190 153 153, guard rail 255 180 165 180, "
    "bridge 255 150 100 100, tunnel 255 150 120 90",
    "object": "pole 5 153 153 153, polegroup 255 153 153 153, traffic light 6 250 170 30, traffic sign 7 220 220 0",
    "nature": "vegetation 8 107 142 35, terrain 9 152 251 152",
    "sky": "sky 10 70 130 180",
    "human": "person 11 220 20 60, rider 12 255 0 0",
    "vehicle": "car 13 0 0 142, truck 14 0 0 70, bus 15 0 60 100, caravan 255 0 0 90, trailer 255 0 0 110, "
    "train 16 0 80 100, motorcycle 17 0 0 230, bicycle 18 119 11 32, license plate -1 0 0 142",
}


def _classes() -> List[CityscapesClass]:
    found: List[CityscapesClass] = []
    for number, (category, rows) in enumerate(_CLASSES.items()):
        for row in rows.split(", "):
            name, train_id, *colour = row.rsplit(" ", 4)
            place, learned = (-1 if train_id == "-1" else len(found)), int(train_id)
            counted = category in ("human", "vehicle") and place >= 0
            red, green, blue = map(int, colour)
            ignored = learned not in range(19)
            found.append(CityscapesClass(name, place, learned, category, number, counted, ignored, (red, green, blue)))
    return found


class Cityscapes(VisionDataset):
    """Streets of cities: ``root/leftImg8bit`` with ``gtFine`` or ``gtCoarse``.

    ``target_type``: instance, semantic, color (images), polygon (a dictionary), or a list of them.
    """

    CityscapesClass = CityscapesClass
    classes: ClassVar[List[Any]] = _classes()
    suffixes: ClassVar[Dict[str, str]] = {
        "instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png", "polygon": "polygons.json",
    }  # fmt: skip
    shown = "Split: {split}\nMode: {mode}\nType: {target_type}"
    url = "https://www.cityscapes-dataset.com/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        mode: str = "fine",
        target_type: Union[List[str], str] = "instance",
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Transform = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.mode = {"fine": "gtFine", "coarse": "gtCoarse"}[choose(mode, "mode", ("fine", "coarse"))]
        self.split = choose(
            split, "split", ("train", "test", "val") if mode == "fine" else ("train", "train_extra", "val")
        )
        self.target_type = target_type if isinstance(target_type, list) else [target_type]
        for kind in self.target_type:
            choose(kind, "target_type", self.suffixes)
        self.images_dir, self.targets_dir = (os.path.join(self.root, n, split) for n in ("leftImg8bit", self.mode))
        self.archives = (
            f"leftImg8bit_{'trainextra' if split == 'train_extra' else 'trainvaltest'}.zip",
            "gtCoarse.zip" if mode == "coarse" else "gtFine_trainvaltest.zip",
        )
        self._need([self.images_dir, self.targets_dir], download=True)
        self.images, self.targets = [], []  # type: List[str], List[List[str]]
        for city in os.listdir(self.images_dir):
            for name in os.listdir(os.path.join(self.images_dir, city)):
                start = os.path.join(self.targets_dir, city, f"{name.split('_leftImg8bit')[0]}_{self.mode}_")
                self.images.append(os.path.join(self.images_dir, city, name))
                self.targets.append([start + self.suffixes[kind] for kind in self.target_type])

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        image = Image.open(self.images[index]).convert("RGB")
        targets = tuple(
            json.loads(Path(path).read_text(encoding="utf-8")) if path.endswith(".json") else Image.open(path)
            for path in self.targets[index]
        )
        return self._finish_together(image, targets if len(targets) > 1 else targets[0])

    def __len__(self) -> int:
        return len(self.images)
