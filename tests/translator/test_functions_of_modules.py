"""Functions that a step calls through their module are parts of its forward pass, as those imported by name are."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project

PARTS = "import torch\n\n\ndef penalty(net, x):\n    return (net(x) ** 2).mean()\n"
MAIN = """import torch
from torch import nn, optim
{imported}

real = torch.ones(3, 4)
net = {made}
opt = optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    extra = {call}(net, real)
    loss = extra - net(real).mean()
    loss.backward()
    opt.step()
    print(extra.item())
"""


@pytest.mark.parametrize("made", ["nn.Linear(4, 1)", "(lambda n: n)(nn.Linear(4, 1))"])
@pytest.mark.parametrize(
    ("imported", "call"), [("import parts", "parts.penalty"), ("from parts import penalty", "penalty")]
)
def test_the_gradient_of_what_they_compute_is_not_left_out(tmp_path: Path, imported: str, call: str, made: str) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "parts.py").write_text(PARTS)
    (source / "main.py").write_text(MAIN.format(imported=imported, call=call, made=made))
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "main.py").read_text()
    assert f"def forward_fn():\n    extra = {call}(net, real)\n    loss = extra - net(real).mean()\n" in text
