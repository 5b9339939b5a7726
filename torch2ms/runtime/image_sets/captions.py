"""Images with captions, and COCO's annotations of objects."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from PIL import Image

from .base import Loader, PathLike, Transform, VisionDataset, load_image

__all__ = ["SBU", "CocoAnnotations", "CocoCaptions", "CocoDetection", "Flickr8k", "Flickr30k"]

Numbers = Union[int, Sequence[int]]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


class CocoAnnotations:
    """COCO's annotations by number, with the names of pycocotools' ``COCO`` (without its masks and its evaluation)."""

    def __init__(self, annotation_file: PathLike) -> None:
        self.dataset: Dict[str, Any] = json.loads(Path(annotation_file).read_text(encoding="utf-8"))
        self.anns = {entry["id"]: entry for entry in self.dataset.get("annotations", ())}
        self.imgs = {entry["id"]: entry for entry in self.dataset.get("images", ())}
        self.cats = {entry["id"]: entry for entry in self.dataset.get("categories", ())}
        self.imgToAnns: Dict[int, List[Any]] = defaultdict(list)
        self.catToImgs: Dict[int, List[int]] = defaultdict(list)
        for entry in self.dataset.get("annotations", ()):
            self.imgToAnns[entry["image_id"]].append(entry)
            if "category_id" in entry:
                self.catToImgs[entry["category_id"]].append(entry["image_id"])

    def getAnnIds(
        self, imgIds: Numbers = (), catIds: Numbers = (), areaRng: Sequence[float] = (), iscrowd: Optional[bool] = None
    ) -> List[int]:
        """Return the numbers of the annotations of some images, categories and areas; empty: of all."""
        images, categories = _listed(imgIds), _listed(catIds)
        entries = self.dataset.get("annotations", [])
        if images:
            entries = [entry for image in images for entry in self.imgToAnns.get(image, [])]
        if categories:
            entries = [entry for entry in entries if entry["category_id"] in categories]
        if areaRng:
            entries = [entry for entry in entries if areaRng[0] < entry["area"] < areaRng[1]]
        return [entry["id"] for entry in entries if iscrowd is None or entry["iscrowd"] == iscrowd]

    def getCatIds(
        self, catNms: Union[str, Sequence[str]] = (), supNms: Union[str, Sequence[str]] = (), catIds: Numbers = ()
    ) -> List[int]:
        """Return the numbers of the categories of some names, groups and numbers; empty: of all."""
        wanted = {"name": _listed(catNms), "supercategory": _listed(supNms), "id": _listed(catIds)}
        return [
            entry["id"]
            for entry in self.dataset["categories"]
            if all(not values or entry[key] in values for key, values in wanted.items())
        ]

    def getImgIds(self, imgIds: Numbers = (), catIds: Numbers = ()) -> List[int]:
        """Return the numbers of the images that show all of some categories."""
        found = set(_listed(imgIds)) or set(self.imgs)
        for category in _listed(catIds):
            found &= set(self.catToImgs[category])
        return list(found)

    def loadAnns(self, ids: Numbers = ()) -> List[Any]:
        """Return annotations by their numbers."""
        return [self.anns[number] for number in _listed(ids)]

    def loadCats(self, ids: Numbers = ()) -> List[Any]:
        """Return categories by their numbers."""
        return [self.cats[number] for number in _listed(ids)]

    def loadImgs(self, ids: Numbers = ()) -> List[Any]:
        """Return the entries of images by their numbers."""
        return [self.imgs[number] for number in _listed(ids)]


class CocoDetection(VisionDataset):
    """Images and COCO's annotations of them, a list of dictionaries.

    ``coco`` is pycocotools' where it is installed, which its evaluation needs; else CocoAnnotations.
    """

    def __init__(
        self,
        root: PathLike,
        annFile: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Transform = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.coco: Any
        try:
            from pycocotools.coco import COCO

            self.coco = COCO(annFile)
        except ImportError:
            self.coco = CocoAnnotations(annFile)
        self.ids = sorted(self.coco.imgs)

    def _load_image(self, id: int) -> Image.Image:
        name = self.coco.loadImgs(id)[0]["file_name"]
        return Image.open(os.path.join(self.root, name)).convert("RGB")

    def _load_target(self, id: int) -> List[Any]:
        found: List[Any] = self.coco.loadAnns(self.coco.getAnnIds(id))
        return found

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        number = self.ids[index]
        return self._finish_together(self._load_image(number), self._load_target(number))

    def __len__(self) -> int:
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """Images and COCO's captions of them, a list of texts."""

    def _load_target(self, id: int) -> List[Any]:
        return [entry["caption"] for entry in super()._load_target(id)]


