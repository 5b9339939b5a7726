"""Gradients that a program gives to weights itself, and steps by: servers that average updates, and others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options

HEAD = """import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters())
"""


def translated(source: str) -> tuple[str, set[str]]:
    made = translate_source(HEAD + source)
    return made.text, {d.code for d in made.diagnostics if d.severity.name != "NOTE"}


@pytest.mark.parametrize(
    "source",
    [
        "optimizer.zero_grad()\nfor p in net.parameters():\n    p.grad = torch.ones_like(p)\noptimizer.step()\n",
        "def give(model, opt: torch.optim.Optimizer, grads):\n    opt.zero_grad()\n"
        "    for p, g in zip(model.parameters(), grads):\n        p.grad = g\n    opt.step()\n",
        "net.weight.grad = torch.ones(1, 3)\noptimizer.step()\n",
        "def learn(model, x, y, opt: torch.optim.Optimizer):\n    loss = F.mse_loss(model(x), y)\n"
        "    grads = torch.autograd.grad(loss, model.parameters())\n"
        "    for p, g in zip(model.parameters(), grads):\n        p.grad = g * 0.5\n    opt.step()\n",
    ],
)
def test_they_are_kept_with_the_weights(source: str) -> None:
    text, codes = translated(source)
    assert "gradients.put(" in text
    assert "gradients.update(" in text
    assert not codes & {"T2M201", "T2M203", "T2M402", "T2M403", "T2M404"}


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("for p in net.parameters():\n    p.grad = None\noptimizer.step()\n", "optimizer.step()"),  # none is given
        ("import gym\nenv = gym.make('x')\nenv.step(net.weight.grad)\n", "env.step("),  # no step of an optimizer
        (
            "class Holder:\n    def __init__(self, g):\n        self.grad = g\n\n    def set(self, other):\n"
            "        other.grad = self.grad\n        optimizer.step()\n",
            "other.grad = self.grad",
        ),  # what may be no weight
    ],
)
def test_what_stays(source: str, kept: str) -> None:
    assert kept in translated(source)[0]


PROGRAM = """
import copy
import torch
from torch import nn
import torch.nn.functional as F

def filled(net):
    for i, p in enumerate(net.parameters()):
        p.data = torch.sin(torch.arange(p.numel()).float() + i).view(p.shape)
    return net

def client(model, x, y):
    model = copy.deepcopy(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    return model, loss.item()

class Server:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(self.model.parameters(), lr=0.05)

    def round(self, data):
        clients = [client(self.model, x, y) for x, y in data]
        self.opt.zero_grad()
        for name, p in self.model.named_parameters():
            mean = torch.stack([dict(c.named_parameters())[name].data for c, _ in clients]).mean(0)
            p.grad = p.data - mean
        self.opt.step()
        return sum(loss for _, loss in clients)

def strategy(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        for p in net.parameters():
            p.grad = torch.ones_like(p) * (step + 1)
        opt.step()

net = filled(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
data = [(torch.cos(torch.arange(15).float() + k).view(5, 3), (torch.arange(5) + k) % 2) for k in range(2)]
server = Server(net)
print([server.round(data) for _ in range(3)])
strategy(net, 3)
print([v for p in net.parameters() for v in p.flatten().tolist()])
"""


@pytest.mark.slow
def test_the_weights_are_pytorchs(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "main.py").write_text(PROGRAM)
    report = translate_project(source, tmp_path / "out", Options(cache=False))
    assert not {d.code for d in report.diagnostics} & {"T2M201", "T2M203", "T2M402", "T2M404"}
    printed = []
    for folder in (source, tmp_path / "out"):
        done = subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        printed.append(
            [float(word) for word in done.stdout.replace("[", " ").replace("]", " ").replace(",", " ").split()]
        )
    assert len(printed[0]) == 29
    assert printed[1] == pytest.approx(printed[0], abs=1e-4)
