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
    assert "modules.cast(net, ms.float16)" in text_of(source)


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


def test_the_dictionaries_of_a_network_tell_a_network() -> None:
    source = "def forget(layer, name):\n    del layer._parameters[name]\n    return list(layer._modules)\n"
    assert "del layer._params[name]" in text_of(source)
    assert "list(layer._cells)" in text_of(source)


def test_a_class_of_the_programs_own_may_have_such_dictionaries() -> None:
    own = "class Bag:\n    def __init__(self):\n        self._parameters = {}\n\n\n"
    assert "bag._parameters" in text_of(own + "def size(bag):\n    return len(bag._parameters)\n")


def test_a_layer_that_loses_its_weight_norm_is_the_layer_still() -> None:
    source = """
from torch.nn.utils.parametrize import remove_parametrizations


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose1d(3, 3, 3)

    def forward(self, x, output_size=None):
        return self.conv(x, output_size=output_size)

    def remove_weight_norm(self):
        self.conv = remove_parametrizations(self.conv, "weight")
"""
    assert "functional.transposed_to(self.conv, x, output_size)" in text_of(source)


def test_a_network_is_restored_from_a_pair() -> None:
    source = """
import torch.nn.functional as F


class Layer(nn.Module):
    def __setstate__(self, state):
        if "activation" not in state:
            state["activation"] = self.state(state=1)
        super().__setstate__(state)
"""
    text = text_of(source)
    assert 'if "activation" not in state[1]:' in text
    assert 'state[1]["activation"] = self.state(state=1)' in text
    assert "super().__setstate__(state)\n" in text


def test_a_network_that_makes_its_own_state_is_restored_from_that() -> None:
    source = "class Layer(nn.Module):\n    def __setstate__(self, state):\n        self.a = state['a']\n"
    made = "    def __getstate__(self):\n        return {'a': self.a}\n"
    assert "self.a = state[1]['a']" in text_of(source)
    assert "self.a = state['a']" in text_of(source + made)


def test_an_annotation_makes_no_attribute_of_a_networks_own_dictionaries() -> None:
    source = "class Layers(nn.ModuleDict):\n    _modules: dict[str, nn.Module]\n    def names(self):\n        "
    assert "return list(self._cells)" in text_of(source + "return list(self._modules)\n")


def test_what_is_no_network_is_restored_as_it_is_stored() -> None:
    source = "class Bag:\n    def __setstate__(self, state):\n        self.a = state['a']\n"
    assert "self.a = state['a']" in text_of(source)


STORAGE = """import torch


class Rollouts:
    def __init__(self, size):
        self.size = size
        self.seen = torch.zeros(5, 3)
        self.place = 0

    def insert(self, seen):
        self.seen[self.place + 1].copy_(seen)
        self.place = {value}
"""


@pytest.mark.parametrize("value", ["self.place + 1", "(self.place + 1) % self.size", "(self.place + 1) % 4 * 2"])
def test_an_attribute_that_is_counted_on_stays_a_number(value: str) -> None:
    assert "self.seen[self.place + 1] = seen" in text_of(STORAGE.format(value=value))


@pytest.mark.parametrize("value", ["self.place + seen", "self.place * 0.5", "seen.argmax()"])
def test_what_something_else_is_added_to_may_be_no_number(value: str) -> None:
    found = translate_source(HEAD + STORAGE.format(value=value)).diagnostics
    assert "T2M203" in [d.code for d in found]


def test_attributes_that_cell_sets_on_itself_have_another_name() -> None:
    source = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._params = None\n"
        "        self._name = 1\n\n    def forward(self, x):\n        self._params = x\n        return x * self._name\n"
    )
    text = text_of(source)
    assert "self._params_ = None" in text
    assert "self._params_ = x" in text
    assert "x * self._name" in text
    plain = "class Store:\n    def __init__(self):\n        self._params = {}\n"
    assert "self._params = {}" in text_of(plain)


def test_a_function_as_an_attribute_of_a_class_does_not_become_a_method() -> None:
    source = "import torch\n\n\nclass Net(nn.Module):\n    conv = torch.conv2d\n    act: object = torch.relu\n"
    assert "    conv = staticmethod(functional.conv2d)" in text_of(source)
    names = "import enum\n\nimport torch\n\n\nclass Act(enum.Enum):\n    RELU = torch.relu\n"
    assert "    RELU = ops.relu" in text_of(names)


def test_the_annotation_of_all_arguments_is_translated() -> None:
    source = (
        "import torch\n\n\nclass Net(nn.Module):\n    def forward(self, *xs: torch.Tensor):\n        return xs[0]\n"
    )
    assert "def construct(self, *xs: ms.Tensor):" in text_of(source)


def test_an_answer_that_the_programs_own_objects_give_is_theirs() -> None:
    source = (
        "import torch\n\n\nclass Counts:\n    def __init__(self, is_sparse):\n        self.is_sparse = is_sparse\n\n"
        "    def same(self, other):\n        new = other.copied()\n        new.is_sparse = self.is_sparse\n"
        "        return other.is_sparse, torch.ones(2).is_sparse\n"
    )
    text = translate_source(source).text
    assert "new.is_sparse = self.is_sparse\n" in text
    assert "return other.is_sparse, False\n" in text


def test_an_answer_that_only_tensors_give_is_settled() -> None:
    source = "import torch\n\n\ndef dense(x):\n    return x if not x.is_sparse else torch.abs(x)\n"
    assert "return x\n" in translate_source(source).text


def test_what_no_tensor_lets_be_written_is_told() -> None:
    source = "import torch\n\n\ndef mark(x: torch.Tensor):\n    x.is_sparse = True\n"
    result = translate_source(source)
    assert "    x.is_sparse = True\n" in result.text
    assert [d.code for d in result.diagnostics] == ["T2M203"]
