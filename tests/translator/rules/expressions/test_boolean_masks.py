"""Conditions that a network computes with in two places carry no gradient: MindSpore cannot add up those of bools."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEADER = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y, n: int):
        p = torch.sigmoid(x)
"""
TWICE = "return (p * m).sum() + (y * m.float()).sum()"


def lines(*statements: str) -> list[str]:
    source = HEADER + "".join(f"        {line}\n" for line in statements)
    return [line.strip() for line in translate_source(source).text.splitlines()]


@pytest.mark.parametrize(
    ("condition", "cut"),
    [
        ("p > 0.5", "p > 0.5"),
        ("(p > 0.1) & (p < y)", "(p > 0.1) & (p < y)"),
        ("p.gt(0.5)", "p.gt(0.5)"),
        ("(p > 0).unsqueeze(1)", "(p > 0).unsqueeze(1)"),
    ],
)
def test_a_condition_that_is_counted_with_twice_is_cut_off(condition: str, cut: str) -> None:
    assert f"m = ops.stop_gradient({cut})" in lines(f"m = {condition}", TWICE)


def test_once_in_a_loop_is_more_than_once() -> None:
    found = lines("m = p > 0.5", "for i in range(3):", "    y = y + p * m", "return y")
    assert "m = ops.stop_gradient(p > 0.5)" in found


@pytest.mark.parametrize(
    ("condition", "rest"),
    [
        ("p > 0.5", "return (p * m).sum() + y.sum()"),
        ("p > 0.5", "return p[m].sum() + y[m].sum() + p.masked_fill(m, 0).sum()"),
        ("n > 3", "return p * m + y * m"),
        ("torch.arange(4) > 2", TWICE),
    ],
)
def test_what_gets_no_two_gradients_stays(condition: str, rest: str) -> None:
    assert f"m = {condition}".replace("torch.", "ops.") in lines(f"m = {condition}", rest)


def test_types_in_annotations_are_no_masks() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor, names: tuple[str, ...] = ()):\n    return torch.abs(x)\n"
    assert "names: tuple[str, ...] = ()" in translate_source(text).text
