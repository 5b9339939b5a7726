"""The benchmarks run and print what they promise; how fast this machine is, is no matter of a test."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_translate_speed_prints_its_table(make_tree: Callable[..., Path]) -> None:
    src = make_tree({"a.py": "import torch\n\nx = torch.zeros(2)\n" * 50})
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "translate_speed.py", "--repeat", "1", "--report-only", src],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    heads, row, last = done.stdout.splitlines()
    assert heads.split()[:2] == ["folder", "lines"]
    assert row.split()[:2] == ["src", "150"]
    assert last.startswith("torch2ms --help: ")


def test_nativeness_counts_references_to_mindspore_and_to_the_runtime(make_tree: Callable[..., Path]) -> None:
    text = "import torch\nfrom torch import nn\n\nlayer = nn.Linear(2, 3)\nx = torch.tanh(torch.relu(torch.ones(2)))\n"
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "nativeness.py", "--json", make_tree({"a.py": text})],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    total = json.loads(done.stdout)["total"]
    assert total["runtime"] == {"torch2ms_runtime.functional.tanh": 1}
    assert total["mindspore"] == {"mindspore.nn.Dense": 1, "mindspore.ops.relu": 1, "mindspore.ops.ones": 1}
    assert total["share"] == 0.25
    assert total["carried"] > 0


@pytest.mark.slow
def test_snippets_are_translated_and_compared() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "snippets.py", "--only", "torch.argmax(x, 1)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "right 100.00%" in done.stdout


@pytest.mark.slow
def test_varied_arguments_make_no_silent_difference() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "fuzz.py", "--rows", "40", "--variants", "5", "--seed", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " right" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float64", "specials", "empty", "deeper"])
def test_a_sweep_varies_every_row_in_one_respect(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "fuzz.py", "--sweep", kind, "--only", "torch.t[ar]*"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " right" in done.stdout


@pytest.mark.slow
def test_who_sees_a_change_is_the_same_on_both_sides() -> None:
    command = [
        sys.executable,
        ROOT / "benchmarks" / "aliasing.py",
        "--only",
        "torch.[e-t]*split*",
        "--only",
        "torch.t*",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 silent" in done.stdout


@pytest.mark.slow
def test_step_time_compares_emitted_and_hand_written_steps() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "step_time.py", "--only", "digits", "--steps", "2", "--rounds", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    row = done.stdout.splitlines()[2]
    name, *cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert name == "digits"
    assert len(cells) == 6
    assert float(cells[4].split()[0]) > 0  # "1.01 (0.99 to 1.02)"


def test_the_programs_that_are_trained_side_by_side_are_well_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    parity = importlib.import_module("parity")
    programs = parity.load()
    assert len(programs) >= 10
    for entry in programs.values():
        program = parity.program_of(entry)
        assert program.script.endswith(".py")
        assert not {"name", "repo", "run"} - set(entry)
        assert entry.get("prepare", "words") in parity.PREPARATIONS
