"""Tensors that a network holds, neither parameters nor buffers, and changes in place."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HOLDING = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = torch.zeros(3)

    def forward(self, x: torch.Tensor):
        {statement}
        return self.h * 2
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("self.h.copy_(x)", "self.h[...] = ops.deepcopy(x)"),
        ("self.h.add_(x)", "self.h[...] = self.h + x"),
        ("self.h.zero_().add_(x)", "self.h[...] = ops.zeros_like(self.h) + x"),
        ("kept = self.h; self.h += x", "kept = self.h; self.h[...] = self.h + x"),
        ("self.h += x", "self.h += x"),
        ("self.h.detach_()", "self.h = ops.stop_gradient(self.h)"),
        ("self.h.unsqueeze_(0)", "self.h = self.h.unsqueeze(0)"),
        ("self.h.mul_(0.9).add_(x.detach())", "ops.assign(self.h, self.h * 0.9 + ops.stop_gradient(x))"),
    ],
)
def test_a_tensor_that_a_network_holds_is_filled_with_its_gradient(statement: str, expected: str) -> None:
    result = translate_source(HOLDING.format(statement=statement))
    assert [line.strip() for line in result.text.splitlines()][-2] == expected
    assert not [item for item in result.diagnostics if item.code == "T2M305"]


def test_what_is_none_first_is_held_by_nobody() -> None:
    """Sums of blocks (HiFi-GAN's) start with None."""
    source = (
        "from torch import nn\n\n\n"
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])\n\n"
        "    def forward(self, x):\n        total = None\n        for i in range(2):\n            if total is None:\n"
        "                total = self.blocks[i](x)\n            else:\n                total += self.blocks[i](x)\n"
        "        return total / 2\n"
    )
    assert "T2M305" not in {item.code for item in translate_source(source).diagnostics}
