"""Every golden file says what the translator does today."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.snapshots import CASES, read_case, render, report_of

PATHS = sorted(CASES.glob("*.txt"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = read_case(path)
    text = render(case, report_of(case.name))
    if text != case.text:
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path.name} was rewritten: read `git diff {path.name}`, and keep it only if it is right")


def test_two_fifths_of_the_cases_change_nothing() -> None:
    cases = [read_case(path) for path in PATHS]
    noops = [case.name for case in cases if case.is_noop]
    assert len(noops) >= 0.4 * len(cases), f"{len(noops)} of {len(cases)} cases are noops"


def test_no_case_holds_a_fault_of_ours() -> None:
    guilty = [path.stem for path in PATHS if "T2M900" in path.read_text(encoding="utf-8").partition("==== output")[2]]
    assert not guilty
