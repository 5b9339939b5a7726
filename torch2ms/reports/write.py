"""Write the report in all its forms: into OUT, or into a folder of its own, where no file of others is replaced."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from torch2ms.errors import OutputError
from torch2ms.reports.diff import to_diff
from torch2ms.reports.html import to_html
from torch2ms.reports.json import to_json
from torch2ms.reports.markdown import to_markdown
from torch2ms.reports.model import Report
from torch2ms.reports.sarif import to_sarif

__all__ = ["rendered", "write_reports"]

_MANIFEST = "manifest.json"

_FORMATS = {
    "report.html": to_html,
    "report.json": to_json,
    "report.sarif": to_sarif,
    "report.md": to_markdown,
    "changes.diff": to_diff,
}


def rendered(report: Report) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of every form of ``report``, in fixed order; equal reports give equal bytes."""
    for name, render in _FORMATS.items():
        yield name, render(report).encode("utf-8", "surrogateescape")


def write_reports(report: Report, folder: Path) -> list[Path]:
    """Write every form of ``report`` into ``folder`` (made when missing) and return the files written, in fixed order.

    Files of an earlier report are replaced, as long as they are as they were written. Raises OutputError for any other
    file of one of the names, and where a file cannot be written.
    """
    digests: dict[str, str] = {}
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_others(folder)
        for name, data in rendered(report):
            path = folder / name
            path.write_bytes(data)
            digests[name] = hashlib.sha256(data).hexdigest()
        path = folder / _MANIFEST
        path.write_text(json.dumps({"schema": 1, "files": digests}, indent=1) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise OutputError(message, advice="check the space and the permissions") from error
    return [folder / name for name in digests]


def _refuse_others(folder: Path) -> None:
    """Raise OutputError when the folder has a file of a report's name that is no report, or was changed."""
    held = [name for name in (*_FORMATS, _MANIFEST) if os.path.lexists(folder / name)]
    written = _written(folder / _MANIFEST) if held else {}
    for name in held:
        path = folder / name
        is_own = path.is_file() and not path.is_symlink() and (name == _MANIFEST or _digest(path) == written.get(name))
        if not is_own or not written:
            raise OutputError(f"{path} is no report that torch2ms wrote", advice="give another folder for the report")


def _written(manifest: Path) -> Mapping[str, str]:
    try:
        content = json.loads(manifest.read_bytes()) if manifest.is_file() else {}
        files = content["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return files if isinstance(files, dict) and set(files) <= set(_FORMATS) else {}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
