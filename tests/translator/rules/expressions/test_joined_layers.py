"""Containers of layers that are joined, repeated and added to; what their methods give is used, or is not."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = """from torch import nn

first, second = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh())
parts, others = nn.ModuleList([nn.ReLU()]), nn.ModuleList([nn.Tanh()])
sizes, names = [1, 2], ["a"]
"""


def line(code: str) -> str:
    found = translate_source(HEAD + code)
    assert not [d for d in found.diagnostics if d.severity.name != "NOTE"]
    return found.text.splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("net = first + second", "net = nn.SequentialCell(*first, *second)"),
        ("net = first * 2", "net = nn.SequentialCell(*list(first) * 2)"),
        ("net = 2 * first", "net = nn.SequentialCell(*list(first) * 2)"),
        ("both = parts + others", "both = nn.CellList([*parts, *others])"),
        ("first += second", "modules.extend(first, second)"),
        ("parts += others", "modules.extend(parts, others)"),
        ("net = first.append(nn.ReLU())", "net = modules.extend(first, [nn.ReLU()])"),
        ("both = parts.append(nn.ReLU())", "both = modules.extend(parts, [nn.ReLU()])"),
        ("parts.append(module=nn.ReLU())", "parts.append(nn.ReLU())"),
        ("parts.extend(others)", "modules.extend(parts, others)"),
        ("parts.extend(layer for layer in others)", "modules.extend(parts, (layer for layer in others))"),
    ],
)
def test_what_mindspore_lacks(code: str, wanted: str) -> None:
    assert line(code) == wanted


@pytest.mark.parametrize(
    "code",
    [
        "first.append(nn.ReLU())",
        "parts.append(nn.ReLU())",
        "parts.extend([nn.ReLU(), nn.ReLU()])",
        "parts += [nn.ReLU()]",
        "parts.insert(0, nn.ReLU())",
        "sizes += [3]",
        "more = sizes + [3]",
        "more = sizes * 2",
        "more = names.append('b')",
        "names.extend(x for x in names)",
    ],
)
def test_what_stays(code: str) -> None:
    assert line(code) == code


def test_what_is_added_is_laid_out_as_it_was() -> None:
    code = "import torch.nn as nn\nparts = nn.ModuleList()\nparts.append(\n    nn.ReLU()  # the last\n)\n"
    assert translate_source(code).text.endswith("parts.append(\n    nn.ReLU()  # the last\n)\n")
