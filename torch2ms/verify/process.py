"""Run torch and mindspore in processes of their own, each in the Python it was given."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Protocol

from torch2ms.errors import VerificationError

__all__ = ["Answers", "Worker", "WorkerError", "environment"]

Side = Literal["torch_side", "mindspore_side"]

_PACKAGE = Path(__file__).resolve().parents[1]
# Both packages are loaded from their folders under private names: the Python may have no torch2ms, and putting our own
# site-packages on its path would mix two installations.
_BOOTSTRAP = """
import importlib, importlib.util, sys
sys.path[:] = [entry for entry in sys.path if entry]
def load(name, folder):
    spec = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
workers, runtime, side = sys.argv[1:4]
load("torch2ms_worker", workers)
if side == "mindspore_side":
    class NoTorch:  # a translation must do without, though torch may well be installed here
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] == "torch":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    sys.meta_path.insert(0, NoTorch)
    load("torch2ms_worker_runtime", runtime)
    weights = importlib.import_module("torch2ms_worker_runtime.weights")
    importlib.import_module("torch2ms_worker.mindspore_side").main(weights)
else:
    importlib.import_module("torch2ms_worker.torch_side").main()
"""
_THREADS = 2


def environment() -> dict[str, str]:
    """Return the environment of a worker: bounded threads, repeatable, MindSpore's convolutions on their fast path."""
    own = dict(os.environ)
    own.update(OMP_NUM_THREADS=str(_THREADS), MKL_NUM_THREADS=str(_THREADS), PYTHONHASHSEED="0", GLOG_v="3")
    own.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads must not burn the cores that others need
    own.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    own.pop("PYTHONPATH", None)  # the project's modules come from SRC or OUT alone
    own["PYTHONDONTWRITEBYTECODE"] = "1"  # nothing is left behind in SRC
    return own


class WorkerError(VerificationError):
    """What a worker answered instead of a result; ``trace`` is [file, line] of each frame, the innermost last.

    ``trace`` is empty where the process ended.
    """

    def __init__(self, message: str, *, advice: str = "", trace: list[list[Any]], side: Side) -> None:
        super().__init__(message, advice=advice)
        self.trace = trace
        self.side = side


class Answers(Protocol):
    """What answers the requests of one side: a running worker, or a recording of one (``is_live`` is False)."""

    is_live: bool

    def call(self, command: str, **request: Any) -> dict[str, Any]:
        """Return the reply to a request; raises WorkerError."""


class Worker:
    """One side of the comparison; use it as a context manager.

    ``limit``: seconds after which a request is given up and the process is ended; 0 waits for ever.
    """

    is_live = True

    def __init__(self, side: Side, python: str | None = None, limit: float = 0) -> None:
        self.side: Side = side
        self.limit = limit
        self.python = python or sys.executable
        # a file, not a pipe: what the user's program prints must never make it wait
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        command = [self.python, "-c", _BOOTSTRAP, str(_PACKAGE / "verify" / "workers"), str(_PACKAGE / "runtime"), side]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment(), text=True
            )
        except OSError as error:
            raise VerificationError(f"cannot start {self.python}: {error.strerror}") from error

    def call(self, command: str, **request: Any) -> dict[str, Any]:
        """Send a request and return the reply; raises WorkerError with the worker's last words."""
        reply = self._exchange({"command": command, **request})
        if not reply["ok"]:
            message = f"{self._name()}, {command}: {reply['error']}"
            raise WorkerError(message, advice=self._advice(reply["error"]), trace=reply["trace"], side=self.side)
        return reply

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        line = ""
        if stdin is not None and stdout is not None:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(json.dumps(request) + "\n")
                stdin.flush()
                line = self._answer(stdout)
        if not line:
            code = self._process.wait()
            missing = self._missing(self._last_words())
            if missing:
                advice = f'install it there: "{self.python}" -m pip install "torch2ms[{missing}]", or {missing} alone'
                message = f"verify runs {self._name()}, and {self.python} has no {missing}"
                raise WorkerError(message, advice=advice, trace=[], side=self.side)
            message = f"{self._name()} ended with exit code {code}"
            raise WorkerError(message, advice=self._last_words(), trace=[], side=self.side)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _answer(self, stdout: IO[str]) -> str:
        """Wait for one line, at most for the limit."""
        timer = threading.Timer(self.limit, self._process.kill) if self.limit else None
        if timer is not None:
            timer.start()
        try:
            return stdout.readline()
        finally:
            if timer is not None:
                timer.cancel()

    def _name(self) -> str:
        return "PyTorch" if self.side == "torch_side" else "MindSpore"

    def _advice(self, error: str) -> str:
        """Return how to install a missing framework, else the worker's last words."""
        package = self._missing(error)
        return f"install it for {self.python}: pip install {package}" if package else self._last_words()

    def _missing(self, error: str) -> str:
        """Return the framework that the worker's Python lacks, "" when it is none of them."""
        return next((name for name in ("torch", "mindspore") if f"No module named '{name}'" in error), "")

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-15:])

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        elif self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:  # MindSpore sometimes hangs in its exit handlers
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
