"""Real data: the handwritten digits, learnt by the example in PyTorch and by its translation in MindSpore."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.diagnostics import Severity
from torch2ms.verify.process import environment


def accuracy(script: Path, folder: Path) -> float:
    """Train as the command line says by default and return the best test accuracy that is printed, in percent."""
    done = subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (folder / "digits.pth").exists()
    found = re.findall(r"best test accuracy: ([\d.]+) %", done.stdout)
    return float(found[-1])


@pytest.mark.slow
def test_both_frameworks_learn_the_digits(repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    output = tmp_path / "output"
    report = translate_project(repository / "examples" / "digits", output, Options())
    assert not [found for found in report.diagnostics if found.severity > Severity.NOTE]
    (tmp_path / "torch").mkdir()
    theirs = accuracy(repository / "examples" / "digits" / "main.py", tmp_path / "torch")
    ours = accuracy(output / "main.py", output)
    assert min(theirs, ours) > 97.0, (theirs, ours)
    assert abs(theirs - ours) <= 1.0, (theirs, ours)
