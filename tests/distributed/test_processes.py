"""Translated data-parallel programs on two processes of the CPU: the losses of one process with the same batch."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.verify.process import environment

PROGRAMS = Path(__file__).with_name("programs")


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("distributed") / "output"
    report = translate_project(PROGRAMS, output, Options())
    assert not [found for found in report.diagnostics if found.severity == "error"]
    return output


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {**environment(), "OMP_NUM_THREADS": "1", "PATH": path, **variables}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=480)


def launch(script: str, *arguments: str, workers: int = 2, folder: Path, **variables: str) -> tuple[int, str]:
    """Run a script with the launch script that is beside it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["bash", "scripts/run_distribute_train.sh", str(workers), script, *arguments]
    done = run(command, folder, MASTER_PORT=str(port), LOG_DIR="logs", **variables)
    return done.returncode, done.stdout + done.stderr


def losses(text: str) -> list[float]:
    return [float(value) for value in re.findall(r"^loss ([\d.]+)$", text, re.MULTILINE)]


@pytest.mark.slow
def test_a_launched_program_has_the_losses_of_one_process(translated: Path) -> None:
    single = run([sys.executable, "launched.py"], translated)
    assert single.returncode == 0, single.stderr[-2000:]
    (translated / "last.pth").unlink()
    code, text = launch("launched.py", folder=translated)
    assert code == 0, text[-2000:]
    assert len(losses(text)) == 10  # printed by rank 0 alone
    assert losses(text) == pytest.approx(losses(single.stdout), abs=5e-6)
    assert (translated / "last.pth").exists()


@pytest.mark.slow
def test_a_program_that_starts_its_own_processes_is_started_by_msrun(translated: Path) -> None:
    single = run([sys.executable, "spawned.py", "--processes", "1"], translated)
    assert single.returncode == 0, single.stderr[-2000:]
    (translated / "spawned.pth").unlink()
    double = run([sys.executable, "spawned.py"], translated)
    assert double.returncode == 0, double.stdout[-2000:] + double.stderr[-2000:]
    assert len(losses(double.stdout)) == 8
    assert losses(double.stdout) == pytest.approx(losses(single.stdout), abs=5e-6)
    assert double.stdout.splitlines()[-1] == "done"  # the first process goes on, the others have ended
    assert (translated / "spawned.pth").exists()


@pytest.mark.slow
def test_a_worker_that_fails_ends_the_run_with_an_error(translated: Path) -> None:
    start = time.monotonic()
    code, text = launch("launched.py", "--epochs", "50", folder=translated, FAIL_RANK="1")
    assert code != 0
    assert "this process was told to fail" in text or "this process was told to fail" in "".join(
        log.read_text(errors="replace") for log in (translated / "logs").glob("worker_*.log")
    )
    assert time.monotonic() - start < 200  # no hang: msrun ends the others, the scheduler after its time-out


@pytest.mark.slow
def test_a_worker_that_is_killed_ends_the_run_with_an_error(translated: Path) -> None:
    start = time.monotonic()
    code, text = launch("launched.py", "--epochs", "50", folder=translated, KILL_RANK="1")
    assert code != 0
    assert "exception" in text.lower() or "failed" in text.lower() or "signal" in text.lower(), text[-2000:]
    assert time.monotonic() - start < 200  # the others wait for it in a reduction: msrun ends them


@pytest.mark.slow
def test_a_launch_by_local_rank_alone(translated: Path) -> None:
    """``python -m torch.distributed.launch`` hands the rank over as an argument; here the environment says it."""
    code, text = launch("launched.py", "--local_rank", "0", "--epochs", "1", folder=translated)
    assert code == 0, text[-2000:]
    assert len(losses(text)) == 5
