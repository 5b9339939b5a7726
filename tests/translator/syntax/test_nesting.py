"""Deep nesting is translated in time linear in its depth, or told by its line; never a fault of torch2ms."""

from __future__ import annotations

import time

import pytest

from torch2ms import translate_source
from torch2ms.translator import file_translation
from torch2ms.translator.syntax import nesting

HEAD = "import torch\nx = torch.zeros(3)\n"
NESTED = {
    "negations": "y = {}x.any()".format("not " * 400),
    "signs": "y = {}torch.abs(x)".format("-" * 400),
    "calls": "y = {}x{}".format("torch.abs(" * 190, ")" * 190),
    "methods": "y = x{}".format(".abs()" * 400),
    "dictionaries": "y = {}x.abs(){}".format("{'a': " * 190, "}" * 190),
    "arguments": "y = {}x{}".format("dict(a=torch.abs(" * 95, "))" * 95),
    "alternatives": "if x.any():\n    y = 1\n" + "elif x.sum() == 1:\n    y = x.abs()\n" * 400,
    "conditions": "y = {}x".format("x.abs() if x.any() else " * 300),
    "lambdas": "y = {}x.abs()".format("lambda: " * 300),
    "sums": "y = {}x".format("torch.abs(x) + " * 300),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_code_is_translated(name: str) -> None:
    started = time.process_time()
    result = translate_source(f"{HEAD}{NESTED[name]}\n")
    assert [found.code for found in result.diagnostics if found.code[3] in "19"] == []
    assert "from mindspore import" in result.text
    assert time.process_time() - started < 10  # 67 s for 400 negations when each was simplified again by all around it


def test_what_is_too_deep_is_told_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(file_translation, "rewrite_module", refuse)
    (found,) = translate_source(f"{HEAD}\ny = {'-' * 50}x\n").diagnostics
    assert (found.code, found.line) == ("T2M101", 4)
    assert found.message == "line 4 is nested 53 deep, too deep to translate; the file was copied as it is"


def test_the_limit_of_frames_is_given_back() -> None:
    import sys

    before = sys.getrecursionlimit()
    with nesting.many_frames():
        assert sys.getrecursionlimit() > before
    assert sys.getrecursionlimit() == before
