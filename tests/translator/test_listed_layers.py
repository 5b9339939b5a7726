"""What a ModuleList is made of is known where it is looped over or indexed; what was put in besides counts as well."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

NET = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(d, 2 * d))
        self.norms = nn.ModuleList([nn.LayerNorm(d) for _ in range(2)])


class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])
        self.late = nn.ModuleList()
        for _ in range(2):
            self.late.append(nn.LayerNorm(d))
{more}
    def start(self, i):
        for block in self.blocks:
            nn.init.zeros_({used})
"""


def emitted(used: str, more: str = "") -> tuple[list[str], str]:
    result = translate_source(NET.replace("{used}", used).replace("{more}", more))
    return [d.code for d in result.diagnostics if d.severity.name != "NOTE"], result.text


@pytest.mark.parametrize(
    ("used", "wanted"),
    [
        ("block.ada[-1].weight", "modules.weight(block.ada[-1])"),
        ("self.blocks[i].ada[1].bias", "modules.bias(self.blocks[i].ada[1])"),
        ("block.norm.weight", "block.norm.gamma.set_data"),
        ("block.norms[0].bias", "block.norms[0].beta.set_data"),
        ("self.blocks[-1].norms[i].weight", "self.blocks[-1].norms[i].gamma.set_data"),
        ("self.late[0].weight", "self.late[0].gamma.set_data"),
    ],
)
def test_members_of_listed_layers(used: str, wanted: str) -> None:
    codes, text = emitted(used)
    assert not codes
    assert wanted in text


@pytest.mark.parametrize(
    "more",
    [
        "        self.late.append(nn.Linear(d, d))\n",
        "        self.late[0] = nn.Linear(d, d)\n",
        "        self.late.insert(0, nn.Linear(d, d))\n",
        "        self.late.extend([nn.Linear(d, d)])\n",
        "        self.late = nn.ModuleList([nn.Linear(d, d)])\n",
    ],
)
def test_layers_of_several_classes_are_asked_for_their_members(more: str) -> None:
    _, text = emitted("self.late[0].weight", more)
    assert "modules.weight(self.late[0])" in text


def test_a_list_of_nothing_known_stays_unknown() -> None:
    source = "import torch\nfrom torch import nn\n\n\ndef f(parts):\n    kept = nn.ModuleList(parts)\n"
    text = translate_source(f"{source}    nn.init.zeros_(kept[0].weight)\n").text
    assert "modules.weight(kept[0])" in text


PRUNED = """import torch
from torch import nn


def copy(model: nn.Module, new, idx):
    for m0, m1 in zip(model.modules(), new.modules()):
        if isinstance(m0, nn.BatchNorm2d):
            m1.running_mean = m0.running_mean[idx].clone()
            m1.running_var = m0.running_var[idx].clone()
"""


def test_statistics_are_put_into_layers_that_are_not_known() -> None:
    result = translate_source(PRUNED)
    assert not [d for d in result.diagnostics if d.severity.name != "NOTE"]
    assert "parts.set_statistic(m1, 'running_mean', ops.deepcopy(m0.moving_mean[idx]))" in result.text
    assert "parts.set_statistic(m1, 'running_var', ops.deepcopy(m0.moving_variance[idx]))" in result.text


OWN = """import torch
from torch import nn


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.running_mean = 0

    def up(self, x):
        self.running_mean = x


def f(own: Own, norm: nn.BatchNorm2d, x):
    own.running_mean = x
    norm.running_mean = x
    for m in norm.modules():
        m.running_var = None
"""


def test_statistics_of_known_layers_and_of_the_program_s_own_are_set_as_they_are() -> None:
    result = translate_source(OWN)
    assert "set_statistic" not in result.text
    assert [d.code for d in result.diagnostics if d.severity.name == "ERROR"] == ["T2M206"]  # None is no statistic
    for line in ("    own.running_mean = x\n", "    norm.moving_mean = x\n", "self.running_mean = x\n"):
        assert line in result.text
