"""Attributes that a program gives its networks, and what it asks layers of an unknown class for."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "from torch import nn\n\n\n"


def text_of(source: str) -> str:
    return translate_source(HEAD + source).text


@pytest.mark.parametrize(
    "line",
    [
        "layer.type = 'conv'",
        "layer.index, layer.type = 1, 'conv'",
        "layer.half = 4",
        "layer.type = layer.type or 'conv'",
    ],
)
def test_an_attribute_of_the_programs_own_keeps_its_name(line: str) -> None:
    source = f"def name(layer: nn.Module):\n    {line}\n    return layer\n"
    assert line in text_of(source)
    assert not [d for d in translate_source(HEAD + source).diagnostics if d.code == "T2M203"]


def test_it_keeps_its_name_where_it_is_read() -> None:
    source = "def name(layer: nn.Module):\n    layer.type = 'conv'\n    print(layer.type)\n    return layer\n"
    assert "print(layer.type)" in text_of(source)


def test_a_cast_is_still_a_cast() -> None:
    source = "import torch\n\n\ndef cast(net: nn.Module):\n    return net.type(torch.float16)\n"
    assert "net.to_float(ms.float16)" in text_of(source)


def test_forward_of_a_class_is_its_construct_when_it_is_handed_on() -> None:
    source = (
        "class Head(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "class Other(Head):\n    def __init__(self):\n        super().__init__()\n        self.run = Head.forward\n"
    )
    assert "self.run = Head.construct" in text_of(source)


def test_forward_of_a_class_that_is_no_network_stays() -> None:
    source = "class Head:\n    def forward(self, x):\n        return x\n\n\nrun = Head.forward\n"
    assert "run = Head.forward" in text_of(source)


def test_the_number_of_slopes_is_asked_of_a_layer_of_any_class() -> None:
    text = text_of("def width(blocks):\n    return blocks[-1].act.num_parameters\n")
    assert "modules.get(blocks[-1].act, 'num_parameters')" in text


def test_a_method_of_that_name_stays() -> None:
    assert "return model.num_parameters()" in text_of("def count(model):\n    return model.num_parameters()\n")


def test_the_class_behind_weight_norm() -> None:
    head = "from torch.nn.utils.weight_norm import WeightNorm\n\n\n"
    source = head + "def norm(layer):\n    WeightNorm.apply(layer, 'weight', dim=0)\n"
    assert "layers.weight_norm(layer, 'weight', dim=0)" in text_of(source)
