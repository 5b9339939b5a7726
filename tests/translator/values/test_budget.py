"""The budget of a file counts what is found out for it, so that machine, order and number of processes do not show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.config import Options
from torch2ms.translator.values import budget

FILES = {
    "a.py": "import torch\n\ny = torch.ones(2).size(0)\n",
    "b.py": "import torch\n\n\ndef f0(x):\n    return x\n"
    + "".join(f"\n\ndef f{n}(x):\n    return f{n - 1}(x).size(0)\n" for n in range(1, 60)),
}


def test_a_file_that_takes_too_much_work_costs_one_file(
    make_tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PER_FILE", 100)
    report = translate_project(make_tree(FILES), None, Options(cache=False))
    assert {file.path: file.status for file in report.files} == {"a.py": "translated", "b.py": "failed"}
    (found,) = [found for found in report.diagnostics if found.code == "T2M105"]
    assert found.message == (
        "more had to be found out for it than for a file of any real program; the file was copied as it is"
    )


def test_no_file_takes_the_work_of_another(make_tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "PER_FILE", 100)
    files = {f"{name}.py": FILES["a.py"] for name in "abcdefghijklmnopqrstuvwxyz"}
    report = translate_project(make_tree(files), None, Options(cache=False))
    assert {file.status for file in report.files} == {"translated"}
