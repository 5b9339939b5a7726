from __future__ import annotations

import json

import pytest

from torch2ms.config import NEWEST
from torch2ms.mapping_tables.catalogue import (
    FOLDER,
    mindspore_catalogue,
    mindspore_releases,
    nearest_releases,
    torch_catalogue,
)
from torch2ms.mapping_tables.signatures import parse_signature

FILES = sorted(path for path in FOLDER.glob("*.json") if path.name != "usage.json")  # counts, no records


def test_the_executed_releases_are_there() -> None:
    assert mindspore_releases() == ((2, 0), (2, 7), (2, 8), (2, 9), (2, 10))
    assert mindspore_releases()[-1] == NEWEST


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_record_is_well_formed(path: object) -> None:
    from pathlib import Path

    assert isinstance(path, Path)
    data = json.loads(path.read_text(encoding="utf-8"))
    kinds = {"module", "class", "function", "method", "attribute", "constant"}
    for name, record in data["names"].items():
        assert record["k"] in kinds, name
        assert set(record) <= set("kscpbdotn"), name
        assert set(record.get("p", "")) <= set("agc"), name
        for text in (record.get("s"), record.get("c"), *record.get("o", ())):
            assert text is None or parse_signature(text) is not None, name
    for alias, name in data["aliases"].items():
        assert alias not in data["names"], alias
        if data["title"].startswith("torch "):
            assert name in data["names"], alias
    assert path.stat().st_size < 800_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_catalogues_name_no_place_of_this_machine(path: object) -> None:
    from pathlib import Path

    assert isinstance(path, Path)
    text = path.read_text(encoding="utf-8")
    assert "/root" not in text
    assert "/home" not in text
    assert " at 0x" not in text


@pytest.mark.parametrize(
    ("version", "expected"),
    [((2, 10), ((2, 10),)), ((2, 4), ((2, 0), (2, 7))), ((2, 0), ((2, 0),))],
)
def test_nearest_releases(version: tuple[int, int], expected: tuple[tuple[int, int], ...]) -> None:
    assert nearest_releases(version) == expected


@pytest.mark.parametrize(
    ("name", "release", "platforms"),
    [
        ("mindspore.nn.Conv2d", (2, 10), {"ascend", "gpu", "cpu"}),
        ("mindspore.nn.InstanceNorm2d", (2, 10), {"gpu"}),
        ("mindspore.Tensor.repeat", (2, 10), {"ascend"}),
        ("mindspore.Tensor.absolute", (2, 10), {"ascend", "gpu", "cpu"}),  # an alias of an alias
        ("mindspore.nn.Cell.set_train", (2, 10), None),
    ],
)
def test_platforms(name: str, release: tuple[int, int], platforms: set[str] | None) -> None:
    assert mindspore_catalogue(release).platforms(name) == platforms


def test_what_came_and_went() -> None:
    assert mindspore_catalogue((2, 0)).record("mindspore.mint.abs") is None
    assert mindspore_catalogue((2, 7)).record("mindspore.mint.abs") is not None
    assert mindspore_catalogue((2, 0)).record("mindspore.nn.Cell.register_buffer") is None
    deprecated = mindspore_catalogue((2, 10)).record("mindspore.Tensor.expand_dims")
    assert deprecated is not None
    assert deprecated["d"]


def test_a_parameter_answers_to_tensor_methods() -> None:
    assert mindspore_catalogue((2, 10)).kind("mindspore.Parameter.view") == "method"
    assert torch_catalogue().kind("torch.nn.Parameter.view") == "method"


def test_every_dtype_of_torch_is_a_constant() -> None:
    for name in ("float32", "float16", "bfloat16", "int64", "bool", "uint8"):
        assert torch_catalogue().kind(f"torch.{name}") == "constant"
