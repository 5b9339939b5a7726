"""Loops that cut the members of a tuple from what computed them."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\n\ndef train(batches, net, state, unknown):\n    state = {value}\n    for x in batches:\n"
LOOP = "        for s in {held}:\n            {use}\n        y, state = net(x, state)\n"


def translated(value: str, held: str = "state", use: str = "s.detach_()") -> tuple[str, set[str]]:
    result = translate_source(HEAD.format(value=value) + LOOP.format(held=held, use=use))
    return result.text, {item.code for item in result.diagnostics}


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("(torch.zeros(1), torch.zeros(1))", "type(state)(ops.stop_gradient(s) for s in state)"),
        ("start()", "type(state)(ops.stop_gradient(s) for s in state)"),
    ],
)
def test_the_name_is_bound_to_what_is_cut(value: str, made: str) -> None:
    text, codes = translated(value)
    assert f"        state = {made}\n        y, state = net(x, state)\n" in text
    assert "T2M305" not in codes


@pytest.mark.parametrize(
    ("held", "use"), [("net.parameters()", "s.detach_()"), ("state", "s.detach()"), ("state", "s.detach_(), s.mean()")]
)
def test_other_loops_stay(held: str, use: str) -> None:
    text, _ = translated("start()", held, use)
    assert "        for s in " in text


def test_what_is_known_to_be_a_tuple_stays_one() -> None:
    source = "import torch\nstate = (torch.ones(2), torch.ones(3))\nfor s in state:\n    s.detach_()\nprint(state[0])\n"
    assert "state = tuple(ops.stop_gradient(s) for s in state)\n" in translate_source(source).text


def test_the_comments_of_the_loop_stay() -> None:
    loop = "    for s in state:  # one\n        # two\n        s.detach_()  # three\n"
    text = translate_source(f"import torch\n\n\ndef step(net, x, state):\n{loop}    return net(x, state)\n").text
    assert "    # one\n    # two\n    # three\n    state = type(state)(ops.stop_gradient(s) for s in state)\n" in text
