"""Code that is run a second time for the gradient of a gradient: only what gives the same again."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.mapping_tables.loader import load
from torch2ms.translator.effects.repeatability import draws


def test_all_rows_of_random_numbers_are_known() -> None:
    rows = [row.name for row in load().rows() if any("T2M306" in option.codes for option in row.to)]
    assert len(rows) > 30
    assert [name for name in rows if not draws(name)] == []


def _marks(factor: str) -> set[str]:
    source = (
        "import torch\nfrom torch import nn\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        f"def f(v):\n    return (v * {factor}).pow(2).sum()\n"
        "y = f(x)\n"
        "g = torch.autograd.grad(y, x, create_graph=True)[0]\n"
        "h = torch.autograd.grad(g.sum(), x)[0]\nprint(h, y)\n"
    )
    options = Options(target=Target(mindspore=(2, 8)))  # later ones record it
    return {found.code for found in translate_source(source, options=options).diagnostics}


@pytest.mark.parametrize(
    "factor", ["torch.rand_like(v)", "torch.randn(2)", "nn.Linear(2, 2)(v)", "torch.dropout(v, 0.5, True)"]
)
def test_what_draws_anew_is_not_run_twice(factor: str) -> None:
    assert "T2M203" in _marks(factor)


def test_what_gives_the_same_is() -> None:
    assert "T2M203" not in _marks("torch.sin(v)")
