"""Nothing that a project has is replaced by what OUT needs; a killed run leaves OUT whole. Samples of two campaigns."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.properties.kills import campaign
from tests.properties.taken_names import check, project

KNOWN = [
    {"scripts": "link to a folder"},
    {"torch2ms_report": "link to a folder", "torch2ms_runtime": "link to a folder"},
    {"train.py": "folder", "config.yaml": "folder", "requirements.txt": "link to a file"},
    {"torch2ms_runtime": "file", "torch2ms_report": "file", "scripts": "file"},
    {"train": "folder", "ms_train.py": "python", "scripts/run_eval.sh": "file", "ms_scripts": "file"},
    {"torch2ms_runtime/seed.py": "python", "torch2ms_report/manifest.json": "file"},
]


@pytest.mark.parametrize("names", KNOWN, ids=lambda names: ", ".join(names))
def test_what_the_project_has_stays(names: dict[str, str], tmp_path: Path) -> None:
    assert check(tmp_path, names) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_random_names_stay(number: int, tmp_path: Path) -> None:
    assert check(tmp_path, project(random.Random(f"sample {number}"))) == []


@pytest.mark.slow
def test_killed_runs_leave_out_whole_and_the_next_run_clears_up(tmp_path: Path) -> None:
    assert campaign(8, 1, tmp_path) == []
