"""PyTorch's half of a comparison as a file: recorded on one machine, compared on another that has no PyTorch.

A recording is a ZIP file. ``recording.json`` holds the settings of the comparison and, in their order, the requests
to the PyTorch side with its replies; the arrays of a request and of its reply are members named by their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch2ms.errors import InputError
from torch2ms.verify.comparison import Comparison, Plan
from torch2ms.verify.gradients import GradientCheck
from torch2ms.verify.outputs import OutputCheck
from torch2ms.verify.process import Worker, WorkerError
from torch2ms.verify.training import TrainingCheck

__all__ = ["Recording", "record"]

_INDEX = "recording.json"
_VERSION = 1
_FILES = ("state", "path", "batch")  # what of a request names a file of arrays; docs in workers/channel.py
_BLOCK = 1 << 20


def record(
    source: Path,
    file: Path,
    plan: Plan,
    settings: Mapping[str, Any],
    worker: Worker,
    progress: Callable[[str], None] = lambda message: None,
) -> None:
    """Make every request of a plan to the PyTorch side, and write them with what it answers to ``file``.

    ``settings`` are what :func:`torch2ms.verify.verify` is given where the recording is compared. The file is there
    when it is whole. Raises VerificationError where PyTorch cannot be run, InputError where the file cannot be written.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix="torch2ms-verify-") as folder:
            with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                answers = _Recorder(worker, archive)
                _ask(Comparison(plan, answers, answers, Path(folder), progress), source)
                index = {"version": _VERSION, "settings": dict(settings), "calls": answers.calls}
                archive.writestr(_INDEX, json.dumps(index))
            os.replace(part, file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _ask(comparison: Comparison, source: Path) -> None:
    plan = comparison.plan
    comparison.torch.call("build", root=str(source.resolve()), entry=plan.entry, kwargs=dict(plan.kwargs))
    for seed in plan.seeds:
        prepared, _ = comparison.prepare(seed)
        comparison.progress(f"seed {seed}: outputs")
        OutputCheck(comparison, "outputs").ask(prepared)
        for train in (False, True) if plan.gradients else ():
            check = GradientCheck(comparison, train=train)
            comparison.progress(f"seed {seed}: {check.group}")
            check.ask(prepared)
        if plan.train_steps and not comparison.random_training:
            comparison.progress(f"seed {seed}: {plan.train_steps} training steps")
            TrainingCheck(comparison).ask(prepared)


def _key(command: str, request: Mapping[str, Any]) -> str:
    """Return a request as text that is equal on every machine: files by name, the folder of the project left out."""
    own = {name: Path(value).name if name in _FILES else value for name, value in request.items() if name != "root"}
    return json.dumps([command, own], sort_keys=True)


def _files(request: Mapping[str, Any]) -> list[Path]:
    return [Path(request[name]) for name in _FILES if name in request]


class _Recorder:
    """A worker whose answers are kept."""

    is_live = True

    def __init__(self, worker: Worker, archive: zipfile.ZipFile) -> None:
        self.calls: list[dict[str, Any]] = []
        self._worker = worker
        self._archive = archive
        self._kept: set[str] = set()

    def call(self, command: str, **request: Any) -> dict[str, Any]:
        entry: dict[str, Any] = {"key": _key(command, request)}
        try:
            entry["reply"] = self._worker.call(command, **request)
        except WorkerError as error:
            entry["error"] = str(error)
            self.calls.append(entry)
            raise
        entry["files"] = {path.name: self._keep(path) for path in _files(request) if path.exists()}
        self.calls.append(entry)
        reply: dict[str, Any] = entry["reply"]
        return reply

    def _keep(self, path: Path) -> str:
        digest = hashlib.sha256()
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
        name = digest.hexdigest()
        if name not in self._kept:
            self._kept.add(name)
            self._archive.write(path, name)
        return name


class Recording:
    """A recording that is read: it answers as the PyTorch side did. Use it as a context manager.

    Raises InputError for a file that is no recording.
    """

    is_live = False

    def __init__(self, file: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(file)
            index = json.loads(self._archive.read(_INDEX))
            if index["version"] != _VERSION:
                raise InputError(f"{file}: a recording of another version of torch2ms; record it again")
            self.settings: dict[str, Any] = dict(index["settings"])
            self._answers: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
            for entry in index["calls"]:
                self._answers[entry["key"]].append(entry)
        except OSError as error:
            raise InputError(f"{file}: {error.strerror or error}") from error
        except (zipfile.BadZipFile, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{file}: not a recording of torch2ms verify --record") from error
        self.file = file

    def call(self, command: str, **request: Any) -> dict[str, Any]:
        """Return the recorded reply, with the arrays of the request and of the reply put in their places."""
        answers = self._answers.get(_key(command, request))
        if not answers:
            message = f"{self.file} has no answer to this request ({command}): compare where PyTorch is installed"
            raise WorkerError(message, trace=[], side="torch_side")
        entry = answers.popleft()
        if "error" in entry:
            raise WorkerError(str(entry["error"]), trace=[], side="torch_side")
        for path in _files(request):
            if path.name in entry["files"]:
                self._restore(str(entry["files"][path.name]), path)
        reply: dict[str, Any] = entry["reply"]
        return reply

    def _restore(self, member: str, path: Path) -> None:
        digest = hashlib.sha256()
        try:
            with self._archive.open(member) as stream, path.open("wb") as target:
                while block := stream.read(_BLOCK):
                    digest.update(block)
                    target.write(block)
        except (KeyError, zipfile.BadZipFile) as error:
            raise InputError(f"{self.file}: damaged, {member} cannot be read") from error
        if digest.hexdigest() != member:
            raise InputError(f"{self.file}: damaged, {member} has other bytes than it should")

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
