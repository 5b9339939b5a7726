"""Layers that begin in place, wherever the text shows it: in lists, functions, other objects, loops."""

from __future__ import annotations

import pytest

from torch2ms.config import Options
from torch2ms.translator.pipeline import SourceResult, translate_source

NETWORK = """
import torch.nn as nn
from collections import OrderedDict


def make(n):
    layers = []
    layers.append(nn.ReLU(inplace=True))
    layers.append(nn.Linear(n, n))
    return nn.Sequential(*layers)


class Own(nn.Sequential):
    def __init__(self, n):
        super().__init__(nn.ReLU(True), nn.Linear(n, n))


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.ReLU(True), nn.Linear(4, 4))

    def forward(self, x):
        return self.model(x)


class Net(nn.Module):
    def __init__(self, norm=False):
        super().__init__()
        {made}

    def build(self):
        return make(4)

    def forward(self, x):
        x = x * 1
        {used}
"""
ADDED = "return x + self.block(x)"
LOOP = "for m in self.blocks:\n            x = x + m(x)\n        return x"


def translated(made: str, used: str = ADDED) -> SourceResult:
    return translate_source(NETWORK.format(made=made.replace("\n", "\n        "), used=used))


def marks(result: SourceResult) -> list[str]:
    return [item.code for item in result.diagnostics if item.code == "T2M305"]


LISTED = "self.block = nn.Sequential(*layers)"
NUMBERED = "for i in range(1):\n            x = x + self.blocks[i](x)\n        return x"
COUNTED = LOOP.replace("m in self.blocks", "i, m in enumerate(self.blocks)")


@pytest.mark.parametrize(
    ("made", "used", "line"),
    [
        (f"layers = [nn.ReLU(True)]\nlayers += [nn.Linear(4, 4)]\n{LISTED}", ADDED, "self.block[0]"),
        (f"layers = []\nfor i in range(2):\n    layers.append(nn.ReLU(True))\n{LISTED}", ADDED, "self.block[0]"),
        ("self.block = nn.Sequential(OrderedDict([('a', nn.ReLU(True))]))", ADDED, "self.block[0]"),
        ("self.block = nn.Sequential()\nself.block.add_module('a', nn.ReLU(True))", ADDED, "self.block[0]"),
        ("self.block = make(4)", ADDED, "self.block[0]"),
        ("self.block = self.build()", ADDED, "self.block[0]"),
        ("self.block = Own(4)", ADDED, "self.block[0]"),
        ("self.block = nn.Sequential(Own(4), nn.ReLU(True))", ADDED, "self.block[0][0]"),
        ("self.block = Inner()", ADDED, "self.block.model[0]"),
        ("self.one = Inner()", "y = self.one.model(x)\n        return x + y", "self.one.model[0]"),
        ("self.blocks = nn.ModuleList([make(4) for _ in range(2)])", LOOP, "m[0]"),
        ("self.blocks = nn.ModuleList([make(4)])", COUNTED, "m[0]"),
        ("self.blocks = nn.ModuleList()\nself.blocks.append(make(4))", LOOP, "m[0]"),
        ("self.blocks = nn.ModuleList([Inner()])", LOOP, "m.model[0]"),
        ("self.blocks = nn.ModuleList([make(4)])", NUMBERED, "self.blocks[i][0]"),
    ],
)
def test_the_activation_runs_for_those_who_read_the_input_again(made: str, used: str, line: str) -> None:
    result = translated(made, used)
    assert f"    x = {line}(x)\n" in result.text
    assert not marks(result)


FILLED = "layers = [nn.ReLU(True), nn.Linear(4, 4)]"


MAYBE = [
    f"layers = []\nif norm:\n    layers.append(nn.BatchNorm1d(4))\nlayers.append(nn.ReLU(True))\n{LISTED}",
    "self.block = make(4) if norm else nn.Linear(4, 4)",
    f"{FILLED}\nif norm:\n    layers = layers[1:]\n{LISTED}",
    f"{FILLED}\nif norm:\n    layers.insert(0, nn.Tanh())\n    layers[0] = nn.Tanh()\n{LISTED}",
]


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ("self.block = nn.Sequential(nn.LeakyReLU(0.2, True), nn.Linear(4, 4))", "LeakyReLU"),
        ("self.block = nn.Sequential(nn.ELU(1.0, inplace=True), nn.Linear(4, 4))", "ELU"),
        *((made, "ReLU") for made in MAYBE),
    ],
)
def test_what_may_not_run_twice_or_not_be_the_first_is_run_apart(made: str, kind: str) -> None:
    result = translated(made)
    assert not marks(result)
    assert f"    x = parts.begun(self.block, x, '{kind}')\n" in result.text
    assert f"return x + parts.behind(self.block, x, '{kind}')" in result.text


