"""Translated data-parallel programs on two processes of the CPU: the losses of one process with the same batch."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.verify.process import environment

PROGRAMS = Path(__file__).with_name("programs")


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("distributed") / "output"
    report = translate_project(PROGRAMS, output, Options())
    assert not [found for found in report.diagnostics if str(found.severity) == "error"]
    return output


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {**environment(), "OMP_NUM_THREADS": "1", "PATH": path, **variables}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=480)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def launch(script: str, *arguments: str, workers: int = 2, folder: Path, **variables: str) -> tuple[int, str]:
    """Run a script with the launch script that is beside it."""
    command = ["bash", "scripts/run_distribute_train.sh", str(workers), script, *arguments]
    done = run(command, folder, MASTER_PORT=str(free_port()), LOG_DIR="logs", **variables)
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
def test_gradients_that_are_added_up_are_those_of_one_process(translated: Path) -> None:
    single = run([sys.executable, "added.py"], translated)
    assert single.returncode == 0, single.stderr[-2000:]
    code, text = launch("added.py", folder=translated)
    assert code == 0, text[-2000:]
    assert len(losses(text)) == 10
    assert losses(text) == pytest.approx(losses(single.stdout), abs=5e-6)


@pytest.mark.slow
def test_gradients_are_exchanged_once_for_several_passes(translated: Path) -> None:
    """``DistributedDataParallel.no_sync``; the numbers are those that PyTorch prints with torchrun."""
    code, text = launch("not_synchronised.py", folder=translated)
    assert code == 0, text[-2000:]
    lines = re.findall(
        r"^rank (\d) weights (\S+) bias (\S+)$", (translated / "logs" / "worker_0.log").read_text(), re.M
    )
    lines += re.findall(
        r"^rank (\d) weights (\S+) bias (\S+)$", (translated / "logs" / "worker_1.log").read_text(), re.M
    )
    assert sorted(rank for rank, _, _ in lines) == ["0", "1"]
    for _, weights, bias in lines:
        assert float(weights) == pytest.approx(-1.74591, abs=2e-5)
        assert float(bias) == pytest.approx(0.25727, abs=2e-5)


@pytest.mark.slow
def test_accelerate_shares_the_batches_out(translated: Path) -> None:
    single = run([sys.executable, "accelerated.py", "--batch-size", "8"], translated)
    assert single.returncode == 0, single.stderr[-2000:]
    (translated / "accelerated.pth").unlink()
    code, text = launch("accelerated.py", "--batch-size", "4", folder=translated)
    assert code == 0, text[-2000:]
    assert len(losses(text)) == 10
    assert losses(text) == pytest.approx(losses(single.stdout), abs=5e-6)
    assert (translated / "accelerated.pth").exists()


@pytest.fixture
def machines() -> Iterator[tuple[str, str]]:
    """Two network namespaces of this machine, linked as two machines are: 10.77.0.1 and 10.77.0.2."""
    names = tuple(f"t2m-{os.getpid()}-{number}" for number in (1, 2))
    ends = tuple(f"t2m{os.getpid() % 10**6}{letter}" for letter in "ab")
    steps = [["ip", "netns", "add", name] for name in names]
    steps.append(["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1]])
    for number, (name, end) in enumerate(zip(names, ends, strict=True), 1):
        inside = ["ip", "-netns", name]
        steps.append(["ip", "link", "set", end, "netns", name])
        steps.append([*inside, "addr", "add", f"10.77.0.{number}/24", "dev", end])
        steps.extend([*inside, "link", "set", device, "up"] for device in (end, "lo"))
    try:
        for step in steps:
            if shutil.which("ip") is None or subprocess.run(step, capture_output=True, check=False).returncode:
                pytest.skip("network namespaces cannot be made here")
        yield names[0], names[1]
    finally:
        for name in names if shutil.which("ip") else ():
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.mark.slow
def test_two_machines_have_the_losses_of_one_process(translated: Path, machines: tuple[str, str]) -> None:
    """The launch script as it is run on each of two machines."""
    single = run([sys.executable, "launched.py"], translated)
    own = {"NODES": "2", "MASTER_ADDR": "10.77.0.1", "MASTER_PORT": "8118"}
    script = ["bash", "scripts/run_distribute_train.sh", "1", "launched.py"]
    with ThreadPoolExecutor(2) as pool:
        runs = [
            pool.submit(
                run, ["ip", "netns", "exec", name, *script], translated, **own, NODE_RANK=rank, LOG_DIR=f"logs{rank}"
            )
            for rank, name in zip("01", machines, strict=True)
        ]
    for done in (found.result() for found in runs):
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert losses(runs[0].result().stdout) == pytest.approx(losses(single.stdout), abs=5e-6)
    assert len(losses(runs[0].result().stdout)) == 10


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
