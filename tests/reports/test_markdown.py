"""report.md holds the report, and no text of the user's turns into markup."""

from __future__ import annotations

import dataclasses
import re

import pytest

from torch2ms.reports.markdown import to_markdown
from torch2ms.reports.model import ApiUse, ChecklistItem, FileReport, Place, Report


def cells(line: str) -> list[str]:
    """Split a table row as GitHub does: at pipes that no backslash escapes."""
    return re.split(r"(?<!\\)\|", line)


def test_holds_what_matters(report: Report) -> None:
    text = to_markdown(report)
    assert "| torch APIs | 9 | 5 mapped, 1 removed, 2 unsupported, 1 unknown |" in text
    assert "| `train.py` | needs work | 2 |" in text
    assert "| `torch.special.bessel_j0` | T2M201 | 1 | `models/net.py`: 55 | an operator |" in text
    assert "### T2M402 training-step-left" in text
    assert "- `train.py:9:5` the loss is read before it is computed" in text
    assert "| learning rate | `0.001` |" in text
    assert "documented, not executed" in text


def test_every_table_has_the_same_number_of_cells_in_all_rows(report: Report) -> None:
    width = 0
    for line in to_markdown(report).splitlines():
        if line.startswith("|"):
            width = width or len(cells(line))
            assert len(cells(line)) == width, line
        else:
            width = 0


@pytest.mark.parametrize(
    "name",
    [
        "a|b",
        "`tick`",
        "``two``",
        "line\nbreak",
        "<script>alert(1)</script>",
        "[link](http://x)",
        "# heading",
        "\x1b[31m",
    ],
)
def test_no_text_becomes_markup(report: Report, name: str) -> None:
    item = ChecklistItem("optimizer", name, Place("a.py", 1, 1), name, name)
    api = ApiUse(name, "unknown", (name,), "", name, (Place(name, 1, 1),))
    text = to_markdown(
        dataclasses.replace(
            report,
            apis=(api,),
            checklist=(item,),
            files=(FileReport(name, "failed", note=name),),
            diagnostics=tuple(dataclasses.replace(entry, message=name) for entry in report.diagnostics),
        )
    )
    assert "\x1b" not in text
    outside_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<script", outside_code)
    assert not re.search(r"(?<!\\)\[link", outside_code)
    assert "http://" not in outside_code
    test_every_table_has_the_same_number_of_cells_in_all_rows(report)


def test_an_empty_report_has_the_figures_only(empty_report: Report) -> None:
    text = to_markdown(empty_report)
    assert "| files | 0 | none |" in text
    assert "## Checklist" not in text
