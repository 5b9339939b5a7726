"""Translate SRC again and merge with what the user changed in OUT: ``torch2ms update``.

What the last translation wrote stands, compressed, in OUT's report folder, so the three texts of a merge are always at
hand: that one, the user's and the new one. Translating the old SRC again would need the old SRC and the old torch2ms.
OUT is built anew beside itself, with the user's files linked or merged in, and takes the old one's place at the end.
"""

from __future__ import annotations

import ast
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from torch2ms.config import Options
from torch2ms.errors import OutputError, UsageError
from torch2ms.reports.model import Report
from torch2ms.translator.output.emit import EMITTED, digest_of, read_manifest
from torch2ms.translator.output.leftovers import hidden_folder, lock
from torch2ms.translator.output.merge import merge
from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.project.source_tree import refuse_nesting

__all__ = ["Update", "last_settings", "update_project"]

_BESIDE = ".torch2ms-new"  # behind the name of a new version that cannot be merged
_CACHES = frozenset({"__pycache__"})


@dataclass(frozen=True, slots=True)
class Update:
    """What became of the files of OUT, by path; what is as it was is not listed."""

    updated: list[str] = field(default_factory=list)  # translated anew; the user had not changed them
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)  # no longer in SRC, and not changed by the user
    kept: list[str] = field(default_factory=list)  # the user's changes, additions and deletions
    merged: list[str] = field(default_factory=list)  # both changed, in different places
    conflicts: list[str] = field(default_factory=list)  # to be settled by the user, each with the reason

    def to_json(self) -> dict[str, list[str]]:
        """Return the lists by their names."""
        return {entry.name: sorted(getattr(self, entry.name)) for entry in fields(self)}


def last_settings(out: Path) -> dict[str, Any]:
    """Return what the command line of the last translation into ``out`` said; UsageError where there was none."""
    found = read_manifest(out) if out.is_dir() else None
    if found is None:
        raise UsageError(f"{out} was not written by torch2ms", advice="torch2ms translate SRC OUT writes it first")
    folder, manifest = found
    if not (out / folder / EMITTED).is_file():
        raise UsageError(
            f"{out} does not hold what was translated the last time", advice="translate anew, with --force"
        )
    settings = manifest.get("settings", {})
    return dict(settings) if isinstance(settings, dict) else {}


