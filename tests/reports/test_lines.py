"""The line matching is lossless, and finds what a person would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch2ms.reports.lines import changes, split_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\n", "e\n"]), max_size=40)


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n", "a\n\nb", "a\x0cb\u2028c\rd\n"])
def test_split_lines_is_lossless(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.count("\n") == line.endswith("\n") for line in lines)


@given(LINES, LINES)
def test_the_changes_rebuild_the_new_side(old: list[str], new: list[str]) -> None:
    rebuilt: list[str] = []
    at = 0
    last_end = -1
    for old_start, old_end, new_start, new_end in changes(old, new):
        assert old_start > last_end, "an equal line lies between two changes"
        assert old[at:old_start] == new[len(rebuilt) : new_start]
        rebuilt += old[at:old_start] + new[new_start:new_end]
        assert len(rebuilt) == new_end
        at = last_end = old_end
    assert rebuilt + old[at:] == new


@given(LINES)
def test_equal_sides_have_no_change(lines: list[str]) -> None:
    assert changes(lines, list(lines)) == []


def test_a_changed_line_is_one_change_even_among_many_equal_ones() -> None:
    block = ["def f():\n", "    return 1\n", "\n"]
    old = block * 200
    new = [*old]
    new[300] = "def g():\n"
    assert changes(old, new) == [(300, 301, 300, 301)]


def test_repetitive_code_with_many_changes_is_not_one_change() -> None:
    old = ["class A(nn.Module):\n", "    def forward(self, x):\n", "        return x\n", "\n"] * 200
    new = [line.replace("Module", "Cell").replace("forward", "construct") for line in old]
    found = changes(old, new)
    assert len(found) == 200
    assert all(old_end - old_start == 2 == new_end - new_start for old_start, old_end, new_start, new_end in found)
