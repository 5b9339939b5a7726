"""The programs of ``tests/cases``: translated together and alone, they print what PyTorch prints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import run_cases
from tests.run_cases import CASES, Printed
from torch2ms import translate_project
from torch2ms.diagnostics import Severity
from torch2ms.reports.model import Report

KINDS = sorted(path.name for path in CASES.iterdir() if path.is_dir())
PROGRAMS = [(kind, name) for kind in KINDS for name in run_cases.programs(CASES / kind)]


def translated(source: Path, out: Path) -> tuple[Path, Report]:
    return out, translate_project(source, out)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Report]]:
    """The translation of each folder, as one project."""
    root = tmp_path_factory.mktemp("together")
    return {kind: translated(CASES / kind, root / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def printed(
    together: dict[str, tuple[Path, Report]], tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[Printed, Printed]]:
    """What each program prints, in PyTorch and in MindSpore."""
    root = tmp_path_factory.mktemp("source") / "cases"
    shutil.copytree(CASES, root, ignore=shutil.ignore_patterns("__pycache__"))
    chosen = [(kind, name) for kind, name in PROGRAMS if not run_cases.missing_packages(CASES / kind / f"{name}.py")]
    theirs = run_cases.run("torch", [root / kind / f"{name}.py" for kind, name in chosen])
    ours = run_cases.run("mindspore", [together[kind][0] / f"{name}.py" for kind, name in chosen])
    return dict(zip(chosen, zip(theirs.values(), ours.values(), strict=True), strict=True))


def errors(report: Report, file: str) -> list[str]:
    return sorted({d.code for d in report.diagnostics if d.file == file and d.severity is Severity.ERROR})


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), PROGRAMS)
def test_prints_the_same(kind: str, name: str, printed: dict[tuple[str, str], tuple[Printed, Printed]]) -> None:
    path = CASES / kind / f"{name}.py"
    if missing := run_cases.missing_packages(path):
        pytest.skip(f"needs {', '.join(missing)}")
    asked = run_cases.settings(path)
    if "marked" in asked:
        pytest.skip("this program is marked: test_marks")
    assert run_cases.difference(*printed[kind, name], float(asked.get("tolerance", 2e-3))) == ""


@pytest.mark.parametrize(("kind", "name"), PROGRAMS)
def test_marks(kind: str, name: str, together: dict[str, tuple[Path, Report]]) -> None:
    asked = run_cases.settings(CASES / kind / f"{name}.py")
    assert errors(together[kind][1], f"{name}.py") == asked.get("marked", "").split()


@pytest.mark.parametrize(("kind", "name"), PROGRAMS)
def test_alone_as_together(kind: str, name: str, together: dict[str, tuple[Path, Report]], tmp_path: Path) -> None:
    path = CASES / kind / f"{name}.py"
    if "_parts" in path.read_text("utf-8"):
        pytest.skip("imports another file of its folder")
    out, report = translated(path, tmp_path / "out")
    assert errors(report, path.name) == run_cases.settings(path).get("marked", "").split()
    assert (out / path.name).read_text("utf-8") == (together[kind][0] / path.name).read_text("utf-8")