@pytest.mark.parametrize(
    "made",
    [
        *(f"{made}\nself.last = nn.ReLU()" for made in MAYBE),  # the runtime could not tell them apart
        f"{FILLED}\nif norm:\n    layers = [nn.LeakyReLU(0.2, True)]\n{LISTED}",
        "self.block = nn.Sequential(nn.Hardswish(True), nn.Linear(4, 4))",
    ],
)
def test_what_the_runtime_cannot_ask_for_is_marked(made: str) -> None:
    result = translated(made)
    assert marks(result) == ["T2M305"]
    assert "[0](x)" not in result.text


def test_graph_mode_does_not_run_a_sequential_in_two_parts() -> None:
    source = NETWORK.format(made="self.block = nn.Sequential(nn.LeakyReLU(0.2, True), nn.Linear(4, 4))", used=ADDED)
    result = translate_source(source, options=Options(mode="graph"))
    assert marks(result) == ["T2M305"]


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (f"layers = [nn.Linear(4, 4), nn.ReLU(True)]\n{LISTED}", ADDED),
        (
            f"{FILLED}\nlayers[0] = nn.ReLU()\n{LISTED}",
            ADDED,
        ),
        (f"layers = [nn.ReLU(True)]\nlayers = [nn.Linear(4, 4)]\n{LISTED}", ADDED),
        ("self.block = nn.Sequential(nn.Linear(4, 4))\nself.block.append(nn.ReLU(True))", ADDED),
        ("self.block = make(4)", "return self.block(x)"),
        ("self.block = nn.Sequential(nn.LeakyReLU(0.2), nn.Linear(4, 4))", ADDED),
        ("self.block = norm_act(4, inplace=True)", ADDED),
        ("self.block = get_norm_act(nn.BatchNorm1d, nn.ReLU)(4, inplace=True)", ADDED),
        ("self.blocks = nn.ModuleList([make(4)])", LOOP.replace("x + m(x)", "m(x)")),
    ],
)
def test_nothing_is_said_where_nothing_begins_in_place_or_nobody_looks(made: str, used: str) -> None:
    result = translated(made, used)
    assert not marks(result)
    assert "[0](x)" not in result.text


_ROUNDS = "skip = x\n        for m in self.blocks:\n            x = m(x)\n        return x + skip"
_MADE = "self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(True)])"


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (_MADE, _ROUNDS),
        (_MADE, _ROUNDS.replace("m(x)", "m(x) if isinstance(m, nn.Linear) else m(x)")),
        (_MADE, _ROUNDS.replace("for m in self.blocks", "for i, m in enumerate(self.blocks)")),
        ("self.blocks = nn.Sequential(nn.Sequential(nn.Linear(4, 4)), nn.ReLU(True))", _ROUNDS),
        (
            "self.blocks = nn.ModuleList()\nfor i in range(2):\n"
            "    if norm:\n        self.blocks.append(nn.LayerNorm(4))\n"
            "    self.blocks.append(Inner())\n    self.blocks.append(nn.ReLU(inplace=True))",
            _ROUNDS,
        ),
    ],
)
def test_what_a_loop_hands_from_layer_to_layer_is_seen_by_nobody_else(made: str, used: str) -> None:
    assert not marks(translated(made, used))


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (_MADE.replace("[nn.Linear(4, 4), ", "["), _ROUNDS),
        (_MADE.replace("nn.Linear(4, 4)", "nn.Identity()"), _ROUNDS),
        (_MADE.replace("nn.Linear(4, 4)", "nn.Linear(4, 4) if norm else nn.Dropout()"), _ROUNDS),
        (
            _MADE,
            _ROUNDS.replace("x = m(x)", "seen.append(x)\n            x = m(x)").replace(
                "skip = x", "skip, seen = x, []"
            ),
        ),
        (_MADE, _ROUNDS.replace("x = m(x)", "x = m(x) if isinstance(m, nn.ReLU) else x")),
        (
            _MADE,
            _ROUNDS.replace("x = m(x)", "if self.training:\n                x = m(x)"),
        ),
    ],
)
def test_a_layer_of_a_loop_that_may_get_what_others_see_is_marked(made: str, used: str) -> None:
    assert marks(translated(made, used)) == ["T2M305"]


_KEPT = NUMBERED.replace("x = x + self", "out.append(x)\n            x = x + self").replace(
    "for i", "out = []\n        for i", 1
)


@pytest.mark.parametrize(
    ("made", "is_known"),
    [
        ("a, b = [], []\nfor i in range(2):\n    a.append(nn.Linear(4, 4))\nself.blocks = nn.ModuleList(a)", True),
        ("self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(4, 4), nn.ReLU(True)), nn.Tanh()])", True),
        ("a = [nn.Linear(4, 4)]\na.append(norm)\nself.blocks = nn.ModuleList(a)", False),
        ("a = [nn.Linear(4, 4)]\na.append(nn.ELU(inplace=norm))\nself.blocks = nn.ModuleList(a)", False),
    ],
)
def test_layers_by_number_are_told_where_all_of_a_list_are_known(made: str, is_known: bool) -> None:
    assert marks(translated(made, _KEPT)) == ([] if is_known else ["T2M305"])
