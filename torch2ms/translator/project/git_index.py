"""The files that git tracks below a folder, read from the index of its work tree: ``frozenset({"train.py", ...})``.

Git itself is not run: the settings of a repository can name programs that git would start. The format is that of
``Documentation/gitformat-index.txt``, versions 2 to 4 with SHA-1 names.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

__all__ = ["tracked_files"]

_HEAD = struct.Struct(">4sII")
_FIXED = 62  # bytes of an entry before its name: times, ids, size, SHA-1, flags
_EXTENDED = 0x4000


def tracked_files(folder: Path) -> frozenset[str] | None:
    """Return the files below ``folder`` that git tracks, relative to it; None outside a work tree that can be read."""
    root = Path(os.path.realpath(folder))
    top = next((place for place in (root, *root.parents) if os.path.lexists(place / ".git")), None)
    index = _index_of(top / ".git") if top is not None else None
    if top is None or index is None:
        return None
    try:
        names = list(_names(index.read_bytes()))
    except (OSError, ValueError, IndexError, struct.error):
        return None
    prefix = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    return frozenset(name[len(prefix) :] for name in names if name.startswith(prefix))


def _index_of(git: Path) -> Path | None:
    """Return the index that belongs to a ``.git``: a folder, or a file that names one (worktrees, submodules)."""
    try:
        if git.is_file():
            text = git.read_text(encoding="utf-8")
            git = git.parent / text.partition("gitdir:")[2].strip()
        return git / "index" if (git / "index").is_file() else None
    except (OSError, ValueError):
        return None


def _names(data: bytes) -> Iterator[str]:
    magic, version, count = _HEAD.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index of git")
    at, name = _HEAD.size, b""
    for _ in range(count):
        start, (flags,) = at, struct.unpack_from(">H", data, at + _FIXED - 2)
        at += _FIXED + (2 if flags & _EXTENDED else 0)
        kept = 0
        if version == 4:  # the name follows the one before, whose end is cut
            cut, at = _number(data, at)
            kept = len(name) - cut
        end = data.index(b"\0", at)
        name = name[:kept] + data[at:end]
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield os.fsdecode(name)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of the variable width that git's packs use, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | (data[at] & 0x7F)
    return value, at + 1
