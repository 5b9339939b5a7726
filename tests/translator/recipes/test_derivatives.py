"""Functions that give derivatives: a derivative of one is told where MindSpore may lose parts of it."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\nfrom torch.func import grad, hessian, jacrev, vmap\nx = torch.ones(3)\n"


def codes_of(source: str) -> list[str]:
    found = translate_source(f"{HEAD}{source}\n").diagnostics
    return [d.code for d in found if d.severity >= Severity.WARNING]


@pytest.mark.parametrize(
    "source",
    [
        "g = grad(lambda a: torch.cat([a, a]).sum())(x)",
        "g = vmap(grad(lambda a: torch.cat([a, a]).sum()))(x[None])",
        "f = lambda a: a ** 3\ng = grad(grad(f))(torch.tensor(2.0))",
        "def f(a):\n    return (torch.sin(a) * a).sum()\ng = jacrev(grad(f))(x)",
    ],
)
def test_first_derivatives_and_plain_second_ones_are_not_marked(source: str) -> None:
    assert codes_of(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    return a.reshape(3, 1).sum(1).pow(2).sum()\ng = jacrev(jacrev(f))(x)",
        "inner = grad(lambda a: torch.cat([a, a]).pow(2).sum())\ng = grad(lambda a: inner(a).sum())(x)",
        "g = grad(lambda a: grad(lambda b: (b @ b) ** 2)(a).sum())(x)",
        "g = grad(lambda a: (grad(lambda b: b[None] ** 2)(a) ** 2).sum())(x)",
        "def outer(f):\n    return grad(grad(f))",  # whatever it is given
    ],
)
def test_second_derivatives_that_may_lack_parts_are_marked(source: str) -> None:
    assert codes_of(source) == ["T2M303"]
