"""Run cases with PyTorch and with MindSpore, each in a process of its own, whatever the cases do to their process."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch2ms.errors import VerificationError

__all__ = ["Answers", "Case", "Workplace", "release_of", "workplace"]

BATCH = 400  # cases a process: importing a framework takes seconds, and processes that live long grow
PATIENCE = 240  # seconds without a new result until a process counts as hung
MEMORY = 6 << 30  # bytes of a process, which takes less than one: a compiler that unrolls a loop knows no end

Case = dict[str, Any]
Answers = dict[str, dict[str, Any]]


def release_of(python: str) -> str:
    """Return the MindSpore release of an interpreter's environment.

    Raises VerificationError when it cannot be started or has none.
    """
    code = "import importlib.metadata as m; print(m.version('mindspore'))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError as error:
        raise VerificationError(f"{python} cannot be started: {error.strerror}") from error
    if done.returncode:
        raise VerificationError(f"{python} has no MindSpore", advice="name the Python of an environment that has it")
    return done.stdout.strip()


@contextmanager
def workplace(device: str = "CPU") -> Iterator[Workplace]:
    """Make a folder where the sides and the runtime can be imported, whatever torch2ms itself needs.

    MindSpore's side computes on ``device``, PyTorch's always on CPU.
    """
    ignored = shutil.ignore_patterns("__pycache__")
    with tempfile.TemporaryDirectory(prefix="torch2ms-prove-") as name:
        folder = Path(name)
        (folder / "torch2ms").mkdir()
        (folder / "torch2ms" / "__init__.py").touch()
        shutil.copytree(Path(__file__).parent.parent / "runtime", folder / "torch2ms" / "runtime", ignore=ignored)
        shutil.copytree(Path(__file__).with_name("proving"), folder / "proving", ignore=ignored)
        yield Workplace(folder, device)


class Workplace:
    """A folder in which cases are run."""

    def __init__(self, folder: Path, device: str = "CPU") -> None:
        """Take a folder that holds the sides and the runtime, and the device of MindSpore's side."""
        self._folder = folder
        self._device = {} if device == "CPU" else {"TORCH2MS_PROVE_DEVICE": device}

    def run(self, side: str, python: str, cases: Sequence[Mapping[str, Any]], patience: float = PATIENCE) -> Answers:
        """Return what one side ("torch", "mindspore") answers, by the cases' ``id``.

        An answer has "ok" or "error"; a case that kills or hangs its process, or takes all memory, is answered by an
        error of type "Crash". Raises VerificationError when the side does not start.
        """
        answers: Answers = {}
        for start in range(0, len(cases), BATCH):
            self._run_batch(side, python, cases[start : start + BATCH], answers, patience)
        return answers

    def _run_batch(
        self, side: str, python: str, cases: Sequence[Mapping[str, Any]], answers: Answers, patience: float
    ) -> None:
        results = self._folder / f"{side}.results"
        while left := [case for case in cases if case["id"] not in answers]:
            results.unlink(missing_ok=True)
            (self._folder / "cases").write_bytes(pickle.dumps(left, protocol=4))
            command = [python, "-W", "ignore", "-m", "proving", side, "cases", results.name]
            failure = self._supervise(command, results, patience)
            started = _collect(results, answers)
            if started is not None:
                answers[started] = {"error": failure or "the process ended", "type": "Crash"}
            elif not any(case["id"] in answers for case in left):
                raise VerificationError(f"the {side} side does not start: {failure}")

    def _supervise(self, command: Sequence[str], results: Path, patience: float) -> str:
        """Run a side; return how it failed, empty when it did not."""
        here = self._folder
        settings = {"PYTHONPATH": str(here), "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
        environment = {**os.environ, **settings, **self._device}
        with (here / "errors").open("wb") as errors:
            process = subprocess.Popen(command, cwd=here, env=environment, stdout=errors, stderr=errors)
            size, since = -1, time.monotonic()
            while True:
                try:
                    code = process.wait(min(1, patience))
                    break
                except subprocess.TimeoutExpired:
                    now = results.stat().st_size if results.exists() else 0
                    if now != size:
                        size, since = now, time.monotonic()
                    taken = memory_of(process.pid)
                    if taken > MEMORY or time.monotonic() - since > patience:
                        process.kill()
                        process.wait()
                        return f"{taken >> 20} MiB of memory" if taken > MEMORY else f"no result for {patience:g} s"
        if code == 0:
            return ""
        tail = (here / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
        return f"exit code {code}: {' | '.join(tail)}"


def memory_of(pid: int) -> int:
    """Return the bytes that a process holds in memory, 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _collect(results: Path, answers: Answers) -> str | None:
    """Read the results so far into ``answers``; return the case that was started and not finished."""
    started: str | None = None
    if results.exists():
        with results.open("rb") as stream:
            while True:
                try:
                    record = pickle.load(stream)
                except (EOFError, pickle.UnpicklingError):
                    break
                if record[0] == "start":
                    started = record[1]
                else:
                    answers[record[1]] = record[2]
                    started = None
    return started
