"""Tensors that a gradient function is handed, and whose elements are assigned as well: handed over as copies."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

ATTACK = """
import torch
import torch.nn.functional as F

def attack(model, X, y):
    delta = torch.zeros_like(X)
    delta.requires_grad = True
    for _ in range(3):
        out = model(X + delta)
        index = torch.where(out.max(1)[1] == y)[0]
        loss = F.cross_entropy(out, y)
        loss.backward()
        {change}
        delta.grad.zero_()
    return delta.detach()
"""

STEP = """
import torch
import torch.nn as nn

def train(model: nn.Module, loader, opt: torch.optim.Optimizer):
    h = torch.zeros(4, 3)
    for x, done in loader:
        opt.zero_grad()
        loss = model(x + h).mean()
        h = h + 1
        loss.backward()
        opt.step()
        {change}
"""


def text(source: str, change: str) -> str:
    return translate_source(source.format(change=change)).text


def test_a_leaf_whose_elements_a_mask_selects_is_handed_over_as_a_copy() -> None:
    found = text(ATTACK, "delta.data[index] = (delta + delta.grad)[index]")
    assert "ms.value_and_grad(forward_fn, has_aux=True)(delta.copy())" in found


@pytest.mark.parametrize("change", ["delta.data += delta.grad", "delta.data[0] = delta.grad[0]", "delta.data[1:] = 0"])
def test_other_changes_need_no_copy(change: str) -> None:
    assert "(delta)\n" in text(ATTACK, change)
    assert "delta.copy()" not in text(ATTACK, change)


@pytest.mark.parametrize("change", ["h[done > 0] = 0", "h[done > 0] += 1"])
def test_so_is_a_state_that_a_step_is_handed(change: str) -> None:
    assert "grad_fn(x, h.copy())" in text(STEP, change)


@pytest.mark.parametrize("change", ["h[0] = 0", "h[:, 1:] = 0", "x[:, 1] = 0", "pass"])
def test_parts_may_be_written(change: str) -> None:
    assert "grad_fn(x, h)" in text(STEP, change)


def test_elements_of_another_function_do_not_matter() -> None:
    other = "\n\ndef clear(h, done):\n    h = torch.zeros(3)\n    h[done > 0] = 0\n"
    assert "grad_fn(x, h)" in translate_source(STEP.format(change="pass") + other).text
