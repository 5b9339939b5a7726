"""report.html is one safe file: what can be said of it without a browser."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from torch2ms.reports import sides
from torch2ms.reports.html import to_html
from torch2ms.reports.model import FileReport, Report


class Page(HTMLParser):
    """Collects scripts, styles and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag in self.texts:
            self.texts[tag].append("")
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside[-1]][-1] += data


def data_of(page: Page) -> Any:
    return json.loads(page.texts["script"][0])


def test_is_self_contained(report: Report) -> None:
    page = Page(to_html(report))
    links = [value for _, name, value in page.attributes if name in {"src", "href", "action", "srcset", "data"}]
    assert links
    assert all(value is not None and value.startswith("#") for value in links)
    assert not re.search(r"url\(|@import", page.texts["style"][0])
    assert not any(name.startswith("on") or name == "style" for _, name, _ in page.attributes)


def test_the_policy_allows_its_own_script_and_style_only(report: Report) -> None:
    page = Page(to_html(report))
    policy = next(
        value
        for tag, name, value in page.attributes
        if tag == "meta" and name == "content" and value and "default-src" in value
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(page.texts["script"]) == 2, "the data and the program"
    for kind, text in (("script", page.texts["script"][1]), ("style", page.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_text_of_the_user_cannot_leave_the_data(report: Report) -> None:
    hostile = FileReport(
        "x.py",
        "translated",
        source="a = '</script><!--<script>'\n",
        output="b = '</SCRIPT >]]>\u2028'\n",
        note="<img src=x>",
    )
    text = to_html(
        dataclasses.replace(report, tool="torch2ms 0.1.0", files=(*report.files, hostile), facts={"x": "<b>&</b>"})
    )
    page = Page(text)
    assert len(page.texts["script"]) == 2
    assert "<img" not in text
    assert "<b>&</b>" not in text
    assert data_of(page)["files"][-1]["g"] == [[2, ["a = '</script><!--<script>'"], ["b = '</SCRIPT >]]>\u2028'"]]]


def test_carries_both_sides_of_every_changed_file(report: Report) -> None:
    data = data_of(Page(to_html(report)))
    for name, file, carried in zip(data["names"], report.files, data["files"], strict=False):
        assert name == file.path
        if not file.changed:
            continue
        old = [line for segment in carried["g"] for line in segment[1]]
        new = [line for segment in carried["g"] for line in segment[-1]]
        if "wide" not in name:  # its long line is cut
            assert "\n".join(old) == (file.source or "").replace("\r", "").removesuffix("\n"), name
            assert "\n".join(new) == (file.output or "").replace("\r", "").removesuffix("\n"), name
        assert carried["del"] == sum(len(segment[1]) for segment in carried["g"] if segment[0] == 2)


def test_says_how_far_the_target_is_proved(report: Report, empty_report: Report) -> None:
    assert "1 of 5 mapped APIs have an example that ran in both frameworks" in to_html(report)
    assert "On Ascend and GPU: documented, not executed." in to_html(report)
    assert "documented only" in to_html(empty_report)


def test_a_long_line_is_cut_and_says_so(report: Report) -> None:
    file = FileReport("a.py", "translated", source="x" * 5000 + "\n", output="y" * 5000 + "\n")
    ((_, old, _),) = data_of(Page(to_html(dataclasses.replace(report, files=(file,)))))["files"][0]["g"]
    assert old[0].endswith("(3000 more characters)")


def test_a_long_file_is_carried_around_changes_and_marks(report: Report) -> None:
    source = "".join(f"line {number}\n" for number in range(1, 8001))
    file = FileReport("a.py", "translated", source=source, output=source.replace("line 4000\n", "changed\n"))
    budget = sides.PageBudget()
    shown = sides.file_segments(file, {100}, False, budget)
    lines = [line for segment in shown["g"] if segment[0] for line in segment[1]]
    hidden = sum(segment[1] for segment in shown["g"] if segment[0] == 0)
    assert lines == [f"line {number}" for number in [*range(95, 106), *range(3995, 4006)]]
    assert hidden + len(lines) == 8000
    assert sides.PAGE_LIMIT - budget.left < 1000


def test_a_full_page_points_to_the_diff(report: Report) -> None:
    shown = sides.file_segments(report.files[2], set(), False, sides.PageBudget(left=10))
    assert shown["full"] is True
    assert "g" not in shown
    assert shown["add"] > 0


def test_line_ends_are_told(report: Report) -> None:
    def shown(source: str, output: str) -> dict[str, Any]:
        return sides.file_segments(
            FileReport("a.py", "translated", source=source, output=output), set(), False, sides.PageBudget()
        )

    assert shown("a\r\nb\r\n", "a\r\nc\r\n")["crlf"] is True
    mixed = shown("a\r\nb\n", "a\r\nc\n")
    assert "crlf" not in mixed
    assert mixed["g"][0] == [1, ["a\r"]]
    lone = shown("a\rb\r", "a\rc\r")  # lines as Python counts them
    assert lone["g"] == [[1, ["a\r"]], [2, ["b\r"], ["c\r"]]]
    assert "crlf" not in lone
    assert shown("a\nb", "a\nb\n")["end"] == [False, True]
    assert shown("a\r\n", "a\n")["g"] == [[2, ["a\r"], ["a"]]]


def test_the_code_of_unchanged_files_is_carried_only_where_something_points_to_it(report: Report) -> None:
    file = FileReport("a.py", "unchanged", source="a\n", output="a\n")
    assert sides.file_segments(file, set(), False, sides.PageBudget()) == {}
    assert sides.file_segments(file, {1}, False, sides.PageBudget())["g"] == [[1, ["a"]]]
    assert sides.file_segments(file, set(), True, sides.PageBudget())["one"] == "old"


def test_the_headline_does_not_hide_other_errors(report: Report) -> None:
    assert "Besides: 2 other errors, 1 file that could not be translated." in to_html(report)
    mapped = tuple(api for api in report.apis if api.status == "mapped")
    text = to_html(dataclasses.replace(report, apis=mapped, diagnostics=report.diagnostics[:1]))
    assert "But: 1 other error, 1 file that could not be translated." in text
    clean = dataclasses.replace(report, apis=mapped, diagnostics=(), files=report.files[2:3])
    assert 'class="besides"' not in to_html(clean)
