"""Trees parsed in parts are the trees of the whole text."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import libcst as cst
import pytest

from torch2ms.translator.syntax import cst_parsing
from torch2ms.translator.syntax.cst_parsing import parse_concrete

FILES = [
    Path(spec.origin)
    for name in ("argparse", "ast", "asyncio.base_events", "dataclasses", "enum", "json.decoder", "pathlib", "typing")
    if (spec := importlib.util.find_spec(name)) is not None and spec.origin is not None
]
TEXTS = {
    "comments between": "# head\nx = 1\n# of y\n\ny = 2  # last\n# end\n",
    "comments in and behind a block": "def f():\n    pass\n    # in\n# behind\n\n@d\n# g\ndef g(): 1\n\n    # end\n",
    "several on a line": "x = 1; y = 2\nz = 3; \\\nw = 4\nv = 5",
    "tabs": "x = 1\ny = 2\nif x:\n\ty = 3\nif y:\n    x = 3\n",
    "indentation that differs": "if 1:\n  x = 1\nif 2:\n    y = 1\n",
    "strings over lines": 'x = """\nif 1:\n y\n"""\ny = 1\n',
    "form feeds": "x = 1\n\f\ny = 2\n\fz = 3\n",
    "nothing": "",
}


def assert_equal(text: str) -> None:
    made = parse_concrete(text, ast.parse(text))
    assert made.code == cst.parse_module(text).code
    assert made.deep_equals(cst.parse_module(text))


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cst_parsing, "LINES_OF_PART", 1)
    assert_equal(TEXTS[name])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cst_parsing, "LINES_OF_PART", 20)
    assert_equal(file.read_text(encoding="utf-8"))
