"""Slices whose gradient MindSpore's CPU kernel does not compute."""

from __future__ import annotations

import pytest

from torch2ms.config import Options, Target
from torch2ms.translator.pipeline import translate_source

STEPS = """import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, n: int):
"""


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("x[:, 1::2, 0::2, :]", "functional.take_every(functional.take_every(x, 2, axis=1, start=1), 2, axis=2)"),
        ("x[..., ::2, ::2]", "functional.take_every(x, 2, axis=-2)[..., ::2]"),
        ("x[:, None, 1:-1:2]", "functional.take_every(x, 2, axis=1, start=1, stop=-1)[:, None]"),
        ("x[:, n::2, 0]", "functional.take_every(x, 2, axis=1, start=n)[:, :, 0]"),
        ("x[0, :, ::n]", "functional.take_every(x, n, axis=2)[0]"),
    ],
)
def test_steps_whose_gradient_the_cpu_cannot_compute(index: str, expected: str) -> None:
    assert f"return {expected}\n" in translate_source(f"{STEPS}        return {index}\n").text


@pytest.mark.parametrize(
    "statement",
    ["return x[::2]", "return x[0, ::2]", "return x[..., 1::2]", "return x[:, 0::1]", "x[:, ::2] = 0",
     "x[:, ::2][0] = 0", "return x[x > 0, ::2]", "return x.long()[:, ::2].float()"],
)  # fmt: skip
def test_steps_that_stay(statement: str) -> None:
    assert "take_every" not in translate_source(f"{STEPS}        {statement}\n").text


def test_steps_stay_on_ascend() -> None:
    options = Options(Target(device="ascend"))
    assert "return x[:, ::2]" in translate_source(f"{STEPS}        return x[:, ::2]\n", options=options).text


PARTS = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, kept=0, width=4):
        super().__init__()
        self.kept = kept
        self.width = width

    def forward(self, x: torch.Tensor, n: int, start: int = 0, y=None):
        for i in range(n):
            pass
        first = 0
"""


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("x[..., :start]", "functional.span(x, axis=-1, stop=start)"),
        ("y[..., :start]", "functional.span(y, axis=-1, stop=start)"),
        ("x[:, :i]", "functional.span(x, axis=1, stop=i)"),
        ("x[:i]", "functional.span(x, axis=0, stop=i)"),
        ("x[:i * n, 1:]", "functional.span(x, axis=0, stop=i * n)[:, 1:]"),
        ("x[:, 0:self.kept]", "functional.span(x, axis=1, stop=self.kept)"),
        ("x[first:0]", "functional.span(x, axis=0, start=first, stop=0)"),
        ("x[..., :start:2]", "functional.take_every(x, 2, axis=-1, stop=start)"),
    ],
)
def test_slices_that_may_end_where_they_begin(index: str, expected: str) -> None:
    assert f"return {expected}\n" in translate_source(f"{PARTS}        return {index}\n").text


@pytest.mark.parametrize(
    "statement",
    ["return x[:n]", "return x[start:]", "return x[i:i + n]", "return x[:, :self.width]", "return x[:4]",
     "return x[:i + 1]", "x[:, :i] = 0", "x[:i].zero_()", "return x.long()[:i]", "return x[-n:0]",
     "return [1, 2][:start]"],
)  # fmt: skip
def test_slices_that_stay(statement: str) -> None:
    assert "span" not in translate_source(f"{PARTS}        {statement}\n").text
