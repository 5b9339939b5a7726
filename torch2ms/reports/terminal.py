"""The summary a person reads in the terminal after a translation: what was done, what is left, what comes next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch2ms.diagnostics import Severity
from torch2ms.language import counted, tr
from torch2ms.reports.escape import one_line
from torch2ms.reports.model import Place, Report
from torch2ms.reports.summary import Summary, proof, summarize
from torch2ms.reports.todo import GROUPS, Standing, Task, standings, tasks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["render_terminal"]

_FIRST = 5  # tasks; the report has the others
_PLACES = 3
_BAR = 24
_LABEL = 13  # columns
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}

Row = tuple[tuple[str, str], ...]  # cells: text and style


def render_terminal(
    report: Report, console: Console, *, src: str = "SRC", out: str = "OUT", is_written: bool = False
) -> None:
    """Print the summary of ``report``; plain, unwrapped lines when ``console`` is no terminal.

    ``src`` and ``out`` are what the user typed, for the commands that are suggested next; ``is_written`` says that OUT
    was written, so that its report can be named.
    """
    report = report.in_language()
    summary = summarize(report)
    page = _Page(console)
    page.line((one_line(report.tool), "bold"), (f"  {page.arrow}  ", "dim"), (str(report.target), "bold cyan"))
    page.line((proof(report).text, "dim"))
    page.blank()
    _overview(page, report, summary)
    _scripts(page, standings(report))
    _todo(page, tasks(report))
    _next(page, report, summary, src, out, is_written)


class _Page:
    """Prints rows: aligned and wrapped on a terminal, one plain line each elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        ascii_only = console.options.ascii_only
        self.arrow = "->" if ascii_only else "→"
        self.dot = ", " if ascii_only else " · "
        self.comma = tr(", ")
        self.times = "x" if ascii_only else "\N{MULTIPLICATION SIGN}"
        self.bar = "#" if ascii_only else "━"

    def text(self, *cells: tuple[str, str]) -> Text:
        from rich.text import Text

        return Text.assemble(*cells)

    def line(self, *cells: tuple[str, str]) -> None:
        self.console.print(self.text(*cells), soft_wrap=not self.console.is_terminal, highlight=False)

    def blank(self) -> None:
        self.console.print()

    def heading(self, title: str, count: str = "") -> None:
        self.blank()
        self.line((title, "bold"), (f"  {count}" if count else "", "dim"))

    def paragraph(self, text: str, indent: int) -> None:
        """Print text that wraps with its indent on a terminal."""
        if not self.console.is_terminal:
            self.line((" " * indent + text, ""))
            return
        from rich.padding import Padding

        self.console.print(Padding(self.text((text, "")), (0, 0, 0, indent)), highlight=False)

    def rows(self, rows: Sequence[Row], indent: int = 2) -> None:
        if not self.console.is_terminal:
            widths = [max(len(row[column][0]) for row in rows) for column in range(len(rows[0]) - 1)] + [0]
            for row in rows:
                cells = (cell.ljust(width) for (cell, _), width in zip(row, widths, strict=True))
                self.line((" " * indent + "  ".join(cells).rstrip(), ""))
            return
        from rich.padding import Padding
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        for column in range(len(rows[0])):
            grid.add_column(no_wrap=column == 0, overflow="fold")
        for row in rows:
            grid.add_row(*(self.text(cell) for cell in row))
        self.console.print(Padding(grid, (0, 0, 0, indent)), highlight=False)


def _label(text: str) -> tuple[str, str]:
    """Return a label as wide as the widest, as a terminal counts: a Chinese character takes two columns."""
    from rich.cells import cell_len

    return text + " " * max(1, _LABEL - cell_len(text)), "dim"


def _overview(page: _Page, report: Report, summary: Summary) -> None:
    files = page.dot.join(f"{count} {tr(status)}" for status, count in summary.files.items() if count)
    page.line(_label(tr("Files")), (files or tr("none"), ""))
    share = summary.satisfied
    if share is not None:
        total = sum(summary.apis.values())
        done = tr("{done} of {total} translated", done=total - len(summary.unmapped), total=total)
        cells = [_label(tr("torch APIs")), (done, "")]
        if page.console.is_terminal:
            full = int(share * _BAR)  # rounded down: a full bar means all
            cells += [("  ", ""), (page.bar * full, "green"), (page.bar * (_BAR - full), "red")]
            cells += [(f" {_percent(share)}", "bold")]
        page.line(*cells)
    found = page.dot.join(counted(count, str(severity)) for severity, count in summary.severities.items() if count)
    if report.silenced:
        found += f"{page.dot if found else ''}{tr('{number} silenced', number=len(report.silenced))}"
    page.line(_label(tr("Diagnostics")), (found or tr("none"), _STYLES[_worst(summary)] if found else "green"))
    for package in report.packages:
        counts = page.dot.join(counted(package.count(s), str(s)) for s in (Severity.ERROR, Severity.WARNING))
        about = tr("{files} taken along", files=counted(len(package.files), "file"))
        page.line(_label(tr("Package")), (f"{one_line(package.title)}  ", "bold"), (f"{about}{page.dot}{counts}", ""))
    if report.left_out:
        shown = [f"{one_line(entry.path)} ({one_line(entry.reason)})" for entry in report.left_out[:_PLACES]]
        rest = len(report.left_out) - len(shown)
        more = f" (+{rest})" if rest else ""
        page.line(_label(tr("Left out")), (page.dot.join(shown) + more, ""))


