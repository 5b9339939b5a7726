"""The report folder is complete and the same every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms.errors import OutputError
from torch2ms.reports.model import Report
from torch2ms.reports.write import write_reports

NAMES = ["report.html", "report.json", "report.sarif", "report.md", "changes.diff"]


def test_writes_all_forms(report: Report, tmp_path: Path) -> None:
    written = write_reports(report, tmp_path / "new" / "torch2ms_report")
    assert [path.name for path in written] == NAMES
    assert all(path.stat().st_size > 100 for path in written)


def test_equal_reports_give_equal_bytes_wherever_they_are_written(report: Report, tmp_path: Path) -> None:
    first, second = (write_reports(report, tmp_path / name) for name in ("one", "two"))
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        assert str(tmp_path).encode() not in one.read_bytes()


def test_names_and_texts_that_are_no_unicode_can_be_written(report: Report, tmp_path: Path) -> None:
    import dataclasses

    from torch2ms.reports.model import FileReport, Place

    file = FileReport("caf\udce9.py", "translated", source="a = '\udc80'\n", output="b = '\udc80'\n")
    api = dataclasses.replace(report.apis[0], places=(Place("caf\udce9.py", 1, 1),))
    odd = dataclasses.replace(report, files=(*report.files, file), apis=(api,))
    for path in write_reports(odd, tmp_path):
        if path.name != "changes.diff":
            path.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_an_output_error(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError):
        write_reports(report, tmp_path / "file")


@pytest.mark.parametrize("which", ["report", "empty_report"])
def test_empty_and_full_reports_can_be_written(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert len(write_reports(request.getfixturevalue(which), tmp_path)) == len(NAMES)


def test_a_report_replaces_an_earlier_one_and_no_other_file(report: Report, tmp_path: Path) -> None:
    write_reports(report, tmp_path / "a")
    write_reports(report, tmp_path / "a")
    (tmp_path / "a" / "report.md").write_text("my own words")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.md").write_text("my own words")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "changes.diff").symlink_to(tmp_path / "b" / "report.md")
    for name, held in (("a", "report.md"), ("b", "report.md"), ("c", "changes.diff")):
        with pytest.raises(OutputError, match=rf"{held} is no report that torch2ms wrote"):
            write_reports(report, tmp_path / name)
        assert (tmp_path / name / held).read_text() == "my own words"
