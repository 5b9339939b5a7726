"""What torchvision's own datasets, from its unpacked source, read of ``image_set_files``; run in a process of its own.

python torchvision_datasets_side.py SOURCE FOLDER ANSWERS

The package's ``__init__`` loads compiled operators that no build without CUDA has; datasets do not need it. Checksums
are not compared, as the tiny files have others.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.runtime.image_set_cases import described_cases


class Annotations:
    """What torchvision asks of pycocotools' COCO."""

    def __init__(self, path: str) -> None:
        self.content = json.loads(Path(path).read_text("utf-8"))
        self.imgs = {entry["id"]: entry for entry in self.content["images"]}

    def loadImgs(self, number: int) -> list[Any]:
        return [self.imgs[number]]

    def getAnnIds(self, number: int) -> list[Any]:
        return [entry["id"] for entry in self.content["annotations"] if entry["image_id"] == number]

    def loadAnns(self, numbers: list[Any]) -> list[Any]:
        return [entry for entry in self.content["annotations"] if entry["id"] in numbers]


def load(source: str) -> Any:
    for name in ("torchvision", "torchvision.datasets"):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(source, *name.split(".")[1:])]
        sys.modules[name] = module
    sys.modules["torchvision"].get_image_backend = lambda: "PIL"  # type: ignore[attr-defined]
    utils = importlib.import_module("torchvision.datasets.utils")
    utils.check_integrity = lambda path, md5=None: os.path.isfile(path)  # type: ignore[attr-defined]
    if importlib.util.find_spec("pycocotools") is None:  # only what CocoDetection asks of it
        sys.modules["pycocotools"] = types.ModuleType("pycocotools")
        sys.modules["pycocotools.coco"] = types.ModuleType("pycocotools.coco")
        sys.modules["pycocotools.coco"].COCO = Annotations  # type: ignore[attr-defined]
    module = sys.modules["torchvision.datasets"]
    exec(compile((Path(source) / "datasets" / "__init__.py").read_text("utf-8"), "datasets", "exec"), module.__dict__)
    return module


if __name__ == "__main__":
    Path(sys.argv[3]).write_bytes(described_cases(load(sys.argv[1]), sys.argv[2]))
