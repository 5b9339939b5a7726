"""Second names of a tensor that an activation then changes in place."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.translator.values import copied_sequentials

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, augment):
        super().__init__()
        self.augment = augment
        self.conv = nn.Conv2d(3, 3, 1)
        self.relu = {layer}

    def forward(self, x):
        y = self.conv(x)
        if self.augment:
            kept = y
        {between}
        y = {use}
        return (y, kept) if self.augment else y
"""
RELU = "nn.ReLU(inplace=True)"


def translated(layer: str = RELU, between: str = "pass", use: str = "self.conv(self.relu(y))") -> tuple[str, list[str]]:
    result = translate_source(NET.format(layer=layer, between=between, use=use))
    return result.text, [item.code for item in result.diagnostics]


@pytest.mark.parametrize("between", ["pass", "z = y + 1", "print(y.shape)"])
def test_the_second_name_sees_the_activation(between: str) -> None:
    text, codes = translated(between=between)
    assert "            kept = self.relu(y)\n" in text
    assert "T2M305" not in codes


@pytest.mark.parametrize(
    ("layer", "between", "use"),
    [
        ("nn.ReLU()", "pass", "self.conv(self.relu(y))"),  # in place it is not
        ("nn.ELU(inplace=True)", "pass", "self.conv(self.relu(y))"),  # twice is not once
        (RELU, "print(kept)", "self.conv(self.relu(y))"),  # seen before
        (RELU, "y = x * 2", "self.conv(self.relu(y))"),  # another tensor
        (RELU, "y.add_(1)", "self.conv(self.relu(y))"),  # changed in another way before
        (RELU, "pass", "self.relu(y) if self.augment else y"),  # does not always run
    ],
)
def test_other_second_names_are_left(layer: str, between: str, use: str) -> None:
    text, _ = translated(layer, between, use)
    assert "            kept = y\n" in text


@pytest.mark.parametrize(
    ("layer", "use"), [("nn.ELU(inplace=True)", "self.conv(self.relu(y))"), (RELU, "self.relu(y) if x else y")]
)
def test_what_cannot_be_kept_is_said(layer: str, use: str) -> None:
    assert "T2M305" in translated(layer, use=use)[1]


def test_a_sequential_that_starts_with_the_activation() -> None:
    text, codes = translated(layer=f"nn.Sequential({RELU}, nn.Conv2d(3, 3, 1))", use="self.relu(y)")
    assert "            kept = self.relu[0](y)\n" in text
    assert "T2M305" not in codes


SLICES = """
import torch
from torch import nn
from torchvision import models


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        layers = models.{model}(pretrained=True).features
        self.one = nn.Sequential()
        self.two = nn.Sequential()
        for i in range({border}):
            self.one.add_module(str(i), layers[i])
        for i in range({border}, 29):
            self.two.add_module(str(i), layers[i])

    def forward(self, x):
        x = self.one(x)
        kept = x
        x = self.two(x)
        return kept, x
"""


@pytest.mark.parametrize(
    ("model", "border", "starts"),
    [("vgg19", 22, True), ("vgg19", 21, False), ("vgg16", 22, True), ("vgg16_bn", 22, True), ("vgg16_bn", 23, False),
     ("vgg16_bn", 26, True), ("vgg16", 23, False)],
)  # fmt: skip
def test_slices_of_a_network_of_torchvision(model: str, border: int, starts: bool) -> None:
    text = translate_source(SLICES.format(model=model, border=border)).text
    assert ("        kept = self.two[0](x)\n" if starts else "        kept = x\n") in text


@pytest.mark.parametrize(("name", "blocks"), sorted(copied_sequentials._BLOCKS.items()))
def test_the_blocks_are_those_of_the_runtime_s_networks(name: str, blocks: tuple[int, ...]) -> None:
    assert blocks == pytest.importorskip("torch2ms.runtime.vision.vgg").COUNTS[name]


