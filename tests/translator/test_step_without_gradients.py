"""``optimizer.step()`` where nothing computes gradients."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = """import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
"""
LOOP = """for _ in range(4):
    optimizer.step()
    scheduler.step()
"""


def test_goes_where_only_a_schedule_is_shown() -> None:
    result = translate_source(HEAD + LOOP)
    assert "optimizer.step" not in result.text
    assert "scheduler.step()" in result.text
    assert [d.code for d in result.diagnostics] == ["T2M304"]


@pytest.mark.parametrize(
    "more",
    [
        "from engine import train\ntrain(model)\n",  # another file may call backward
        "from . import engine\n",
        "import accelerate\n",
        "from torch.autograd import backward\nbackward(model(torch.ones(1, 2)))\n",
    ],
)
def test_stays_where_gradients_may_exist(more: str) -> None:
    result = translate_source(HEAD + more + LOOP)
    assert "optimizer.step()" in result.text
    assert "TORCH2MS" in result.text


def test_a_gradient_that_is_assigned_is_stepped_by() -> None:
    text = translate_source(HEAD + "model.weight.grad = torch.ones(1, 2)\n" + LOOP).text
    assert "gradients.put(model.weight, ops.ones((1, 2)))" in text
    assert "gradients.update(optimizer)" in text


def test_stays_where_the_optimizer_comes_from_outside() -> None:
    result = translate_source(
        "import torch\ndef update(optimizer: torch.optim.Optimizer):\n    optimizer.step()\n    return optimizer\n"
    )
    assert "optimizer.step()" in result.text
    assert "TORCH2MS" in result.text
