"""Assignments to settings of layers, which MindSpore's layers would not notice."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("bn = nn.BatchNorm2d(3)\nbn.momentum = 0.01\n", "settings.change(bn, 'momentum', 0.01)"),
        ("for m in net.modules():\n    if isinstance(m, nn.Dropout):\n        m.p = p\n", "settings.change(m, 'p', p)"),
        ("conv = nn.Conv2d(1, 1, 3)\nconv.stride = (2, 2)\n", "settings.change(conv, 'stride', (2, 2))"),
    ],
)
def test_a_setting_is_changed_by_the_runtime(source: str, wanted: str) -> None:
    assert wanted in translate_source(HEAD + source).text


@pytest.mark.parametrize(
    "source",
    [
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.momentum = 0.1\n",
        "class A(nn.Module):\n    p = 1\n\n\na = A()\na.p = 2\n",
        "args.momentum = 0.9\n",
        "bn = nn.BatchNorm2d(3)\nbn.note = 1\n",
    ],
)
def test_what_stays_an_assignment(source: str) -> None:
    assert "settings.change" not in translate_source(HEAD + source).text


_MIXIN = """import torch.nn as nn
class Normed(object):
    def norm(self):
        return self.weight.size()
class Embedding({base}, Normed):
    def forward(self, x):
        return super().forward(x) / self.norm()
"""


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("nn.Embedding", "return modules.weight(self).shape"),
        ("nn.BatchNorm2d", "return modules.weight(self).shape"),
        ("nn.Linear", "return self.weight.shape"),
    ],
)
def test_weights_read_in_a_class_that_layers_are_made_with(base: str, expected: str) -> None:
    assert expected in translate_source(_MIXIN.format(base=base)).text


FUSED = """def fuse(branch, other):
    if isinstance(branch, nn.Sequential):
        return branch.bn.weight, branch.bn.running_mean, other.running_var, other.weight, branch.conv.groups
"""


def test_parts_of_a_sequential_are_asked_by_the_runtime() -> None:
    text = translate_source(HEAD + FUSED).text
    first = "modules.weight(branch.bn), modules.get(branch.bn, 'running_mean'), modules.get(other, 'running_var')"
    assert f"return {first}, other.weight, modules.get(branch.conv, 'groups')" in text
    assert [d.symbol for d in translate_source(HEAD + FUSED).diagnostics] == ["torch.nn.Module.weight"]


def test_groups_of_a_layer_of_unknown_class_are_asked_by_the_runtime() -> None:
    source = HEAD + "def f(make, match, args):\n    return make(3).groups, match.groups(), args.groups, args.epochs\n"
    assert (
        "return modules.get(make(3), 'groups'), match.groups(), args.groups, args.epochs"
        in translate_source(source).text
    )


def test_the_momentum_of_a_layer_that_a_dictionary_holds() -> None:
    source = """import torch
from torch import nn


def update(net: nn.Module, momenta, share):
    for m in net.modules():
        if issubclass(m.__class__, torch.nn.modules.batchnorm._BatchNorm):
            momenta[m] = m.momentum
    for module in momenta.keys():
        module.momentum = share
"""
    assert "settings.change(module, 'momentum', share)" in translate_source(source).text.replace('"', "'")


OWN_OR_TORCHS = """import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Embedding(n, 4)
        self.weight = self.inner.weight


class Decoder(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        self.generator = nn.Linear(4, 5)
        self.generator.weight = self.embedding.weight


def build(own):
    return Decoder({made})
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("Positions(5) if own else nn.Embedding(5, 4)", "= modules.weight(self.embedding)\n"),
        ("nn.Embedding(5, 4)", "= self.embedding.embedding_table\n"),
        ("Positions(5)", "= self.embedding.weight\n"),
        ("Positions(5) if own else nn.Linear(4, 5)", "= self.embedding.weight\n"),
    ],
)
def test_a_weight_of_a_network_of_the_projects_or_of_torchs(made: str, expected: str) -> None:
    assert expected in translate_source(OWN_OR_TORCHS.replace("{made}", made)).text
