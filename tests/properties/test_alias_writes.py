"""Writes through any alias of the facts are equal to PyTorch, or marked: a fixed draw of the campaign."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_writes_through_aliases_are_right_or_marked() -> None:
    campaign = [sys.executable, ROOT / "benchmarks" / "alias_writes.py", "--count", "60", "--seed", "3"]
    done = subprocess.run(campaign, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 silent\n")
