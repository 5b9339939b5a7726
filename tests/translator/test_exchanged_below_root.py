"""Names of parameters for optimizers where layers are put into the blocks of a network."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

TEXT = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


net = nn.Sequential(Block(), Block())
{change}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    "change",
    [
        "",
        "net.head = nn.Linear(2, 2)",  # of the root
        "for block in net:\n    block.note = 3",
        "for block in net:\n    setattr(block, 'rate', 0.1)",
    ],
)
def test_plain_names_stay(change: str) -> None:
    assert "sgd.SGD(net.trainable_params(), lr=0.1)" in translate_source(TEXT.format(change=change)).text


@pytest.mark.parametrize(
    "change",
    [
        "for block in net:\n    block.fc = nn.Linear(2, 2)",
        "net[0].fc = nn.Linear(2, 2)",
        "for block in net:\n    setattr(block, 'fc', nn.Linear(2, 2))",
        "for block in net:\n    block._modules['fc'] = nn.Linear(2, 2)",
        "for block in net:\n    block.add_module('extra', nn.Linear(2, 2))",
    ],
)
def test_parameters_are_named_apart(change: str) -> None:
    text = translate_source(TEXT.format(change=change)).text
    assert "sgd.SGD(modules.distinct(net.trainable_params()), lr=0.1)" in text
