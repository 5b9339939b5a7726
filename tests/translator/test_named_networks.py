"""Networks that are known by the name of their class alone: a module imported by its name, a dictionary of modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

NET = "import torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n        return x\n"
BASE = """import torch
class Exp:
    def __init__(self, args):
        self.device = torch.device('cpu')
        self.model = self._build_model().to(self.device)
    def _build_model(self):
        raise NotImplementedError
        return None
"""
MAIN = """from importlib import import_module
from models import a, b
module = import_module('models.' + name)
net = module.Model(4).float().train()
other = {'a': a, 'b': b}[name].Model(4).float()
print(net.parameters)
"""


def translated(make_tree: Callable[[dict[str, str]], Path], out: Path, second: str) -> str:
    tree = {"main.py": MAIN, "exp.py": BASE, "models/__init__.py": "", "models/a.py": NET, "models/b.py": second}
    translate_project(make_tree(tree), out)
    return (out / "main.py").read_text()


def test_all_classes_of_the_name_are_networks(make_tree: Callable[[dict[str, str]], Path], tmp_path: Path) -> None:
    text = translated(make_tree, tmp_path / "out", NET)
    assert "modules.cast(module.Model(4), ms.float32).set_train()" in text
    assert "modules.cast({'a': a, 'b': b}[name].Model(4), ms.float32)" in text
    assert "print(lambda: modules.parameters(net))" in text
    assert "self.model = self._build_model()\n" in (tmp_path / "out" / "exp.py").read_text()


@pytest.mark.parametrize(
    "second",
    ["class Model:\n    pass\n", "def Model(x):\n    return x\n", "class Other:\n    def Model(self):\n        pass\n"],
)
def test_something_else_has_the_name(second: str, make_tree: Callable[[dict[str, str]], Path], tmp_path: Path) -> None:
    assert "module.Model(4).float()" in translated(make_tree, tmp_path / "out", second)


def test_arrays_that_are_copied_into_weights() -> None:
    head = "import numpy as np\nimport torch\nnet = torch.nn.Linear(2, 2)\nx = np.eye(2)\n"
    cast = "ops.assign(net.weight, ms.Tensor(x).astype(net.weight.dtype))"
    assert cast in translate_source(head + "net.weight.data.copy_(torch.from_numpy(x))\n").text
    before = "y = torch.from_numpy(x)\nnet.weight.data.copy_(y.view(2, 2))\n"
    assert "y.view(2, 2).astype(net.weight.dtype)" in translate_source(head + before).text
    known = "y = torch.zeros(2, 2)\nnet.weight.data.copy_(y.view(2, 2))\n"
    assert "ops.assign(net.weight, y.view(2, 2))" in translate_source(head + known).text
    average = "other = torch.nn.Linear(2, 2)\nnet.weight.data.copy_(net.weight.data * 0.9 + other.weight.data * 0.1)\n"
    assert "astype" not in translate_source(head + average).text


def test_a_tensor_class_that_is_called_later() -> None:
    chosen = "import torch\nTensor = torch.cuda.FloatTensor if cuda else torch.Tensor\nx = Tensor(2, 3)\n"
    assert "Tensor = functional.typed_tensor\n" in translate_source(chosen).text
    tested = "import torch\nTensor = torch.Tensor\ny = isinstance(x, Tensor)\n"
    assert "typed_tensor" not in translate_source(tested).text
