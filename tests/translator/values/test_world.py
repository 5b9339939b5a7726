"""Inference: what is known of values, and, as important, what is not."""

from __future__ import annotations

import ast

import pytest

from torch2ms import translate_source
from torch2ms.mapping_tables.loader import load
from torch2ms.translator.effects.file_summary import index_file
from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.values.flow import Flow
from torch2ms.translator.values.world import FileAnalysis, World

HEAD = """\
import queue
import numpy as np
import scipy.sparse as sp
import torch
import torch.nn as nn
from torch import Tensor
"""


def analyse(files: dict[str, str], path: str = "m.py") -> FileAnalysis:
    trees = {name: ast.parse(text) for name, text in files.items()}
    symbols = SymbolTable.build([index_file(name, tree) for name, tree in trees.items()])
    analysis = World(trees.get, symbols, load(())).analyse(path)
    assert analysis is not None
    return analysis


def kind_of_show(text: str, **others: str) -> str:
    """Return the kind of ``value`` in the last ``show(value)`` of a text."""
    analysis = analyse({"m.py": HEAD + text, **{f"{name}.py": body for name, body in others.items()}})
    calls = [n for n in ast.walk(analysis.tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "show"]
    return analysis.kind(calls[-1].args[0]).name


TENSORS = {
    "made": "x = torch.ones(2)\nshow(x)",
    "arithmetic": "x = 2 * torch.ones(2) + 1\nshow(x)",
    "comparison": "show(torch.ones(2) > 0)",
    "indexed": "show(torch.ones(2)[0])",
    "method": "show(torch.ones(2).view(1, 2).float())",
    "annotated": "def f(x: Tensor): show(x)",
    "annotated in quotes": "def f(x: 'torch.Tensor'): show(x)",
    "optional": "from typing import Optional\ndef f(x: Optional[Tensor] = None): show(x)",
    "input of forward": "class N(nn.Module):\n    def forward(self, x): show(x)",
    "result of a layer": "class N(nn.Module):\n    def __init__(self): self.a = nn.Linear(2, 2)\n"
    "    def forward(self, x): show(self.a(x))",
    "from a loader": "from torch.utils.data import DataLoader\nfor i, (x, y) in enumerate(DataLoader(d)): show(y)",
    "by isinstance": "def f(x):\n    if isinstance(x, torch.Tensor): show(x)",
    "by not isinstance": "def f(x):\n    if not isinstance(x, Tensor): return\n    show(torch.as_tensor(x))",
    "of a function": "def g():\n    return torch.zeros(2)\nshow(g())",
    "as an argument": "def f(x): show(x)\nf(torch.zeros(2))",
    "only tensors have it": "def f(x):\n    x.unsqueeze(0)\n    show(x)",
    "on both branches": "x = torch.ones(1) if a else torch.zeros(1)\nshow(x)",
    "unpacked": "a, b = torch.ones(2), 3\nshow(a)",
    "in a loop": "x = None\nfor i in range(3):\n    x = torch.ones(1)\nshow(x)",
    "walrus": "if (x := torch.ones(1)).any(): show(x)",
    "buffer": "class N(nn.Module):\n    def __init__(self): self.register_buffer('b', torch.ones(1))\n"
    "    def f(self): show(self.b)",
    "element of a list": "xs = [torch.ones(1) for _ in range(3)]\nshow(xs[0])",
    "item of a dict": "for k, v in {'a': torch.ones(1)}.items(): show(v)",
}
OTHERS = {
    "untyped parameter": ("def f(x): show(x)", "unknown"),
    "rebound": ("x = torch.ones(1)\nx = foreign()\nshow(x)", "unknown"),
    "on one branch": ("if a: x = torch.ones(1)\nelse: x = foreign()\nshow(x)", "unknown"),
    "shadowed module": ("def f(torch): show(torch.ones(1))", "unknown"),
    "queue": ("show(queue.Queue().size())", "unknown"),
    "array": ("def f(a: np.ndarray): show(a.max(axis=0))", "ndarray"),
    "numpy": ("show(torch.ones(2).numpy())", "ndarray"),
    "sparse matrix": ("show(sp.coo_matrix(foreign()).transpose().dot(foreign() + sp.eye(3)))", "python"),
    "data of a sparse matrix": ("show(sp.coo_matrix(foreign()).astype(np.float32).data)", "ndarray"),
    "what a sparse matrix may be multiplied by": ("show(sp.eye(3).dot(foreign()))", "unknown"),
    "plain list": ("show(torch.ones(2).tolist())", "list"),
    "string": ("show('a'.split())", "list"),
    "length": ("show(len(torch.ones(2)))", "int"),
    "shape": ("show(torch.ones(2).shape)", "Size"),
    "one size": ("show(torch.ones(2).size(0))", "int"),
    "module": ("show(nn.Linear(2, 2))", "Module"),
    "submodule": ("class N(nn.Module):\n    def __init__(self): self.norm = nn.BatchNorm2d(2)\n"
                  "    def f(self): show(self.norm)", "Module"),
    "own class": ("class A: pass\nshow(A())", "instance"),
    "own network": ("class A(nn.Module): pass\nshow(A())", "Module"),
    "optimizer": ("show(torch.optim.SGD(p, 0.1))", "Optimizer"),
    "scheduler": ("show(torch.optim.lr_scheduler.StepLR(o, 3))", "Scheduler"),
    "device": ("show(torch.device('cpu'))", "device"),
    "else of isinstance": ("def f(x):\n    if isinstance(x, Tensor): pass\n    else: show(x)", "unknown"),
    "loop may not run": ("x = foreign()\nfor i in y: x = torch.ones(1)\nshow(x)", "unknown"),
    "comprehension leaks nothing": ("y = [x for x in torch.ones(3)]\nshow(x)", "unknown"),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_are_recognised(name: str) -> None:
    assert kind_of_show(TENSORS[name]) in ("Tensor", "Parameter")


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_tensor_is_not_taken_for_one(name: str) -> None:
    text, expected = OTHERS[name]
    assert kind_of_show(text) == expected


def test_results_are_known_across_files() -> None:
    assert (
        kind_of_show("from lib import make\nshow(make())", lib="import torch\ndef make(): return torch.ones(1)")
        == "Tensor"
    )


def test_classes_are_known_across_files() -> None:
    assert (
        kind_of_show("import lib\nshow(lib.Net())", lib="from torch import nn\nclass Net(nn.Module): pass") == "Module"
    )


def test_what_a_file_defines_is_known_without_a_look_at_it() -> None:
    text = "__all__ = ['Net', 'make']\nfrom torch import nn\nclass Net(nn.Module): pass\ndef make(): return Net()\n"
    trees = {"m.py": ast.parse("from lib import *\nfrom lib import Net as Other\n"), "lib.py": ast.parse(text)}
    symbols = SymbolTable.build([index_file(name, tree) for name, tree in trees.items()])
    read: list[str] = []
    world = World(lambda path: read.append(path) or trees[path], symbols, load(()))
    names = world.names("m.py")
    assert {name: kind.of for name, kind in names.items()} == {
        "Net": "lib.py:Net",
        "make": "lib.py:make",
        "Other": "lib.py:Net",
    }
    assert read == ["m.py"]
    assert world.returns("lib.py:make").name == "Module"


def test_recursion_ends() -> None:
    assert kind_of_show("def f(x): return g(x)\ndef g(x): return f(x)\nshow(f(1))") == "unknown"


def test_import_cycles_end() -> None:
    other = "from m import a\nimport torch\nb = torch.ones(1)\n"
    assert kind_of_show("from other import b\na = 1\nshow(b)", other=other) == "Tensor"


@pytest.mark.parametrize("first", ["base.py", "head.py"])
def test_import_cycles_are_settled_wherever_they_are_entered(first: str) -> None:
    files = {
        "base.py": "from torch import nn\nfrom head import Head\nclass Base(nn.Module):\n    pass\n",
        "head.py": "from base import Base\nclass Head(Base):\n    pass\n",
    }
    trees = {name: ast.parse(text) for name, text in files.items()}
    symbols = SymbolTable.build([index_file(name, tree) for name, tree in trees.items()])
    world = World(trees.get, symbols, load(()))
    world.analyse(first)
    assert world.family("head.py:Head").name == "Module"


def test_scripts_do_not_ask_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the module level of a script is run, what its classes do is found out once per name, not per question."""
    runs = []
    run = Flow.run_function
    monkeypatch.setattr(Flow, "run_function", lambda flow: (runs.append(flow), run(flow))[1])
    body = "    def m{0}(self):\n        self.a{0} = self.a{1} + self.m{2}()\n        return self.a{0}\n"
    methods = "".join(body.format(i, (i + 1) % 8, (i + 3) % 8) for i in range(8))
    start = "class Agent:\n    def __init__(self):\n        self.n = 0\n"
    analyse({"m.py": f"{start}{methods}agent = Agent()\nwhile agent.m0():\n    x = agent.m1()\n"})
    assert len(runs) < 200


def test_an_attribute_that_is_set_to_its_own_cast_keeps_its_kind() -> None:
    source = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, mask: torch.Tensor = None):
        super().__init__()
        self.mask = mask

    def forward(self, x: torch.Tensor):
        self.mask = self.mask.to(dtype=x.dtype, device=x.device) if self.mask is not None else None
        return x
"""
    found = translate_source(source)
    assert "self.mask = self.mask.astype(x.dtype) if self.mask is not None else None" in found.text
    assert not found.diagnostics


def test_attributes_have_the_kinds_that_the_module_hands_over() -> None:
    source = (
        "import torch\nclass Holder:\n    def __init__(self, t):\n        self.t = t\n"
        "    def order(self):\n        t = self.t\n        return t.sort(descending=True).indices\n"
        "h = Holder(torch.ones(3))\nprint(h.order())\n"
    )
    assert "functional.sort(t, descending=True)[1]" in translate_source(source).text


def test_results_of_functions_are_asked_for_again_once_all_calls_are_known() -> None:
    source = (
        "import torch\ndef part(t):\n    return t[0]\nx = part(torch.ones(2, 3))\ny = x.sort().values\nprint(y.shape)\n"
    )
    assert "functional.sort(x)[0]" in translate_source(source).text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print(f'{torch.where(x > 0, x, 0.1 * x).mean():.3f}')", "mean().item():.3f}"),
        ("y = torch.where(x > 0, x, -1).sort().values", "functional.sort(ops.where(x > 0, x, -1))[0]"),
        ("k = torch.where(torch.arange(3) > 1, torch.arange(3), 0)\ny = ~k", "y = functional.bitwise_not(k)"),
        ("i, j = torch.where(x > 0)\ny = i.sort().values", "y = functional.sort(i)[0]"),
    ],
)
def test_where_gives_a_tensor_or_the_places(source: str, expected: str) -> None:
    assert expected in translate_source(f"import torch\nx = torch.ones(2, 3)\n{source}\n").text


