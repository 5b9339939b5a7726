"""After ``h = x`` a change in place under one name is one under the other, too."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms import translate_source

HEADER = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

"""


def translated(forward: str) -> tuple[list[str], list[str]]:
    """Return the lines of the forward pass that is given, and the codes of what was reported."""
    result = translate_source(HEADER + textwrap.indent(textwrap.dedent(forward), "    "))
    lines = [line.strip() for line in result.text.split("def construct")[1].splitlines()[1:]]
    return [line for line in lines if line and "# TORCH2MS" not in line], [d.code for d in result.diagnostics]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [("h += self.fc(s)", "h + self.fc(s)"), ("h *= 2", "h * 2"), ("h.add_(s)", "h + s"), ("h.mul_(s)", "h * s")],
)
def test_both_names_are_bound_anew(statement: str, expected: str) -> None:
    lines, codes = translated(
        f"def forward(self, x, s):\n    h = x\n    {statement}\n    h = self.fc(h)\n    return x + h"
    )
    assert lines[1] == f"h = x = {expected}"
    assert "T2M305" not in codes


def test_a_value_of_the_function_is_its_own() -> None:
    lines, codes = translated("def forward(self, x):\n    y = self.fc(x)\n    h = y\n    h += 1\n    return y * h")
    assert lines[2] == "h = y = h + 1"
    assert "T2M305" not in codes


def test_a_second_change_reaches_both_again() -> None:
    lines, _ = translated("def forward(self, x):\n    h = x\n    h += 1\n    h *= 2\n    return x - h")
    assert lines[1:3] == ["h = x = h + 1", "h = x = h * 2"]


def test_what_came_in_a_tuple_is_said_to_be_seen_by_the_caller() -> None:
    lines, codes = translated(
        "def forward(self, pair):\n    x, s = pair\n    h = x\n    n = len(x)\n    h += self.fc(s)\n    return x + h"
    )
    assert "h = x = h + self.fc(s)" in lines
    assert "T2M305" in codes


@pytest.mark.parametrize(
    "forward",
    [
        "def forward(self, x):\n    h = x\n    x = self.fc(x)\n    h += 1\n    return x + h",
        "def forward(self, x):\n    h = x\n    h = self.fc(h)\n    h += 1\n    return x + h",
        "def forward(self, x, h):\n    if x.any():\n        h = x\n    h += 1\n    return x + h",
        "def forward(self, x):\n    h = x.clone()\n    h += 1\n    return x + h",
        "def forward(self, x: int):\n    h = x\n    h += 1\n    return x + h",
    ],
)
def test_a_name_that_holds_something_else_is_left_alone(forward: str) -> None:
    lines, _ = translated(forward)
    assert "h += 1" in lines


@pytest.mark.parametrize("change", ["x += 1", "x.add_(1)"])
def test_a_change_of_the_input_that_another_name_holds_is_marked(change: str) -> None:
    _, codes = translated(f"def forward(self, x: torch.Tensor):\n    h = x\n    {change}\n    return h + x")
    assert "T2M305" in codes


def test_a_change_of_the_other_name_in_between_is_not_lost() -> None:
    lines, codes = translated("def forward(self, x: torch.Tensor):\n    h = x\n    x += 1\n    h += 2\n    return h, x")
    assert "h = x = h + 2" not in lines
    assert codes.count("T2M305") == 2


def test_an_input_that_only_its_caller_holds_is_changed_without_a_mark() -> None:
    lines, codes = translated("def forward(self, x: torch.Tensor):\n    x += 1\n    return self.fc(x)")
    assert lines[0] == "x += 1"
    assert "T2M305" not in codes


def test_an_input_that_was_bound_anew_is_another_tensor() -> None:
    _, codes = translated(
        "def forward(self, x):\n    shortcut = x\n    x = self.unknown(x)\n    x += shortcut\n    return x"
    )
    assert "T2M305" not in codes