class _Captioned(VisionDataset):
    """Images with a list of captions each; ``ann_file`` holds the captions."""

    def __init__(
        self,
        root: PathLike,
        ann_file: str,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.ann_file, self.loader = os.path.expanduser(ann_file), loader
        self.annotations = self._read(Path(self.ann_file).read_text(encoding="utf-8"))
        self.ids = sorted(self.annotations)

    def _read(self, text: str) -> Dict[str, List[str]]:
        raise NotImplementedError

    def _path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        name = self.ids[index]
        return self._finish(self.loader(self._path(name)), self.annotations[name])

    def __len__(self) -> int:
        return len(self.ids)


class Flickr8k(_Captioned):
    """Flickr 8k: captions in a page of HTML."""

    def _read(self, text: str) -> Dict[str, List[str]]:
        reader = _CaptionPage(Path(self.root))
        reader.feed(text)
        return reader.captions

    def _path(self, name: str) -> str:
        return name


class _CaptionPage(HTMLParser):
    """A table that links to each photograph, ``.../photos/OWNER/NUMBER/``, and lists its captions."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.captions = folder, {}  # type: Path, Dict[str, List[str]]
        self._tag, self._is_inside, self._current = "", False, None  # type: str, bool, Optional[str]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._tag, self._is_inside = tag, self._is_inside or tag == "table"

    def handle_endtag(self, tag: str) -> None:
        self._tag, self._is_inside = "", self._is_inside and tag != "table"

    def handle_data(self, data: str) -> None:
        if not self._is_inside:
            return
        if data == "Image Not Found":
            self._current = None
        elif self._tag == "a":
            self._current = str(next(self.folder.glob(f"{data.split('/')[-2]}_*.jpg")))
            self.captions[self._current] = []
        elif self._tag == "li" and self._current:
            self.captions[self._current].append(data.strip())


class Flickr30k(_Captioned):
    """Flickr 30k: lines of ``IMAGE.jpg#NUMBER``, a tab and a caption."""

    def _read(self, text: str) -> Dict[str, List[str]]:
        found: Dict[str, List[str]] = defaultdict(list)
        for name, caption in (line.strip().split("\t") for line in text.splitlines()):
            found[name[:-2]].append(caption)
        return found


class SBU(VisionDataset):
    """SBU: ``root/dataset`` with photographs, the list of where they came from, and that of their captions."""

    archives = ("SBUCaptionedPhotoDataset.tar.gz",)
    url = "https://www.cs.rice.edu/~vo9/sbucaptions/"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = True,
        loader: Loader = load_image,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader, self._folder = loader, Path(self.root) / "dataset"
        files = [self._folder / f"SBU_captioned_photo_dataset_{kind}.txt" for kind in ("urls", "captions")]
        self._need(files, download)
        addresses, captions = (path.read_text(encoding="utf-8").splitlines() for path in files)
        pairs = [(os.path.basename(address.rstrip()), text.rstrip()) for address, text in zip(addresses, captions)]
        pairs = [(name, text) for name, text in pairs if (self._folder / name).exists()]
        self.photos, self.captions = [name for name, _ in pairs], [text for _, text in pairs]

    def __getitem__(self, index: Any) -> Tuple[Any, Any]:
        return self._finish(self.loader(self._folder / self.photos[index]), self.captions[index])

    def __len__(self) -> int:
        return len(self.photos)
