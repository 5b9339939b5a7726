"""Packages that no table knows: what is handed to them, and what they give, tells whether they are built on PyTorch."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source
from torch2ms.translator.project.packages import free_packages, packages

HEAD = "import torch\nfrom torch import nn\nimport pack\nfrom pack.parts import Part\n\nnet = nn.Linear(2, 2)\n"


def told(source: str) -> list[str]:
    found = translate_source(HEAD + source).diagnostics
    return [d.message.split()[0] for d in found if d.code == "T2M307"]


@pytest.mark.parametrize(
    "use",
    [
        "pack.mean('a b -> a', torch.ones(2, 2))",
        "opt = Part(net.parameters(), lr=0.1)",
        "ema = Part(net, beta=0.9)",
        "ema = Part(model=net)",
        "net = nn.Sequential(nn.ReLU(), Part(3))",
        "part = Part(3)\npart.decode(torch.ones(2))",
        "part = Part(3)\nprint(part(torch.ones(2)).sum())",
        "model = pack.create('small')\nopt = torch.optim.SGD(model.parameters(), lr=0.1)",
        "class Own(Part):\n    def forward(self, x):\n        return x",
        "class Own(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = Part(2)\n"
        "        self.linear = nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.part(self.linear(x))",
    ],
)
def test_torchs_objects_tell(use: str) -> None:
    assert told(f"{use}\n") == ["pack"]


@pytest.mark.parametrize(
    "use",
    [
        "settings = pack.load('a.yaml')\nprint(settings.lr, net)",
        "words = Part('english').split('a b')\nx = torch.tensor([len(w) for w in words])",
        "for word in pack.words(3):\n    print(word)",
        "x = torch.from_numpy(pack.read('a.wav'))",
        "def f(x):\n    y = pack.load(x)\n    return y\n\n\ndef g(y):\n    y = net(y)\n    return y.view(-1)",
        "print(net)",
    ],
)
def test_other_uses_tell_nothing(use: str) -> None:
    assert told(f"{use}\n") == []


def test_arrays_and_logs_take_tensors_of_any_kind() -> None:
    source = "import torch\nimport wandb\nimport sklearn.metrics\nwandb.log({'a': torch.ones(1)})\n"
    source += "print(sklearn.metrics.accuracy_score([1], torch.ones(1)))\n"
    assert not translate_source(source).diagnostics


def test_the_tables_agree() -> None:
    assert not free_packages() & set(packages())
