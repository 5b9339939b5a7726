"""``optimizer.step(net.closure)``: a closure that is a method of the network, and uses the optimizer of the script."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

PROGRAM = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def loss(self, x):
        return self.fc(x).pow(2).mean()

    def closure(self):
        optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        return loss


x = torch.ones(3, 2)
net = Net()
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1)
optimizer.step(net.closure)
print(net.closure())
"""


def test_it_gives_its_gradients_back() -> None:
    result = translate_source(PROGRAM)
    assert "grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)" in result.text
    assert "        return loss, grads\n" in result.text
    assert "optimizer.step(net.closure)\nprint(net.closure()[0])" in result.text
    assert not [d for d in result.diagnostics if d.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("optimizer.step(net.closure)\n", "def run(net, optimizer):\n    optimizer.step(net.closure)\n"),  # another one
        ("x = torch", "class Other:\n    def closure(self):\n        return 0\n\n\nx = torch"),  # which of both?
        ("def closure(self)", "def closure(self, scale)"),
    ],
)
def test_others_stay_and_are_marked(old: str, new: str) -> None:
    assert old in PROGRAM
    result = translate_source(PROGRAM.replace(old, new))
    assert any(d.code == "T2M403" for d in result.diagnostics)
    assert "return loss, grads" not in result.text
