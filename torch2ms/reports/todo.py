"""What is left for a person, in the order in which it is worth doing.

``tasks(report)`` gives one task for each API or kind of error, with all its places. First come those that an entry
script reaches through its imports: they keep it from running. Then other code, tests, examples. Within a group, what
stops more scripts and stands at more places comes first. ``standings(report)`` says which scripts are ready.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.reports.model import FileReport, PackageReport, Place, Report

__all__ = ["GROUPS", "Group", "Standing", "Task", "standings", "tasks"]

Group = Literal["script", "code", "test", "example", "package"]
GROUPS: dict[Group, str] = {
    "script": "On a path of an entry script",
    "code": "Other code",
    "test": "Tests",
    "example": "Examples and documentation",
    "package": "Packages taken along",
}
# What a person has to write, by the hundreds of the code; codes that differ come first.
_EFFORT = {
    "T2M201": "an operator",
    "T2M202": "an operator",
    "T2M307": "a package",
    "T2M1": "a file",
    "T2M4": "a training step",
    "T2M9": "a report to us",
}
_TEST_FOLDERS, _EXAMPLE_FOLDERS = (
    frozenset({"test", "tests"}),
    frozenset({"example", "examples", "docs", "doc", "demo"}),
)


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do: an API that has no counterpart, a kind of error, or a file that could not be translated."""

    group: Group
    code: str  # of the diagnostics; "" of a file that could not be translated and has none
    name: str  # the API, or what the code is called
    advice: str
    effort: str  # what a person has to write: "a line", "an operator", "a training step", ...
    places: tuple[Place, ...]
    scripts: tuple[str, ...]  # the entry scripts that reach one of the places


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether an entry script can run on every path: ``ready``, or ``needs work`` at some places, the worst first.

    A path is any branch or function of a file that it imports: whether it is taken is not decided.
    """

    path: str
    state: Literal["ready", "needs work"]
    tasks: tuple[Task, ...] = field(default=())

    @property
    def blocked_by(self) -> tuple[str, ...]:
        """What has to be mended first, by name: ``torch.foo (T2M201)``, ``transformers (T2M307)``."""
        return tuple(f"{task.name} ({task.code})" if task.code else task.name for task in self.tasks)


def tasks(report: Report) -> tuple[Task, ...]:
    """Return all tasks of a report, those first that keep a script from running."""
    reached_by: dict[str, list[str]] = {}
    for script in report.scripts:
        for path in script.reaches:
            reached_by.setdefault(path, []).append(script.path)
    advice = {api.name: api.advice for api in report.apis}
    grouped: dict[tuple[Group, str, str], list[Diagnostic]] = {}
    for found in _errors(report):
        name = found.symbol if found.symbol else CODES[found.code].name if found.code in CODES else ""
        grouped.setdefault((_group(found.file, reached_by), found.code, name), []).append(found)
    made = [_task(key, group, advice, reached_by) for key, group in grouped.items()]
    made += [task for package in report.packages for task in _of_package(package, reached_by)]
    told = {place.file for task in made for place in task.places}
    made += [_failure(file, reached_by) for file in report.files if file.status == "failed" and file.path not in told]
    order = list(GROUPS)
    return tuple(
        sorted(made, key=lambda t: (order.index(t.group), -len(t.scripts), -len(t.places), t.code, t.name, t.places))
    )


def _of_package(package: PackageReport, reached_by: dict[str, list[str]]) -> list[Task]:
    """Return the tasks of a package: only errors that its import meets keep a script from running."""
    grouped: dict[tuple[str, str], list[Diagnostic]] = {}
    for found in package.diagnostics:
        if found.severity == Severity.ERROR:
            grouped.setdefault((found.code, found.symbol or CODES[found.code].name), []).append(found)
    met = {(found.file, found.code, found.symbol) for found in package.on_import}
    made = []
    for (code, name), group in grouped.items():
        scripts = {f.file: reached_by.get(f.file, []) for f in group if (f.file, code, f.symbol) in met}
        made.append(_task(("package", code, name), group, {}, scripts))
    return made


def standings(report: Report) -> tuple[Standing, ...]:
    """Return the entry scripts of SRC, each with what is left to do before it can run."""
    left = tasks(report)
    found = []
    for script in report.scripts:
        needed = tuple(task for task in left if script.path in task.scripts)
        found.append(Standing(script.path, "needs work" if needed else "ready", needed))
    return tuple(found)


def _errors(report: Report) -> list[Diagnostic]:
    """Return the errors, with one for each place of an API that is left and has none there."""
    errors = [found for found in report.diagnostics if found.severity == Severity.ERROR]
    told = {(found.symbol, found.file, found.line) for found in (*errors, *report.silenced)}
    for api in report.apis:
        code = {"unsupported": "T2M201", "unknown": "T2M202"}.get(api.status)
        for place in api.places if code else ():
            if code and (api.name, place.file, place.line) not in told:
                said = Diagnostic(place.file, place.line, place.column, code, Severity.ERROR, api.name, "", api.advice)
                errors.append(said)
    return errors


def _task(
    key: tuple[Group, str, str], found: list[Diagnostic], advice: dict[str, str], reached_by: dict[str, list[str]]
) -> Task:
    group, code, name = key
    places = tuple(sorted({Place(entry.file, entry.line, entry.column) for entry in found}))
    said = advice.get(name) or next((entry.advice for entry in found if entry.advice), "") or found[0].message
    effort = next((words for start, words in _EFFORT.items() if code.startswith(start)), "a line")
    return Task(group, code, name, said, effort, places, _scripts((place.file for place in places), reached_by))


def _failure(file: FileReport, reached_by: dict[str, list[str]]) -> Task:
    scripts = _scripts([file.path], reached_by)
    return Task(_group(file.path, reached_by), "", file.path, file.note, "a file", (Place(file.path, 1, 1),), scripts)


def _scripts(files: Iterable[str], reached_by: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(sorted({script for path in files for script in reached_by.get(path, ())}))


def _group(path: str, reached_by: dict[str, list[str]]) -> Group:
    """Return the group of a file, by the conventions of pytest and of projects for their folders."""
    pure = PurePosixPath(path)
    folders = set(pure.parts[:-1])
    if folders & _TEST_FOLDERS or pure.name.startswith("test_") or pure.stem.endswith("_test"):
        return "test"
    if folders & _EXAMPLE_FOLDERS:
        return "example"
    return "script" if reached_by.get(path) else "code"
