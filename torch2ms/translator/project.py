"""Read SRC: which files there are, and for each Python file its text, encoding, newlines and syntax tree.

What is read: every file below SRC, except version control (``.git``, ``.hg``, ...), caches (``__pycache__``, ``*.pyc``,
``.mypy_cache``, ...) and virtual environments (a folder that holds ``pyvenv.cfg``). Links are never followed out of SRC
and folders behind links are never entered, so that no link can lead in a circle:

- a link to a Python file of SRC is read as a file of its own, because a module of that name can be imported;
- every other link that stays inside SRC remains a link, written relative to its folder;
- a link that leaves SRC or leads in a circle is left out and reported (T2M104).

A ``Project`` holds no text: files are read when they are needed, so memory stays flat however large SRC is.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch2ms.diagnostics import CODES, Diagnostic
from torch2ms.errors import InputError, UsageError
from torch2ms.translator.notebooks import read_notebook
from torch2ms.translator.source_text import SourceText, decode, diagnose

__all__ = ["FileKind", "Project", "SourceFile", "mentions_torch", "read_project", "refuse_nesting"]

FileKind = Literal["python", "notebook", "other"]

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", "_darcs", "CVS", ".jj"})
_CACHES = frozenset(
    {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".tox", ".nox"}
)
_SKIPPED_SUFFIXES = (".pyc", ".pyo")
_PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of SRC, not yet read.

    ``path`` is relative to the project's root, with ``/``; ``location`` is where it really is. ``link`` is the text of
    a symbolic link that is to be mirrored as a link, otherwise None.
    """

    path: str
    kind: FileKind
    location: Path
    mode: int = 0o644
    link: str | None = None

    @property
    def data(self) -> bytes:
        """The bytes of the file, read anew each time; OSError when that fails."""
        return self.location.read_bytes()

    def load(self, *, is_parsed: bool = False) -> SourceText:
        """Read, decode and parse; never raises for what is wrong with the file: see ``SourceText.diagnostics``.

        With ``is_parsed`` only the text is wanted, of a file that is known to parse.
        """
        try:
            data = self.data
        except OSError as error:
            return SourceText(path=self.path, data=b"", diagnostics=(unreadable(self.path, error),))
        read = read_notebook if self.kind == "notebook" else decode
        return read(data, self.path, is_parsed=is_parsed)


