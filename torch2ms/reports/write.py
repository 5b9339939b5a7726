"""Write the report folder."""

from __future__ import annotations

from pathlib import Path

from torch2ms.errors import OutputError
from torch2ms.reports.diff import to_diff
from torch2ms.reports.html import to_html
from torch2ms.reports.json import to_json
from torch2ms.reports.markdown import to_markdown
from torch2ms.reports.model import Report
from torch2ms.reports.sarif import to_sarif

__all__ = ["write_reports"]

_FORMATS = {
    "report.html": to_html,
    "report.json": to_json,
    "report.sarif": to_sarif,
    "report.md": to_markdown,
    "changes.diff": to_diff,
}


def write_reports(report: Report, folder: Path) -> list[Path]:
    """Write every form of ``report`` into ``folder`` (made when missing) and return the files written, in fixed order.

    Equal reports give equal bytes. Raises OutputError when a file cannot be written.
    """
    written = []
    for name, render in _FORMATS.items():
        path = folder / name
        data = render(report).encode("utf-8", "surrogateescape")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            message = f"cannot write {path}: {error.strerror}"
            raise OutputError(message, advice="check the space and the permissions") from error
        written.append(path)
    return written
