"""Read SRC: which files there are, and for each Python file its text, encoding, newlines and syntax tree.

What is read: every file below SRC, except version control (``.git``, ``.hg``, ...), caches (``__pycache__``, ``*.pyc``,
``.mypy_cache``, ...), what ``project.selection`` leaves out, and large data. Links are never followed out
of SRC and folders behind links are never entered, so that no link can lead in a circle:

- a link to a Python file of SRC is read as a file of its own, because a module of that name can be imported;
- every other link that stays inside SRC remains a link, written relative to its folder;
- a link that leaves SRC or leads in a circle is left out and reported (T2M104).

A ``Project`` holds no text: files are read when they are needed, so memory stays flat however large SRC is.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from torch2ms.diagnostics import CODES, Diagnostic
from torch2ms.errors import InputError, UsageError
from torch2ms.reports.model import LeftOut
from torch2ms.translator.project.notebooks import read_notebook
from torch2ms.translator.project.selection import EXCLUDED, IGNORED, Selection, is_foreign
from torch2ms.translator.project.source_text import SourceText, decode, diagnose

__all__ = [
    "FileKind",
    "PackageFiles",
    "Project",
    "SourceFile",
    "kind_of",
    "mentions_torch",
    "read_project",
    "refuse_nesting",
    "with_imported",
]

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
    size: int = 0
    is_excluded: bool = False  # the user excluded it, but the program imports it: it is copied

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
class PackageFiles:
    """What comes along of a package that is translated with SRC, under its own name beside SRC's files."""

    name: str  # of the distribution
    version: str  # "" where nothing says it
    modules: tuple[str, ...]  # its top-level modules
    files: frozenset[str]  # paths in OUT, of those that SRC reaches and of their data and licence
    compiled: frozenset[str] = frozenset()  # compiled modules that are reached and stay behind: "torchvision/_C"
    requires: tuple[str, ...] = ()  # its requirements, as its metadata says them


