"""Layers of a network whose penalty stands in a file that does not know the network's: a program uses both."""

from __future__ import annotations

from pathlib import Path

from torch2ms import translate_project

CRITIC = (
    "import torch.nn as nn\n\n\nclass Critic(nn.Sequential):\n    def __init__(self):\n"
    "        super().__init__(nn.LayerNorm(4), nn.Linear(4, 1))\n"
)
PENALTY = (
    "import torch\n\n\ndef penalty(net, x):\n    x.requires_grad_(True)\n    out = net(x)\n"
    "    g = torch.autograd.grad(out.sum(), x, create_graph=True)[0]\n    return g.norm()\n"
)


def translated(tmp_path: Path, main: str) -> str:
    source = tmp_path / "src"
    source.mkdir()
    for name, text in {"critic": CRITIC, "penalties": PENALTY, "main": main}.items():
        (source / f"{name}.py").write_text(text)
    translate_project(source, tmp_path / "out")
    return (tmp_path / "out" / "critic.py").read_text()


def test_they_can_be_differentiated_again(tmp_path: Path) -> None:
    main = "import torch\nfrom critic import Critic\nfrom penalties import penalty\n\n"
    main += "print(penalty(Critic(), torch.ones(2, 4)))\n"
    assert "twice.LayerNorm(4)" in translated(tmp_path, main)


def test_others_are_as_they_were(tmp_path: Path) -> None:
    main = "import torch\nfrom critic import Critic\n\nprint(Critic()(torch.ones(2, 4)))\n"
    assert "twice" not in translated(tmp_path, main)
