"""Golden files: the files of a small project, what becomes of them, and every diagnostic, in one text.

A case is ``cases/<name>.txt``. Its ``==== input PATH ====`` sections are written by hand; everything behind them is
written by the test when it differs, and the test fails, so that a person reads the difference (``git diff``).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torch2ms.reports.model import Report
from torch2ms.translator.pipeline import translate_project

__all__ = ["CASES", "Case", "read_case", "render", "report_of", "translate_files"]

CASES = Path(__file__).parent / "cases"
_HEAD = re.compile(r"^==== (input|output|diagnostics)(?: (\S+))? ====$", re.MULTILINE)
UNCHANGED = "(unchanged)\n"


@dataclass(frozen=True)
class Case:
    """One golden file: its inputs by path, the outputs it expects, and its whole text."""

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    text: str
    note: str  # the lines before the first section: what the case is about

    @property
    def is_noop(self) -> bool:
        """Whether no file of the case is expected to change."""
        return bool(self.outputs) and set(self.outputs.values()) == {UNCHANGED}


def read_case(path: Path) -> Case:
    """Return the case a golden file holds."""
    text = path.read_text(encoding="utf-8")
    parts = _HEAD.split(text)
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    for section, name, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        content = body.removeprefix("\n")
        if section == "input":
            inputs[name] = content
        elif section == "output":
            outputs[name] = content
    return Case(path.stem, inputs, outputs, text, parts[0])


def translate_files(files: Mapping[str, str]) -> Report:
    """Return the report of a project made of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode())
        return translate_project(root, None, dry_run=True)


@cache
def report_of(name: str) -> Report:
    """Return the report of a case, translated once a run."""
    return translate_files(read_case(CASES / f"{name}.txt").inputs)


def render(case: Case, report: Report) -> str:
    """Return the text a case should have."""
    files = {file.path: file for file in report.files}
    parts = [case.note]
    for path, content in case.inputs.items():
        parts.append(f"==== input {path} ====\n{content}")
    for path in case.inputs:
        file = files[path]
        body = file.output if file.changed and file.output is not None else UNCHANGED
        parts.append(f"==== output {path} ====\n{body}")
    found = "".join(f"{diagnostic}\n" for diagnostic in report.diagnostics)
    parts.append(f"==== diagnostics ====\n{found}")
    return "".join(parts)
