"""A package is translated as a library: whatever takes it along, its translation is the same."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.translator.effects.file_summary import index_file
from torch2ms.translator.output import cache
from torch2ms.translator.project.package_view import library_table, view_text
from torch2ms.translator.project.symbol_table import SymbolTable

KEY_OF = cache.key_of  # before conftest turns it off
MakeTree = Callable[..., Path]
LAYERS = """import torch
from torch import nn


class Small(nn.Module):
    def forward(self, x):
        return torch.abs(x)
"""
BOX = {"box/__init__.py": "from .layers import Small\n", "box/layers.py": LAYERS}


def view_of(main: str) -> str:
    files = {**BOX, "main.py": main}
    symbols = SymbolTable.build([index_file(path, ast.parse(text)) for path, text in files.items()])
    table = library_table(symbols, BOX.keys())
    assert table.is_run("box/layers.py")  # the project stands for a program that imports the package
    return view_text(table)


def test_what_a_project_calls_its_things_is_not_seen() -> None:
    one = "import box\nnet = box.Small()\nprint(net(1, width=2))\n"
    other = "from box import Small\n\n\ndef run(x):\n    return Small()(x)\n"
    assert view_of(one) == view_of(other)


def test_what_tells_of_the_whole_program_is_seen() -> None:
    plain = view_of("import box\nnet = box.Small()\n")
    assert view_of("import box\nnet = box.Small()\nnet(1).backward()\n") != plain
    assert (
        view_of("import box\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nnet = DDP(box.Small())\n")
        != plain
    )


def test_the_translation_of_a_package_is_found_by_the_next_project(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "key_of", KEY_OF)
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path / "cache"))
    site = make_tree(BOX, "site")
    options = Options(packages=(str(site / "box"),))
    told: list[str] = []
    whole = "import box\nimport torch\n\nnet = box.Small()(torch.ones(2))\n"
    for number, text in enumerate(("import box\n\nnet = box.Small()\n", whole)):
        src = make_tree({"main.py": text}, f"src{number}")
        translate_project(src, tmp_path / f"out{number}", options, progress=told.append)
    assert sum("box/layers.py" in line for line in told) == 1
    first, second = (tmp_path / f"out{number}/box/layers.py" for number in range(2))
    assert first.read_text() == second.read_text()
