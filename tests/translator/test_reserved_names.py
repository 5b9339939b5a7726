"""Attributes of networks that have the names of Cell's own members."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

NET = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.Linear(2, 2)])
        self.add_module("construct", nn.Linear(2, 2))
        self.phase = 0

    def forward(self, x):
        for cell in self.cells:
            x = cell(x)
        self.phase += 1
        return self.construct(x)
"""


def test_they_are_renamed_wherever_they_are_used() -> None:
    result = translate_source(NET + "\n\nnet = Net()\nn = len(net.cells)\nnet.phase = 2\n")
    for line in (
        "self.cells_ = nn.CellList(", "for cell in self.cells_:", "self.phase_ = 0", "self.phase_ += 1",
        "return self.construct_(x)", "n = len(net.cells_)", "net.phase_ = 2", '"construct_", nn.Dense(2, 2)',
    ):  # fmt: skip
        assert line in result.text
    assert not [d for d in result.diagnostics if d.code == "T2M203"]


def test_a_second_translation_changes_nothing() -> None:
    text = translate_source(NET).text
    assert translate_source(text).text == text


@pytest.mark.parametrize(
    "member", ["def construct(self):\n        return 1", "def cells(self):\n        return []", 'phase = "train"']
)
def test_methods_and_constants_of_the_class_are_reported(member: str) -> None:
    source = f"import torch.nn as nn\n\n\nclass Net(nn.Module):\n    {member}\n"
    assert [d.code for d in translate_source(source).diagnostics] == ["T2M203"]


@pytest.mark.parametrize(
    "source",
    [
        "class Plain:\n    def __init__(self):\n        self.cells = []\n\n    def f(self):\n"
        "        return self.cells\n",
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def f(self, book):\n"
        "        return book.cells, self.cell\n",
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.apply(print)\n",
    ],
)
def test_others_keep_theirs(source: str) -> None:
    result = translate_source("import torch\n" + source)
    assert "_ " not in result.text.replace("_ in ", "")
    assert ".cells_" not in result.text
    assert not [d for d in result.diagnostics if d.code in ("T2M203", "T2M207")]


def test_another_ones_attribute_of_that_name_is_reported() -> None:
    result = translate_source(NET + "\n\ndef f(net):\n    return net.cells\n")
    assert "T2M207" in [d.code for d in result.diagnostics]


@pytest.mark.parametrize(
    ("name", "made"),
    [('"my part"', 'modules.add_module(self, "my part", x)'), ('"part_1"', 'setattr(self, "part_1", x)')],
)
def test_names_that_parameters_cannot_have(name: str, made: str) -> None:
    source = "import torch.nn as nn\n\n\nclass A(nn.Module):\n    def add(self, x: nn.Module):\n"
    assert made in translate_source(f"{source}        self.add_module({name}, x)\n").text


METHODS = """import torch
import torch.nn as nn


class Base(nn.Module):
    def get_parameters(self, keys=None):
        return list(self.parameters())

    def set_train(self):
        return self.train()


class Net(Base):
    def get_parameters(self, keys=None):
        return super().get_parameters(keys)


class Records:
    def set_inputs(self, x):
        self.x = x


def of(net):
    return net.get_parameters()


weights = Net().set_train().get_parameters()
Records().set_inputs(1)
"""


def test_methods_that_cell_calls_itself_are_renamed_wherever_they_are_used() -> None:
    result = translate_source(METHODS)
    for line in (
        "def get_parameters_(self, keys=None):", "def set_train_(self):", "return self.set_train()",
        "return super().get_parameters_(keys)", "return net.get_parameters_()", "Net().set_train_().get_parameters_()",
        "def set_inputs(self, x):", "Records().set_inputs(1)",
    ):  # fmt: skip
        assert line in result.text, result.text
    assert not [d for d in result.diagnostics if d.code == "T2M203"]
    assert translate_source(result.text).text == result.text


def test_a_property_of_such_a_name_is_reported() -> None:
    source = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    @property\n    def shard(self):\n        return 1\n"
    assert [d.code for d in translate_source(source).diagnostics] == ["T2M203"]
