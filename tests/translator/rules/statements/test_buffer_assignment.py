"""Buffers that carry a gradient: what forward binds to one is read with the gradient it has."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.diagnostics import Severity

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("state", torch.zeros(3))

    def make(self):
        return self.w * 2

    def forward(self, x):
        {statement}
        return self.state * x
"""
REGISTERED = 'self.register_buffer("state", ops.zeros(3))'


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("self.state = self.make()", 'parts.set_buffer(self, "state", self.make())'),
        ("self.state = self.state + x", 'parts.set_buffer(self, "state", self.state + x)'),
        ("self.state += x", 'parts.set_buffer(self, "state", self.state + x)'),
    ],
)
def test_a_buffer_is_bound_with_its_gradient(statement: str, expected: str) -> None:
    result = translate_source(NET.format(statement=statement))
    assert expected in result.text
    assert REGISTERED in result.text
    assert "T2M305" not in [item.code for item in result.diagnostics]


@pytest.mark.parametrize(
    "statement",
    ["self.state = self.make().detach()", "with torch.no_grad():\n            self.state = self.make()"],
)
def test_without_a_gradient_it_is_a_parameter_that_is_assigned(statement: str) -> None:
    text = translate_source(NET.format(statement=statement)).text
    assert "modules.register_buffer(self, " in text
    assert "set_buffer" not in text


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("self.state = self.make(); self.state.mul_(2)", "self.state[...] = self.state * 2"),
        ("self.state.detach_()", 'parts.set_buffer(self, "state", ops.stop_gradient(self.state))'),
        ("self.state.detach_(); self.state.copy_(x)", "self.state[...] = ops.deepcopy(x)"),
        ("self.state.zero_(); self.state.add_(x)", "self.state[...] = 0"),
        ("self.state.detach_(); self.state[:1] = x[:1]", "self.state[:1] = x[:1]"),
    ],
)
def test_a_buffer_is_changed_in_place_with_its_gradient(statements: str, expected: str) -> None:
    lines = [*statements.split("; "), *["self.state.add_(self.w)"] * ("add" not in statements)]
    result = translate_source(NET.format(statement="\n        ".join(lines)))
    assert expected in result.text
    assert REGISTERED in result.text
    assert "ops.assign" not in result.text
    assert not [item for item in result.diagnostics if item.severity != Severity.NOTE]


def test_a_buffer_of_statistics_is_a_parameter_that_is_assigned() -> None:
    lines = "if self.training:\n            self.state.mul_(0.9).add_(0.1 * x)\n"
    lines += "        else:\n            x = x - self.state"
    text = translate_source(NET.format(statement=lines).replace("self.state * x", "x")).text
    assert "ops.assign(self.state, " in text


def test_what_is_bound_otherwise_too_is_marked() -> None:
    result = translate_source(NET.format(statement="self.state, y = self.make(), x"))
    assert "set_buffer" not in result.text


def test_before_cells_had_buffers_it_is_marked() -> None:
    old = Options(target=Target(mindspore=(2, 0)))
    result = translate_source(NET.format(statement="self.state = self.make()"), options=old)
    assert "T2M305" in [item.code for item in result.diagnostics]


COUNTED = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", {made})

    def forward(self, x):
        {statement}
        return x
"""


@pytest.mark.parametrize(
    ("made", "value"),
    [
        ("torch.zeros(1, dtype=torch.long)", "self.count * 0.5 + x.shape[0]"),
        ("torch.tensor(0)", "self.count / 2"),
        ("torch.zeros(2, dtype=torch.bool)", "self.count + 1"),
        ("torch.zeros(2)", "self.count.double()"),
    ],
)
def test_a_buffer_that_is_given_a_wider_dtype_takes_it(made: str, value: str) -> None:
    text = translate_source(COUNTED.format(made=made, statement=f"self.count = {value}")).text
    assert f'parts.set_buffer(self, "count", {value.replace("double()", "astype(ms.float64)")})' in text
    assert "        self.register_buffer" in text


@pytest.mark.parametrize(
    ("made", "value"),
    [
        ("torch.zeros(1, dtype=torch.long)", "self.count + 1"),
        ("torch.zeros(1)", "self.count * 0.9 + x.mean() * 0.1"),
        ("torch.zeros(2, dtype=torch.bool)", "self.count | (x > 0).any(0)"),
        ("make()", "self.count * 0.5"),
    ],
)
def test_a_buffer_that_keeps_its_dtype_is_a_parameter(made: str, value: str) -> None:
    assert "set_buffer" not in translate_source(COUNTED.format(made=made, statement=f"self.count = {value}")).text
