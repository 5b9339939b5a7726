"""Text of the project's own reaches comments, generated code and reports only as text."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options
from torch2ms.errors import UsageError

MakeTree = Callable[..., Path]
HEAD = "import torch\n\nx = torch.zeros(3)\n"


@pytest.mark.parametrize(
    "line",
    [
        r'y = getattr(torch, "a\0b")',
        r'y = getattr(torch, "\u202e\x1b[31m")(x)',
        r'setattr(torch, "\ud800", 1)',
        r'exec("import torch\ud800")',
        r'y = torch.zeros(3, device="\ud800\u202e")',
        'y = getattr(torch, "{}")'.format("x" * 5_000),
        r'def f(y: "torch.\ud800"): return y',
        r'def f(y: "torch.a\0"): return y',
    ],
)
def test_odd_strings_are_no_fault_and_marks_stay_one_printable_line(
    make_tree: MakeTree, tmp_path: Path, line: str
) -> None:
    report = translate_project(make_tree({"a.py": f"{HEAD}{line}\n"}), tmp_path / "out")
    assert not [found for found in report.diagnostics if found.code == "T2M900"]
    text = (tmp_path / "out" / "a.py").read_text()
    ast.parse(text)
    assert all(written.isprintable() for written in text.split("\n"))  # the source spells out what is not
    assert all(len(mark) < 2_000 for mark in text.split("\n") if mark.startswith("# TORCH2MS"))


def test_a_carriage_return_ends_a_line_as_for_python() -> None:
    result = translate_source("import torch\r\nx = torch.zeros(3)  # one\ry = x.size(0)  # two\r\n")
    assert result.text == "from mindspore import ops\r\nx = ops.zeros(3)  # one\ny = x.shape[0]  # two\r\n".replace(
        "# one\n", "# one\r\n"
    )


def test_a_carriage_return_in_a_cell_loses_nothing(make_tree: MakeTree, tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    sources = ["import torch\rx = torch.zeros(3)  # one\r\ny = 1  # two\x0cthree\n", "# four\r\nz = 1\r\n"]
    notebook = {"cells": [{**cell, "source": [source]} for source in sources], "metadata": {}, "nbformat": 4}
    translate_project(make_tree({"a.ipynb": json.dumps(notebook)}), tmp_path / "out")
    first, second = json.loads((tmp_path / "out" / "a.ipynb").read_text())["cells"]
    assert first["source"] == ["from mindspore import ops\n", "x = ops.zeros(3)  # one\n", "y = 1  # two\x0cthree\n"]
    assert second["source"] == [sources[1]]


@pytest.mark.parametrize("entry", ["a:b\nimport os", 'a:b", print(1), "', "a", ":b", "a:", "a:b()", "a b:c"])
def test_an_entry_is_two_dotted_names(entry: str) -> None:
    with pytest.raises(UsageError, match="not an entry"):
        Options(entry=entry)


def test_keyword_arguments_are_written_as_literals(make_tree: MakeTree, tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


net = Net(name="\\ud800\\u202e\\x1b\\"\\n'")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
optimizer.zero_grad()
loss = net(torch.ones(2, 3)).sum()
loss.backward()
optimizer.step()
"""
    translate_project(make_tree({"net.py": program}), tmp_path / "out")
    text = (tmp_path / "out" / "convert_weights.py").read_text()
    assert text.isascii()
    assert repr({"name": "\ud800\u202e\x1b\"\n'"}) == repr(ast.literal_eval(text.rpartition('Net", ')[2][:-3]))
