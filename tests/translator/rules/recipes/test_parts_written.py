"""Parts of tensors that a call writes into (``out=buffer[1:]``), and copies of parts that are changed at once."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\n\n\ndef run(x: torch.Tensor, y: torch.Tensor, i: int):\n    "


def line_of(statement: str) -> tuple[str, list[str]]:
    result = translate_source(f"{HEAD}{statement}\n    return y\n")
    lines = result.text.splitlines()
    codes = [d.code for d in result.diagnostics if str(d.severity) != "note"]
    return next(line.strip() for line in reversed(lines[:-1]) if not line.strip().startswith("#")), codes


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("torch.add(x, 1, out=y[i])", "y[i] = ops.add(x, 1)"),
        ("torch.mul(x, 2, out=y[1:3, 0])", "y[1:3, 0] = ops.mul(x, 2)"),
        ("torch.mul(x, 2, out=y.narrow(1, 1, i))", "y[:, 1:1 + i] = ops.mul(x, 2)"),
        ("torch.mul(x, 2, out=y.narrow(i, 1, 2))", "y[functional.along(y, i, 1, 2)] = ops.mul(x, 2)"),
        ("y.select(i, 1).add_(x)", "y[functional.along(y, i, 1)] = functional.select(y, i, 1) + x"),
        ("torch.mul(x, 2, out=y.view(-1))", "y.view(-1)[()] = ops.mul(x, 2)"),
    ],
)
def test_a_part_is_assigned(statement: str, expected: str) -> None:
    assert line_of(statement) == (expected, [])


@pytest.mark.parametrize(
    "statement",
    [
        "torch.mul(x, 2, out=y[[0, 1]])",  # a copy
        "torch.mul(x, 2, out=y[x > 0])",
        "torch.sort(x, out=(y[0], y[1]))",
        "z = torch.mul(x, 2, out=y[0])",
    ],
)
def test_what_no_assignment_says_is_left(statement: str) -> None:
    left, codes = line_of(statement)
    assert left == statement
    assert codes == ["T2M203"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("z = x[x > 0].pow_(2).sum()", "z = functional.selections.sum(x[x > 0] ** 2)"),
        ("z = y + x[[0, 2]].add_(1).mul_(2)", "z = y + ((x[[0, 2]] + 1) * 2)"),
        ("z = x[~y.bool()].clamp_(0)", "z = x[~y.bool()].clamp(0)"),
    ],
)
def test_a_copy_that_nobody_sees_is_computed(statement: str, expected: str) -> None:
    assert line_of(statement) == (expected, [])


def test_a_copy_that_is_changed_for_nothing_is_told() -> None:
    assert line_of("x[x > 0].pow_(2)") == ("x[x > 0].pow_(2)", ["T2M203"])


NETWORK = """
import torch
from torch import nn


def used(y, i):
    z = torch.zeros_like(y)
    v = z.view(-1)
    v[i] = 1.0
    return z


def data(y, i):
    z = torch.zeros_like(y)
    v = z.view(-1)
    v[i] = 2.0
    return z


class Net(nn.Module):
    def beside(self, y):
        z = torch.zeros_like(y)
        v = z.view(-1)
        v[0] = 3.0
        return z

    def reset_parameters(self):
        z = torch.zeros(3)
        v = z.view(-1)
        v[0] = 4.0
        return z

    def forward(self, x):
        return self.beside(x) * used(x, 2)
"""


def test_views_are_told_in_all_that_a_forward_pass_runs() -> None:
    result = translate_source(NETWORK)
    told = [d.line for d in result.diagnostics if d.code == "T2M305"]
    assert told == [9, 24]
