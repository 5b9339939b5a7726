"""A reader of the first migration gets a trained network, equal figures, and changes of both sides after an update."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import walk  # noqa: E402


def test_the_steps_are_those_of_the_page() -> None:
    found = walk.steps()
    assert found[0] == "cd digits && python train.py && cd .."
    assert {"torch2ms scan digits", "torch2ms update digits digits-ms"} < set(found)
    assert any(step.startswith("torch2ms verify digits digits-ms ") for step in found)


@pytest.mark.slow
def test_the_first_migration_can_be_walked_through(tmp_path: Path) -> None:
    assert walk.walk(tmp_path, sys.executable, str(ROOT)) == []


def test_a_step_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "steps", lambda: ["torch2ms scan nowhere"])
    (problem,) = walk.walk(tmp_path, sys.executable, str(ROOT))
    assert "exits with 2: error: there is no nowhere" in problem
