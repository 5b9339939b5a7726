"""The index of a project: where imports lead, and where the value of a name goes."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.effects.file_summary import index_file
from torch2ms.translator.project.file_index import CallShape
from torch2ms.translator.project.symbol_table import SymbolTable


def table(files: dict[str, str], root: str = "") -> SymbolTable:
    return SymbolTable.build([index_file(path, ast.parse(text)) for path, text in files.items()], root)


TREE = {
    "main.py": "",
    "model.py": "",
    "a/__init__.py": "",
    "a/model.py": "",
    "a/main.py": "",
    "a/b/deep.py": "",
    "space/mod.py": "",
    "src/lib.py": "",
}


@pytest.mark.parametrize(
    ("importer", "module", "level", "found"),
    [
        ("main.py", "model", 0, "model.py"),
        ("a/main.py", "model", 0, "a/model.py"),
        ("a/b/deep.py", "model", 0, "a/model.py"),
        ("main.py", "a", 0, "a/__init__.py"),
        ("main.py", "a.model", 0, "a/model.py"),
        ("a/model.py", "", 1, "a/__init__.py"),
        ("a/b/deep.py", "model", 2, "a/model.py"),
        ("main.py", "space", 0, "space/"),
        ("main.py", "space.mod", 0, "space/mod.py"),
        ("main.py", "lib", 0, "src/lib.py"),
    ],
)
def test_imports_lead_to_files(importer: str, module: str, level: int, found: str) -> None:
    assert table(TREE).find_module(importer, module, level) == found


@pytest.mark.parametrize(
    ("importer", "module", "level"), [("main.py", "numpy", 0), ("main.py", "a.c", 0), ("a/main.py", "x", 2)]
)
def test_imports_that_lead_out_of_the_project(importer: str, module: str, level: int) -> None:
    assert table(TREE).find_module(importer, module, level) is None


def test_a_package_imports_from_itself_by_its_own_name() -> None:
    files = table({"vision/__init__.py": "from vision import models", "vision/models.py": ""})
    assert files.find_module("vision/__init__.py", "vision", 0) == "vision/__init__.py"
    assert files.find_module("vision/__init__.py", "vision.models", 0) == "vision/models.py"


def test_a_file_does_not_import_itself() -> None:
    assert table({"torch.py": "import torch"}).find_module("torch.py", "torch", 0) is None


def test_a_package_knows_itself_by_its_own_name() -> None:
    files = {"__init__.py": "", "models/resnet.py": "from timm.layers import x", "layers/__init__.py": ""}
    assert table(files, "timm").find_module("models/resnet.py", "timm.layers", 0) == "layers/__init__.py"


@pytest.mark.parametrize(
    ("module", "level", "is_torch"), [("torch.nn", 0, True), ("torch", 1, False), ("torchmetrics", 0, False)]
)
def test_torchs_imports(module: str, level: int, is_torch: bool) -> None:
    assert table({"main.py": ""}).is_torch("main.py", module, level) is is_torch


def test_a_local_folder_hides_torch() -> None:
    assert not table({"main.py": "", "torch/__init__.py": ""}).is_torch("main.py", "torch")


def test_calls_are_indexed_by_their_last_name() -> None:
    found = table({"m.py": "a.f(1, k=2)\nf(*x)\n"}).shapes(frozenset({"f"}))
    assert found == {CallShape(1, ("k",), False), CallShape(1, (), True)}


def test_callers_hand_on_or_call() -> None:
    assert table({"a.py": "f()", "b.py": "g(f)", "c.py": "f = 3"}).callers("f") == ["a.py", "b.py"]


ALIASES = {
    "self._norm = norm": "_norm",
    "block(width, norm=norm)": "norm",
    "block(3, norm)": "layer",
    "obj.block(3, norm)": "layer",
    "Block(norm)": "inner",
    "make(3, norm)": "layer",
    "x = norm if a else b": "x",
    "x = b or norm": "x",
}


@pytest.mark.parametrize("code", ALIASES)
def test_values_are_followed(code: str) -> None:
    text = (
        "def block(width, layer): pass\nclass Block:\n    def __init__(self, inner): pass\n"
        f"def g(make, norm):\n    {code}\n"
    )
    symbols = table({"m.py": text})
    assert ALIASES[code] in symbols.aliases(frozenset({"norm"}))
    assert not symbols.escapes(frozenset({"norm"}))


@pytest.mark.parametrize(
    "code",
    [
        "return norm",
        "x = [norm]",
        "x = {'a': norm}",
        "partial(norm, eps=1)",
        "yield norm",
        "f(*norm)",
        "lambda: norm",
        "x[0] = norm",
    ],
)
def test_values_get_out_of_sight(code: str) -> None:
    symbols = table({"m.py": f"from functools import partial\ndef g(norm):\n    {code}\n"})
    assert symbols.escapes(frozenset({"norm"}))


@pytest.mark.parametrize(
    "code", ["norm(3)", "norm.__name__", "if norm is None: pass", "x = norm == 3", "print(f'{norm}')", "assert norm"]
)
def test_uses_that_say_nothing_of_the_calls(code: str) -> None:
    assert not table({"m.py": f"def g(norm):\n    {code}\n"}).escapes(frozenset({"norm"}))


@pytest.mark.parametrize(
    ("code", "public"),
    [("__all__ = ['a', 'b']", ("a", "b")), ("__all__ = x + ['a']", None), ("x = 1", None), ("__all__ = []", ())],
)
def test_public_names(code: str, public: tuple[str, ...] | None) -> None:
    assert index_file("m.py", ast.parse(code)).public == public


def test_a_part_of_a_package_does_not_hide_torch() -> None:
    symbols = table({"net.py": "", "layers/torch/__init__.py": "", "layers/torch/act.py": ""})
    assert symbols.is_torch("layers/torch/act.py", "torch.nn")
    assert symbols.is_torch("layers/torch/__init__.py", "torch")
    assert not table({"src/torch/__init__.py": "", "src/torch/nn.py": ""}).is_torch("src/torch/nn.py", "torch")


def test_a_folder_that_is_no_package_does_not_hide_torch() -> None:
    symbols = table({"torch/train.py": "", "main.py": ""})
    assert symbols.is_torch("main.py", "torch")
    assert symbols.is_torch("torch/train.py", "torch.nn")


def test_a_package_that_is_torchvision_itself() -> None:
    symbols = table({"__init__.py": "", "datasets/utils.py": "", "models/a.py": ""}, "torchvision")
    assert not symbols.is_torch("models/a.py", "torchvision.datasets.utils.name")
    assert symbols.is_torch("models/a.py", "torch")


@pytest.mark.parametrize(
    "said",
    ["sys.path.append('core')", "sys.path.insert(0, './core/')", "sys.path.append(os.path.join(HERE, '..', 'core'))"],
)
def test_imports_lead_to_folders_that_a_script_puts_on_the_path(said: str) -> None:
    files = {"train.py": f"import os, sys\n{said}\nfrom raft import RAFT", "core/raft.py": "", "other/net.py": ""}
    assert table(files).find_module("train.py", "raft", 0) == "core/raft.py"
    assert table(files).find_module("train.py", "net", 0) is None


@pytest.mark.parametrize(
    "code",
    [
        "def made(): pass\nmade = cached(made)",
        "def made(): pass\nfrom other import made",
        "def made(): pass\nfrom other import *",
        "try:\n    pass\nexcept ImportError as made:\n    pass\ndef made(): pass",
        "if fast:\n    def made(): pass\ndef made(): pass",
        "def made(): pass\ndef made(x): pass",
        "def made(): pass\ndef switch():\n    global made\n    made = None",
        "def made(): pass\ndel made",
        "match x:\n    case [1, *made]:\n        pass\ndef made(): pass",
        "match x:\n    case {1: 2, **made}:\n        pass\ndef made(): pass",
    ],
)
def test_a_name_bound_twice_is_no_definition(code: str) -> None:
    assert "made" not in index_file("a.py", ast.parse(code)).definitions


def test_definitions_are_what_one_statement_binds() -> None:
    code = (
        "class Net:\n    def made(self): made = 1\n@cached\ndef made(net=Net): net = net()\nx = [made for net in nets]"
    )
    assert index_file("a.py", ast.parse(code)).definitions == {"Net": "class", "made": "function"}


def test_likely_callers_import_the_file_or_define_nothing_of_that_name() -> None:
    files = {
        "a_model.py": "class Net:\n    def encode(self): self.encode()",
        "engine.py": "def train(net): net.encode()",
        "main.py": "from package import Own\nOwn().encode()\ndef encode(): pass",
        "package/__init__.py": "from .own import Own",
        "package/own.py": "class Own:\n    def encode(self): self.encode()",
    }
    assert table(files).likely_callers("encode", "package/own.py") == ["package/own.py", "main.py", "engine.py"]


def test_what_a_forward_pass_may_run() -> None:
    files = {
        "net.py": "class Net:\n    def __init__(self): start()\n    def forward(self, x): return scaled(x, limit)",
        "parts.py": "def scaled(x, f): return f(x) * largest(x)\ndef limit(x): pass\ndef start(): measured()",
        "more.py": "def largest(x): pass\ndef measured(): pass",
    }
    names = ("scaled", "limit", "largest", "start", "measured")
    assert [name for name in names if table(files).runs_in_forward(name)] == ["scaled", "limit", "largest"]
