from __future__ import annotations

from collections.abc import Callable

import pytest

from torch2ms.cli import run
from torch2ms.mapping_tables.announcements import announcements
from torch2ms.mapping_tables.lookup import Tables

ROW = """
["torch.NAME"]
[["torch.NAME".to]]
target = "mindspore.TARGET"
KEYS
[["torch.NAME".example]]
before = "torch.NAME(x)"
after = "mindspore.TARGET(x)"
"""


def row(name: str, target: str, keys: str = "") -> str:
    return ROW.replace("NAME", name).replace("TARGET", target).replace("KEYS", keys)


def test_nothing_is_announced_for_what_stays(only: Callable[[str], Tables]) -> None:
    assert announcements(only(row("abs", "ops.abs"))) == []


def test_a_release_that_is_not_claimed_does_not_matter(only: Callable[[str], Tables]) -> None:
    assert announcements(only(row("sqrt", "ops.sqrt", 'mindspore = "<2.9"'))) == []


def test_removals_come_first(only: Callable[[str], Tables]) -> None:
    tables = only(row("sqrt", "ops.sqrt") + row("nn.Bilinear", "nn.BiDense"))
    assert [(item.urgency, item.row) for item in announcements(tables)] == [
        ("removal", "torch.nn.Bilinear"),
        ("other", "torch.sqrt"),
    ]


def test_a_keyword_that_the_row_writes(only: Callable[[str], Tables]) -> None:
    (found,) = announcements(only(row("sqrt", "ops.sqrt", 'rename = { input = "x" }')))
    assert found.urgency == "argument"
    assert str(found) == (
        "torch.sqrt: argument: mindspore.ops.sqrt, as MindSpore 2.10 announces: "
        "2.9.0: parameter x will be renamed to input ."
    )


def test_the_command_lists_them_when_asked(only: Callable[[str], Tables], capsys: pytest.CaptureFixture[str]) -> None:
    only(row("sqrt", "ops.sqrt", 'rename = { input = "x" }'))
    run(["tables", "lint"])
    quiet = capsys.readouterr()
    assert "parameter x will be renamed" not in quiet.out
    assert "1 announced changes" in quiet.err
    run(["tables", "lint", "--announced"])
    assert "parameter x will be renamed" in capsys.readouterr().out
