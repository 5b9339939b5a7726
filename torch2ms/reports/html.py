"""report.html: one self-contained page, without network, that shows everything the report holds.

The page carries the report as JSON and builds its lists and diffs in the browser, each diff when it is opened. A
content security policy with the hashes of the page's own script and style forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Any

from torch2ms.diagnostics import CODES
from torch2ms.language import counted, current, page_texts, told, tr
from torch2ms.reports.escape import printable
from torch2ms.reports.model import Report
from torch2ms.reports.sides import PageBudget, file_segments
from torch2ms.reports.summary import Proof, Summary, proof, summarize
from torch2ms.reports.todo import GROUPS, Task, standings, tasks

__all__ = ["to_html"]

_DATA = "\0data\0"  # in the rendered template, where the JSON of the report goes, with every "<" escaped
_SCRIPTS = ("report.syntax.js", "report.diff.js", "report.lists.js", "report.js")


def to_html(report: Report) -> str:
    """Return the page. Its size is bounded: ``torch2ms.reports.sides`` says what is cut, and the page says where."""
    from markupsafe import Markup

    report = report.in_language()
    summary, standing = summarize(report), proof(report)
    template, style, script = _frame()
    page: str = template.render(
        report=report,
        language={"en": "en", "zh": "zh-CN"}[current()],
        summary=summary,
        proof=standing,
        facts=_facts(report),
        bars=_bars(summary),
        besides=_besides(summary),
        scripts=standings(report),
        codes=sorted({entry.code for entry in report.diagnostics}),
        style=Markup(style),  # our own files, not the user's text
        script=Markup(script),
        data=Markup(_DATA),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    before, _, behind = page.rpartition(_DATA)
    # The data is most of the page, and the template would copy it twice.
    return "".join((before, *_pieces(_data(report, standing)), behind.rstrip("\n"), "\n"))


@lru_cache(maxsize=1)
def _frame() -> tuple[Any, str, str]:
    """Return the template, the style and the script, which are the same for every report."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["printable"] = printable
    environment.globals.update(_=tr, count=counted, noun=_noun, told=told)
    script = "(() => {\n'use strict';\n" + "\n".join(map(_part, _SCRIPTS)) + "\n})();\n"
    return environment.from_string(_part("report.html.j2")), _part("report.css"), script


def _noun(number: int, noun: str) -> str:
    """Return the heading of a count: the plural in English, one form elsewhere."""
    return counted(number, noun).partition(" ")[2] if current() == "en" else tr(noun)


def _part(name: str) -> str:
    return (resources.files("torch2ms") / "templates" / name).read_text(encoding="utf-8").strip("\n")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _pieces(data: dict[str, Any]) -> Iterator[str]:
    """Yield JSON in small pieces, so that a large project's is in memory once, not five times."""
    for index, (name, value) in enumerate(data.items()):
        yield f"{',' if index else '{'}{_escaped(name)}:"
        if isinstance(value, list):
            yield "["
            for position, item in enumerate(value):
                yield f"{',' if position else ''}{_escaped(item)}"
            yield "]"
        else:
            yield _escaped(value)
    yield "}"


def _escaped(value: object) -> str:
    """Return JSON that may stand in a script element: neither ``</script>`` nor ``<!--`` can occur in it."""
    # ASCII, because one character of another plane makes every character of a Python string four bytes
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _facts(report: Report) -> list[tuple[str, str]]:
    """Return the facts that are a text or a list of texts, as (name, text)."""
    facts = []
    for key, value in report.facts.items():
        if isinstance(value, str) and value:
            facts.append((tr(key), value))
        elif isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
            shown = tr(", ").join(map(told, value[:8]))
            rest = f" {tr('and {rest} more', rest=len(value) - 8)}" if len(value) > 8 else ""
            facts.append((tr(key), shown + rest))
    return [(printable(key), printable(text)) for key, text in facts]


def _besides(summary: Summary) -> list[str]:
    """Return what is wrong besides the APIs that have no counterpart, so that the headline does not hide it."""
    errors = len(summary.other_errors)
    failed = summary.files["failed"]
    besides = [counted(errors, "other error")] if errors else []
    if failed:
        besides.append(tr("{files} that could not be translated", files=counted(failed, "file")))
    return besides


def _bars(summary: Summary) -> dict[str, list[tuple[str, int, float]]]:
    """Return for the two bars of the overview: status, count, width in percent."""
    bars: dict[str, list[tuple[str, int, float]]] = {}
    for name, counts in (("apis", summary.apis), ("files", summary.files)):
        total = sum(counts.values()) or 1
        bars[name] = [(status, count, round(100 * count / total, 3)) for status, count in counts.items() if count]
    return bars


def _data(report: Report, standing: Proof) -> dict[str, Any]:
    names = {file.path: index for index, file in enumerate(report.files)}
    for path in _mentioned(report):
        names.setdefault(path, len(names))
    marked: dict[str, set[int]] = {}
    for diagnostic in report.diagnostics:
        marked.setdefault(diagnostic.file, set()).add(diagnostic.line)
    used = {place.file for api in report.apis for place in api.places}
    budget = PageBudget()
    files = []
    for file in report.files:
        shown = file_segments(file, marked.get(file.path, set()), file.path in used, budget)
        files.append({"s": file.status, "n": printable(file.note), **shown})
    return {
        "names": [printable(name) for name in names],
        "files": files,
        "codes": {code: [entry.name, tr(entry.meaning), tr(entry.advice)] for code, entry in CODES.items()},
        "words": {} if current() == "en" else dict(page_texts(current())),
        "diagnostics": [
            [
                entry.code,
                int(entry.severity),
                names[entry.file],
                entry.line,
                entry.column,
                printable(entry.symbol),
                printable(entry.message),
                printable(entry.advice),
            ]
            for entry in report.diagnostics
        ],
        "apis": [
            {
                "n": printable(api.name),
                "s": api.status,
                "t": list(api.targets),
                "f": api.fidelity,
                "x": api.name in standing.executed,
                "a": printable(api.advice),
                "p": [[names[place.file], place.line, place.column] for place in api.places],
            }
            for api in report.apis
        ],
        "groups": [tr(group) for group in GROUPS.values()],
        "tasks": [_task(task, names) for task in tasks(report)],
        "checklist": [
            {
                "t": item.topic,
                "v": printable(item.value),
                "m": printable(item.mindspore),
                "n": printable(item.note),
                "p": None if item.place is None else [names[item.place.file], item.place.line, item.place.column],
            }
            for item in report.checklist
        ],
    }


def _task(task: Task, names: dict[str, int]) -> dict[str, Any]:
    return {
        "g": list(GROUPS).index(task.group),
        "c": task.code,
        "n": printable(task.name),
        "a": printable(task.advice),
        "e": tr(task.effort),
        "p": [[names[place.file], place.line, place.column] for place in task.places],
        "b": [names[path] for path in task.scripts],
    }


def _mentioned(report: Report) -> Iterator[str]:
    yield from (diagnostic.file for diagnostic in report.diagnostics)
    yield from (diagnostic.file for package in report.packages for diagnostic in package.diagnostics)
    yield from (script.path for script in report.scripts)
    yield from (place.file for api in report.apis for place in api.places)
    yield from (item.place.file for item in report.checklist if item.place is not None)
