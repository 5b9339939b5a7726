"""``state_dict()``: MindSpore's where it is only saved and loaded, with PyTorch's names where they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

HEAD = "import copy\nimport torch\nfrom torch import nn\nnet = nn.BatchNorm1d(3)\n"
WHOLE = [
    "best = copy.deepcopy(net.state_dict())\nnet.load_state_dict(best)\n",
    "net.load_state_dict(net.state_dict())\n",
    "state = net.state_dict()\nnet.load_state_dict(state, strict=False)\n",
]
ASKED = [
    "print(list(net.state_dict()))\n",
    "state = net.state_dict()\nprint(state['running_mean'])\n",
    "for name, value in net.state_dict().items():\n    print(name)\n",
    "def state_of(net: nn.Module):\n    return net.state_dict()\n",
    "torch.save(net.state_dict(), 'x.pt')\n",  # whatever reads the file finds PyTorch's names
    "torch.save({'net': net.state_dict(), 'epoch': 1}, 'x.pt')\n",
    "best = copy.deepcopy(net.state_dict())\ntorch.save(best, 'x.pt')\n",
    "class Average:\n    def load_state_dict(self, state):\n        self.keys = list(state)\n\n\n"
    "Average().load_state_dict(net.state_dict())\n",
    "def deepcopy(state):\n    return sorted(state)\n\n\ndeepcopy(net.state_dict())\n",
]


@pytest.mark.parametrize("source", WHOLE)
def test_as_a_whole(source: str) -> None:
    found = translate_source(HEAD + source).text
    assert "net.state_dict()" in found
    assert "modules.state_dict(" not in found


@pytest.mark.parametrize("source", ASKED)
def test_by_its_names(source: str) -> None:
    assert "modules.state_dict(net)" in translate_source(HEAD + source).text


def test_the_text_of_a_program_that_saves_and_resumes() -> None:
    source = (
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "torch.save({'net': net.state_dict(), 'opt': opt.state_dict()}, 'x.pt')\nstate = torch.load('x.pt')\n"
        "net.load_state_dict({k: v for k, v in state['net'].items() if k != '0.bias'}, strict=False)\n"
        "for group in state['opt']['param_groups']:\n    group['lr'] = 0.01\nopt.load_state_dict(state['opt'])\n"
    )
    assert translate_source(source).text == (
        "from mindspore import nn\n"
        "from torch2ms_runtime import checkpoint, modules, optim, sgd\n\n"
        "net = nn.Dense(2, 1)\nopt = sgd.SGD(net.trainable_params(), lr=0.1)\n"
        "checkpoint.save({'net': modules.state_dict(net), 'opt': optim.state_dict(opt)}, 'x.pt')\n"
        "state = checkpoint.load('x.pt')\n"
        "modules.load_state_dict(net, {k: v for k, v in state['net'].items() if k != '0.bias'}, strict=False)\n"
        "for group in state['opt']['param_groups']:\n    group['lr'] = 0.01\n"
        "optim.load_state_dict(opt, state['opt'])\n"
    )


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("torch.save(opt.state_dict(), 'x.pt')\n", "optim.state_dict(opt)"),
        ("print(opt.state_dict()['param_groups'])\n", "optim.state_dict(opt)['param_groups']"),
    ],
)
def test_of_an_optimizer(source: str, wanted: str) -> None:
    made = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    assert wanted in translate_source(HEAD + made + source).text


def test_what_may_be_anything_is_asked_when_it_runs(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(
        "from torch import nn\n\n\nclass Average(nn.Module):\n    def load_state_dict(self, state):\n"
        "        self.module.load_state_dict(state)\n\n\nclass Plain(nn.Module):\n    pass\n"
    )
    (tmp_path / "loading.py").write_text(
        "import torch\nfrom models import Average, Plain\n\n\ndef load(model, state):\n"
        "    model.load_state_dict(state)\n\n\nload(Average(), {})\nload(Plain(), {})\n"
    )
    report = translate_project(tmp_path, tmp_path.parent / f"{tmp_path.name}_out")
    text = (tmp_path.parent / f"{tmp_path.name}_out" / "loading.py").read_text()
    assert "states.load_state_dict(model, state)" in text
    assert not [d for d in report.diagnostics if d.code == "T2M207"]
