"""Tensors that calls pass on, changed in place afterwards: whoever holds them sees the change."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = """import copy
import torch
import torch.nn.functional as F
base = torch.ones(2, 3)
def same(t):
    return t
def part(t):
    return t[0]
class Box:
    def __init__(self, t):
        self.t = t
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("other = same(base)\nbase.add_(1)", "base[...] = base + 1"),
        ("other = part(base)\nbase.add_(1)", "base[()] = base + 1"),
        ("other = part(base)\nother *= 3", "other[()] = other * 3"),
        ("other = Box(base).t\nbase.mul_(2)", "base[()] = base * 2"),
        ("other = next(iter(base))\nbase *= 3", "base[()] = base * 3"),
        ("first, other = base\nbase *= 3", "base[()] = base * 3"),
        ("other = torch.transpose(base, 0, 1)\nbase.abs_()", "base[()] = base.abs()"),
        ("other = base[:1]\nF.relu(base, inplace=True)", "base[()] = ops.relu(base)"),
        ("other = copy.copy(base)\nbase.neg_()", "base[...] = base.neg()"),
        ("other = copy.copy(base)\nprint(1)", "other = base"),
        ("base.add_(1)", "base = base + 1"),
        ("other = same(base * 2)\nbase.add_(1)", "base = base + 1"),
        ("F.relu(base, inplace=True)\nother = base", "base = ops.relu(base)"),
    ],
)
def test_what_others_hold_is_filled(source: str, expected: str) -> None:
    read = "base, other" if "other" in source else "base"
    found = translate_source(f"{HEAD}{source}\nprint({read})\n")
    assert expected in found.text.splitlines()
    assert "T2M305" not in {item.code for item in found.diagnostics}


@pytest.mark.parametrize(
    "source",
    [
        "def change(t):\n    t += 1\n    return t\nother = base[torch.tensor([0])]\nchange(other)",
        "other = base[[0, 1]]\nfor row in other:\n    row.mul_(2)",
    ],
)
def test_what_an_index_copies_is_copied_where_a_function_changes_it(source: str) -> None:
    text = translate_source(f"{HEAD}{source}\nprint(base)\n").text
    assert next(line for line in text.splitlines() if line.startswith("other = ")).endswith("].copy()")
