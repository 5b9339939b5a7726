"""What a network says of itself: parameters, parts, buffers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.translator.pipeline import translate_source

HEAD = "import torch\nfrom torch import nn, optim\n\n\ndef run(net: nn.Sequential, plain: nn.Linear, layers):\n"


def last_line(line: str) -> str:
    """Return the last line of the translated function."""
    return translate_source(f"{HEAD}    {line}\n").text.rstrip().rsplit("\n", 1)[-1].strip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return optim.SGD(net.parameters(), 0.1)", "return sgd.SGD(net.trainable_params(), 0.1)"),
        ("g = optim.SGD([{'params': net.parameters()}], 1)", "g = sgd.SGD([{'params': net.trainable_params()}], 1)"),
        ("return optim.SGD(list(net.parameters()), lr=1)", "return sgd.SGD(list(net.trainable_params()), lr=1)"),
        ("n = [p.shape for p in net.parameters()]", "n = [p.shape for p in modules.parameters(net)]"),
        (
            "n = [p.shape for p in net.parameters() if p.requires_grad]",
            "n = [p.shape for p in net.trainable_params() if p.requires_grad]",
        ),
        ("p = list(net.parameters())", "p = list(modules.parameters(net))"),
    ],
)  # fmt: skip
def test_parameters_are_the_trainable_ones_only_where_no_others_count(line: str, expected: str) -> None:
    assert last_line(line) == expected


@pytest.mark.parametrize(
    ("net", "body", "expected"),
    [
        ("net", "p.requires_grad = False", "net.get_parameters()"),
        ("net[0]", "p.requires_grad_(False)", "net[0].get_parameters()"),
        ("net", "p.requires_grad = True", "modules.parameters(net)"),  # the buffers stay as they are
        ("net", "p.requires_grad = False; n = p.numel()", "modules.parameters(net)"),
        ("net", "net.requires_grad = False", "modules.parameters(net)"),
        ("layers", "p.requires_grad = False", "layers.get_parameters()"),
    ],
)
def test_loops_that_only_freeze_may_meet_the_buffers(net: str, body: str, expected: str) -> None:
    text = translate_source(f"{HEAD}    for p in {net}.parameters():\n        {body}\n").text
    assert f"for p in {expected}:\n" in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("net.train(False)", "net.set_train(False)"),
        ("net.eval()", "net.set_train(False)"),
        ("c = list(net.children())", "c = list(net.cells())"),
        ("c = next(net.children())", "c = next(iter(net.cells()))"),
        ("c = dict(net.named_children())", "c = dict(net.name_cells().items())"),
        ("c = dict(net.named_modules())", "c = dict(net.cells_and_names())"),
        ("net.add_module('x', nn.ReLU())", "modules.add_module(net, 'x', nn.ReLU())"),
        ("plain.add_module('x', nn.ReLU())", "setattr(plain, 'x', nn.ReLU())"),
        ("net.requires_grad_(False)", "modules.requires_grad_(net, False)"),
        ("c = nn.ModuleList(nn.ReLU() for _ in range(2))", "c = nn.CellList([nn.ReLU() for _ in range(2)])"),
        ("c = nn.ModuleList([nn.ReLU()])", "c = nn.CellList([nn.ReLU()])"),
        ("c = nn.ModuleList(layers)", "c = nn.CellList(list(layers))"),
        ("c = nn.ModuleList()", "c = t2m_layers.ModuleList()"),
        (
            "c = nn.ModuleList([nn.ModuleDict({'a': nn.ReLU()}) for _ in range(2)])",
            "c = t2m_layers.ModuleList([nn.CellDict({'a': nn.ReLU()}) for _ in range(2)])",
        ),
    ],
)
def test_methods_in_cells_words(line: str, expected: str) -> None:
    assert last_line(line) == expected


CLASS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        {body}
        return x - self.mean
"""


@pytest.mark.parametrize("body", ["self.mean = self.mean * 0.9", "self.mean.mul_(0.9)", "self.mean += 1"])
def test_a_buffer_that_is_bound_anew_becomes_a_parameter(body: str) -> None:
    assert 'modules.register_buffer(self, "mean", ' in translate_source(CLASS.format(body=body)).text


def test_a_buffer_that_stays_is_a_buffer() -> None:
    assert 'self.register_buffer("mean", ' in translate_source(CLASS.format(body="y = self.mean.mean()")).text


