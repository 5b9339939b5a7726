"""Advice on graph mode (T2M601) and dynamic shape (T2M701): each construct is named where it stands, nothing else."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options
from torch2ms.diagnostics import Diagnostic, Severity

NETWORK = """\
import collections
import random
import time
from typing import NamedTuple

import numpy as np
import torch
from torch import nn


Pair = collections.namedtuple("Pair", "a b")


class Found(NamedTuple):
    value: torch.Tensor


class Plain:
    def __init__(self, value):
        self.value = value


def spread(x):
    return {size for size in x.shape}


def inner(x):
    return spread(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])
        self.sequence = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.named = nn.ModuleDict({"a": nn.Linear(4, 4)})
        self.seen = []

    def forward(self, x: torch.Tensor, k: int = 2):
{body}
        return x

    @classmethod
    def made(cls, x):
        return x

    def helper(self, x):
        try:
            return x
        finally:
            pass

    def never_called_by_forward(self, x):
        return x[x > 0]
"""


def advice(body: str, mode: str = "pynative") -> tuple[str, list[Diagnostic]]:
    indented = "\n".join(" " * 8 + line for line in body.splitlines())
    result = translate_source(NETWORK.replace("{body}", indented), options=Options(mode=mode))  # type: ignore[arg-type]
    return result.text, [d for d in result.diagnostics if d.code in ("T2M601", "T2M701")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("try:\n    x = x + 1\nexcept ValueError:\n    pass", "try"),
        ("with torch.no_grad():\n    x = x + 1", "with"),
        ("if (n := x.shape[0]) > 1:\n    x = x + n", ":="),
        ("import math", "import"),
        ("y = x\ndel y", "del"),
        ("for layer in self.layers:\n    x = layer(x)\nelse:\n    x = x + 1", "the else of a loop"),
        ("for layer in reversed(self.layers):\n    x = layer(x)", "reversed() of layers"),
        ("for p in self.parameters():\n    x = x + p.sum()", "parameters()"),
        ("x = x + random.random()", "random.random() once"),
        ("x = x + np.random.rand()", "numpy.random.rand() once"),
        ("x = x + time.time()", "time.time() once"),
        ("self.seen.append(x)", "self.seen.append()"),
        ("x = self.helper(x)", "try"),
        ("n = len(inner(x))", "a set comprehension"),
        ("if x.ndim in {1, 2}:\n    x = x + 1", "a set"),
        ("for a, b in zip(self.layers, self.sequence):\n    x = a(b(x))", "zip() of layers"),
        ("x = self.made(x)", "a class method"),
        ("x = Pair(x, x).a", "no gradient through an object of Pair"),
        ("x = Plain(x).value", "no gradient through an object of Plain"),
        ("x = Found(x).value", "no gradient through an object of Found"),
        ("for name in self.named:\n    x = self.named[name](x)", "a loop over a ModuleDict"),
        ("sizes = [2, 1]\nsizes.sort()", "sizes.sort()"),
        ("named = {'a': x}\nx = named.pop('a')", "named.pop()"),
    ],
)
def test_graph_mode(body: str, said: str) -> None:
    _, found = advice(body)
    assert [d.code for d in found] == ["T2M601"]
    assert said in found[0].message
    assert found[0].severity is Severity.NOTE


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x = x[x > 0]", "mask"),
        ("mask = x > 0\nx = x[mask]", "mask"),
        ("x = x.masked_select(x > 0)", "masked_select"),
        ("i = torch.nonzero(x)", "nonzero"),
        ("u = torch.unique(x)", "unique"),
        ("i = torch.where(x > 0)", "where"),
        ("n = int(x.sum())\nx = x[:n]", "slice"),
        ("n = x.sum().item()\nx = x[:n]", "slice"),
        ("n = int(x.sum())\nx = torch.zeros(n, 3)", "size given to zeros"),
        ("v, i = torch.topk(x, k)", "each k"),
        ("if x.sum() > 0:\n    x = x[:2]", "branch"),
        ("while x.max() < 8:\n    x = x * 2", "branch"),
    ],
)
def test_dynamic_shape(body: str, said: str) -> None:
    _, found = advice(body)
    assert [d.code for d in found] == ["T2M701"]
    assert said in found[0].message


@pytest.mark.parametrize(
    "body",
    [
        "b, c = x.shape\nx = x.view(b, c)",
        "n = x.shape[0] // 2\nx = x[:n]",
        "x = torch.where(x > 0, x, -x)",
        "x[x > 0] = 0",
        "v, i = torch.topk(x, 3)",
        "for layer in self.layers:\n    x = layer(x)",
        "for layer, n in zip(self.layers, (1, 2)):\n    x = layer(x) + n",
        "for layer in self.sequence[1:]:\n    x = layer(x)\nx = self.sequence[:1](x)",
        "for name in self.named.keys():\n    x = self.named[name](x)\nx = self.named.a(x)",
        "parts = [x]\nx = parts.pop()",
        "parts = []\nparts.append(x)\nx = torch.cat(parts)",
        "if self.training:\n    x = x * 2",
        "if x is None:\n    x = 2",
        "x = torch.zeros(x.size(0), 3)",
    ],
)
def test_what_compiles_is_not_mentioned(body: str) -> None:
    assert advice(body)[1] == []


def test_graph_mode_raises_the_severity_and_marks_the_code() -> None:
    text, found = advice("x = x[x > 0]", mode="graph")
    assert [d.severity for d in found] == [Severity.WARNING]
    assert "# TORCH2MS T2M701: the size of what a mask selects depends on data\n        x = x[x > 0]" in text


def test_only_networks_are_read() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    with torch.no_grad():\n        return x[x > 0]\n"
    assert not [d for d in translate_source(text).diagnostics if d.code in ("T2M601", "T2M701")]


DERIVED = """\
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, 4))

    def forward(self, x):
        return x + self.token.expand(x.shape[0], -1, -1)


class Derived(Base):
    def forward(net, x):
        return super().forward(x) * 2


class Named(Derived):
    pass
"""


@pytest.mark.parametrize(
    ("mode", "above", "spread"),
    [
        ("graph", "super(Derived, self).construct(x)", "self.token.broadcast_to((x.shape[0], -1, -1))"),
        ("pynative", "super().construct(x)", "self.token.expand(x.shape[0], -1, -1)"),
    ],
)
def test_what_graph_mode_compiles_is_emitted_for_it(mode: str, above: str, spread: str) -> None:
    """A ``super()`` without arguments is that of the object's class there: Named would call itself for ever."""
    text = translate_source(DERIVED, options=Options(mode=mode)).text  # type: ignore[arg-type]
    assert f"return {above} * 2" in text
    assert spread in text
    assert "        super().__init__()\n" in text
