"""Names in OUT for what torch2ms adds there: none of the project's own files, folders and links is replaced.

A generated file whose name the project has steps aside (``ms_train.py``, ``ms_scripts/``), so do the runtime package
and the report folder (``torch2ms_runtime_2``). What an earlier translation left in SRC is torch2ms's own: its runtime
stays, its report is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torch2ms.errors import UsageError

if TYPE_CHECKING:
    from torch2ms.translator.project.source_tree import Project, SourceFile

__all__ = ["REPORT_NAME", "RUNTIME_NAME", "SIGNPOST_START", "TakenNames", "is_report", "report_name", "runtime_name"]

RUNTIME_NAME = "torch2ms_runtime"
REPORT_NAME = "torch2ms_report"
SIGNPOST_START = '"""Leads the scripts of this folder to the project\'s '
_STARTS = (SIGNPOST_START.encode(), b'"""What translated programs import besides MindSpore')
_TRIES = 100
_ASIDE = re.compile(r"^ms\d*_")


class TakenNames:
    """The paths of a project's files and links, and of the folders above them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files = set(paths)
        self._folders = {str(parent) for path in self._files for parent in PurePosixPath(path).parents}

    def has(self, path: str) -> bool:
        """Whether the project has a file or link at ``path``."""
        return path in self._files

    def is_free(self, path: str) -> bool:
        """Whether a file at ``path`` neither replaces what is the project's nor hides it from imports."""
        if path in self._files or path in self._folders or path.removesuffix(".py") in self._folders:
            return False
        return not any(str(parent) in self._files for parent in PurePosixPath(path).parents)

    def displaced(self, paths: Iterable[str]) -> dict[str, str]:
        """Return those of the files that stepped aside, with the names that they would have had."""
        plain = {path: _ASIDE.sub("", path) for path in paths}
        return {path: name for path, name in plain.items() if name != path and not self.is_free(name)}

    def aside(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return names for files that belong together: those given where all are free, else with ``ms_`` in front."""
        for prefix in ("", "ms_", *(f"ms{number}_" for number in range(2, _TRIES))):
            names = tuple(f"{prefix}{path}" for path in paths)
            if all(map(self.is_free, names)):
                return names
        raise UsageError(f"SRC has {paths[0]} and every other name that OUT could have for its own")


def runtime_name(project: Project) -> str:
    """Return the name of the runtime package in OUT: one that no module or folder of the project has."""
    held = [file for file in project.files if RUNTIME_NAME in file.path]  # hardly ever any
    own = {file.path for file in held if file.link is None and file.data.startswith(_STARTS)}
    has_runtime = f"{RUNTIME_NAME}/__init__.py" in own
    others = [file for file in held if file.path not in own and not (has_runtime and _is_in(file, RUNTIME_NAME))]
    return _unused(RUNTIME_NAME, others)


def report_name(project: Project) -> str:
    """Return the name of the report folder in OUT; the report of an earlier translation gives its place."""
    held = [file for file in project.files if file.path.split("/", 1)[0].startswith(REPORT_NAME)]
    if any(file.path == f"{REPORT_NAME}/manifest.json" and file.link is None and is_report(file.data) for file in held):
        held = [file for file in held if not _is_in(file, REPORT_NAME)]
    return _unused(REPORT_NAME, held)


def _is_in(file: SourceFile, folder: str) -> bool:
    return file.path.startswith(f"{folder}/")


def _unused(name: str, files: Sequence[SourceFile]) -> str:
    """Return the first of ``name``, ``name_2``, ... that is no part of the files' paths, suffixes aside."""
    taken = {part.split(".")[0] for file in files for part in PurePosixPath(file.path).parts}
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(found for found in names if found not in taken)


def is_report(manifest: bytes) -> bool:
    """Whether a file is the manifest that torch2ms writes into its report folder."""
    try:
        content = json.loads(manifest)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and isinstance(content.get("files"), dict)
