"""The cache of translations: what became of a project's files, kept until anything changes that could change it.

What one file becomes may depend on every other file of its project (who calls its functions, what a name is bound to),
so an entry holds a whole project, under a digest of

- the path and the bytes of every Python file and notebook, and the name of SRC's folder;
- the target and the options, with the bytes of the users' own mapping tables;
- torch2ms itself (every file of the package, by size and time, as Python does for its ``.pyc`` files) and the versions
  of Python and libcst.

An entry is a checksum and compressed pickles of plain records: classes that no field of the records holds are refused.
What cannot be read, or is not whole, is no entry; what cannot be written is left. Entries are renamed into place, so
that several runs may use one cache. Results that depend on the machine's speed are never kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import platform
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import torch2ms
from torch2ms.config import Options
from torch2ms.diagnostics import Diagnostic
from torch2ms.mapping_tables.loader import cache_directory
from torch2ms.reports.model import Script
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.project.source_tree import Project
from torch2ms.translator.values.constants import NOT_CONSTANT

__all__ = ["Translation", "key_of", "read", "write"]

FOLDER = "projects"
MAX_BYTES = 256 * 2**20  # of all entries together
MAX_ENTRY = 64 * 2**20
_PACKAGE = Path(torch2ms.__file__).resolve().parent
_CHECKSUM = 32
# What records hold of Python's own.
_BUILTINS = frozenset({bytearray, complex, frozenset, range, set, slice})


@dataclass(frozen=True, slots=True)
class Translation:
    """What became of the Python files of a project, before anything is written."""

    results: dict[str, FileResult]  # of the files that have to do with torch
    problems: tuple[Diagnostic, ...]  # with files that cannot be read or parsed
    parsed: frozenset[str]  # the files that can
    scripts: frozenset[str]  # those that no other imports and that stand in no package
    programs: tuple[Script, ...]  # the files that are run
    imported: frozenset[str] = frozenset()  # files that were left out of SRC, but that the program imports
    left: Mapping[str, str] = field(default_factory=dict)  # files that use torch and stay as they are -> the reason


def key_of(project: Project, options: Options, *facts: str) -> str | None:
    """Return the digest of everything a translation depends on, ``facts`` too; None when a file cannot be read."""
    digest = hashlib.blake2b(digest_size=20)
    _add(digest, torch2ms.__version__, platform.python_version(), version("libcst"))
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in (".py", ".toml", ".json"):
            info = path.stat()
            _add(digest, path.relative_to(_PACKAGE).as_posix(), str(info.st_size), str(info.st_mtime_ns))
    _add(digest, repr(replace(options, jobs=1, cache=True)), project.root.name, str(project.single), *facts)
    try:
        for mapping in options.mappings:
            _add(digest, mapping, Path(mapping).read_bytes())
        for file in (*project.python_files, *project.aside):
            _add(digest, file.path, file.kind, file.data)
    except OSError:
        return None
    return digest.hexdigest()


def _add(digest: Any, *parts: str | bytes) -> None:
    """Add parts so that no two different lists of parts give the same bytes."""
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)


def read(key: str) -> Translation | None:
    """Return the entry of this key, or None when there is none that is whole."""
    path = _path(key)
    try:
        stored = path.read_bytes()
        checksum, payload = stored[:_CHECKSUM], stored[_CHECKSUM:]
        if hashlib.blake2b(payload, digest_size=_CHECKSUM).digest() != checksum:
            return None
        found = _Unpickler(io.BytesIO(zlib.decompress(payload))).load()
    except Exception:  # whatever is wrong with it, it is no entry
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used just now
    return found if isinstance(found, Translation) else None


def write(key: str, made: Translation) -> None:
    """Keep a translation, unless it hangs on the machine's speed or is too large, and let the oldest entries go."""
    if any(result.failed for result in made.results.values()):
        return
    payload = zlib.compress(pickle.dumps(made, protocol=5), 1)
    if len(payload) > MAX_ENTRY:
        return
    path = _path(key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(hashlib.blake2b(payload, digest_size=_CHECKSUM).digest() + payload)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _trim(path.parent)


def _trim(folder: Path) -> None:
    """Remove the entries not used for longest, until the others are small enough."""
    entries = sorted(((entry.stat(), entry.path) for entry in os.scandir(folder)), key=lambda e: -e[0].st_mtime_ns)
    total = 0
    for info, path in entries:
        total += info.st_size
        if total > MAX_BYTES:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _path(key: str) -> Path:
    return cache_directory() / FOLDER / f"{key}.bin"


@lru_cache(maxsize=1)
def _records() -> Mapping[tuple[str, str], type]:
    """Return all that the pickle of a translation may name: the classes that its fields are made of, by their place."""
    found: set[type] = {type(NOT_CONSTANT), *_BUILTINS}  # fields of any value hold those
    waiting: list[Any] = [Translation]
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        held = get_origin(hint) or hint
        if isinstance(held, type) and held not in found and held.__module__.startswith(f"{torch2ms.__name__}."):
            found.add(held)
            waiting += get_type_hints(held).values()
    return {(record.__module__, record.__qualname__): record for record in found}


class _Unpickler(pickle.Unpickler):
    """Reads the records of a translation and nothing else, so that no entry can run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that an entry may hold; before 3.11.4 Python names the members of enums by ``getattr``."""
        if (module, name) == ("builtins", "getattr"):
            return _member
        record = _records().get((module, name))
        if record is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a translation")
        return record


def _member(owner: object, name: str) -> Enum:
    if not isinstance(owner, type) or not issubclass(owner, Enum):
        raise pickle.UnpicklingError(f"{name} of {owner!r} is no part of a translation")
    return owner[name]
