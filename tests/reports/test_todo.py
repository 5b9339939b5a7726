"""What is left to do: everything that is an error, once, in the order in which it is worth doing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.reports.model import ApiUse, FileReport, Place, Report, Script
from torch2ms.reports.todo import standings, tasks


def error(file: str, line: int, code: str = "T2M201", symbol: str = "torch.compile") -> Diagnostic:
    return Diagnostic(file, line, 1, code, Severity.ERROR, symbol, "a message", "an advice")


def with_errors(report: Report, *errors: Diagnostic, scripts: tuple[Script, ...] = ()) -> Report:
    return dataclasses.replace(report, apis=(), files=(), diagnostics=errors, scripts=scripts)


def test_every_error_is_in_one_task(report: Report) -> None:
    places = [(task.code, place) for task in tasks(report) for place in task.places]
    errors = [(e.code, Place(e.file, e.line, e.column)) for e in report.diagnostics if e.severity is Severity.ERROR]
    assert sorted(places) == sorted(errors)


def test_what_stops_a_script_comes_first(report: Report) -> None:
    scripts = (Script("a.py", ("a.py", "net.py")), Script("b.py", ("b.py", "net.py")))
    errors = [error("tests/test_net.py", 1), error("other.py", 1), error("a.py", 3, "T2M402", ""), error("net.py", 9)]
    found = tasks(with_errors(report, *errors, error("examples/show.py", 1), scripts=scripts))
    assert [(task.group, task.name, task.scripts) for task in found] == [
        ("script", "torch.compile", ("a.py", "b.py")),
        ("script", "training-step-left", ("a.py",)),
        ("code", "torch.compile", ()),
        ("test", "torch.compile", ()),
        ("example", "torch.compile", ()),
    ]


def test_more_places_come_before_fewer(report: Report) -> None:
    found = tasks(
        with_errors(report, error("a.py", 1), error("b.py", 2, symbol="torch.fx"), error("c.py", 3, symbol="torch.fx"))
    )
    assert [(task.name, len(task.places)) for task in found] == [("torch.fx", 2), ("torch.compile", 1)]


@pytest.mark.parametrize(
    ("code", "effort"),
    [
        ("T2M101", "a file"),
        ("T2M202", "an operator"),
        ("T2M203", "a line"),
        ("T2M402", "a training step"),
        ("T2M307", "a package"),
    ],
)
def test_effort_goes_by_the_code(report: Report, code: str, effort: str) -> None:
    assert tasks(with_errors(report, error("a.py", 1, code)))[0].effort == effort


def test_an_api_without_a_diagnostic_is_told(report: Report) -> None:
    api = ApiUse("torch.fx", "unsupported", (), "", "trace by hand", (Place("a.py", 4, 2),))
    found = tasks(dataclasses.replace(with_errors(report), apis=(api,)))
    assert [(task.code, task.advice, task.places) for task in found] == [("T2M201", "trace by hand", api.places)]


def test_a_failed_file_without_a_diagnostic_is_told(report: Report) -> None:
    found = tasks(dataclasses.replace(with_errors(report), files=(FileReport("a.py", "failed", note="why"),)))
    assert [(task.code, task.name, task.advice) for task in found] == [("", "a.py", "why")]


def test_warnings_and_notes_are_no_tasks(report: Report) -> None:
    calm = tuple(entry for entry in report.diagnostics if entry.severity is not Severity.ERROR)
    assert calm
    assert tasks(with_errors(report, *calm)) == ()


def test_scripts_of_a_translation(make_tree: Callable[..., Path]) -> None:
    source = make_tree(
        {
            "train.py": "from pkg.net import Net\n\nprint(Net())\n",
            "serve.py": "import torch\n\nif __name__ == '__main__':\n    print(torch.ones(1))\n",
            "library.py": "import torch\n\n\ndef f(x: torch.Tensor):\n    return x + 1\n",
            "pkg/__init__.py": "from torch import fx\n\nTRACER = fx.Tracer\n",
            "pkg/net.py": "from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n",
        }
    )
    report = translate_project(source, None, dry_run=True)
    assert [(s.path, s.reaches) for s in report.scripts] == [
        ("serve.py", ("serve.py",)),
        ("train.py", ("pkg/__init__.py", "pkg/net.py", "train.py")),
    ]
    assert [(s.path, s.state) for s in standings(report)] == [("serve.py", "ready"), ("train.py", "needs work")]
