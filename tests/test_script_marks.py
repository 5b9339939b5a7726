"""The benchmark of whole scripts: which stop of a translated script was announced by a mark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from scripts import mark_that_raised

PROGRAM = """from torch2ms_runtime.missing import torch

def load():
    # a word of the author
    # TORCH2MS T2M201: torch.hub.load: no counterpart
    net = torch.hub.load(
        "owner/name",
        "model",
    )
    return net

def plain():
    raise ValueError("no mark")

# TORCH2MS T2M305: may differ
plain()
# TORCH2MS T2M201: torch.hub
class Net(torch.hub.Net):
    def forward(self):
        return plain()
"""


def log_of(out: Path, *lines: int) -> str:
    """Return a log whose traceback goes through these lines of the program, then into the runtime."""
    frames = [f'  File "{out / "main.py"}", line {line}, in f\n    code' for line in lines]
    frames.append(f'  File "{out / "torch2ms_runtime" / "missing.py"}", line 3, in stub\n    raise')
    return "\n".join(
        ["$ python main.py", "Traceback (most recent call last):", *frames, "AttributeError: hub", "exit 1"]
    )


@pytest.mark.parametrize(
    ("lines", "mark"),
    [
        ((30, 6), "T2M201: torch.hub.load: no counterpart"),
        ((30, 7), "T2M201: torch.hub.load: no counterpart"),  # a line inside the marked statement
        ((18,), "T2M201: torch.hub"),
        ((16,), ""),  # a mark, but no stop
        ((6, 13), ""),  # the marked line called what raised
        ((20,), ""),  # inside a marked class, not its head
    ],
)
def test_the_marked_line_must_be_what_raised(tmp_path: Path, lines: tuple[int, ...], mark: str) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "torch2ms_runtime").mkdir()
    (tmp_path / "torch2ms_runtime" / "missing.py").write_text("\n\nraise AttributeError\n")
    assert mark_that_raised(log_of(tmp_path, *lines), tmp_path) == mark


def test_a_stop_without_a_traceback_is_no_mark(tmp_path: Path) -> None:
    assert mark_that_raised("$ python main.py\nKilled\nexit 137\n", tmp_path) == ""
