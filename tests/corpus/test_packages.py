"""The promises on the sources of real packages (``make corpus`` unpacks them; TORCH2MS_CORPUS names another folder)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.properties.promises import lost_comments
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.reports.model import FileReport, Report
from torch2ms.translator.pipeline import translate_project

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@pytest.fixture(scope="module", params=["torchvision", "timm"])
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
    assert sum(file.changed for file in outputs(report)) > 100


def test_nothing_breaks(report: Report) -> None:
    faults: list[Diagnostic] = [d for d in report.diagnostics if d.code in ("T2M900", "T2M105")]
    assert not faults


def test_every_output_parses(report: Report) -> None:
    for file in outputs(report):
        ast.parse(file.output or "", file.path)


def test_every_comment_is_kept(report: Report) -> None:
    lost = {file.path: dict(lost_comments(file.source or "", file.output or "")) for file in outputs(report)}
    assert not {path: found for path, found in lost.items() if found}


def test_a_second_translation_changes_only_what_was_left(report: Report, package: Path, tmp_path: Path) -> None:
    """What holds no error comes back as it is; what does may gain marks, because less of it is known."""
    left = {d.file for d in report.diagnostics if d.severity == Severity.ERROR}
    root = tmp_path / package.name  # a package may import itself by its own name
    for file in outputs(report):
        target = root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((file.output or "").encode())
    again = {file.path: file for file in translate_project(root, None).files}
    changed = [f.path for f in outputs(report) if f.path not in left and again[f.path].changed]
    assert not changed
