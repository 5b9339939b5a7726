"""Working copies of weights, changed in place and copied back: no mark where nothing reads the weight between."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

_HEAD = """import torch
class Own(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
"""


def marks(*lines: str) -> list[str]:
    """Return the codes of what becomes of a loop over weights."""
    body = "".join(f"                {line}\n" for line in lines)
    return [found.code for found in translate_source(_HEAD + body).diagnostics if found.code == "T2M305"]


@pytest.mark.parametrize(
    "lines",
    [
        ("q = p.data.float()", "q.add_(torch.ones(2))", "p.data.copy_(q)"),
        ("q = p.data.float()", "if group['wd']:", "    q.add_(q)", "q.mul_(2)", "p.data.copy_(q)"),
    ],
)
def test_a_copy_that_goes_back_at_once_needs_no_mark(lines: tuple[str, ...]) -> None:
    assert not marks(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("q = p.data.float()", "q.add_(1)"),
        ("q = p.data.float()", "q.add_(1)", "print(p.sum())", "p.data.copy_(q)"),
        ("q = p.data.float()", "q.add_(1)", "if p.dtype == torch.float16:", "    p.data.copy_(q)"),
        ("q = p.data.float()", "self.kept = q", "q.add_(1)", "p.data.copy_(q)"),
        ("q = p.data.float()", "for i in range(3):", "    q.add_(p.data)", "p.data.copy_(q)"),
    ],
)
def test_others_are_marked(lines: tuple[str, ...]) -> None:
    assert marks(*lines)
