"""Write OUT: beside itself under another name, then renamed into place, so that it is there whole or not at all.

What may stand where OUT shall come:

- nothing, or an empty folder: OUT is written;
- anything else: refused without ``force``;
- with ``force``, a folder that torch2ms wrote (it holds ``torch2ms_report/manifest.json``) is replaced. When it holds a
  file that torch2ms did not write, or one that was changed since, the whole old folder is kept beside OUT as
  ``OUT.backup-1`` (``-2``, ...): trained weights and hand-made changes are never deleted;
- with ``force``, any other folder or file is refused all the same: torch2ms deletes nothing it did not write.

The manifest holds the digest of every file, and beside it ``emitted.zip`` the texts as they were written: what a later
``torch2ms update`` compares the user's files with.

Pipes, sockets and what cannot be read count as the user's. What an earlier run left that was killed goes, and is told.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from torch2ms.errors import InternalError, OutputError
from torch2ms.translator.output.leftovers import clear_leftovers, hidden_folder, lock
from torch2ms.translator.project.out_names import REPORT_NAME, is_report

__all__ = [
    "EMITTED",
    "MANIFEST",
    "MANIFEST_NAME",
    "Emitted",
    "OutFile",
    "check_out",
    "digest_of",
    "emit",
    "read_manifest",
    "user_changes",
    "write_new_file",
]

MANIFEST_NAME = "manifest.json"
EMITTED = "emitted.zip"
MANIFEST = f"{REPORT_NAME}/{MANIFEST_NAME}"
_CACHES = frozenset({"__pycache__"})  # what only running OUT leaves behind
_CHUNK = 1 << 20
_TEXT = 1 << 20  # bytes of a copied file that is kept as a text to merge with
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every file in the archive

_ADVICE = {
    errno.ENOSPC: "make room on the disk, or choose another OUT",
    errno.EDQUOT: "make room in your quota, or choose another OUT",
    errno.EROFS: "the file system is read-only; choose another OUT",
    errno.EACCES: "choose an OUT in a folder you may write to",
    errno.EPERM: "choose an OUT in a folder you may write to",
}


@dataclass(frozen=True, slots=True)
class OutFile:
    """One file of OUT: exactly one of ``data``, ``copy_of`` and ``link`` is given.

    ``path`` is relative to OUT, with ``/``. Python text given as ``data`` must parse, which is checked unless it was
    ``checked`` before; a file copied from SRC need not.
    """

    path: str
    data: bytes | None = None
    copy_of: Path | None = None
    link: str | None = None
    executable: bool = False
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Emitted:
    """What ``emit`` did: the number of files written, where an OUT that was replaced is kept, if it is, and what became
    of the folders of runs that were killed."""

    files: int
    backup: Path | None = None
    cleared: tuple[str, ...] = ()


def check_out(out: Path, *, force: bool = False) -> None:
    """Raise OutputError when ``emit`` would refuse to write to ``out``; worth asking before a long translation."""
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_dir():
        raise OutputError(f"{out} exists and is no folder", advice="choose another OUT")
    try:
        is_empty = not any(out.iterdir())
    except OSError as error:
        raise _output_error(out, error) from error
    if is_empty:
        return
    if not force:
        raise OutputError(f"{out} exists already", advice="choose another OUT, or replace it with --force")
    if _read_manifest(out) is None:
        raise OutputError(
            f"{out} was not written by torch2ms, so --force does not replace it",
            advice="choose another OUT, or delete the folder yourself",
        )


def emit(
    out: Path,
    files: Iterable[OutFile],
    *,
    force: bool = False,
    manifest: str = MANIFEST,
    about: Mapping[str, object] | None = None,
) -> Emitted:
    """Write ``files`` and a ``manifest`` of them, which also says what ``about`` holds, as the folder ``out``.

    ``files`` may be a generator: one file after the other is taken and written. Whatever ends the work before its time
    (a full disk, a missing permission, Ctrl-C, an exception of the generator), ``out`` stays as it was and nothing is
    left beside it. Raises OutputError, or InternalError for Python text that does not parse and for paths that are not
    inside OUT or given twice.
    """
    out = Path(os.path.abspath(out))  # a name to build others from, even for "."
    check_out(out, force=force)
    cleared = clear_leftovers(out, _is_touched, _free_name)
    with _created_parents(out):
        temporary: Path | None = None
        try:
            temporary = hidden_folder(out)
            with lock(temporary):
                count = _write_tree(temporary, files, manifest, about or {})
                temporary.chmod(0o777 & ~_umask())
                backup = _move_into_place(temporary, out)
            temporary = None
        except OSError as error:
            raise _output_error(out, error) from error
        finally:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)
    return Emitted(count, backup, tuple(cleared))


def write_new_file(path: Path, data: bytes) -> None:
    """Write one file, whole or not at all; raises OutputError when there is something at ``path``."""
    if os.path.lexists(path):
        raise OutputError(f"{path} exists already", advice="choose another OUT, or move it away")
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.torch2ms-", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as writer:
            writer.write(data)
        temporary.chmod(0o666 & ~_umask())
        temporary.rename(path)
        temporary = None
    except OSError as error:
        raise _output_error(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def _created_parents(out: Path) -> Iterator[None]:
    """Create the folders that lead to ``out``; remove those again when the work inside fails."""
    created: list[Path] = []
    try:
        for parent in reversed(out.parents):
            if not parent.exists():
                parent.mkdir()
                created.append(parent)
        yield
    except BaseException as error:
        for parent in reversed(created):
            try:
                parent.rmdir()
            except OSError:
                break
        if isinstance(error, OSError):
            raise _output_error(out, error) from error
        raise


def _write_tree(root: Path, files: Iterable[OutFile], manifest: str, about: Mapping[str, object]) -> int:
    digests: dict[str, str] = {}
    for file in files:
        _check_path(file.path, digests)
        digests[file.path] = _write_file(root / file.path, file)
    folder = str(PurePosixPath(manifest).parent)
    for path in (manifest, archive := f"{folder}/{EMITTED}"):
        _check_path(path, digests)
    digests[archive] = _keep_texts(root, [path for path in digests if not path.startswith(f"{folder}/")], archive)
    content = {"schema": 1, **about, "files": dict(sorted(digests.items()))}
    target = root / manifest
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")
    return len(digests) - 1


def _keep_texts(root: Path, paths: Iterable[str], archive: str) -> str:
    """Put the texts among the files of OUT into a zip, whose bytes depend on nothing else; return its digest."""
    target = root / archive
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as kept:
        for path in sorted(paths):
            location = root / path
            if location.is_symlink() or location.stat().st_size > _TEXT:
                continue
            data = location.read_bytes()
            if b"\0" not in data:
                entry = zipfile.ZipInfo(path, _LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                kept.writestr(entry, data)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def _check_path(path: str, taken: dict[str, str]) -> None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or str(pure) != path:
        raise InternalError(f"T2M900: not a path inside OUT: {path!r}")
    if path in taken or any(str(parent) in taken for parent in pure.parents):
        raise InternalError(f"T2M900: {path} would be written twice, or through a link")


def _write_file(target: Path, file: OutFile) -> str:
    """Write one file and return the digest of what was written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.link is not None:
        target.symlink_to(file.link)
        return f"link:{file.link}"
    if file.data is not None:
        if file.path.endswith(".py") and not file.checked:
            _check_parses(file.data, file.path)
        target.write_bytes(file.data)
        digest = hashlib.sha256(file.data).hexdigest()
    elif file.copy_of is not None:
        digest = _copy(file.copy_of, target)
    else:
        raise InternalError(f"T2M900: no content for {file.path}")
    if file.executable:
        mode = target.stat().st_mode
        target.chmod(mode | (mode & 0o444) >> 2)  # whoever may read may execute
    return digest


