"""Load the tables: TOML to checked rows, with a compiled form kept in the user's cache directory.

The compiled form is JSON (data only), keyed by the content of every file it was made from and of the modules that made
it; it is rebuilt whenever anything differs or it cannot be read, and an unwritable cache directory only costs time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch2ms.errors import TableError
from torch2ms.mapping_tables import checks, lookup, schema
from torch2ms.mapping_tables.lookup import Tables

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - same code under its older name
    import tomli as tomllib

__all__ = ["DATA", "cache_directory", "load"]

DATA = Path(__file__).with_name("data")
RawRows = dict[str, dict[str, Any]]
_loaded: dict[Path, Tables] = {}  # what this process has read, by folder: programs are translated file by file


def load(mappings: tuple[str, ...] = (), *, store: bool = True) -> Tables:
    """Return the shipped tables with the rows of the users' own ``mappings`` over them (later ones win).

    Raises TableError when a table is wrong or a file of ``mappings`` cannot be read.
    """
    shipped = _loaded.get(DATA)
    if shipped is None:
        shipped = _loaded[DATA] = Tables(_compiled(_row_files(), root=DATA, store=store))
    if not mappings:
        return shipped
    rows = shipped.raw()
    for mapping in mappings:
        path = Path(mapping)
        rows.update(_compile([(path, _read(path))], root=None))
    return Tables(rows)


def _row_files() -> list[Path]:
    """Return the files that hold rows; ``facts`` has its own loader."""
    return sorted(path for path in DATA.rglob("*.toml") if path.relative_to(DATA).parts[0] != "facts")


def cache_directory() -> Path:
    """Return the folder for things that can be made again; it may not exist."""
    if given := os.environ.get("TORCH2MS_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "torch2ms"


def _compiled(paths: list[Path], root: Path, store: bool) -> RawRows:
    contents = [(path, _read(path)) for path in paths]
    digest = hashlib.blake2b(digest_size=16)
    for module in (__file__, checks.__file__, lookup.__file__, schema.__file__):
        digest.update(Path(module).read_bytes())
    for path, content in contents:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + content + b"\0")
    return _stored_or_compiled(digest.hexdigest(), contents, root) if store else _compile(contents, root)


def _stored_or_compiled(key: str, contents: list[tuple[Path, bytes]], root: Path) -> RawRows:
    store = cache_directory() / "tables.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(store.read_bytes())
        if stored["key"] == key:
            return dict(stored["rows"])
    rows = _compile(contents, root)
    with contextlib.suppress(OSError):
        _write_atomically(store, json.dumps({"key": key, "rows": rows}))
    return rows


def _write_atomically(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error


def _compile(contents: Iterable[tuple[Path, bytes]], root: Path | None) -> RawRows:
    """Return the raw rows of some files, checked, every short form written out."""
    rows: RawRows = {}
    for path, content in contents:
        shown = path.relative_to(root).as_posix() if root else str(path)
        try:
            table = tomllib.loads(content.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise TableError(f"{shown}: no TOML: {error}") from error
        for name, raw in checks.rows_of_file(shown, table).items():
            if name in rows and root is not None:
                raise TableError(f"{shown}: {name}: the row is also in {rows[name]['file']}")
            rows[name] = raw
    return rows