def _percent(share: float) -> str:
    """Return the share in percent, rounded down: 100% means all."""
    return f"{int(share * 100)}%"


def _worst(summary: Summary) -> Severity:
    return max((severity for severity, count in summary.severities.items() if count), default=Severity.NOTE)


def _scripts(page: _Page, found: Sequence[Standing]) -> None:
    if found:
        ready = sum(standing.state == "ready" for standing in found)
        style = "green" if ready == len(found) else "yellow"
        text = tr("{ready} of {total} entry scripts can run on every path", ready=ready, total=len(found))
        page.line(_label(tr("Scripts")), (text, style))
        waiting = [standing for standing in found if standing.tasks]
        for standing in waiting[:_FIRST]:
            names = [one_line(name) for name in standing.blocked_by[:_PLACES]]
            rest = len(standing.tasks) - len(names)
            blocks = ", ".join(names) + (f" (+{rest})" if rest else "")
            page.line((f"  {one_line(standing.path)}", ""), (f"  {tr('blocked by')} ", "dim"), (blocks, "red"))
        _more(page, len(waiting) - _FIRST)


def _todo(page: _Page, left: Sequence[Task]) -> None:
    """Print what to do first; the report has all of it, in the same order."""
    if not left:
        return
    places = sum(len(task.places) for task in left)
    page.heading(tr("To do, in this order"), f"{counted(len(left), 'task')}{page.comma}{counted(places, 'place')}")
    group = ""
    for task in left[:_FIRST]:
        if task.group != group and len({other.group for other in left}) > 1:
            group = task.group
            page.line((f"  {tr(GROUPS[task.group])}", "bold"))
        page.line(
            (f"{len(task.places)}{page.times}".rjust(4) + "  ", "bold"),
            (f"{task.code or tr('failed')}  ", "red"),
            (f"{one_line(task.name)}  ", "bold"),
            (_where(task.places), "dim"),
        )
        if task.advice:
            page.paragraph(one_line(task.advice), indent=6)
    _more(page, len(left) - _FIRST)


def _where(places: Sequence[Place]) -> str:
    """Return the first places as ``a.py:3, :9, b.py:1 (+4)``."""
    lines = list(dict.fromkeys((place.file, place.line) for place in places))
    parts: list[str] = []
    last = ""
    for file, line in lines[:_PLACES]:
        parts.append(f":{line}" if file == last else f"{one_line(file)}:{line}")
        last = file
    rest = len(lines) - _PLACES
    return ", ".join(parts) + (f" (+{rest})" if rest > 0 else "")


def _next(page: _Page, report: Report, summary: Summary, src: str, out: str, is_written: bool) -> None:
    code = _code_to_explain(report)
    rows: list[Row] = []
    if is_written:
        rows.append(((_quote(f"{out.rstrip('/')}/torch2ms_report/report.html"), "green"), (tr("the report"), "dim")))
    if summary.unmapped:
        name = one_line(summary.unmapped[0].name)
        rows.append(((f"torch2ms explain {name}", "green"), (tr("what is known of it"), "dim")))
    elif code:
        rows.append(((f"torch2ms explain {code}", "green"), (tr("what it means and what to do"), "dim")))
    if any(file.output is not None for file in report.files):
        command = f"torch2ms verify {_quote(src)} {_quote(out)} --entry {_entry(report)}{_inputs(report)}"
        rows.append(((command, "green"), (tr("prove that both compute the same"), "dim")))
        if any(file.path == "train.py" and file.status == "generated" for file in report.files):
            command = f"cd {_quote(out)} && python train.py --dataset synthetic"
            rows.append(((command, "green"), (tr("train it"), "dim")))
        if is_written and report.target.device == "portable":
            command = f"torch2ms translate {_quote(src)} {_quote(out.rstrip('/') + '-ascend')} --device ascend"
            rows.append(((command, "green"), (tr("MindSpore's own operators for Ascend"), "dim")))
    if rows:
        page.heading(tr("Next"))
        page.rows(rows)


def _code_to_explain(report: Report) -> str:
    worst = max(report.diagnostics, key=lambda diagnostic: diagnostic.severity, default=None)
    return worst.code if worst is not None and worst.severity > Severity.NOTE else ""


def _entry(report: Report) -> str:
    entry = report.facts.get("entry")
    return _quote(one_line(entry)) if isinstance(entry, str) and entry else "MODULE:CALLABLE"


def _inputs(report: Report) -> str:
    """Return the options for the network's arguments and inputs, as far as SRC shows them."""
    kwargs, inputs = report.facts.get("entry_kwargs"), report.facts.get("entry_inputs")
    texts = [one_line(str(text)) for text in inputs] if isinstance(inputs, list) else []
    found = f" --kwargs {_quote(one_line(json.dumps(kwargs)))}" if kwargs else ""
    return found + ("".join(f" --input {_quote(text)}" for text in texts) or " --input SHAPE")


def _quote(text: str) -> str:
    import shlex

    return shlex.quote(text) if text else text


def _more(page: _Page, rest: int) -> None:
    if rest > 0:
        page.line((f"      {tr('and {rest} more, see the report', rest=rest)}", "dim"))
