"""Annotations for GitHub Actions: one workflow command a diagnostic, shown at its line of a pull request.

Source of the format: GitHub, Workflow commands for GitHub Actions.
"""

from __future__ import annotations

from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.reports.escape import printable
from torch2ms.reports.model import Report

__all__ = ["to_github"]

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def to_github(report: Report, folder: str = "") -> str:
    """Return the annotations, the worst first, because GitHub shows only the first ten of each level.

    ``folder`` is where SRC lies in the repository, for GitHub's paths begin there.
    """
    found = sorted(report.diagnostics, key=lambda entry: (-entry.severity, entry))
    return "".join(f"{_annotation(entry, folder)}\n" for entry in found)


def _annotation(found: Diagnostic, folder: str) -> str:
    path = f"{folder}/{found.file}" if folder not in ("", ".") else found.file
    name = CODES[found.code].name if found.code in CODES else ""
    places = {"file": path, "line": str(max(1, found.line)), "col": str(max(1, found.column))}
    keys = ",".join(f"{key}={_property(value)}" for key, value in {**places, "title": f"{found.code} {name}"}.items())
    advice = f"\n{found.advice}" if found.advice else ""
    return f"::{_LEVELS[found.severity]} {keys}::{_data(printable(found.message + advice))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
