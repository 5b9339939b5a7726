"""Notebooks: code cells are translated, everything else stays; places are those of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.project.notebooks import NotebookText, read_notebook

MakeTree = Callable[..., Path]
NET = """\
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x):
        # a comment é
        return x"""
MAGIC = """\
%matplotlib inline
!pip install x
import torch
files = !ls
if files:
    %time y = 1
x = torch.ones(2)
x?"""


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": ["PyTorch's\n"]}]
    return {
        "cell_type": "code",
        "execution_count": 3,
        "metadata": {"id": "k"},
        "outputs": outputs,
        "source": source,
        **more,
    }


def notebook(*cells: dict[str, Any], language: str = "python", indent: int | None = 1) -> str:
    metadata = {"kernelspec": {"display_name": "K", "language": language, "name": "k"}}
    content = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=indent, ensure_ascii=False) + "\n"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


MARKDOWN = {"cell_type": "markdown", "metadata": {}, "source": ["# About torch\n", "import torch"]}


@pytest.fixture
def translate(make_tree: MakeTree, tmp_path: Path) -> Callable[[str], tuple[list[dict[str, Any]], Any]]:
    def run(text: str) -> tuple[list[dict[str, Any]], Any]:
        report = translate_project(make_tree({"a.ipynb": text}), tmp_path / "out")
        return json.loads((tmp_path / "out" / "a.ipynb").read_text(encoding="utf-8"))["cells"], report

    return run


def test_code_cells_are_translated_and_their_outputs_cleared(translate: Callable[..., Any]) -> None:
    cells, report = translate(notebook(MARKDOWN, code(lines(NET)), code("y = Net()(nn.Linear(1, 2))")))
    assert cells[0] == MARKDOWN
    expected = NET.replace("import torch.nn as nn", "from mindspore import nn")
    expected = expected.replace("nn.Module", "nn.Cell").replace("forward", "construct")
    assert cells[1]["source"] == lines(expected)
    assert cells[2]["source"] == "y = Net()(nn.Dense(1, 2))"
    assert [(c["outputs"], c["execution_count"], c["metadata"]) for c in cells[1:]] == [([], None, {"id": "k"})] * 2
    assert [(f.path, f.status) for f in report.files if f.path == "a.ipynb"] == [("a.ipynb", "translated")]


def test_names_and_loops_go_across_cells(translate: Callable[..., Any]) -> None:
    loop = (
        "for i in range(3):\n    opt.zero_grad()\n    loss = net(torch.ones(2, 1)).sum()\n"
        "    loss.backward()\n    opt.step()"
    )
    cells, report = translate(
        notebook(
            code("import torch\nfrom torch import nn"),
            code("net = nn.Linear(1, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)"),
            code(loop),
        )
    )
    assert "value_and_grad" in "".join(cells[2]["source"])
    assert not [d for d in report.diagnostics if d.severity]


def test_magics_and_other_languages_stay(translate: Callable[..., Any]) -> None:
    cells, report = translate(
        notebook(code(lines(MAGIC)), code("%%bash\npython -c 'import torch'"), code("%%time\nz = torch.zeros(2)"))
    )
    assert "".join(cells[0]["source"]) == MAGIC.replace("import torch", "from mindspore import ops").replace(
        "torch", "ops"
    )
    assert cells[1]["source"] == "%%bash\npython -c 'import torch'"
    assert cells[2]["source"] == "%%time\nz = ops.zeros(2)"
    assert [(d.code, "cell 2" in d.message) for d in report.diagnostics] == [("T2M802", True)]


def test_a_cell_that_does_not_parse_is_left_alone(translate: Callable[..., Any]) -> None:
    cells, report = translate(notebook(code("import torch\nx = torch.ones(1)"), code(["y = 1\n", "print 'torch'"])))
    assert cells[1]["source"] == ["y = 1\n", "print 'torch'"]
    assert cells[0]["source"] == "from mindspore import ops\nx = ops.ones(1)"
    [found] = [d for d in report.diagnostics if d.code == "T2M101"]
    assert "cell 2" in found.message


@pytest.mark.parametrize("indent", [1, None])
def test_places_are_those_of_the_file(translate: Callable[..., Any], indent: int | None) -> None:
    text = notebook(MARKDOWN, code(lines("import torch\n\nx = torch.no_such_name(1)\n")), indent=indent)
    _, report = translate(text)
    [found] = [d for d in report.diagnostics if d.code == "T2M202"]
    line = next(number for number, line in enumerate(text.splitlines(), start=1) if "no_such_name" in line)
    assert (found.line, found.message.endswith("(cell 2)")) == (line, True)
    assert [use.places[0].line for use in report.apis if use.name == "torch.no_such_name"] == [line]


@pytest.mark.parametrize(
    "text",
    [
        notebook(code("x = 1"), indent=4),
        notebook(code("x = torch"), language="julia"),
        '{"torch": ',
        '{"worksheets": ["torch"]}',
        "[]",
    ],
)
def test_what_need_not_or_cannot_change_stays_byte_for_byte(make_tree: MakeTree, tmp_path: Path, text: str) -> None:
    translate_project(make_tree({"a.ipynb": text}), tmp_path / "out")
    assert (tmp_path / "out" / "a.ipynb").read_text(encoding="utf-8") == text


def test_a_second_translation_changes_nothing(make_tree: MakeTree, tmp_path: Path) -> None:
    translate_project(make_tree({"a.ipynb": notebook(code(lines(NET)), code("%%time\nx = 1"))}), tmp_path / "out")
    translate_project(tmp_path / "out", tmp_path / "again")
    assert (tmp_path / "out/a.ipynb").read_bytes() == (tmp_path / "again/a.ipynb").read_bytes()


def test_a_lost_border_is_seen() -> None:
    source = read_notebook(notebook(code("x = 1"), code("y = 2\n")).encode(), "a.ipynb")
    assert isinstance(source, NotebookText)
    assert source.text is not None
    assert source.split(source.text) == {1: "x = 1", 2: "y = 2\n"}
    assert source.split(source.text.replace('"torch2ms: cell 2"\n', "")) is None
