"""Functions of other files that are given what may be weights: their gradient is part of the step."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project

MAIN = """import torch
from torch import nn

from tools import size_of


def train(net, opt, batches, picked):
    for x, y in batches:
        {before}
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        (loss + reg).backward()
        opt.step()
"""


@pytest.mark.parametrize("body", ["return w.pow(2).sum()", "return torch.norm(w.weight)", "return (w * 0.5) ** 2"])
@pytest.mark.parametrize(
    "before", ["reg = size_of(picked)", "reg = 0\n        for w in picked:\n            reg += size_of(w)"]
)
def test_what_stands_in_front_of_the_network_belongs_to_the_step(body: str, before: str, tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "tools.py").write_text(f"import torch\n\n\ndef size_of(w):\n    {body}\n")
    (source / "main.py").write_text(MAIN.replace("{before}", before))
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "main.py").read_text()
    step = text.partition("def forward_fn")[2].partition("grad_fn = ")[0]
    assert "size_of(" in step
    assert "size_of(" not in text.partition("grad_fn = ")[2]
