"""Weights that are given values again behind a step keep their memory: the optimizer goes on training them."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.effects.file_summary import index_file
from torch2ms.translator.effects.step_reachability import runs_behind_step
from torch2ms.translator.project.symbol_table import SymbolTable

PARTS = """
def fill(net):
    net.apply(init_layer)

def init_layer(layer):
    start(layer.weight)

def start(weight): ...

def make(): ...

class Worker:
    def __init__(self):
        init_layer(self)

    def work(self, net):
        step(net).backward()

def train(net):
    for _ in range(3):
        net(0).backward()
"""


def behind(script: str, parts: str = PARTS) -> set[str]:
    sources = {"parts.py": parts, "main.py": f"from parts import *\n{script}"}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    table = SymbolTable.build(index_file(path, tree) for path, tree in trees.items())
    return {name for name in table.defined if runs_behind_step(name, "parts.py", table, trees.get)}


@pytest.mark.parametrize(
    "script",
    [
        "net = make()\nfill(net)\ntrain(net)\n",
        "def main():\n    net = make()\n    fill(net)\n    train(net)\nmain()\n",
        "for fold in range(5):\n    net = make()\n    fill(net)\n    train(net)\n",
        "for fold in range(5):\n    net = make()\n    net.apply(init_layer)\n    train(net)\n",
        "fill(make())\nfor epoch in range(3):\n    net.train()\n    train(net)\n",
        "train(make())\nworker = Worker()\n",
    ],
)
def test_first_values(script: str) -> None:
    assert not {"fill", "init_layer", "start"} & behind(script)


@pytest.mark.parametrize(
    "script",
    [
        "train(net)\nfill(net)\n",
        "for epoch in range(3):\n    fill(net)\n    train(net)\n",
        "def main():\n    for epoch in range(3):\n        train(net)\n        if epoch:\n            fill(net)\n",
        "def once():\n    train(net)\ndef main():\n    once()\n    net.apply(init_layer)\n",
        "Worker().work(net)\nnet.apply(init_layer)\n",
        "loss.backward()\nnet.body.apply(init_layer)\n",
    ],
)
def test_values_behind_a_step(script: str) -> None:
    assert {"init_layer", "start"} <= behind(script)


def test_a_method_called_train_is_a_step_of_the_projects_own() -> None:
    own = PARTS + "class Trainer:\n    def train(self):\n        train(self.net)\n"
    script = "trainer.train()\nfill(net)\n"
    assert "fill" in behind(script, own)
    assert "fill" not in behind(script.replace("trainer", "net"))
