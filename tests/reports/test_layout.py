"""JSON text with lines for what somebody may look for."""

from __future__ import annotations

import json

import pytest

from torch2ms.reports.layout import laid_out


def test_the_first_levels_have_lines_of_their_own() -> None:
    value = {"a": [{"b": [1, 2]}, {"ü": None}], "c": [], "d": {}, "e": "x"}
    text = laid_out(value, levels=2)
    assert text == '{\n  "a": [\n    {"b": [1, 2]},\n    {"ü": null}\n  ],\n  "c": [],\n  "d": {},\n  "e": "x"\n}'
    assert json.loads(text) == value


def test_numbers_that_json_cannot_say_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        laid_out({"a": float("nan")}, levels=1)
