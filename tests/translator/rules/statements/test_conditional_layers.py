"""Layers that a step may not reach: MindSpore's optimizers move them on, where PyTorch's leave them alone."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

SOURCE = """import random

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.heads = nn.ModuleList([nn.Linear(2, 1) for _ in range(2)])

    def forward(self, x, task, skip=False, mask=None):
        {line}
        return x


optimizer = torch.optim.OPTIMIZER
"""
ADAM = "Adam(Net().parameters())"


def marks(line: str, optimizer: str = ADAM) -> int:
    source = SOURCE.replace("{line}", line).replace("OPTIMIZER", optimizer)
    return sum("is not reached in each step" in d.message for d in translate_source(source).diagnostics)


@pytest.mark.parametrize(
    "line",
    [
        "x = self.heads[task](x)",
        "if not skip: x = self.b(x)",
        "if skip: return self.b(x)\n        x = self.a(x)",
        "if skip: x = self.b(x)\n        if task: return x\n        x = 2 * x",
        "if random.random() < 0.5: x = self.b(x)",
        "if torch.rand(1).item() < 0.5: x = self.b(self.a(x))\n        else: x = self.a(x)",
    ],
)
def test_what_a_step_may_not_reach_is_marked(line: str) -> None:
    assert marks(line) == 1
    assert marks(line, "SGD(Net().parameters(), lr=0.1, momentum=0.9)") == 1
    assert marks(line, "SGD(Net().parameters(), lr=0.1)") == 0


@pytest.mark.parametrize(
    "line",
    [
        "x = self.heads[0](x)",
        "if mask is not None: x = self.b(x)",
        "if self.training: x = self.b(x)",
        "if skip: x = self.a(x)\n        else: x = 2 * self.a(x)",
        "for head in self.heads: x = head(x)",
        "if skip: return self.a(x)\n        x = self.a(x)",
        "x = self.a(x)\n        if skip: x = self.a(x)",
    ],
)
def test_what_each_step_reaches_is_not(line: str) -> None:
    assert marks(line) == 0


def test_an_optimizer_of_the_projects_own_moves_weights_as_well() -> None:
    own = "class Lion(torch.optim.Optimizer):\n    pass\n\n\noptimizer = Lion(Net().parameters())"
    source = SOURCE.replace("{line}", "x = self.heads[task](x)").replace("optimizer = torch.optim.OPTIMIZER", own)
    assert any("is not reached in each step" in d.message for d in translate_source(source).diagnostics)
