"""Sizes of layers written as lists or passed by name, and lists of layers that hold None."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def text_of(source: str) -> str:
    """Return the translation of a source."""
    return translate_source(source).text


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("parts = []\n    parts.append(nn.ReLU())\n    return nn.ModuleList(parts)", "nn.CellList(parts)"),
        ("parts = []\n    parts.append(None)\n    return nn.ModuleList(parts)", "layers.ModuleList(parts)"),
        ("parts = [None] * n\n    return nn.ModuleList(parts)", "layers.ModuleList(parts)"),
        ("parts = nn.ModuleList()\n    parts.append(nn.ReLU() if n else None)", "layers.ModuleList()"),
        ("parts = nn.ModuleList()\n    parts.append(nn.ReLU())", "layers.ModuleList()"),
    ],
)
def test_a_list_of_layers_may_be_given_none_later(body: str, name: str) -> None:
    assert name in text_of(f"import torch.nn as nn\n\n\ndef build(n):\n    {body}\n")


_BLOCK = """import torch.nn as nn

class Block(nn.Module):
    def __init__(self, kernel_size, stride=1, dilation=1):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, kernel_size, stride, dilation=dilation)

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = Block({size})
        self.last = Block(width)
"""


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("3", "nn.Conv2d(3, 4, kernel_size, stride, dilation=dilation,"),
        ("(3, 1)", "nn.Conv2d(3, 4, kernel_size, stride, dilation=dilation,"),
        ("[3, 1]", "kernel_size if isinstance(kernel_size, int) else tuple(kernel_size), stride, dilation="),
        ("3, stride=[1, 2]", "kernel_size, stride if isinstance(stride, int) else tuple(stride), dilation="),
    ],
)
def test_sizes_that_callers_give_as_lists_become_tuples(size: str, expected: str) -> None:
    assert expected in text_of(_BLOCK.format(size=size))


@pytest.mark.parametrize("asked", ["kernel_size", "self.kernel_size"])
def test_a_size_that_is_asked_whether_it_is_an_int_may_be_a_list(asked: str) -> None:
    source = _BLOCK.format(size="3").replace(
        "\n\nclass Net", f"\n        self.n = isinstance({asked}, int)\n\nclass Net"
    )
    assert "kernel_size if isinstance(kernel_size, int) else tuple(kernel_size), stride" in text_of(source)


def test_windows_are_tuples() -> None:
    text = text_of("import torch.nn.functional as F\n\n\ndef f(x):\n    return F.adaptive_avg_pool2d(x, [1, 1])\n")
    assert "adaptive_avg_pool2d(x, (1, 1))" in text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.zeros(size=(2, 3))", "ops.zeros((2, 3))"),
        ("torch.randn(2, *shape)", "ops.randn(2, *shape)"),
        ("torch.randn(dtype=torch.float32, size=(2,))", "ops.randn((2,), dtype=ms.float32)"),
        ("x.permute(dims=(1, 0))", "x.permute((1, 0))"),
    ],
)
def test_sizes_may_be_passed_by_name(call: str, expected: str) -> None:
    assert expected in text_of(f"import torch\n\n\ndef f(x: torch.Tensor):\n    return {call}\n")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("m.kernel_size == (3, 3)", "settings.change(m, 'padding', (d, d))"),
        ("m.color == 'red'", "m.padding = (d, d)"),
    ],
)
def test_settings_of_what_is_asked_for_its_kernel_are_changed(asked: str, expected: str) -> None:
    body = f"name = m.__class__.__name__\n    if {asked}:\n        m.padding = (d, d)\n"
    assert expected in text_of(f"import torch\n\n\ndef dilate(m, d):\n    {body}")


_AGENT = """import torch
from torch import nn, optim

class {bases}:
    def __init__(self, net):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.optimizer = optim.SGD(self.fc.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ("Agent(nn.Module)", "object.__setattr__(self, 'optimizer', sgd.SGD("),
        ("Trainer", "self.optimizer = sgd.SGD("),
    ],
)
def test_an_optimizer_that_a_network_keeps_is_no_part_of_it(bases: str, expected: str) -> None:
    assert expected in text_of(_AGENT.format(bases=bases))


@pytest.mark.parametrize(("given", "aside"), [("list(self.fc.parameters())", True), ("self.fc", False), ("3", False)])
def test_what_a_function_makes_of_weights_is_an_optimizer(given: str, aside: bool) -> None:
    source = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, make):\n        super().__init__()\n"
    )
    text = text_of(f"{source}        self.fc = nn.Linear(2, 2)\n        self.made = make({given})\n")
    assert ("object.__setattr__(self, 'made', make(" in text) is aside


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("Conv2d(3, 4, 3, (2,), padding=[1], bias=False)", "Conv2d(3, 4, 3, 2, padding=1, has_bias=False, pad_mode="),
        ("Conv3d(3, 4, 3, dilation=(2,), bias=False)", "Conv3d(3, 4, 3, dilation=2, has_bias=False, pad_mode="),
        ("MaxPool2d([3])", "MaxPool2d(3, 3)"),
        ("MaxPool2d((3,), stride=[2])", "MaxPool2d(3, stride=2)"),
        ("AvgPool2d(kernel_size=[3, 2])", "AvgPool2d(kernel_size=(3, 2), stride=(3, 2))"),
        ("Conv2d(3, 4, (3,), bias=False)", "Conv2d(3, 4, (3,), has_bias=False"),  # refused by torch, too
    ],
)
def test_one_size_in_a_tuple_is_for_every_axis(call: str, expected: str) -> None:
    assert f"nn.{expected}" in text_of(f"import torch.nn as nn\n\nlayer = nn.{call}\n")


_SWITCHED = """import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width, bias={default}):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, bias=bias)


class Net(nn.Module):
    def __init__(self, bias=None):
        super().__init__()
        self.block = Block(4{handed})
"""


@pytest.mark.parametrize(
    ("default", "handed", "expected"),
    [
        ("None", "", "has_bias=bool(bias)"),
        ("True", ", bias=None", "has_bias=bool(bias)"),
        ("True", ", bias=bias", "has_bias=bool(bias)"),
        ("True", ", bias", "has_bias=bool(bias)"),
        ("True", ", bias='relu'", "has_bias=bool(bias)"),
        ("True", ", bias=False", "has_bias=bias"),
        ("True", "", "has_bias=bias"),
        ("True", ", bias is None", "has_bias=bias"),
    ],
)
def test_a_switch_that_may_be_none_is_off(default: str, handed: str, expected: str) -> None:
    assert f"{expected}, pad_mode" in text_of(_SWITCHED.format(default=default, handed=handed))
