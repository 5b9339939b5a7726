"""report.md: the report as a page for a pull request or a wiki (GitHub-flavoured Markdown)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.language import speaking
from torch2ms.reports.escape import one_line
from torch2ms.reports.model import ApiUse, LeftOut, PackageReport, Place, Report
from torch2ms.reports.summary import SEVERITIES, Summary, proof, summarize
from torch2ms.reports.todo import GROUPS, Standing, Task, standings, tasks

__all__ = ["to_markdown"]

_BLOCKS = 5  # shown for one script
_PLACES = 20  # shown for one API; the JSON report has all
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~&!@$])")
_LINK = re.compile(r"(?i)\b(https?|ftp|www)(?=[:.])")


def to_markdown(report: Report) -> str:
    """Return the report as Markdown: figures, scripts, tasks, errors and warnings, checklist, files, all APIs."""
    summary = summarize(report)
    with speaking("en"):  # as all of this page
        standing = proof(report)
    parts: list[str] = [
        "# Translation report",
        "",
        f"{_text(report.tool)}, target: {_text(str(report.target))}. {_text(standing.text)}",
        "",
        *_overview(report, summary),
        *_scripts(standings(report)),
        *_todo(tasks(report)),
        *_findings(report.diagnostics),
        *_checklist(report),
        *_files(report, summary),
        *_left_out(report.left_out),
        *_apis(report.apis),
        *_packages(report.packages),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _text(text: str) -> str:
    """Escape text so that Markdown shows it as it is, on one line; also within a table."""
    escaped = _ACTIVE.sub(r"\\\1", one_line(text))
    return _LINK.sub(lambda match: match.group()[0] + "\u2060" + match.group()[1:], escaped)


def _code(text: str) -> str:
    """Return text as a code span that survives backticks and, in a table, pipes."""
    line = one_line(text)
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line.replace('|', chr(92) + '|')}{pad}{fence}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "|".join(" --- " for _ in head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _places(places: Sequence[Place]) -> str:
    parts = []
    for file, group in groupby(places[:_PLACES], key=lambda place: place.file):
        lines = ", ".join(dict.fromkeys(str(place.line) for place in group))
        parts.append(f"{_code(file)}: {lines}")
    rest = len(places) - _PLACES
    return "; ".join(parts) + (f" and {rest} more" if rest > 0 else "")


def _overview(report: Report, summary: Summary) -> Iterator[str]:
    total = sum(summary.apis.values())
    yield from _table(
        ("", "total", "of these"),
        (
            ("files", str(len(report.files)), _nonzero(summary.files.items())),
            ("torch APIs", str(total), _nonzero(summary.apis.items())),
            ("places", str(sum(summary.uses.values())), _nonzero(summary.uses.items())),
            ("diagnostics", str(len(report.diagnostics)), _nonzero(summary.severities.items())),
            *([("silenced", str(len(report.silenced)), "")] if report.silenced else []),
        ),
    )


def _nonzero(counts: Iterable[tuple[object, int]]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts if count) or "none"


def _scripts(found: Sequence[Standing]) -> Iterator[str]:
    if not found:
        return
    ready = sum(standing.state == "ready" for standing in found)
    yield f"## {ready} of {len(found)} entry scripts can run on every path"
    yield ""
    yield from _table(
        ("script", "state", "tasks", "blocked by"),
        ((_code(entry.path), entry.state, str(len(entry.tasks) or ""), _first(entry.blocked_by)) for entry in found),
    )


def _first(names: Sequence[str]) -> str:
    rest = len(names) - _BLOCKS
    return ", ".join(map(_code, names[:_BLOCKS])) + (f" and {rest} more" if rest > 0 else "")


def _todo(left: Sequence[Task]) -> Iterator[str]:
    yield "## To do, in this order"
    yield ""
    if not left:
        yield "Nothing."
        yield ""
    for group, members in groupby(left, key=lambda task: task.group):
        yield f"### {GROUPS[group]}"
        yield ""
        yield from _table(
            ("what", "code", "places", "where", "to write", "advice"),
            (
                (_code(t.name), t.code, str(len(t.places)), _places(t.places), t.effort, _text(t.advice))
                for t in members
            ),
        )


def _findings(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    for severity in SEVERITIES:
        found = [diagnostic for diagnostic in diagnostics if diagnostic.severity == severity]
        if not found:
            continue
        yield f"## {str(severity).capitalize()}s"
        yield ""
        by_code = sorted(found, key=lambda diagnostic: diagnostic.code)
        for code, group in groupby(by_code, key=lambda diagnostic: diagnostic.code):
            yield from _code_section(code, list(group), severity)


def _code_section(code: str, group: list[Diagnostic], severity: Severity) -> Iterator[str]:
    entry = CODES.get(code)
    yield f"### {code} {entry.name if entry else ''}".rstrip()
    yield ""
    if entry:
        yield _text(" ".join((entry.meaning, entry.advice)).strip())
        yield ""
    if severity == Severity.NOTE:  # harmless: where is enough
        places = sorted(Place(entry.file, entry.line, entry.column) for entry in group)
        yield f"- {_places(places)}"
    else:
        for diagnostic in group:
            yield f"- {_code(f'{diagnostic.file}:{diagnostic.line}:{diagnostic.column}')} {_text(diagnostic.message)}"
    yield ""


def _checklist(report: Report) -> Iterator[str]:
    if not report.checklist:
        return
    yield "## Checklist"
    yield ""
    yield from _table(
        ("what", "source", "MindSpore", "where", "note"),
        (
            (
                _text(item.topic),
                _code(item.value),
                _code(item.mindspore),
                _places((item.place,)) if item.place else "",
                _text(item.note),
            )
            for item in report.checklist
        ),
    )


def _files(report: Report, summary: Summary) -> Iterator[str]:
    if not report.files:
        return
    yield "## Files"
    yield ""
    yield from _table(
        ("file", "status", "diagnostics", "note"),
        (
            (
                _code(file.path),
                file.status,
                _nonzero(summary.by_file[file.path].items()) if file.path in summary.by_file else "",
                _text(file.note),
            )
            for file in report.files
        ),
    )


def _packages(packages: Sequence[PackageReport]) -> Iterator[str]:
    """Yield what was found in packages that were taken along; notes are counted only."""
    for package in packages:
        yield f"## Package {_text(package.title)}"
        yield ""
        counts = _nonzero((severity, package.count(severity)) for severity in SEVERITIES)
        yield f"{len(package.files)} files, translated with the project. Diagnostics: {counts}."
        yield ""
        left = [found for found in package.diagnostics if found.severity > Severity.NOTE]
        yield from (line.replace("## ", "### ", 1) if line.startswith("##") else line for line in _findings(left))


def _left_out(left: Sequence[LeftOut]) -> Iterator[str]:
    if not left:
        return
    yield "## Left out of OUT"
    yield ""
    yield from _table(
        ("what", "because of", "size"),
        ((_code(entry.path), _text(entry.reason), entry.size_text) for entry in left),
    )


def _apis(apis: Sequence[ApiUse]) -> Iterator[str]:
    if not apis:
        return
    yield "## All torch APIs"
    yield ""
    yield from _table(
        ("torch", "status", "MindSpore", "fidelity", "places"),
        (
            (_code(api.name), api.status, ", ".join(map(_code, api.targets)), api.fidelity, str(len(api.places)))
            for api in apis
        ),
    )
