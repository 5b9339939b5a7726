"""Steps of optimizers whose weights get no gradients are dropped; what may have gradients is not."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = """\
import torch
from torch import nn


def train(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.ones(1, 1)).sum()
    loss.backward()
    opt.step()


"""
DROPPED = [
    "def rates():\n    opt = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)\n    opt.step()\n    return 1\n",
    "def rates():\n    layer = nn.Linear(1, 1)\n    opt = torch.optim.SGD(layer.parameters(), lr=1.0)\n    opt.step()\n"
    "    return 1\n",
]
STAYS = [
    "def rates(net):\n    opt = torch.optim.SGD(net.parameters(), lr=1.0)\n    opt.step()\n    return 1\n",
    "def rates():\n    layer = nn.Linear(1, 1)\n    opt = torch.optim.SGD(layer.parameters(), lr=1.0)\n"
    "    fill(layer)\n    opt.step()\n    return 1\n",
    "def rates():\n    opt = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)\n    fill(opt)\n    opt.step()\n"
    "    return 1\n",
    "def rates(again):\n    opt = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)\n    if again:\n"
    "        opt = again\n    opt.step()\n    return 1\n",
]


@pytest.mark.parametrize("source", DROPPED)
def test_a_step_that_changes_nothing(source: str) -> None:
    report = translate_source(HEAD + source)
    assert "opt.step()" not in report.text
    assert report.text.endswith("lr=1.0)\n    return 1\n")
    assert "T2M403" not in {item.code for item in report.diagnostics}


@pytest.mark.parametrize("source", STAYS)
def test_a_step_that_may_have_gradients(source: str) -> None:
    report = translate_source(HEAD + source)
    assert "    opt.step()\n    return 1\n" in report.text
    assert "T2M403" in {item.code for item in report.diagnostics}


def test_a_step_of_what_nothing_is_known_of_is_told() -> None:
    report = translate_source(HEAD + "def rates(opt):\n    opt.step()\n    return 1\n")
    assert report.text.endswith("    opt.step()\n    return 1\n")
    assert "T2M207" in {item.code for item in report.diagnostics}


def test_a_schedule_that_is_asked_for_its_rate_is_not_told() -> None:
    report = translate_source(HEAD + "def rates(s):\n    s.step()\n    return s.last_epoch\n")
    assert not [item for item in report.diagnostics if item.code == "T2M207"]
