"""The terminal summary: complete, safe, plain where nobody looks."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys

from rich.console import Console

from torch2ms.reports.model import ApiUse, Place, Report
from torch2ms.reports.terminal import render_terminal


def render(report: Report, *, terminal: bool, width: int = 100, src: str = "SRC") -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=width, color_system="truecolor" if terminal else None)
    render_terminal(report, console, src=src)
    return stream.getvalue()


def test_plain_summary(report: Report) -> None:
    text = render(report, terminal=False)
    assert "\x1b" not in text
    assert "5 translated · 1 unchanged · 2 copied · 3 generated · 1 failed" in text
    assert "6 of 9 translated" in text
    assert "5 errors · 2 warnings · 2 notes" in text
    assert "Scripts      1 of 2 entry scripts can run on every path\n  train.py  blocked by " in text
    start = text.index("To do, in this order  5 tasks, 5 places\n")
    told = [line for line in text[start:].splitlines() if "\N{MULTIPLICATION SIGN}" in line or line.startswith("  ")]
    assert [line for line in told if not line.startswith("      ")][:7] == [
        "  On a path of an entry script",
        "  1\N{MULTIPLICATION SIGN}  T2M201  torch.special.bessel_j0  models/net.py:55",
        "  1\N{MULTIPLICATION SIGN}  T2M402  torch.Tensor.backward  train.py:9",
        "  Other code",
        "  1\N{MULTIPLICATION SIGN}  T2M101  syntax-error  legacy/py2.py:1",
        "  1\N{MULTIPLICATION SIGN}  T2M201  torch.compile  tools/wide table.py:2",
        "  1\N{MULTIPLICATION SIGN}  T2M202  torch.hypothetical  tools/naïve données.py:3",
    ]
    assert "torch2ms verify SRC OUT --entry models.net:Net" in text


def test_written_output_names_its_report_and_the_way_to_ascend(report: Report) -> None:
    stream = io.StringIO()
    render_terminal(report, Console(file=stream), src="net", out="my out/", is_written=True)
    text = stream.getvalue()
    assert "  'my out/torch2ms_report/report.html'" in text
    assert "  torch2ms translate net 'my out-ascend' --device ascend" in text
    assert "torch2ms_report" not in render(report, terminal=False)


def test_plain_lines_are_never_wrapped(report: Report) -> None:
    assert render(report, terminal=False, width=30) == render(report, terminal=False, width=200)


def test_coloured_on_a_terminal_and_within_its_width(report: Report) -> None:
    text = render(report, terminal=True, width=60)
    assert "\x1b[" in text
    assert all(len(line) <= 60 for line in render(report, terminal=True, width=60).splitlines() if "\x1b" not in line)


def test_commands_are_quoted_for_the_shell(report: Report) -> None:
    assert "torch2ms verify 'my project' OUT" in render(report, terminal=False, src="my project")


def test_untrusted_names_cannot_steer_the_terminal(report: Report) -> None:
    bad = ApiUse("torch.\x1b[2J[bold]x", "unknown", (), "", "a\rb\u202ec", (Place("\x1b]0;title\x07.py", 1, 1),))
    text = render(dataclasses.replace(report, apis=(bad,)), terminal=False)
    assert not set("\x1b\x07\r\u202e") & set(text)
    assert "torch.\\x1b[2J[bold]x" in text


def test_an_empty_report_is_calm(empty_report: Report) -> None:
    text = render(empty_report, terminal=False)
    assert "Diagnostics  none" in text
    assert "documented, not executed" in text
    assert "Next" not in text


def test_long_lists_are_cut_and_counted(report: Report) -> None:
    apis = tuple(
        ApiUse(f"torch.f{number}", "unknown", (), "", "", (Place("a.py", number, 1),)) for number in range(1, 31)
    )
    text = render(dataclasses.replace(report, apis=apis, diagnostics=(), files=()), terminal=False)
    assert "torch.f13 " in text
    assert "and 25 more" in text


def test_importing_the_reports_loads_neither_rich_nor_jinja2() -> None:
    code = (
        "import sys, torch2ms.reports.terminal, torch2ms.reports.html, torch2ms.reports.write;"
        "print(sorted({'rich', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
