"""changes.diff turns SRC into OUT, byte for byte, with ``git apply``."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from torch2ms.reports.diff import file_diff, to_diff
from torch2ms.reports.model import FileReport, Report

CASES = {
    "no newline at the end, both": FileReport("a.py", "translated", source="a\nb", output="a\nc"),
    "newline added at the end": FileReport("a.py", "translated", source="a\nb", output="a\nb\n"),
    "newline taken from the end": FileReport("a.py", "translated", source="a\nb\n", output="a\nb"),
    "CRLF": FileReport("a.py", "translated", source="a\r\nb\r\nc\r\n", output="a\r\nx\r\nc\r\n"),
    "CRLF without end": FileReport("a.py", "translated", source="a\r\nb", output="a\r\nc"),
    "only the newline style changes": FileReport("a.py", "translated", source="a\r\nb\r\n", output="a\nb\n"),
    "lone carriage returns": FileReport("a.py", "translated", source="a\rb\rc\n", output="a\rx\rc\n"),
    "form feed and line separators": FileReport(
        "a.py", "translated", source="a\x0cb\n\u2028\nc\n", output="a\x0cd\n\u2028\nc\n"
    ),
    "space in the path": FileReport("my tools/a b.py", "translated", source="a\n", output="b\n"),
    "unicode in the path": FileReport("données/größe.py", "translated", source="a\n", output="b\n"),
    "quote and backslash in the path": FileReport('we"ird\\name.py', "translated", source="a\n", output="b\n"),
    "tab in the path": FileReport("tab\there.py", "translated", source="a\n", output="b\n"),
    "path that is no UTF-8": FileReport("caf\udce9.py", "translated", source="a\n", output="b\n"),
    "new file": FileReport("new/deep/a.py", "generated", output="a\nb\n"),
    "new file with a space and no end": FileReport("new dir/a b.py", "generated", output="a"),
    "new empty file": FileReport("pkg/__init__.py", "generated", output=""),
    "new empty file with a space": FileReport("my pkg/__init__.py", "generated", output=""),
    "new script": FileReport("run.sh", "generated", output="#!/bin/sh\n", executable=True),
    "emptied": FileReport("a.py", "translated", source="a\n", output=""),
    "filled": FileReport("a.py", "translated", source="", output="a\n"),
    "latin-1": FileReport(
        "a.py", "translated", source="# Maß\nimport a\n", output="# Maß\nimport b\n", encoding="latin-1"
    ),
    "byte order mark": FileReport("a.py", "translated", source="import a\n", output="import b\n", encoding="utf-8-sig"),
    "lines that look like a diff": FileReport(
        "a.py", "translated", source="--- a\n+++ b\n@@ -1 +1 @@\nx\n", output="--- a\n+++ b\n@@ -1 +1 @@\ny\n"
    ),
    "two hunks": FileReport("a.py", "translated", source="a\n" + "x\n" * 50 + "b\n", output="A\n" + "x\n" * 50 + "B\n"),
}


def write(root: Path, path: str, text: str, encoding: str) -> None:
    target = os.path.join(os.fsencode(root), path.encode("utf-8", "surrogateescape"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as stream:
        stream.write(text.encode(encoding))


def read(root: Path, path: str) -> bytes:
    target = os.path.join(os.fsencode(root), path.encode("utf-8", "surrogateescape"))
    with open(target, "rb") as stream:
        return stream.read()


def apply_and_check(folder: Path, report: Report) -> None:
    for file in report.files:
        if file.source is not None:
            write(folder, file.path, file.source, file.encoding)
    patch = to_diff(report).encode("utf-8", "surrogateescape")
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    done = subprocess.run(["git", "apply", "-"], input=patch, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + patch.decode("utf-8", "replace")
    for file in report.files:
        if file.output is not None:
            assert read(folder, file.path) == file.output.encode(file.encoding), file.path


@pytest.mark.parametrize("name", CASES)
def test_git_applies_one_file(tmp_path: Path, report: Report, name: str) -> None:
    apply_and_check(tmp_path, dataclasses.replace(report, files=(CASES[name],)))
    if CASES[name].executable:
        assert os.access(tmp_path / CASES[name].path, os.X_OK)


def test_git_applies_the_whole_report(tmp_path: Path, report: Report) -> None:
    apply_and_check(tmp_path, report)


def test_unchanged_copied_and_failed_files_do_not_appear() -> None:
    assert file_diff(FileReport("a.py", "unchanged", source="a\n", output="a\n")) == ""
    assert file_diff(FileReport("a.bin", "copied")) == ""
    assert file_diff(FileReport("a.py", "failed", source="a b\n")) == ""


def test_nothing_changed_is_an_empty_diff(empty_report: Report) -> None:
    assert to_diff(empty_report) == ""


@pytest.mark.parametrize("encoding", ["latin-1", "no-such-encoding"])
def test_a_text_its_encoding_cannot_say_is_still_reported(encoding: str) -> None:
    file = FileReport("a.py", "translated", source="a\n", output="# \u4e2d\n", encoding=encoding)
    assert "+# \u4e2d\n" in file_diff(file)
