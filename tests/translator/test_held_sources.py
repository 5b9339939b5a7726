"""``x[...] = y`` in MindSpore lets x have the memory of y: a tensor that others hold is copied first."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n(w * 2).sum().backward()\nprint(w.grad)\n"
MADE = "y = torch.ones(3)\nxs = [torch.zeros(3)]\nx = torch.zeros(3)\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("xs[0].copy_(y)", "xs[0][...] = ops.deepcopy(y)"),
        ("xs[0].copy_(y.detach())", "xs[0][...] = ops.deepcopy(ops.stop_gradient(y))"),
        ("xs[0].copy_(y * 2)", "xs[0][...] = y * 2"),
        ("x[...] = y", "x[...] = ops.deepcopy(y)"),
        ("x[...] = 1", "x[...] = 1"),
        ("x[...] = y + 1", "x[...] = y + 1"),
    ],
)
def test_the_source_keeps_its_memory(line: str, expected: str) -> None:
    assert f"{expected}\n" in translate_source(f"{HEAD}{MADE}{line}\n").text


def test_a_tensor_in_a_dictionary_is_filled() -> None:
    source = "def f(state, p):\n    slots = state[p]\n    slots['old'].add_(1)\n    slots['old'].copy_(p)\n"
    found = translate_source(f"import torch\n{source}")
    assert "slots['old'][...] = slots['old'] + 1\n" in found.text
    assert "T2M203" not in {item.code for item in found.diagnostics}
