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


@pytest.mark.parametrize(
    "use",
    [
        "torch.func.grad(f)(x)",
        "torch.func.vjp(g, x)",
        "torch.autograd.functional.jacobian(lambda a: a * g(a), x)",
        "torch.func.jacrev(g, argnums=0)(x)",
    ],
)
def test_what_is_cut_off_inside_of_a_function_stays_so_where_it_is_differentiated(use: str) -> None:
    source = "import torch\n\n\ndef f(x):\n    with torch.no_grad():\n        y = x ** 2\n    return x ** 2 - y\n\n\n"
    source += (
        "def g(x):\n    return x * f(x)\n\n\ndef evaluate(x):\n    with torch.no_grad():\n        return f(x)\n\n\n"
    )
    text = translate_source(f"{source}x = torch.tensor(3.0)\nprint({use})\n").text
    assert text.count("with autograd.no_grad():") == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x, y", "ms.vjp(f, x, y)"),
        ("x, x", "derivatives.vjp_of(f, x, x)"),
        ("{'a': x}", "derivatives.vjp_of(f, {'a': x})"),
    ],
)
def test_mindspores_own_vjp_is_of_tensors(given: str, expected: str) -> None:
    source = (
        f"import torch\n\nx, y = torch.randn(3), torch.randn(3)\nf = lambda *a: 1\nv = torch.func.vjp(f, {given})\n"
    )
    assert f"v = {expected}" in translate_source(source).text


@pytest.mark.parametrize(
    ("call", "is_own"),
    [
        ("v = torch.func.vjp(lambda a: a * 2, x)", True),
        ("v = torch.func.vjp(lambda a: (a, a * 2), x)", True),
        ("v = torch.func.vjp(lambda a: {'a': a}, x)", False),
        ("v = torch.func.vjp(lambda a: (a, [a * 2]), x)", False),
        ("with torch.no_grad():\n    v = torch.func.vjp(torch.sin, x)", False),
    ],
)
def test_mindspores_own_vjp_gives_tensors_and_is_recorded(call: str, is_own: bool) -> None:
    text = translate_source(f"import torch\n\nx = torch.randn(3)\n{call}\n").text
    assert ("ms.vjp(" in text) == is_own


@pytest.mark.parametrize(
    ("made", "is_deep"),
    [
        ("torch.ones(3, requires_grad=True)", True),
        ("torch.nn.Parameter(torch.ones(3))", True),
        ("torch.ones(3).requires_grad_()", True),
        ("torch.ones(3)", False),
    ],
)
def test_no_gradient_gets_through_the_copy_of_a_parameter(made: str, is_deep: bool) -> None:
    for name in ("w", "w: torch.Tensor"):
        text = translate_source(f"import torch\n\n{name} = {made}\nv = w.clone()\nprint(v)\n").text
        assert ("ops.deepcopy(w)" in text) == is_deep
