"""Parts of networks that are exchanged or deleted: a Sequential must run what it holds."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "from torch import nn\nnet = nn.Sequential(nn.Linear(2, 3), nn.ReLU())\n"


def translated(source: str) -> str:
    return translate_source(HEAD + source + "\n").text.partition("nn.ReLU())\n")[2].rstrip()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("net._modules[name] = nn.Tanh()", "parts.set_part(net, name, layers.Tanh())"),
        ("del net._modules[name]", "parts.delete_part(net, name)"),
        ("last = net._modules.pop(name)", "last = parts.take_part(net, name)"),
        ("setattr(net, name, nn.Tanh())", "parts.set_part(net, name, layers.Tanh())"),
        ("net.head = nn.ReLU()", "parts.set_part(net, 'head', nn.ReLU())"),
        ("del net.head", "parts.delete_part(net, 'head')"),
        ("del net[-1]", "parts.delete_at(net, -1)"),
        ("del net[1:]", "parts.delete_at(net, slice(1, None))"),
    ],
)
def test_a_sequential_runs_what_it_holds(source: str, expected: str) -> None:
    assert translated(source) == expected


def test_a_function_that_exchanges_parts_of_any_network() -> None:
    found = translate_source(
        "from torch import nn\ndef replace(model):\n    for name, part in model.named_children():\n"
        "        setattr(model, name, nn.Identity())\n"
    ).text
    assert "parts.set_part(model, name," in found


STAGE = """
from torch import nn


class Stage(nn.Sequential):
    def __init__(self, block, width):
        {before}
        super().__init__(block(width), nn.ReLU())
        {after}
"""


def test_what_a_sequential_keeps_before_it_is_made_is_no_part() -> None:
    text = translate_source(STAGE.format(before="self.block = block", after="self.width = width")).text
    assert "        self.block = block\n" in text
    assert "parts.set_part(self, 'width', width)" in text  # may be a layer that it is to run


@pytest.mark.parametrize(
    "source",
    [
        "setattr(config, name, value)",
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        setattr(self, name, nn.ReLU())\n        self.head = nn.ReLU()\n        del self.head",
        "layers = {}\nlayers['a'] = nn.ReLU()\ndel layers['a']\nlayers.pop('a')",
        "stack = nn.ModuleList([nn.ReLU()])\ndel stack[0]",
    ],
)
def test_what_is_no_sequential_is_left(source: str) -> None:
    assert "parts." not in translate_source(HEAD + source + "\n").text


LAYERS = "from torch import nn\nclass Net(nn.Module):\n    def __init__(self, sizes, w):\n        super().__init__()\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("self.fc = nn.Linear(2, 2)\nself.fc.weight = nn.Parameter(w)", "ms.Parameter(w, name=self.fc.weight.name)"),
        ("self.bn = nn.BatchNorm1d(2)\nself.bn.weight = nn.Parameter(w)", "ms.Parameter(w, name=self.bn.gamma.name)"),
        ("self.ln = nn.LayerNorm(2)\nself.ln.weight = nn.Parameter(w)", "parts.set_parameter(self.ln, 'weight', "),
        ("self.fc = nn.Linear(2, 2)\nself.fc.bias = nn.Parameter(w)", "parts.set_parameter(self.fc, 'bias', ms.Par"),
        ("self.all = nn.ModuleList()\nself.all[0].bias = nn.Parameter(w)", "parts.set_parameter(self.all[0], 'bias',"),
        ("self.weight = nn.Parameter(w)", "self.weight = ms.Parameter(w)"),
    ],
)
def test_a_parameter_in_the_place_of_another_has_its_path(source: str, expected: str) -> None:
    found = translate_source(LAYERS + "\n".join(f"        {line}" for line in source.splitlines()) + "\n")
    assert expected in found.text
    assert "TORCH2MS" not in found.text


def test_parts_that_a_class_puts_into_its_dictionary_are_read_from_it() -> None:
    text = translate_source(
        "import torch\nfrom torch import nn\n\n\nclass Chain(nn.Module):\n    def __init__(self, *args):\n"
        "        super().__init__()\n        for index, module in enumerate(args):\n"
        "            self._modules[str(index)] = module\n\n    def forward(self, x):\n"
        "        for block in self._modules.values():\n            x = block(x)\n        return x\n"
    ).text
    assert "parts.set_part(self, str(index), module)" in text
    assert "for block in self._cells.values():" in text