def test_learning_rates_go_through_the_runtime() -> None:
    source = (
        "import torch\n\n\ndef halve(optimizer: torch.optim.SGD):\n"
        "    for group in optimizer.param_groups:\n        group['lr'] *= 0.5\n"
    )
    assert "for group in groups.param_groups(optimizer):\n        group['lr'] *= 0.5" in translate_source(source).text


def test_parameters_that_are_freed_later_are_warned_of() -> None:
    lines = ["for p in net.parameters():", "    p.requires_grad = {}", "return optim.SGD(net.parameters(), 0.1)"]
    source = HEAD + "".join(f"    {line}\n" for line in lines)
    assert "T2M303" in {d.code for d in translate_source(source.format(True)).diagnostics}
    assert "T2M303" not in {d.code for d in translate_source(source.format(False)).diagnostics}


KEEPING = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, n: int):
{lines}
"""


def kept_codes(*lines: str) -> list[str]:
    source = KEEPING.format(lines="\n".join(f"        {line}" for line in lines))
    return [item.code for item in translate_source(source).diagnostics]


@pytest.mark.parametrize("value", ["self.fc(x)", "0.9 * self.state + 0.1 * x.mean(0)", "torch.relu(x)", "x[0]"])
def test_a_buffer_that_carries_a_gradient_keeps_it(value: str) -> None:
    lines = f"        self.state = {value}\n        return x - self.state"
    assert 'parts.set_buffer(self, "state", ' in translate_source(KEEPING.format(lines=lines)).text
    assert kept_codes(f"self.state, n = {value}, 1", "return x - self.state") == ["T2M305"]
    assert kept_codes(f"self.state = {value}", "self.state.mul_(2)", "return x - self.state") == []


@pytest.mark.parametrize(
    "lines",
    [
        ("self.state = 0.9 * self.state + 0.1 * x.mean(0).detach()", "return x - self.state"),
        ("self.state = torch.zeros(n)", "return x - self.state"),
        ("self.state = self.fc(x)", "return self.state.detach() + x"),
        ("y = x - self.state", "self.state = self.fc(x)", "return y"),
        ("with torch.no_grad():", "    self.state = self.fc(x)", "return x - self.state"),
    ],
)
def test_other_buffers_are_bound_anew_without_a_word(lines: tuple[str, ...]) -> None:
    assert "T2M305" not in kept_codes(*lines)


def test_a_buffer_that_another_file_changes_is_no_plain_one(make_tree: Callable[..., Path]) -> None:
    head = "import torch\nfrom torch import nn\n\n\nclass Detect(nn.Module):\n    def __init__(self, a):\n"
    part = head + "        super().__init__()\n        self.register_buffer('anchors', a)\n"
    net = "from part import Detect\n\n\ndef build(a, stride):\n    head = Detect(a)\n    head.anchors /= stride\n"
    report = translate_project(make_tree({"part.py": part, "net.py": net}), None)
    text = {file.path: file.output for file in report.files}["part.py"]
    assert "modules.register_buffer(self, 'anchors', a)" in (text or "")


@pytest.mark.parametrize(
    ("later", "held"),
    [
        ("self.kept += [b]", True),
        ("self.kept.append(b)", True),
        ("self.first = b", True),
        ("self.first = b * 2", False),
        ("c = b", False),
    ],
)
def test_what_is_a_buffer_and_held_elsewhere_is_one_tensor(later: str, held: bool) -> None:
    source = f"""import torch


class A(torch.nn.Module):
    def __init__(self, i):
        super().__init__()
        b = torch.zeros(3)
        self.register_buffer(f"b{{i}}", b.data)
        {later}
"""
    assert ("        b = modules.register_buffer(self, " in translate_source(source).text) is held


def test_a_list_of_layers_may_hold_a_name_bound_to_none() -> None:
    text = (
        "from torch import nn\n\n\ndef make(flag):\n    layer = nn.ReLU()\n"
        "    layer = nn.Sequential(layer) if flag else layer\n"
        "    norm = nn.ReLU() if flag else None\n    return nn.ModuleList([layer, norm]), nn.ModuleList([layer])\n"
    )
    assert "return layers.ModuleList([layer, norm]), nn.CellList([layer])" in translate_source(text).text
