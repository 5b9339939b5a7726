"""report.json: the whole report for machines, as docs/report.schema.json describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.errors import InternalError
from torch2ms.language import speaking
from torch2ms.reports.escape import printable
from torch2ms.reports.layout import laid_out
from torch2ms.reports.model import ApiUse, ChecklistItem, FileReport, PackageReport, Place, Report
from torch2ms.reports.summary import SEVERITIES, Proof, Summary, proof, summarize
from torch2ms.reports.todo import Task, standings, tasks

__all__ = ["SCHEMA_VERSION", "to_json"]

SCHEMA_VERSION = 1


def to_json(report: Report) -> str:
    """Return the report as JSON text: schema version 1, UTF-8 safe, deterministic, ending with a newline.

    Raises InternalError when ``report.facts`` holds something JSON cannot say.
    """
    summary = summarize(report)
    target = report.target
    with speaking("en"):  # machines read it
        standing = proof(report)
    document: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "tool": report.tool,
        "target": {
            "mindspore": f"{target.mindspore[0]}.{target.mindspore[1]}",
            "device": target.device,
            "api": target.api,
            "exact": target.exact,
        },
        "proof": {
            "level": standing.level,
            "mapped": standing.mapped,
            "executed": len(standing.executed),
            "text": standing.text,
        },
        "summary": _summary(report, summary),
        "scripts": [
            {
                "path": printable(entry.path),
                "state": entry.state,
                "tasks": len(entry.tasks),
                "blocked_by": [printable(name) for name in entry.blocked_by],
            }
            for entry in standings(report)
        ],
        "todo": [_task(task) for task in tasks(report)],
        "files": [_file(file, summary.by_file.get(file.path, {})) for file in report.files],
        "apis": [_api(api, standing) for api in report.apis],
        "checklist": [_item(item) for item in report.checklist],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in report.diagnostics],
        "silenced": [_diagnostic(diagnostic) for diagnostic in report.silenced],
        "left_out": [
            {"path": printable(entry.path), "reason": printable(entry.reason), "size": entry.size, "files": entry.files}
            for entry in report.left_out
        ],
        "packages": [_package(package, standing) for package in report.packages],
        "facts": _plain(report.facts, "facts"),
    }
    return laid_out(document, levels=2) + "\n"


def _summary(report: Report, summary: Summary) -> dict[str, Any]:
    worst = report.worst
    return {
        "files": {"total": len(report.files), **summary.files},
        "apis": {"total": len(report.apis), **summary.apis},
        "uses": {"total": sum(summary.uses.values()), **summary.uses},
        "diagnostics": {str(severity): count for severity, count in summary.severities.items()},
        "silenced": len(report.silenced),
        "left_out": len(report.left_out),
        "worst": None if worst is None else str(worst),
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "group": task.group,
        "code": task.code,
        "name": printable(task.name),
        "advice": printable(task.advice),
        "effort": task.effort,
        "places": [_place(place) for place in task.places],
        "scripts": [printable(path) for path in task.scripts],
    }


def _file(file: FileReport, counts: Mapping[Severity, int]) -> dict[str, Any]:
    return {
        "path": printable(file.path),
        "status": file.status,
        "changed": file.changed,
        "note": printable(file.note),
        "diagnostics": {str(severity): counts.get(severity, 0) for severity in SEVERITIES},
    }


def _api(api: ApiUse, standing: Proof) -> dict[str, Any]:
    return {
        "name": printable(api.name),
        "status": api.status,
        "targets": list(api.targets),
        "fidelity": api.fidelity,
        "executed": api.name in standing.executed,
        "advice": printable(api.advice),
        "places": [_place(place) for place in api.places],
    }


def _package(package: PackageReport, standing: Proof) -> dict[str, Any]:
    counts: dict[str, dict[Severity, int]] = {}
    for found in package.diagnostics:
        counts.setdefault(found.file, dict.fromkeys(SEVERITIES, 0))[found.severity] += 1
    return {
        "name": printable(package.name),
        "version": printable(package.version),
        "files": [_file(file, counts.get(file.path, {})) for file in package.files],
        "apis": [_api(api, standing) for api in package.apis],
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in package.diagnostics],
        "silenced": [_diagnostic(diagnostic) for diagnostic in package.silenced],
    }


def _item(item: ChecklistItem) -> dict[str, Any]:
    return {
        "topic": item.topic,
        "value": printable(item.value),
        "place": None if item.place is None else _place(item.place),
        "mindspore": printable(item.mindspore),
        "note": printable(item.note),
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "file": printable(diagnostic.file),
        "line": diagnostic.line,
        "column": diagnostic.column,
        "symbol": printable(diagnostic.symbol),
        "message": printable(diagnostic.message),
        "advice": printable(diagnostic.advice),
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": printable(place.file), "line": place.line, "column": place.column}


def _plain(value: object, where: str) -> Any:
    """Return ``value`` as plain JSON data; sets become sorted lists."""
    match value:
        case str():
            return printable(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {printable(str(key)): _plain(item, f"{where}.{key}") for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
        case set() | frozenset():
            return sorted((_plain(item, where) for item in value), key=repr)
    raise InternalError(f"{where}: {type(value).__name__} cannot be written to report.json")