def _copy(source: Path, target: Path) -> str:
    """Copy in pieces, because a data set or a checkpoint may be larger than the memory."""
    digest = hashlib.sha256()
    with source.open("rb") as reader, target.open("xb") as writer:
        while chunk := reader.read(_CHUNK):
            digest.update(chunk)
            writer.write(chunk)
    return digest.hexdigest()


def _check_parses(data: bytes, path: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InternalError(
            f"T2M900: the text emitted for {path} is no valid Python: {error}", advice="please report this file"
        ) from error


def _move_into_place(temporary: Path, out: Path) -> Path | None:
    """Rename ``temporary`` to ``out``; return where the old folder is kept, None when there is nothing to keep."""
    if not out.exists() or not any(out.iterdir()):
        temporary.rename(out)
        return None
    keep = _is_touched(out)
    aside = _free_name(out) if keep else hidden_folder(out, is_old=True)
    with lock(out):
        out.rename(aside)
        try:
            temporary.rename(out)
        except BaseException:
            aside.rename(out)
            raise
        if keep:
            return aside
        shutil.rmtree(aside, ignore_errors=True)
        if not os.path.lexists(aside):
            return None
        kept = _free_name(out)  # something in it cannot be deleted
        aside.rename(kept)
        return kept


def _free_name(out: Path) -> Path:
    number = 1
    while os.path.lexists(candidate := out.with_name(f"{out.name}.backup-{number}")):
        number += 1
    return candidate


def read_manifest(out: Path) -> tuple[str, dict[str, Any]] | None:
    """Return the report folder's name and the manifest of what torch2ms wrote to ``out``; None when it did not."""
    for path in _manifests(out):
        try:
            data = path.read_bytes() if path.is_file() else b""
        except OSError:
            continue
        if is_report(data):
            return path.parent.name, json.loads(data)
    return None


def _read_manifest(out: Path) -> dict[str, str] | None:
    """Return path -> digest of what torch2ms wrote to ``out``, or None when it did not write it."""
    found = read_manifest(out)
    return found[1]["files"] if found is not None else None


def user_changes(out: Path) -> list[str]:
    """Return the files of an OUT that torch2ms wrote which the user changed, added or deleted since; [] of others."""
    written = _read_manifest(out)
    if written is None:
        return []
    try:
        changed = list(_other_files(out, written, set(_manifests(out))))
    except OSError:
        changed = []
    return sorted([*changed, *(path for path in written if not os.path.lexists(out / path))])


def _manifests(out: Path) -> list[Path]:
    """Return where the manifest may lie: the report folder steps aside where SRC has its name."""
    return [out / MANIFEST, *sorted(out.glob(f"{REPORT_NAME}_*/{MANIFEST_NAME}"))]


def _is_touched(out: Path) -> bool:
    """Whether ``out`` holds a file that torch2ms did not write, or that was changed since, or what cannot be read."""
    try:
        return any(_other_files(out, _read_manifest(out) or {}, set(_manifests(out))))
    except OSError:
        return True


def _other_files(out: Path, manifest: Mapping[str, str], manifests: Collection[Path]) -> Iterator[str]:
    """Yield the files that torch2ms did not write, or that are not as it wrote them."""

    def stop(error: OSError) -> None:
        raise error

    for folder, subfolders, names in os.walk(out, onerror=stop):
        subfolders[:] = [name for name in subfolders if name not in _CACHES]
        links = [name for name in subfolders if os.path.islink(os.path.join(folder, name))]
        for name in [*names, *links]:
            location = Path(folder, name)
            path = location.relative_to(out).as_posix()
            if manifest[path] != digest_of(location) if path in manifest else location not in manifests:
                yield path


def digest_of(location: Path) -> str | None:
    """Return the digest of a file or link as the manifest holds it; None for what cannot be read."""
    if location.is_symlink():
        return f"link:{location.readlink()}"
    digest = hashlib.sha256()
    if not location.is_file():  # reading a pipe would wait for ever
        return None
    try:
        with location.open("rb") as reader:
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _output_error(out: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    where = f" ({error.filename})" if error.filename and error.errno not in (errno.ENOSPC, errno.EDQUOT) else ""
    advice = _ADVICE.get(error.errno or 0, "")
    return OutputError(f"cannot write {out}: {reason}{where}", advice=advice)
