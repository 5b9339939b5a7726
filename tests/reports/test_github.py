"""Annotations for GitHub: levels, places, escapes, and the worst first."""

from __future__ import annotations

from torch2ms.config import Target
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.reports.github import to_github
from torch2ms.reports.model import Report


def report_of(*found: Diagnostic) -> Report:
    return Report("torch2ms 0", Target(), (), (), (), found)


def test_every_diagnostic_is_an_annotation_the_worst_first() -> None:
    note = Diagnostic("a.py", 1, 2, "T2M301", Severity.NOTE, "", "dropped")
    error = Diagnostic("b.py", 3, 4, "T2M202", Severity.ERROR, "torch.x", "100% unknown", "write it\nby hand")
    assert to_github(report_of(note, error)).splitlines() == [
        "::error file=b.py,line=3,col=4,title=T2M202 unknown-api::100%25 unknown%0Awrite it%0Aby hand",
        "::notice file=a.py,line=1,col=2,title=T2M301 device-dropped::dropped",
    ]


def test_paths_begin_at_the_repository_and_end_no_command() -> None:
    found = Diagnostic("a,b:c\n::error::x.py", 0, 0, "T2M101", Severity.WARNING, "", "m")
    text = to_github(report_of(found), "sub/src")
    assert (
        text == "::warning file=sub/src/a%2Cb%3Ac%0A%3A%3Aerror%3A%3Ax.py,line=1,col=1,title=T2M101 syntax-error::m\n"
    )
    assert to_github(report_of(), ".") == ""
