"""The promises of the translator on random programs, on every golden input and on the example."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.golden.snapshots import CASES, read_case, report_of, translate_files
from tests.properties.programs import programs, torch_free_programs, written_programs
from tests.properties.promises import lost_comments, unreported_imports
from torch2ms.translator.pipeline import translate_project, translate_source

NAMES = sorted(path.stem for path in CASES.glob("*.txt"))


def check(source: str) -> None:
    result = translate_source(source)
    ast.parse(result.text)
    assert not [d for d in result.diagnostics if d.code == "T2M900"]
    assert not lost_comments(source, result.text)
    assert not unreported_imports(result.text, result.diagnostics)
    assert translate_source(result.text).text == result.text


@settings(max_examples=60)
@given(programs())
def test_random_programs_keep_all_promises(source: str) -> None:
    check(source)


@settings(max_examples=120)
@given(written_programs())
def test_programs_of_random_statements_keep_all_promises(source: str) -> None:
    check(source)


@settings(max_examples=60)
@given(torch_free_programs())
def test_torch_free_programs_come_back_as_they_are(source: str) -> None:
    result = translate_source(source)
    assert result.text == source
    assert not result.diagnostics


@given(programs())
@settings(max_examples=10)
def test_translation_is_deterministic(source: str) -> None:
    assert translate_source(source) == translate_source(source)


@pytest.mark.parametrize("name", NAMES)
def test_golden_outputs_keep_all_promises(name: str) -> None:
    for file in report_of(name).files:
        if file.source is None or file.output is None or not file.path.endswith(".py"):
            continue
        ast.parse(file.output)
        assert not lost_comments(file.source, file.output), file.path
        found = [d for d in report_of(name).diagnostics if d.file == file.path]
        assert name.startswith("noop_local") or not unreported_imports(file.output, found), file.path


@pytest.mark.parametrize("name", NAMES)
def test_a_second_translation_changes_nothing(name: str) -> None:
    inputs = read_case(CASES / f"{name}.txt").inputs
    outputs = {f.path: f.output for f in report_of(name).files if f.path in inputs and f.output is not None}
    again = {f.path: f.output for f in translate_files(outputs).files if f.path in inputs}
    assert again == outputs


def test_the_example_keeps_all_promises(example: Path) -> None:
    for file in translate_project(example, None, dry_run=True).files:
        if file.source is not None and file.output is not None and file.path.endswith(".py"):
            ast.parse(file.output)
            assert not lost_comments(file.source, file.output), file.path


BYTES = {
    "crlf": b"# torch\r\nx = 1\r\n\r\nif x: pass\r\n",
    "bom": b"\xef\xbb\xbf# torch\nx = 1\n",
    "latin-1": b"# -*- coding: latin-1 -*-\n# torch \xe9\nx = '\xe9'\n",
    "form feed": b"x = 1 # torch\n\x0c\ny = 2\n",
    "no newline": b"import os # torch\nprint(os)",
    "empty": b"",
    "mixed newlines": b"# torch\nx = 1\r\ny = 2\n",
    "syntax error": b"print 'torch'\nimport torch\n",
    "null byte": b"import torch\nx = '\0'\n",
    "wrong encoding": b"import torch\n# \xff\xfe\n",
}


@pytest.mark.parametrize("name", BYTES)
def test_files_that_stay_come_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "other.py").write_bytes(BYTES[name])
    (tmp_path / "src" / "main.py").write_text("import torch\n\nprint(torch.ones(2))\n")
    translate_project(tmp_path / "src", tmp_path / "out")
    assert (tmp_path / "out" / "other.py").read_bytes() == BYTES[name]


def test_newlines_of_a_translated_file_stay(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"import torch\r\n\r\nx = torch.ones(2)  # \xc3\xa9\r\n")
    translate_project(tmp_path / "src", tmp_path / "out")
    written = (tmp_path / "out" / "a.py").read_bytes()
    assert written == b"from mindspore import ops\r\n\r\nx = ops.ones(2)  # \xc3\xa9\r\n"
