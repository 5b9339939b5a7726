"""Files of weights that are damaged or hostile are read or refused: a sample; the campaign is the module's main."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.properties.weight_mutations import hostile, mutated, run


def test_hostile_files_are_refused_in_time_and_memory_and_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(hostile(), tmp_path) == {}


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    assert run(mutated(150, 1), tmp_path) == {}
