"""Names: what an import binds, dotted chains, and which roots are torch's."""

from __future__ import annotations

import ast

import pytest

from torch2ms import translate_source
from torch2ms.translator.syntax.names import dotted, imported, is_torch_name
from torch2ms.translator.values.kinds import Kind, candidates


@pytest.mark.parametrize("name", ["torch", "torch.nn", "torchvision.transforms"])
def test_torch_names(name: str) -> None:
    assert is_torch_name(name)


@pytest.mark.parametrize("name", ["torchmetrics", "pytorch", "mytorch.nn", "torch2ms_runtime", "numpy", "", "nn.torch"])
def test_lookalikes_are_not_torchs(name: str) -> None:
    assert not is_torch_name(name)


@pytest.mark.parametrize(
    ("code", "bindings"),
    [
        ("import torch", [("torch", "torch", None)]),
        ("import torch.nn.functional", [("torch", "torch", None)]),
        ("import torch.nn.functional as F, os", [("F", "torch.nn.functional", None), ("os", "os", None)]),
        ("from torch import nn, optim as o", [("nn", "torch", "nn"), ("o", "torch", "optim")]),
        ("from torch import *", [("*", "torch", "*")]),
        ("from . import a", [("a", "", "a")]),
        ("from ..b import c as d", [("d", "b", "c")]),
    ],
)
def test_imports_bind(code: str, bindings: list[tuple[str, str, str | None]]) -> None:
    statement = ast.parse(code).body[0]
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    assert list(imported(statement)) == bindings


@pytest.mark.parametrize(
    ("code", "name"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("f().a", None), ("a[0].b", None), ("1", None), ("(a).b", "a.b")],
)
def test_dotted_chains(code: str, name: str | None) -> None:
    assert dotted(ast.parse(code, mode="eval").body) == name


def test_candidates_are_what_alternatives_list() -> None:
    assert candidates(Kind("api", "torch.a|torch.b")) == ("torch.a", "torch.b")
    assert candidates(Kind("api")) == ()


TWICE = "import torch\nfrom torch.nn.functional import tanh, relu\n{between}from torch import relu\n\n\n{use}"
USE = "def f(x: torch.Tensor):\n    return relu(x)\n"


@pytest.mark.parametrize("between", ["", "import os\n", "from torch.nn.functional import *\n", "SIZE = 3\n"])
def test_what_a_heading_imports_twice_is_the_second(between: str) -> None:
    report = translate_source(TWICE.format(between=between, use=USE))
    assert "from mindspore.ops import relu" in report.text
    assert not report.diagnostics


@pytest.mark.parametrize("between", ["def g(x):\n    return relu(x)\n", "g = lambda x: relu(x)\n"])
def test_what_is_imported_twice_around_a_function_may_be_both(between: str) -> None:
    assert "T2M206" in [d.code for d in translate_source(TWICE.format(between=between, use=USE)).diagnostics]


def test_what_is_imported_in_branches_may_be_either() -> None:
    source = (
        "import torch, os\nif os.name:\n    from torch.nn.functional import relu\nelse:\n    from torch import relu\n"
    )
    assert "T2M206" in [d.code for d in translate_source(f"{source}\n\n{USE}").diagnostics]
