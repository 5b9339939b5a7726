"""A method that changes its argument in place changes what its caller reads next."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import SourceResult, translate_source

BLOCK = """
import torch.nn as nn
import torch.nn.functional as F


def lift(x):
    h = x
    return {function} * 2


class Block(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        self.flag = flag
        self.act = {layer}
        self.conv = nn.Conv2d(3, 3, 1)

    def residual(self, x):
        {start}
        h = self.act(h)
        return self.conv(h)

    def forward(self, x):
        {use}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.blocks = nn.Sequential(Block(), nn.ReLU(True))
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        x = self.conv(x)
        {outer}
"""
BOTH = "return self.residual(x) + self.conv(x)"


def translated(
    layer: str = "nn.ReLU(True)",
    start: str = "h = x",
    use: str = BOTH,
    outer: str = "return self.block(x)",
    function: str = "F.relu(h, inplace=True)",
) -> SourceResult:
    return translate_source(BLOCK.format(layer=layer, start=start, use=use, outer=outer, function=function))


def marks(result: SourceResult) -> list[str]:
    return [item.code for item in result.diagnostics if item.code == "T2M305"]


@pytest.mark.parametrize(
    "options",
    [
        {"layer": "nn.ReLU()"},
        {"start": "h = self.conv(x)"},
        {"start": "h = x + 1"},
        {"use": "return self.residual(x)"},
        {"use": "return self.conv(x) + self.residual(x)"},  # the left side is computed before the change
        {"use": "x = self.residual(x)\n        return x + self.conv(x)"},
    ],
)
def test_nothing_is_added_where_nobody_sees_a_change(options: dict[str, str]) -> None:
    result = translated(**options)
    assert "x = self.act(x)" not in result.text
    assert marks(result) == []


@pytest.mark.parametrize("outer", ["return self.block(x)", "x = self.block(x)\n        return x + self.conv(x)"])
def test_a_network_that_reads_only_the_result_stays_as_it_is(outer: str) -> None:
    result = translated(outer=outer)
    assert "block.act" not in result.text
    assert marks(result) == []


@pytest.mark.parametrize(
    ("layer", "act"),
    [
        ("nn.ReLU(True)", "self.act"),
        ("nn.ReLU6(inplace=True)", "self.act"),
        ("nn.Sequential(nn.ReLU(inplace=True), nn.BatchNorm2d(3))", "self.act[0]"),
    ],
)
def test_the_callers_tensor_is_changed_in_front_of_the_call(layer: str, act: str) -> None:
    result = translated(layer)
    assert f"        x = {act}(x)\n        return self.residual(x) + self.conv(x)\n" in result.text
    assert marks(result) == []


@pytest.mark.parametrize("function", ["F.relu(h, inplace=True)", "nn.ReLU(True)(h)", "F.relu6(h, inplace=True)"])
def test_a_function_that_changes_its_argument_does_so_in_front_of_the_call(function: str) -> None:
    result = translated(use="return lift(x) + x", outer="return lift(self.block(x))", function=function)
    relu = "ops.relu6" if "relu6" in function else "ops.relu"
    assert f"        x = {relu}(x)\n        return lift(x) + x\n" in result.text
    assert "        return lift(self.block(x))\n" in result.text
    assert marks(result) == []


@pytest.mark.parametrize("function", ["F.elu(h, inplace=True)", "self_made(h, inplace=True)"])
def test_a_change_by_another_function_is_marked(function: str) -> None:
    assert marks(translated(use="return lift(x) + x", function=function)) == ["T2M305"]


def test_the_identity_beside_the_call_is_changed_as_well() -> None:
    result = translated(use="return x + self.residual(x)")
    assert "        x = self.act(x)\n        return x + self.residual(x)\n" in result.text


@pytest.mark.parametrize("place", ["block", "blocks[0]"])
def test_a_block_that_begins_in_place_changes_what_its_network_reads_again(place: str) -> None:
    name = place.partition("[")[0]
    result = translated(outer=f"y = self.{name}(x)\n        return y + self.conv(x)")
    assert f"        x = self.{place}.act(x)\n        y = self.{name}(x)\n" in result.text
    assert marks(result) == []


@pytest.mark.parametrize(
    "options",
    [
        {"layer": "nn.ELU(inplace=True)"},  # not the same when it runs twice
        {"start": "k = self.conv(x)\n        h = x"},  # reads the argument before it is changed
        {"use": "y = self.conv(x) + self.residual(x)\n        return y + x"},
        {"use": "y = self.residual(x) if self.flag else 0\n        return y + x"},
    ],
)
def test_it_is_said_where_the_change_cannot_be_made_before_the_call(options: dict[str, str]) -> None:
    result = translated(**options)
    assert marks(result) == ["T2M305"]
    assert "x = self.act(x)" not in result.text
