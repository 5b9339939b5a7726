"""The programs of ``tests/cases``: translated together and alone, they print what PyTorch prints."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import run_cases
from tests.run_cases import CASES, Printed
from tests.sampling import sampled
from torch2ms import translate_project
from torch2ms.diagnostics import Severity
from torch2ms.reports.model import Report

KINDS = sorted(path.name for path in CASES.iterdir() if path.is_dir())
PROGRAMS = [(kind, name) for kind in KINDS for name in run_cases.programs(CASES / kind)]
LONE = [(kind, name) for kind, name in PROGRAMS if "_parts" not in (CASES / kind / f"{name}.py").read_text("utf-8")]
ALONE = sampled(LONE, 3, name="/".join)
Program = tuple[str, str]


@dataclass(frozen=True)
class Translated:
    """Where the translation of a program is, and the codes of its errors."""

    path: Path
    errors: list[str]


def _translated(report: Report, out: Path, name: str) -> Translated:
    found = (d for d in report.diagnostics if d.file == f"{name}.py" and d.severity is Severity.ERROR)
    return Translated(out / f"{name}.py", sorted({d.code for d in found}))


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[Program, Translated]:
    """The programs of each folder, translated as one project."""
    root = tmp_path_factory.mktemp("together")
    reports = {kind: translate_project(CASES / kind, root / kind) for kind in KINDS}
    return {(kind, name): _translated(reports[kind], root / kind, name) for kind, name in PROGRAMS}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[Program, Translated]:
    """A sample of the programs that import no other, each translated by itself."""
    root = tmp_path_factory.mktemp("alone")
    return {
        (kind, name): _translated(translate_project(CASES / kind / f"{name}.py", out), out, name)
        for kind, name in ALONE
        for out in [root / kind / name]
    }


def _marked(program: Program) -> list[str]:
    return run_cases.settings(CASES / program[0] / f"{program[1]}.py").get("marked", "").split()


@pytest.fixture(scope="module")
def printed(
    together: dict[Program, Translated], alone: dict[Program, Translated], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[Program, Printed], dict[Path, Printed]]:
    """What each program prints in PyTorch, and each translation in MindSpore; of equal ones the first is run."""
    root = tmp_path_factory.mktemp("source") / "cases"
    shutil.copytree(CASES, root, ignore=shutil.ignore_patterns("__pycache__"))
    chosen = [(k, n) for k, n in PROGRAMS if not (run_cases.missing_packages(CASES / k / f"{n}.py") or _marked((k, n)))]
    theirs = run_cases.run("torch", [root / kind / f"{name}.py" for kind, name in chosen])
    files = [together[program].path for program in chosen]
    files += [alone[p].path for p in chosen if p in alone and not _is_same(alone[p].path, together[p].path)]
    for kind, name in chosen:
        for translated in (together[kind, name], *([alone[kind, name]] if (kind, name) in alone else [])):
            run_cases.hand_on(root / kind / f"{name}.py", translated.path.parent)
    return dict(zip(chosen, theirs.values(), strict=True)), run_cases.run("mindspore", files)


def _is_same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def _difference(
    program: Program, translated: Translated, printed: tuple[dict[Program, Printed], dict[Path, Printed]]
) -> str:
    path = CASES / program[0] / f"{program[1]}.py"
    if missing := run_cases.missing_packages(path):
        pytest.skip(f"needs {', '.join(missing)}")
    if _marked(program):
        pytest.skip("this program is marked: test_marks")
    tolerance = float(run_cases.settings(path).get("tolerance", 2e-3))
    return run_cases.difference(printed[0][program], printed[1][translated.path], tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids="/".join)
def test_prints_the_same(
    program: Program,
    together: dict[Program, Translated],
    printed: tuple[dict[Program, Printed], dict[Path, Printed]],
) -> None:
    assert _difference(program, together[program], printed) == ""


@pytest.mark.slow
@pytest.mark.parametrize("program", ALONE, ids="/".join)
def test_prints_the_same_alone(
    program: Program,
    together: dict[Program, Translated],
    alone: dict[Program, Translated],
    printed: tuple[dict[Program, Printed], dict[Path, Printed]],
) -> None:
    is_same = _is_same(alone[program].path, together[program].path)
    assert _difference(program, (together if is_same else alone)[program], printed) == ""


@pytest.mark.parametrize("program", PROGRAMS, ids="/".join)
def test_marks(program: Program, together: dict[Program, Translated]) -> None:
    assert together[program].errors == _marked(program)


@pytest.mark.parametrize("program", ALONE, ids="/".join)
def test_marks_alone(program: Program, alone: dict[Program, Translated]) -> None:
    assert alone[program].errors == _marked(program)
