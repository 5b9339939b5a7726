"""Abstract methods: the classes that override them say what they return."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

_BASE = (
    "import torch\n\n\nclass Base:\n    def __init__(self, args):\n        self.args = args\n"
    "        self.model = self.build().to(args.device)\n\n    def build(self):\n        {body}\n\n"
    "    def save(self, path):\n        torch.save(self.model.state_dict(), path)\n"
)
_HEIR = (
    "import torch\nfrom torch import nn\nfrom base import Base\nfrom nets import First, Second\n\n\n"
    "class Runner(Base):\n    def build(self):\n        model = {'a': First, 'b': Second}[self.args.name](3).float()\n"
    "        return model\n\n    def check(self, x):\n        self.model.eval()\n        return self.model(x)\n\n"
    "    def train(self, batches):\n        opt = torch.optim.Adam(self.model.parameters())\n"
    "        self.model.train()\n        for x, y in batches:\n            opt.zero_grad()\n"
    "            loss = nn.MSELoss()(self.model(x), y)\n"
    "            loss.backward()\n            opt.step()\n"
)
_NETS = "from torch import nn\n\n\nclass First(nn.Linear):\n    pass\n\n\nclass Second(nn.Linear):\n    pass\n"


@pytest.mark.parametrize("body", ["raise NotImplementedError\n        return None", "pass", "return None"])
def test_a_network_that_a_derived_class_builds(tmp_path: Path, body: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    files = {"base.py": _BASE.replace("{body}", body), "run.py": _HEIR, "nets.py": _NETS}
    for name, text in files.items():
        (source / name).write_text(text)
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "run.py").read_text()
    assert "self.model.trainable_params()" in text
    assert "self.model.set_train(False)" in text
    assert "self.model.set_train()" in text
    assert "ms.value_and_grad(forward_fn, None, opt.parameters)" in text


def test_what_was_moved_to_a_device_is_a_network_where_only_networks_have_the_method() -> None:
    source = (
        "import torch\nfrom elsewhere import build\n\n\nclass Runner:\n    def __init__(self, args):\n"
        "        self.net = build(args).to(args.device)\n        self.opt = torch.optim.Adam(self.net.parameters())\n"
    )
    assert "(self.net.trainable_params()" in translate_source(source).text


def test_a_network_of_a_class_that_the_settings_hold() -> None:
    source = (
        "import argparse\nimport torch\nfrom torch import nn\n\n\nclass Net(nn.Linear):\n    pass\n\n\n"
        "class Runner:\n    def __init__(self, args):\n        self.net = args.model_class(3, 2).to(args.device)\n"
        "        self.opt = torch.optim.Adam(self.net.parameters())\n\n\ndef main():\n"
        "    args = argparse.ArgumentParser().parse_args()\n    args.model_class = {'net': Net}[args.name]\n"
        "    args.device = torch.device(args.place)\n    Runner(args)\n"
    )
    emitted = translate_source(source).text
    assert "self.net = args.model_class(3, 2)\n" in emitted
    assert "(self.net.trainable_params()" in emitted


def test_a_network_from_one_of_many_modules(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "model").mkdir(parents=True)
    names = [f"Net{number}" for number in range(10)]
    for name in names:
        text = "from torch import nn\n\n\nclass Model(nn.Module):\n    pass\n"
        (source / "model" / f"{name}.py").write_text(text)
    (source / "run.py").write_text(
        f"import torch\nfrom model import {', '.join(names)}\n\n\nclass Runner:\n    def __init__(self, args):\n"
        f"        self.models = {{{', '.join(f'{name!r}: {name}' for name in names)}}}\n"
        "        self.net = self.models[args.name].Model(3).float()\n"
    )
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "run.py").read_text()
    assert "modules.cast(self.models[args.name].Model(3), ms.float32)" in text