VGG = """
import torch.nn as nn
from torchvision import models
class Net(nn.Module):
    def __init__(self, start=3):
        super().__init__()
        self.vgg = models.vgg16().features
        self.one, self.two = self.vgg[:{0}], nn.Sequential(*list(self.vgg.children())[{0}:])
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 3))
        self.parts = nn.ModuleList([self.body, nn.Linear(3, 4)])
        self.block = nn.Sequential()
        for i in range(start, 9):
            self.block.add_module(str(i), self.vgg[i])
    def forward(self, x):
        out = []
        {1}
        return out
"""


@pytest.mark.parametrize(
    ("start", "body"),
    [
        ("start", "a = self.one(x)\n        out = [a, self.two(a)]"),
        ("start", "a = self.one(x)\n        b = self.two(a)\n        out = [a, b]"),
        ("4", "for name, layer in self.vgg._modules.items():\n            x = layer(x)\n            out.append(x)"),
        ("4", "for i in range(9):\n            x = self.vgg[i](x)\n            out.append(x)"),
        ("4", "for layer in self.vgg[:9]:\n            x = layer(x)\n            out += [x]"),
        ("4", "a = self.body[:1](x)\n        out = [a, self.body[1:](a)]"),
        ("4", "a = self.one(x)\n        out = [a, self.block(a)]"),
    ],
)
def test_features_that_are_kept_while_activations_may_run_on_them_are_reported(start: str, body: str) -> None:
    assert "T2M305" in [found.code for found in translate_source(VGG.format(start, body)).diagnostics]


@pytest.mark.parametrize(
    ("start", "body"),
    [
        ("4", "a = self.body[:2](x)\n        out = [a, self.body[2:](a)]"),
        ("4", "out = self.body[1:](self.body[:1](x))"),
        ("4", "for layer in self.vgg:\n            x = layer(x)\n        out.append(x)"),
        ("4", "for part in self.parts:\n            x = part(x)\n            out.append(x)"),
    ],
)
def test_features_that_no_activation_can_change_are_not(start: str, body: str) -> None:
    assert "T2M305" not in [found.code for found in translate_source(VGG.format(start, body)).diagnostics]


WITHIN = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential({layer}, nn.Conv2d(3, 3, 1))
        self.skip = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        y = x * 2
        {statement}
        return y
"""


@pytest.mark.parametrize(
    "statement",
    [
        "return y + self.block(y)",
        "return self.block(y) + y",
        "y += self.block(y)",
        "y = y + 0.1 * self.block(y)",
        "y = torch.cat([y, self.block(y)], 1)",
        "return self.skip(self.block(y) + y)",
    ],
)
def test_a_read_within_the_statement_sees_what_the_first_layer_makes(statement: str) -> None:
    text = translate_source(WITHIN.format(layer="nn.ReLU(True)", statement=statement)).text
    assert "        y = self.block[0](y)\n" in text
    found = translate_source(WITHIN.format(layer="nn.ELU(inplace=True)", statement=statement))
    assert "        y = parts.begun(self.block, y, 'ELU')\n" in found.text
    assert "parts.behind(self.block, y, 'ELU')" in found.text
    found = translate_source(WITHIN.format(layer="nn.Hardswish(inplace=True)", statement=statement))
    assert "T2M305" in [d.code for d in found.diagnostics]
    assert "self.block[0](" not in found.text


@pytest.mark.parametrize("statement", ["return y * 2 + self.block(y)", "return -y + self.block(y)"])
@pytest.mark.parametrize("layer", ["nn.ReLU(True)", "nn.LeakyReLU(0.2, True)"])
def test_an_operator_that_is_done_before_the_layer_has_read_what_was_there_before(statement: str, layer: str) -> None:
    found = translate_source(WITHIN.format(layer=layer, statement=statement))
    assert "self.block[0](" not in found.text
    assert "parts" not in found.text


@pytest.mark.parametrize(
    "statement",
    ["return self.block(y)", "y = self.block(y)", "return self.skip(y) + self.block(y)", "x = self.block(y)"],
)
def test_nothing_is_added_where_no_other_part_of_it_reads(statement: str) -> None:
    text = translate_source(WITHIN.format(layer="nn.ReLU(True)", statement=statement).replace("return y\n", "")).text
    assert "self.block[0]" not in text
