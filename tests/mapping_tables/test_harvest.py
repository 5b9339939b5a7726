"""The harvest's pure parts: what it makes of signatures and docstrings."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def harvest(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    for name in ("harvest_catalogues", "harvest_signatures", "harvest_namespaces", "harvest_torchvision"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("harvest_catalogues")


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("input, other, *, alpha=1", "(input, other, *, alpha=1)"),
        ("input: Tensor, dim: Optional[int], *, out: Optional[Tensor]", "(input, dim=None, *, out=None)"),
        ("*size, *, out=None", "(*size, out=None)"),
        ("from=0, to=None", "(from_=0, to=None)"),
        ("start=0, end, step=1", None),
        (r"\*args", "(*args)"),
        ("a, b=<object object>", "(a, b=...)"),
    ],
)
def test_signatures_of_docstrings(harvest: ModuleType, text: str, signature: str | None) -> None:
    assert harvest.clean_signature(text) == signature


def test_overloads_of_a_docstring(harvest: ModuleType) -> None:
    doc = "max() -> Tensor\n\nText max(not, this).\n\n.. method:: Tensor.max(dim, keepdim=False) -> tuple\n    :x:\n"
    assert harvest.documented(doc, "max") == ["", "dim, keepdim=False"]


@pytest.mark.parametrize(
    ("doc", "letters"),
    [
        ("Supported Platforms:\n    ``Ascend`` ``GPU`` ``CPU``\n", "agc"),
        ("Supported Platforms:\n    ``GPU``\n\nExamples:\n    CPU", "g"),
        ("Supported Platforms:\n    Deprecated\n", None),
        ("no list", None),
    ],
)
def test_platforms(harvest: ModuleType, doc: str, letters: str | None) -> None:
    assert harvest.platforms(doc) == letters


@pytest.mark.parametrize(
    ("doc", "deprecated"),
    [
        ("This interface is deprecated and will be removed.", True),
        ("The Roll class will be deprecated in the future", True),
        ("`Tensor.fills` is deprecated, please use", True),
        ("`shape` is deprecated, please use", False),
        ("Args:\n    keep_prob (float): Deprecated. This argument is deprecated.", False),
        ("Non-backward-compatible change after version 2.9.0: this interface will be deprecated", False),
    ],
)
def test_deprecation(harvest: ModuleType, doc: str, deprecated: bool) -> None:
    assert bool(harvest.mindspore_facts(doc, "fills").get("d")) is deprecated


def test_defaults_are_source_text(harvest: ModuleType) -> None:
    text = importlib.import_module("harvest_signatures").default_text
    assert [text(value) for value in (None, 1.5, "a", (1,), [True], float("inf"), {})] == [
        "None", "1.5", "'a'", "(1,)", "[True]", "float('inf')", "{}",
    ]  # fmt: skip
    assert text(object()) == "..."
    ast.parse(text(float("nan")))


def test_source_of_torchvision_is_read_without_importing_it(harvest: ModuleType, tmp_path: Path) -> None:
    package = tmp_path / "torchvision"
    (package / "transforms").mkdir(parents=True)
    (tmp_path / "torchvision-1.2.dist-info").mkdir()
    (package / "__init__.py").write_text("from torchvision import transforms\n")
    (package / "transforms" / "__init__.py").write_text("from .transforms import *\n")
    (package / "transforms" / "transforms.py").write_text(
        "class Base(nn.Module):\n    def __init__(self, size: int = 3): ...\n    def forward(self, img): ...\n"
        "class Child(Base):\n    @staticmethod\n    def get_params(a, b=1): ...\n"
        "def _hidden(): ...\nraise SystemExit\n"
    )
    version, names, aliases = importlib.import_module("harvest_torchvision").harvest_source(tmp_path)
    assert version == "1.2"
    assert names["torchvision.transforms.Child"] == {
        "k": "class", "b": ["torchvision.transforms.Base", "torch.nn.Module"], "s": "(size=3)", "c": "(img)",
    }  # fmt: skip
    assert names["torchvision.transforms.Child.get_params"] == {"k": "method", "s": "(a, b=1)"}
    assert aliases["torchvision.transforms.transforms.Child"] == "torchvision.transforms.Child"
    assert not any("_hidden" in name for name in names)
