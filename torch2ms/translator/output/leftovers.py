"""Folders that a killed run left beside OUT: half-written ones are cleared, what may be the user's is kept and told.

A run holds a lock on each hidden folder that it makes (``.OUT.torch2ms-...``), which ends with the process. What is
there without a lock is of a run that was killed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["OLD", "clear_leftovers", "hidden_folder", "lock"]

OLD = "torch2ms-old-"
_NEW = "torch2ms-"
_YOUNG = 60.0  # seconds in which a folder may not be locked yet


def hidden_folder(out: Path, *, is_old: bool = False) -> Path:
    """Make a folder beside OUT for what is written before it is OUT, or (``is_old``) for what was OUT."""
    return Path(tempfile.mkdtemp(prefix=f".{out.name}.{OLD if is_old else _NEW}", dir=out.parent))


@contextmanager
def lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder; gives False when another process has it, or nobody can know."""
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def clear_leftovers(out: Path, is_touched: Callable[[Path], bool], free_name: Callable[[Path], Path]) -> list[str]:
    """Clear what killed runs left beside OUT and return what was done, a sentence each.

    An OUT that was being replaced goes when it is as torch2ms wrote it (``is_touched``), and is kept as a backup else.
    """
    done: list[str] = []
    with suppress(OSError):
        found = sorted(out.parent.glob(f".{_escaped(out.name)}.{_NEW}*"))
        for folder in found:
            with suppress(OSError):
                done += _cleared(out, folder, is_touched, free_name)
    return done


def _cleared(
    out: Path, folder: Path, is_touched: Callable[[Path], bool], free_name: Callable[[Path], Path]
) -> Iterator[str]:
    if folder.is_symlink() or not folder.is_dir():
        return
    with lock(folder) as is_left:
        if not is_left or (not any(folder.iterdir()) and time.time() - folder.stat().st_mtime < _YOUNG):
            return
        if folder.name.startswith(f".{out.name}.{OLD}") and any(folder.iterdir()) and is_touched(folder):
            kept = free_name(out)
            folder.rename(kept)
            yield f"a run that was killed had moved the old OUT away; it is now {kept}"
            return
        shutil.rmtree(folder)
        yield f"removed {folder}, which a run that was killed left"


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