@dataclass(frozen=True, slots=True)
class Project:
    """SRC as it was found: its files sorted by path, and what could not be read at all."""

    root: Path
    files: tuple[SourceFile, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    single: bool = False  # SRC is one file; root is its folder
    left_out: tuple[LeftOut, ...] = ()
    aside: tuple[SourceFile, ...] = ()  # Python files below what was left out, which the program may import
    data_limit: int | None = None
    packages: tuple[PackageFiles, ...] = ()  # taken along: their files are among ``files``

    @property
    def python_files(self) -> tuple[SourceFile, ...]:
        """The files that hold Python: modules, scripts and notebooks."""
        return tuple(file for file in self.files if file.kind != "other" and file.link is None)


def mentions_torch(data: bytes) -> bool:
    """Whether the bytes of a file hold the word torch anywhere; no other file can use its API by name."""
    return b"torch" in data


def read_project(
    src: Path, *, out: Path | None = None, exclude: Collection[str] = (), data_limit: int | None = None
) -> Project:
    """Return the files of ``src``, a folder or one file.

    ``out`` is only compared with ``src``: neither may lie inside the other (UsageError). ``exclude`` holds patterns as
    in a ``.gitignore``; data of more than ``data_limit`` bytes in one folder is left out. Raises InputError when
    ``src`` does not exist, cannot be listed, or holds no file.
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
    walk = _Walk(root, Selection(root, tuple(exclude)))
    try:
        walk.enter(root, "")
    except OSError as error:
        raise InputError(f"cannot read {src}: {_reason(error)}", advice="check its permissions") from error
    if not walk.files and not walk.diagnostics:
        raise InputError(f"{src} holds no file to translate")
    project = Project(
        root,
        tuple(sorted(walk.files, key=lambda file: file.path)),
        tuple(sorted(walk.diagnostics)),
        left_out=tuple(sorted(walk.left_out)),
        aside=tuple(sorted(walk.aside, key=lambda file: file.path)),
        data_limit=data_limit,
    )
    return project if data_limit is None else _without_large_data(project, data_limit)


def with_imported(project: Project, imported: Collection[str]) -> Project:
    """Return the project with those of its files aside that the program imports.

    A file that the user excluded is copied. Elsewhere all that was left out together is the program's: where a
    ``.gitignore`` names ``lib/`` and git does not say what it tracks, ``lib/config.yaml`` belongs to ``lib/a.py``.
    """
    if not imported:
        return project
    walk = _Walk(project.root, Selection(project.root))
    left, files = [], []
    for entry in project.left_out:
        below = [file for file in project.aside if file.path in imported and entry.holds(file.path)]
        if not below or entry.reason.startswith(EXCLUDED):
            files += [replace(file, is_excluded=True) for file in below]
            left += [] if [file.path for file in below] == [entry.path] else [entry]
        elif entry.path.endswith("/"):
            walk.enter(project.root / entry.path, entry.path.rstrip("/"), is_wanted=True)
        else:
            files += below
    found = {file.path: file for file in (*project.files, *files, *walk.files)}
    whole = replace(
        project,
        files=tuple(found[path] for path in sorted(found)),
        diagnostics=tuple(sorted({*project.diagnostics, *walk.diagnostics})),
        left_out=tuple(sorted({*left, *walk.left_out})),
    )
    return whole if project.data_limit is None else _without_large_data(whole, project.data_limit)


def _without_large_data(project: Project, limit: int) -> Project:
    """Leave out folders without Python, and single files of data, that are larger than ``limit`` bytes."""
    code = {str(parent) for file in project.python_files for parent in PurePosixPath(file.path).parents}
    sizes: dict[str, list[SourceFile]] = defaultdict(list)
    for file in project.files:
        if file.kind == "other" and file.link is None:
            sizes[_data_of(file.path, code)].append(file)
    large = {path: files for path, files in sizes.items() if sum(file.size for file in files) > limit}
    gone = {file.path for files in large.values() for file in files}
    left = (LeftOut(path, "large data", sum(f.size for f in files), len(files)) for path, files in large.items())
    kept = tuple(file for file in project.files if file.path not in gone)
    return replace(project, files=kept, left_out=tuple(sorted((*project.left_out, *left))))


def _data_of(path: str, code: Collection[str]) -> str:
    """Return the outermost folder of a file that holds no Python, with a slash behind it; else the file itself."""
    folders = [str(parent) for parent in PurePosixPath(path).parents if str(parent) not in code and str(parent) != "."]
    return f"{folders[-1]}/" if folders else path


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
    kind = kind_of(src.name, location, info.st_mode)
    if kind == "other":
        raise InputError(f"{src} is no Python file", advice="give a .py or .ipynb file, or the folder of a project")
    try:
        location.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {src}: {_reason(error)}", advice="check its permissions") from error
    file = SourceFile(src.name, kind, location, stat.S_IMODE(info.st_mode), size=info.st_size)
    return Project(location.parent, (file,), single=True)


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def kind_of(name: str, location: Path, mode: int) -> FileKind:
    """Return what a file is, by its name or, where it has no suffix and can be run, by its first line."""
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

    def __init__(self, root: Path, selection: Selection) -> None:
        self.root = root
        self.selection = selection
        self.files: list[SourceFile] = []
        self.aside: list[SourceFile] = []
        self.left_out: list[LeftOut] = []
        self.diagnostics: list[Diagnostic] = []

    def enter(self, folder: Path, prefix: str, *, is_wanted: bool = False) -> None:
        """Collect what lies in ``folder``, whose path relative to the root is ``prefix``; OSError if not listable.

        With ``is_wanted`` the folder is the program's, whatever its name and ``.gitignore`` tell.
        """
        entries = self._entries(folder)
        names = {entry.name for entry in entries}
        reason = self.selection.folder_reason(prefix, names) if prefix else ""
        if reason and (is_foreign(reason) or not is_wanted):
            self._leave_out(folder, f"{prefix}/", reason)
            return
        self.selection.enter(prefix, names)
        for entry, path in self._of_users(entries, prefix):
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                reason = "" if is_wanted else self.selection.reason(path, is_folder=is_folder)
                if reason:
                    self._leave_out(Path(entry.path), f"{path}/" if is_folder else path, reason)
                else:
                    self._visit(entry, path, is_wanted)
            except OSError as error:
                self.diagnostics.append(unreadable(path, error))

    def _of_users(self, entries: list[os.DirEntry[str]], prefix: str) -> Iterator[tuple[os.DirEntry[str], str]]:
        """Yield the entries that may be the user's own, each with its path relative to the root."""
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
            yield entry, path

    def _leave_out(self, location: Path, path: str, reason: str) -> None:
        """Note what is left out, and the Python files in it that the program may import."""
        inner = _Walk(self.root, self.selection)
        if path.endswith("/") and not is_foreign(reason):
            inner.enter(location, path.rstrip("/"), is_wanted=True)
        elif location.is_file() and not location.is_symlink():
            inner._add_file(location, location.stat(), path)
        has_python = any(file.kind != "other" for file in inner.files)
        if reason == IGNORED and inner.files and not has_python and not self.selection.has_git:
            self.files += inner.files
            self.left_out += inner.left_out
            self.diagnostics += inner.diagnostics
            return
        self.left_out.append(LeftOut(path, reason))
        self.aside += [file for file in inner.files if file.kind == "python" and file.link is None]

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def _visit(self, entry: os.DirEntry[str], path: str, is_wanted: bool) -> None:
        if entry.is_symlink():
            self._visit_link(entry, path)
        elif entry.is_dir(follow_symlinks=False):
            self.enter(Path(entry.path), path, is_wanted=is_wanted)
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
        kind = kind_of(location.name, location, mode)
        self.files.append(SourceFile(path, kind, location, mode, size=info.st_size))

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
            if kind_of(location.name, target, info.st_mode) == "python":
                self._add_file(target, info, path)
                return
        link = os.path.relpath(target, location.parent)
        self.files.append(SourceFile(path, "other", location, link=link))

    def _leave_link(self, path: str, message: str) -> None:
        self.diagnostics.append(diagnose("T2M104", path, 1, 1, message, CODES["T2M104"].advice))
