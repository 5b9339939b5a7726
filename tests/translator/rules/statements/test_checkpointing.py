"""Functions that are computed once more for their gradient are recorded; others keep a gradient of their own."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

_SOURCE = """\
import torch

class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, length, *values):
        ctx.function = function
        ctx.values = list(values[:length])
        with {mode}:
            result = {call}
        return {given}

    @staticmethod
    def backward(ctx, *gradients):
        values = [value.detach().requires_grad_(True) for value in ctx.values]
        with torch.enable_grad():
            result = ctx.function(*values)
        found = torch.autograd.grad(result, values, gradients)
        return {returned}

def run(function, x):
    return Again.apply(function, 1, x)
"""
_PARTS = {
    "mode": "torch.no_grad()",
    "call": "ctx.function(*ctx.values)",
    "given": "result",
    "returned": "(None, None) + found",
}


def text_of(**parts: str) -> str:
    return translate_source(_SOURCE.format(**{**_PARTS, **parts})).text


@pytest.mark.parametrize("parts", [{}, {"call": "function(*ctx.values)"}, {"returned": "(None,) * 2 + found"}])
def test_what_is_computed_again_is_recorded(parts: dict[str, str]) -> None:
    text = text_of(**parts)
    assert "class Again(recomputed.Recomputed):" in text
    assert "def backward" not in text
    assert "TORCH2MS" not in text


@pytest.mark.parametrize(
    "parts",
    [
        {"mode": "torch.enable_grad()"},  # its values are recorded twice
        {"call": "function(*ctx.values) * 2"},
        {"given": "result * 2"},
        {"returned": "(None, None) + tuple(-g for g in found)"},
        {"returned": "(None, None) + tuple(g.clamp(-1, 1) for g in found)"},
        {"returned": "(None, None, found[0] * 0.1)"},
    ],
)
def test_other_gradients_stay(parts: dict[str, str]) -> None:
    text = text_of(**parts)
    assert "class Again(functions.Function):" in text
    assert "TORCH2MS T2M203: torch.autograd.grad" in text
