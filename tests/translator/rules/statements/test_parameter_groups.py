"""``optimizer.param_groups = groups``, and dictionaries of states whatever they are states of."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\n"


def translated(source: str) -> tuple[str, list[str]]:
    found = translate_source(HEAD + source)
    return found.text, [d.code for d in found.diagnostics if d.severity >= Severity.ERROR]


def test_an_optimizer_is_given_groups() -> None:
    text, errors = translated("def restore(opt: torch.optim.SGD, saved):\n    opt.param_groups = saved\n")
    assert "    groups.put(opt, saved)\n" in text
    assert not errors


@pytest.mark.parametrize("statement", ["opt.param_groups += saved", "opt.param_groups = rest = saved"])
def test_other_changes_stay_and_are_marked(statement: str) -> None:
    text, errors = translated(f"def restore(opt: torch.optim.SGD, saved):\n    {statement}\n")
    assert "groups.put" not in text
    assert errors == ["T2M203"]


def test_an_optimizer_of_the_programs_own_keeps_what_it_is_given() -> None:
    source = (
        "class Own(torch.optim.Optimizer):\n    def __init__(self, params, base):\n"
        "        super().__init__(params, {})\n"
        "        self.param_groups = base.param_groups\n\n    def step(self):\n"
        "        for p in self.param_groups[0]['params']:\n            p.add_(p.grad)\n"
    )
    text, errors = translated(source)
    assert "        self.param_groups = " in text
    assert "groups.put" not in text
    assert not errors


def test_the_state_of_anything_is_a_dictionary() -> None:
    source = (
        "def update(ema, model, keys, decay):\n    with torch.no_grad():\n        new, old = model.state_dict(), 0\n"
        "        old = ema.state_dict()\n        for k in keys:\n            old[k].copy_(old[k] * decay + new[k])\n"
    )
    text, errors = translated(source)
    assert "old[k][...] = old[k] * decay + new[k]" in text
    assert not errors
