"""The promises on the sources of real packages (``make corpus`` unpacks them; TORCH2MS_CORPUS names another folder)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.properties.promises import lost_comments, torch_imports
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.reports.model import FileReport, Report
from torch2ms.translator.pipeline import translate_project

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@pytest.fixture(scope="module", params=["torchvision", "timm", "pytorch+examples"])
def package(request: pytest.FixtureRequest, corpus: Callable[[str], Path]) -> Path:
    """The folder of one package."""
    return corpus(request.param)


@pytest.fixture(scope="module")
def report(package: Path) -> Report:
    """The report of the package."""
    return translate_project(package, None)


def outputs(report: Report) -> list[FileReport]:
    """Return the Python files that have both texts."""
    return [f for f in report.files if f.path.endswith(".py") and f.source is not None and f.output is not None]


def test_there_is_something_to_see(report: Report) -> None:
    assert sum(file.changed for file in outputs(report)) > 50


def test_nothing_breaks(report: Report) -> None:
    faults: list[Diagnostic] = [d for d in report.diagnostics if d.code in ("T2M900", "T2M105")]
    assert not faults


def test_every_output_parses(report: Report) -> None:
    for file in outputs(report):
        ast.parse(file.output or "", file.path)


def test_every_comment_is_kept(report: Report) -> None:
    lost = {file.path: dict(lost_comments(file.source or "", file.output or "")) for file in outputs(report)}
    assert not {path: found for path, found in lost.items() if found}


def test_every_output_compiles(report: Report) -> None:
    for file in outputs(report):
        compile(file.output or "", file.path, "exec", dont_inherit=True)


def test_no_import_of_torch_stays_without_an_error(report: Report, package: Path) -> None:
    said = {d.file for d in report.diagnostics if d.severity is Severity.ERROR}
    quiet = [f for f in outputs(report) if f.changed and f.path not in said]
    assert not [f.path for f in quiet if torch_imports(f.output or "", package.name)]


def test_files_without_torch_come_back_as_they_are(report: Report) -> None:
    """Neither torch, nor a module of the project that uses it, nor what only tensors can do: byte for byte.

    timm/utils/metrics.py imports nothing, and calls ``topk`` of what it is given: copied, it would fail on MindSpore.
    """
    touched = re.compile(r"torch|^\s*(from|import) |\.(topk|expand_as)\(", re.MULTILINE)
    plain = [f for f in outputs(report) if not touched.search(f.source or "")]
    assert not [f.path for f in plain if f.source != f.output]


def test_no_file_takes_long(report: Report) -> None:
    """The limit of a file is 20 s; what takes longer is T2M105."""
    assert not [d.file for d in report.diagnostics if d.code == "T2M105"]


def test_a_second_translation_changes_nothing(report: Report, package: Path, tmp_path: Path) -> None:
    root = tmp_path / package.name  # a package may import itself by its own name
    for file in outputs(report):
        target = root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((file.output or "").encode())
    again = {file.path: file for file in translate_project(root, None).files}
    changed = [f.path for f in outputs(report) if again[f.path].changed]
    assert not changed
