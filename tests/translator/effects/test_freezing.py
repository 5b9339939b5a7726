"""Weights frozen or freed behind the optimizer: MindSpore's has a gradient of zero where PyTorch's has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

STEPS = """import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    {inside}
    loss = net(torch.ones(1, 2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FROZEN = "goes on moving what is frozen"
FREED = "stays out of it"


def messages(source: str) -> str:
    return "\n".join(d.message for d in translate_source(source).diagnostics)


@pytest.mark.parametrize(
    "freeze", ["for p in net[0].parameters(): p.requires_grad = False", "net[0].weight.requires_grad_(False)"]
)
def test_what_is_frozen_behind_a_step_is_marked(freeze: str) -> None:
    assert FROZEN in messages(STEPS.replace("{inside}", freeze))
    before = STEPS.replace("{inside}", "pass").replace("optimizer = ", f"{freeze}\noptimizer = ")
    assert FROZEN not in messages(before)


def test_what_is_frozen_for_a_moment_is_not_marked() -> None:
    """As adversarial programs do, whose other optimizer does not step meanwhile."""
    inside = "for p in net.parameters(): p.requires_grad = False\n    for p in net.parameters(): p.requires_grad = True"
    assert FROZEN not in messages(STEPS.replace("{inside}", inside))


def test_what_another_file_frees_is_marked(make_tree: Callable[..., Path]) -> None:
    loop = "    for p in net.parameters():\n        p.requires_grad = "
    helper = f"import torch\n\n\ndef freeze(net):\n{loop}False\n\n\ndef free(net):\n{loop}True\n"
    script = STEPS.replace("{inside}", "free(net[0])").replace(
        "import torch\n", "import torch\nfrom helpers import free\n", 1
    )
    tree = make_tree({"p/helpers.py": helper, "p/main.py": script, "p/other.py": STEPS.replace("{inside}", "pass")})
    found = {d.file.rpartition("/")[2] for d in translate_project(tree, None).diagnostics if FREED in d.message}
    assert found == {"main.py"}
