"""Datasets against torchvision's own code, item by item, on tiny files in the formats that it documents."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime import image_set_cases
from tests.runtime.image_set_cases import CASES
from tests.runtime.image_set_files import FILES
from torch2ms.mapping_tables.proving.files import write_files
from torch2ms.runtime import datasets
from torch2ms.runtime.image_sets.captions import CocoAnnotations

SIDE = Path(__file__).with_name("torchvision_datasets_side.py")
Answers = list[dict[str, Any]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Answers, Answers]:
    """Return what torchvision's datasets and the runtime's read of the same files."""
    source = Path(os.environ.get("TORCH2MS_CORPUS", SIDE.parents[2] / ".venv" / "corpus")) / "torchvision"
    if not source.is_dir():
        pytest.skip("the source of torchvision is not here; `make corpus` unpacks it")
    folder, results = tmp_path_factory.mktemp("sets"), tmp_path_factory.mktemp("theirs") / "answers"
    for name, files in FILES.items():
        write_files(str(folder / name), files)
    command = [sys.executable, str(SIDE), str(source), str(folder), str(results)]
    subprocess.run(command, check=True, timeout=300)
    return pickle.loads(results.read_bytes()), pickle.loads(image_set_cases.described_cases(datasets, str(folder)))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case for _, case in CASES])
def test_dataset(answers: tuple[Answers, Answers], number: int) -> None:
    theirs, ours = (side[number] for side in answers)
    assert "error" not in theirs, theirs["error"]
    assert ours == theirs


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, case in CASES if name in ("ImageNet", "PhotoTour")])
def test_files_that_torchvision_did_not_prepare(answers: Any, tmp_path: Path, name: str, case: str) -> None:
    write_files(str(tmp_path / name), FILES[name])
    here = {"D": datasets, "R": f"{tmp_path}/{name}", "T": image_set_cases.Cut()}
    found = image_set_cases.described(eval(case, here))
    assert found["items"] == answers[0][CASES.index((name, case))]["items"]


MISSING = sorted({case.partition("(")[0][2:] for _, case in CASES} - {"FakeData", "CocoDetection", "CocoCaptions"})


@pytest.mark.parametrize(
    "name", [name for name in MISSING if name not in ("DatasetFolder", "ImageFolder", "Flickr8k", "Flickr30k")]
)
def test_missing_files_are_named(tmp_path: Path, name: str) -> None:
    given = {"PhotoTour": ["liberty"], "EMNIST": ["letters"]}.get(name, [])
    with pytest.raises(RuntimeError, match="not found"):
        getattr(datasets, name)(str(tmp_path), *given)
    if name.startswith("LFW") or name in ("StanfordCars", "Cityscapes", "FER2013", "ImageNet"):
        return
    with pytest.raises(datasets.DatasetNotFoundError, match="not downloaded"):
        getattr(datasets, name)(str(tmp_path), *given, download=True)


@pytest.mark.parametrize(
    "case",
    [
        "DTD(R, 'validation')",
        "CelebA(R, split='validation')",
        "VOCDetection(R, '2006')",
        "VOCDetection(R, image_set='test')",
        "STL10(R, 'validation')",
        "STL10(R, folds=10)",
        "Cityscapes(R, mode='rough')",
        "Food101(R, 5)",
        "StanfordCars(R, download=True)",
        "LFWPeople(R, download=True)",
        "VisionDataset(R, transforms=str, transform=str)",
        "MovingMNIST(R, split_ratio=20)",
    ],
)
def test_arguments_that_no_dataset_takes(tmp_path: Path, case: str) -> None:
    write_files(str(tmp_path), FILES["CelebA"])
    with pytest.raises(ValueError):  # noqa: PT011
        eval(f"D.{case}", {"D": datasets, "R": str(tmp_path)})


def test_download_unpacks_an_archive_that_is_there(tmp_path: Path) -> None:
    files = {name.partition("/")[2]: content for name, content in FILES["EuroSAT"].items()}
    write_files(str(tmp_path / "unpacked"), files)
    (tmp_path / "eurosat").mkdir()
    with zipfile.ZipFile(tmp_path / "eurosat" / "EuroSAT.zip", "w") as archive:
        for name in files:
            archive.write(tmp_path / "unpacked" / name, name)
    with pytest.raises(datasets.DatasetNotFoundError, match=r"eurosat.2750"):
        datasets.EuroSAT(tmp_path)
    assert datasets.EuroSAT(tmp_path, download=True).classes == ["Forest", "River"]


def test_coco_annotations_by_image_category_and_area(tmp_path: Path) -> None:
    write_files(str(tmp_path), FILES["Coco"])
    coco = CocoAnnotations(tmp_path / "ann.json")
    assert coco.getAnnIds() == [1, 2, 3]
    assert coco.getAnnIds(9) == [1, 3]
    assert coco.getAnnIds(imgIds=[9, 4], catIds=[1], iscrowd=False) == [2]
    assert coco.getAnnIds(areaRng=[3, 9]) == [1]
    assert coco.getCatIds(catNms=["car"]) == [3]
    assert coco.getCatIds(supNms="pet") == [1]
    assert sorted(coco.getImgIds()) == [4, 5, 9]
    assert coco.getImgIds(catIds=[1, 3]) == [9]
    assert [entry["name"] for entry in coco.loadCats([3, 1])] == ["car", "cat"]
    assert coco.loadImgs(9)[0]["file_name"] == "b.png"


def test_a_dataset_of_a_program(tmp_path: Path) -> None:
    class Rows(datasets.VisionDataset):
        def __init__(self, root: Path) -> None:
            super().__init__(root, transform=image_set_cases.Cut())

        def __getitem__(self, index: int) -> Any:
            return self.transforms(np.arange(6), index)

        def __len__(self) -> int:
            return 2

        def extra_repr(self) -> str:
            return "Kind: rows"

    assert Rows(tmp_path)[1][0].tolist() == [0, 1]
    told = "Dataset Rows\n    Number of datapoints: 2\n    Root location: {}\n    Kind: rows\n    StandardTransform"
    assert repr(Rows(tmp_path)).startswith(told.format(tmp_path))
