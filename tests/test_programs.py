"""Training programs in the shapes of real ones: translated and run unedited, they print what PyTorch prints.

The programs of ``tests/programs`` begin from the same weights and data everywhere (``fixed.py``), so that their numbers
can be compared. Those in ``LEFT`` have a step that stays: it must be marked, and nothing else may be.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torch2ms import translate_project
from torch2ms.diagnostics import Severity
from torch2ms.reports.model import Report

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem not in ("fixed", "kept_tools", "penalty_tools"))
# Programs whose training step stays as it is, and the code it is marked with
LEFT: dict[str, str] = {}
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
TOLERANCE = 2e-3


def run(folder: Path, out: Path) -> dict[str, Any]:
    """Run the programs of a folder in a process of their own."""
    place = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": ""}
    names = [name for name in NAMES if name not in LEFT]
    command = [sys.executable, str(Path(__file__).parent / "run_programs.py"), str(folder), str(out), *names]
    subprocess.run(command, check=True, env=place, timeout=1500, capture_output=True)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """The folder of the translated programs, and the report."""
    out = tmp_path_factory.mktemp("programs") / "out"
    return out, translate_project(PROGRAMS, out)


@pytest.fixture(scope="module")
def runs(translation: tuple[Path, Report], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the programs print, in PyTorch and in MindSpore."""
    folder = tmp_path_factory.mktemp("runs")
    source = folder / "source"
    source.mkdir()
    for path in PROGRAMS.glob("*.py"):
        (source / path.name).write_bytes(path.read_bytes())
    return {"torch": run(source, folder / "torch.json"), "mindspore": run(translation[0], folder / "mindspore.json")}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in LEFT])
def test_program(name: str, runs: dict[str, dict[str, Any]]) -> None:
    theirs, ours = runs["torch"][name], runs["mindspore"][name]
    assert theirs["error"] == ""
    assert ours["error"] == ""
    assert _NUMBER.sub("#", ours["output"]) == _NUMBER.sub("#", theirs["output"])
    expected = [float(number) for number in _NUMBER.findall(theirs["output"])]
    actual = [float(number) for number in _NUMBER.findall(ours["output"])]
    assert actual == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_marks(name: str, translation: tuple[Path, Report]) -> None:
    report = translation[1]
    errors = {d.code for d in report.diagnostics if d.file == f"{name}.py" and d.severity is Severity.ERROR}
    if name in LEFT:
        assert LEFT[name] in errors
    else:
        assert errors == set()
