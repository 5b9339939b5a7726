"""Comments that a rewriting has no place for stand before the statement that follows."""

from __future__ import annotations

import pytest

from tests.properties.promises import lost_comments
from torch2ms import translate_source
from torch2ms.translator.syntax.comments import with_lost_comments


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("a(  # why\n)\nb()\n", "c()\nb()\n", "# why\nc()\nb()\n"),
        ("if x:\n    a(  # why\n    )\nb()\n", "if x:\n    c()\nb()\n", "if x:\n    # why\n    c()\nb()\n"),
        ("if x:\n    k\n    a(  # why\n    )\n", "if x:\n    k\n    c()\n", "if x:\n    k\n    # why\n    c()\n"),
        ("k\na()  # last\n", "k\n", "k\n# last\n"),
        ("k\na(1,  # one\n  2)  # two\n", "k\n@d\ndef f():\n    c()\n", "k\n# one\n# two\n@d\ndef f():\n    c()\n"),
        ("# TORCH2MS T2M201: x\nk\n", "k\n", "k\n"),
        ("k\nx = '# no'\n", "k\n", "k\n"),
        ("k  # a\nk  # a\n", "k  # a\n", "k  # a\n# a\n"),
    ],
)
def test_lost_comments_are_put_back(source: str, output: str, expected: str) -> None:
    assert with_lost_comments(source, output) == expected
    assert with_lost_comments(expected, expected) == expected


STEP = """\
import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in [(torch.ones(1, 2), torch.ones(1, 1))]:
    optimizer.zero_grad(  # forget
    )
    loss = (net(x) - y).pow(2).mean()
    loss.backward(  # the gradients
        retain_graph=False,  # once
    )
    optimizer.step(
        # no closure
    )
    print(loss.item())
"""


def test_comments_in_the_brackets_of_a_training_step_stay() -> None:
    result = translate_source(STEP)
    assert lost_comments(STEP, result.text) == {}
    assert "optimizer(grads)" in result.text
    assert translate_source(result.text).text == result.text
