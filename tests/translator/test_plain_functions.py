"""Functions of other files that only compute: a step begins with the network, not with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project

MAIN = """import torch
from torch import nn

from tools import prepare


def train(net: nn.Module, opt: torch.optim.SGD, batches):
    for x, y in batches:
        x = prepare(x)
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def step_of(body: str, folder: Path) -> tuple[str, str]:
    """Return what the loop does itself in front of the step, and the step, where ``prepare`` has a body."""
    source = folder / "src"
    source.mkdir()
    (source / "tools.py").write_text(
        "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
        f"SCALE = 0.5\nlayer = nn.Linear(2, 2)\n\n\ndef prepare(x):\n    {body}\n"
    )
    (source / "main.py").write_text(MAIN)
    translate_project(source, folder / "out")
    text = (folder / "out" / "main.py").read_text()
    function, _, loop = text.partition("for x, y in batches:")
    return loop.partition("grad_fn(")[0], function


@pytest.mark.parametrize(
    "body",
    [
        "return x * SCALE - 1",
        "return F.pad(x, (1, 1)).float() / np.pi",
        "x[x < 0] = 0\n    return x",
        "if x.dim() != 2:\n        raise ValueError('two axes, not {}'.format(x.dim()))\n    return x.sub(x.mean())",
        "parts = []\n    for row in x:\n        parts.append(torch.sort(row)[0])\n    return torch.stack(parts)",
    ],
)
def test_what_only_computes_stays_in_the_loop(body: str, tmp_path: Path) -> None:
    before, step = step_of(body, tmp_path)
    assert "x = prepare(x)" in before
    assert "prepare(" not in step.partition("def forward_fn")[2]


@pytest.mark.parametrize(
    "body",
    [
        "return layer(x)",
        "return x @ layer.weight",
        "def inner(v):\n        return v\n    return inner(x)",
        "return x.forward(SCALE)",
        "return type(layer)(2, 2)(x)",
        "return next(iter([layer]))(x)",
    ],
)
def test_what_may_hold_weights_is_part_of_the_step(body: str, tmp_path: Path) -> None:
    before, step = step_of(body, tmp_path)
    assert "prepare(x)" not in before
    assert "prepare(" in step.partition("def forward_fn")[2]