def test_a_network_may_be_given_its_features_by_name() -> None:
    source = """import torch
class Pyramid(torch.nn.Module):
    def forward(self, features):
        first = features["c3"].size(0)
        return first, torch.cat(list(features.values()), dim=1)
"""
    text = translate_source(source).text
    assert 'features["c3"].shape[0]' in text
    assert "ops.cat(list(features.values()), axis=1)" in text
    plain = translate_source(source.replace("features.values()", "features")).text
    assert 'features["c3"].shape[0]' in plain


@pytest.mark.parametrize(
    ("made", "is_sparse"),
    [("net(x)", False), ("net(x).coalesce()", True), ("torch.sparse_coo_tensor(i, v, (2, 3))", True)],
)
def test_values_are_a_dictionarys_unless_a_tensor_is_said_to_be_sparse(made: str, is_sparse: bool) -> None:
    source = f"import torch\nnet = torch.nn.Linear(2, 3)\nlosses = {made}\ntotal = sum(losses.values())\n"
    assert ("sum(functional.sparse_values(losses))" in translate_source(source).text) is is_sparse


def test_a_tensor_that_is_asked_for_indices_is_sparse() -> None:
    source = "import torch\ndef thin(x: torch.Tensor):\n    places = x.indices()\n    return places, x.values()\n"
    assert "functional.sparse_indices(x)" in translate_source(source).text
    assert "functional.sparse_values(x)" in translate_source(source).text


def test_what_the_text_does_not_show_of_a_tuple_its_annotation_does() -> None:
    source = """
from torch import Tensor, nn


class Base(nn.Module):
    def forward(self, x: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            n = self.lengths(layer, n)
        return x * 2, n


class Derived(Base):
    def forward(self, x: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
        x, n = super().forward(x, n)
        return x, n >> 2
"""
    assert "functional.bitwise_right_shift(n, 2)" in translate_source(source).text


@pytest.mark.parametrize("made", ["models.__dict__[args.arch]()", "getattr(models, args.arch)(num_classes=2)"])
def test_a_network_chosen_by_name_is_a_network(made: str) -> None:
    head = "import torchvision.models as models\n\n\ndef f(args):\n"
    source = f"    net = {made}\n    net.features = net.features[:2]\n    net.cuda()\n    return net\n"
    report = translate_source(head + source)
    assert "net.cuda" not in report.text
    assert "T2M207" not in {item.code for item in report.diagnostics}
