"""Merging three texts: both sides' changes, conflicts as git marks them, and git itself as the witness."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torch2ms.translator.output.merge import merge

BASE = "a\nb\nc\nd\ne\n"
LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
        ("a\nc\nd\ne\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("0\n" + BASE, BASE + "f\n", "0\n" + BASE + "f\n"),
        ("a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n"),
        ("a\nb\nc\nd\ne", BASE.replace("a", "x"), "x\nb\nc\nd\ne"),
    ],
)
def test_changes_of_both_sides_are_kept(ours: str, theirs: str, merged: str) -> None:
    assert merge(BASE, ours, theirs) == (merged, 0)


def test_a_conflict_is_marked_and_holds_no_equal_lines() -> None:
    text, conflicts = merge(BASE, "a\nB\nx\nd\ne\n", "a\nB\ny\nd\ne\n")
    assert conflicts == 1
    assert text == "a\nB\n<<<<<<< OUT\nx\n=======\ny\n>>>>>>> torch2ms\nd\ne\n"


def test_two_texts_without_a_base() -> None:
    assert merge("", "x\ny\n", "x\nz\n") == ("x\n<<<<<<< OUT\ny\n=======\nz\n>>>>>>> torch2ms\n", 1)


def test_marks_begin_their_lines() -> None:
    assert merge("a\n", "b", "c")[0] == "<<<<<<< OUT\nb\n=======\nc\n>>>>>>> torch2ms\n"


@given(LINES, LINES, LINES)
def test_a_side_that_changed_nothing_gives_the_other(base: str, ours: str, theirs: str) -> None:
    assert merge(base, base, theirs) == (theirs, 0)
    assert merge(base, ours, base) == (ours, 0)
    assert merge(base, ours, ours) == (ours, 0)


@given(LINES, LINES, LINES)
def test_lines_are_lost_only_where_a_side_removed_them(base: str, ours: str, theirs: str) -> None:
    text, conflicts = merge(base, ours, theirs)
    mirrored, others = merge(base, theirs, ours)
    assert conflicts == others
    assert sorted(text.splitlines()) == sorted(mirrored.splitlines())
    if not conflicts:
        assert text == mirrored


@settings(max_examples=40)
@given(LINES, LINES, LINES)
def test_git_agrees_where_edits_are_apart(
    tmp_path_factory: pytest.TempPathFactory, base: str, ours: str, theirs: str
) -> None:
    """Different diffs may give different merges of repeated lines; so every line here is its own, 6 lines apart."""
    folder = tmp_path_factory.mktemp("merge")
    body = [f"{number}\n" for number in range(12)]
    texts = ("".join(body), ours + "".join(body[1:]), "".join(body[:-1]) + theirs)
    for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
        Path(folder, name).write_text(text)
    command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert merge(texts[0], texts[1], texts[2]) == (done.stdout, 0)