@dataclass(frozen=True, slots=True)
class Project:
    """SRC as it was found: its files sorted by path, and what could not be read at all."""

    root: Path
    files: tuple[SourceFile, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    single: bool = False  # SRC is one file; root is its folder

    @property
    def python_files(self) -> tuple[SourceFile, ...]:
        """The files that hold Python: modules, scripts and notebooks."""
        return tuple(file for file in self.files if file.kind != "other" and file.link is None)


def mentions_torch(data: bytes) -> bool:
    """Whether the bytes of a file hold the word torch anywhere; no other file can use its API by name."""
    return b"torch" in data


def read_project(src: Path, *, out: Path | None = None) -> Project:
    """Return the files of ``src``, a folder or one file.

    ``out`` is only compared with ``src``: neither may lie inside the other (UsageError). Raises InputError when ``src``
    does not exist, cannot be listed, or holds no file.
    """
    if out is not None:
        refuse_nesting(src, out)
    try:
        info = src.stat()
    except FileNotFoundError:
        raise InputError(f"there is no {src}", advice="give the folder or file of the PyTorch program") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {src}: {_reason(error)}") from error
    if stat.S_ISREG(info.st_mode):
        return _read_single(src, info)
    if not stat.S_ISDIR(info.st_mode):
        raise InputError(f"{src} is neither a folder nor a regular file")
    root = Path(os.path.realpath(src))
    walk = _Walk(root)
    try:
        walk.enter(root, "")
    except OSError as error:
        raise InputError(f"cannot read {src}: {_reason(error)}", advice="check its permissions") from error
    if not walk.files and not walk.diagnostics:
        raise InputError(f"{src} holds no file to translate")
    files = tuple(sorted(walk.files, key=lambda file: file.path))
    return Project(root, files, tuple(sorted(walk.diagnostics)))


def refuse_nesting(src: Path, out: Path) -> None:
    """Raise UsageError when SRC and OUT are the same or one lies inside the other, whatever links are between."""
    real_src, real_out = Path(os.path.realpath(src)), Path(os.path.realpath(out))
    advice = "give an OUT that lies beside SRC"
    if real_src == real_out:
        raise UsageError(f"SRC and OUT are the same: {src}", advice=advice)
    if real_out.is_relative_to(real_src):
        raise UsageError(f"OUT {out} lies inside SRC {src}", advice=advice)
    if real_src.is_relative_to(real_out):
        raise UsageError(f"SRC {src} lies inside OUT {out}", advice=advice)


def unreadable(path: str, error: OSError) -> Diagnostic:
    """Return the diagnostic of a file or folder that the system does not let us read."""
    return diagnose("T2M103", path, 1, 1, f"cannot be read: {_reason(error)}")


def _read_single(src: Path, info: os.stat_result) -> Project:
    location = Path(os.path.realpath(src))
    kind = _kind_of(src.name, location, info.st_mode)
    if kind == "other":
        raise InputError(f"{src} is no Python file", advice="give a .py or .ipynb file, or the folder of a project")
    try:
        location.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {src}: {_reason(error)}", advice="check its permissions") from error
    file = SourceFile(src.name, kind, location, stat.S_IMODE(info.st_mode))
    return Project(location.parent, (file,), single=True)


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def _kind_of(name: str, location: Path, mode: int) -> FileKind:
    suffix = os.path.splitext(name)[1].lower()
    if suffix in _PYTHON_SUFFIXES:
        return "python"
    if suffix == ".ipynb":
        return "notebook"
    if not suffix and mode & 0o111 and _has_python_shebang(location):
        return "python"
    return "other"


def _has_python_shebang(location: Path) -> bool:
    try:
        with location.open("rb") as stream:
            first = stream.read(128).split(b"\n", 1)[0]
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


class _Walk:
    """One walk over the folders of SRC; collects files and diagnostics."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[SourceFile] = []
        self.diagnostics: list[Diagnostic] = []

    def enter(self, folder: Path, prefix: str) -> None:
        """Collect what lies in ``folder``, whose path relative to the root is ``prefix``; OSError if not listable."""
        entries = self._entries(folder)
        if prefix and any(entry.name == "pyvenv.cfg" for entry in entries):
            return
        for entry in entries:
            name = entry.name
            if name in _VERSION_CONTROL or name in _CACHES or name.endswith(_SKIPPED_SUFFIXES):
                continue
            path = f"{prefix}/{name}" if prefix else name
            try:
                path.encode("utf-8")
            except UnicodeEncodeError:
                shown = os.fsencode(path).decode("utf-8", "backslashreplace")
                self.diagnostics.append(diagnose("T2M103", shown, 1, 1, "the name is no UTF-8; the file was left out"))
                continue
            try:
                self._visit(entry, path)
            except OSError as error:
                self.diagnostics.append(unreadable(path, error))

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def _visit(self, entry: os.DirEntry[str], path: str) -> None:
        if entry.is_symlink():
            self._visit_link(entry, path)
        elif entry.is_dir(follow_symlinks=False):
            self.enter(Path(entry.path), path)
        else:
            self._add_file(Path(entry.path), entry.stat(follow_symlinks=False), path)

    def _add_file(self, location: Path, info: os.stat_result, path: str) -> None:
        if not stat.S_ISREG(info.st_mode):  # reading a pipe would wait for ever
            message = "a pipe, socket or device; it was left out"
            self.diagnostics.append(diagnose("T2M103", path, 1, 1, message))
            return
        if not os.access(location, os.R_OK):
            self.diagnostics.append(diagnose("T2M103", path, 1, 1, "cannot be read: Permission denied"))
            return
        mode = stat.S_IMODE(info.st_mode)
        self.files.append(SourceFile(path, _kind_of(location.name, location, mode), location, mode))

    def _visit_link(self, entry: os.DirEntry[str], path: str) -> None:
        location = Path(entry.path)
        try:
            target = Path(os.path.realpath(location, strict=True))
        except FileNotFoundError:
            target = Path(os.path.realpath(location))  # a dangling link
        except OSError:  # ELOOP
            self._leave_link(path, "the link leads in a circle; it was left out")
            return
        if not target.is_relative_to(self.root):
            self._leave_link(path, "the link points outside SRC; what it points to was left out")
            return
        if location.parent.is_relative_to(target):
            self._leave_link(path, "the link leads back to a folder that holds it; it was left out")
            return
        if target.is_file():
            info = target.stat()
            if _kind_of(location.name, target, info.st_mode) == "python":
                self._add_file(target, info, path)
                return
        link = os.path.relpath(target, location.parent)
        self.files.append(SourceFile(path, "other", location, link=link))

    def _leave_link(self, path: str, message: str) -> None:
        self.diagnostics.append(diagnose("T2M104", path, 1, 1, message, CODES["T2M104"].advice))