def update_project(
    src: Path, out: Path, options: Options | None = None, *, progress: Callable[[str], None] | None = None
) -> tuple[Report, Update]:
    """Bring ``out`` up to date with ``src``; return the report of the new translation and what became of the files.

    Raises UsageError, InputError, OutputError or TableError; then OUT is as it was.
    """
    refuse_nesting(src, out)
    last_settings(out)
    out = Path(os.path.realpath(out))  # a link to OUT stays one
    try:
        hidden = hidden_folder(out)
    except OSError as error:
        raise OutputError(f"cannot write beside {out}: {error.strerror}") from error
    try:
        with lock(hidden):
            new = hidden / "new"
            report = translate_project(src, new, options, progress=progress)
            made = _Merger(out, new).run()
            _replace(out, new, hidden / "old")
    except OSError as error:
        raise OutputError(f"cannot update {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return report, made


def _replace(out: Path, new: Path, aside: Path) -> None:
    shutil.copymode(out, new)
    with lock(out):
        out.rename(aside)
        try:
            new.rename(out)
        except BaseException:
            aside.rename(out)
            raise


class _Merger:
    """Brings the user's files of ``out`` into ``new``, a fresh translation."""

    def __init__(self, out: Path, new: Path) -> None:
        before, now = read_manifest(out), read_manifest(new)
        if before is None or now is None:
            raise UsageError(f"{out} holds no manifest of torch2ms")
        self.out, self.new = out, new
        self.reports = {before[0], now[0]}
        self.before: dict[str, str] = self._of_users(before[1]["files"])
        self.now: dict[str, str] = self._of_users(now[1]["files"])
        self.archive = out / before[0] / EMITTED
        self.made = Update()

    def _of_users(self, files: dict[str, str]) -> dict[str, str]:
        return {path: digest for path, digest in files.items() if path.partition("/")[0] not in self.reports}

    def run(self) -> Update:
        """Merge every file and return what became of it."""
        present = set()
        with zipfile.ZipFile(self.archive) as self.texts:
            for path in self._present():
                present.add(path)
                self._settle(path, digest_of(self.out / path))
            for path in sorted(self.before.keys() - present):
                self._deleted(path)
        for path in sorted(self.now.keys() - self.before.keys() - present):
            self.made.added.append(path)
        return self.made

    def _present(self) -> Iterator[str]:
        """Yield the files and links of OUT; make its folders in the new one, for empty ones count as well."""
        for folder, subfolders, names in os.walk(self.out):
            here = Path(folder)
            subfolders[:] = sorted(name for name in subfolders if name not in _CACHES)
            if here == self.out:
                subfolders[:] = [name for name in subfolders if name not in self.reports]
            links = [name for name in subfolders if (here / name).is_symlink()]
            for name in sorted([*names, *links]):
                yield (here / name).relative_to(self.out).as_posix()

    def _settle(self, path: str, mine: str | None) -> None:
        """Decide about a file that OUT holds."""
        old, new = self.before.get(path), self.now.get(path)
        if old is not None and mine == old:
            if new is None:
                self.made.removed.append(path)
            elif new != old:
                self.made.updated.append(path)
        elif new is None:
            self._keep(path)
            if old is not None:
                self._conflict(path, "changed by you, and SRC no longer has it")
        elif new == old:
            self._keep(path)
        elif new != mine:
            self._merge(path)

    def _deleted(self, path: str) -> None:
        """Decide about a file that the user deleted from OUT."""
        if path not in self.now:
            return
        if self.now[path] == self.before[path]:
            (self.new / path).unlink()
            self.made.kept.append(path)
        else:
            self._conflict(path, "deleted by you, and changed since: it is there again")

    def _keep(self, path: str) -> None:
        """Put the user's file in the place of the new one, if there is one."""
        target = self.new / path
        if any(parent.is_symlink() or parent.is_file() for parent in target.parents) or (
            target.is_dir() and not target.is_symlink()
        ):
            moved = self.new / f"{path.replace('/', '_')}{_BESIDE}"
            self._conflict(path, f"the translation has a folder or file in its way; yours is now {moved.name}")
            target = moved
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        source = self.out / path
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:  # a file system without links
            shutil.copy2(source, target, follow_symlinks=False)
        self.made.kept.append(path)

    def _merge(self, path: str) -> None:
        """Merge a file that both the user and the new translation changed."""
        mine, theirs = _text(self.out / path), _text(self.new / path)
        base: str | None
        try:
            base = self.texts.read(path).decode("utf-8", "surrogateescape")
        except KeyError:
            base = "" if path not in self.before else None
        if mine is None or theirs is None or base is None:
            beside = self.new / f"{path}{_BESIDE}"
            (self.new / path).rename(beside)
            self._keep(path)
            self._conflict(path, f"no text that could be merged; the new version is {beside.name} beside it")
            return
        text, conflicts = merge(base, mine, theirs)
        target = self.new / path
        target.write_bytes(text.encode("utf-8", "surrogateescape"))
        shutil.copymode(self.out / path, target)
        if conflicts:
            self._conflict(path, f"{conflicts} place{'s' * (conflicts != 1)} between <<<<<<< and >>>>>>>")
        elif path.endswith(".py") and not _parses(text) and _parses(mine):
            self._conflict(path, "merged, but no valid Python now")
        else:
            self.made.merged.append(path)

    def _conflict(self, path: str, reason: str) -> None:
        self.made.conflicts.append(f"{path}: {reason}")


def _text(location: Path) -> str | None:
    """Return the text of a file, bytes that are no UTF-8 carried along; None for links and for what is no text."""
    if location.is_symlink() or not location.is_file():
        return None
    data = location.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
