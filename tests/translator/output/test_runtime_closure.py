"""The runtime that OUT carries: what emitted code reaches, complete, and nothing else."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.runtime_source import PREFIX
from torch2ms.translator.output.runtime_closure import carried_files, reached_names, used_names
from torch2ms.translator.output.runtime_module import is_module, module_of

NAME = "torch2ms_runtime"
HEAD = "from torch2ms_runtime import functional, layers\n"


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("import mindspore as ms\nlayers = 1\n", set()),
        (HEAD, {("functional",), ("layers",)}),
        (f"{HEAD}layers.exact.RNN(2)\n", {("functional",), ("layers",), ("layers", "exact", "RNN")}),
        (f"{HEAD}f(layers=layers . pad)\n", {("functional",), ("layers",), ("layers", "pad")}),
        (f"{HEAD}self.layers = x.layers\nf(layers=1)\n", {("functional",), ("layers",)}),
        (f"{HEAD}getattr(layers, name)\n", {("functional",), ("layers",), ("layers", "*")}),
        (f"{HEAD}exec('y = functional.gelu(x)')\n", {("functional",), ("layers",), ("functional", "gelu")}),
        ("from torch2ms_runtime import layers as parts\nparts.Linear(1, 2)\n", {("layers",), ("layers", "Linear")}),
        (
            "from torch2ms_runtime.layers import (\n    Linear,\n    GRU as G,\n)\n",
            {("layers", "Linear"), ("layers", "GRU")},
        ),
        ("from torch2ms_runtime.layers import *\n", {("layers", "*")}),
        ("import torch2ms_runtime.layers as parts\nparts.Linear\n", {("layers",), ("layers", "Linear")}),
        ("import torch2ms_runtime\ntorch2ms_runtime.layers.Linear\n", {(), ("layers", "Linear")}),
        ("import_module('torch2ms_runtime.amp')\n", {("amp", "*")}),
        ("try:\n    from torch2ms_runtime.amp import scale\nexcept ImportError:\n    pass\n", {("amp", "scale")}),
    ],
)
def test_used_names(text: str, used: set[tuple[str, ...]]) -> None:
    assert used_names([text], NAME) == used


def test_members_through_another_file() -> None:
    texts = [HEAD, "from first import *\nfunctional.gelu(1)\n# torch2ms_runtime\n"]
    assert ("functional", "gelu") in used_names(texts, NAME)


def test_one_function_comes_with_what_it_uses() -> None:
    files = carried_files({("layers", "pair_to_tblr")})
    assert set(files) == {"__init__.py", "layers/__init__.py", "layers/convolution.py"}
    assert "def pair_to_tblr" in files["layers/convolution.py"]
    assert "class Conv2d" not in files["layers/convolution.py"]
    assert files["layers/__init__.py"].endswith("\n\nfrom .convolution import pair_to_tblr\n")
    assert "torch2ms.runtime.layers.pair_to_tblr" in reached_names({("layers", "pair_to_tblr")})[0]


def test_a_package_imports_the_module_that_is_reached_through_it() -> None:
    files = carried_files({("layers", "exact", "RNN")})
    assert "\nfrom . import exact\n" in files["layers/__init__.py"]
    assert "class RNN" in files["layers/exact.py"]


def test_what_is_registered_by_a_decorator_comes_with_its_module() -> None:
    assert "def _update_amsgrad" in carried_files({("adam", "Adam")})["adam.py"]
    divergence = carried_files({("distributions", "kl_divergence")})["distributions/divergence.py"]
    assert divergence.count("@register_kl(") == module_of(("distributions", "divergence"))._text.count("@register_kl(")


def test_a_module_that_makes_its_names_is_carried_whole() -> None:
    assert (
        carried_files({("missing", "torch")})["missing.py"]
        == module_of(("missing",)).location(("missing",)).read_text()
    )


def test_a_whole_module_is_its_file() -> None:
    assert carried_files({("amp", "*")})["amp.py"] == module_of(("amp",)).location(("amp",)).read_text("utf-8")


def targets() -> list[tuple[str, ...]]:
    """Return the runtime's names that rows emit, as paths below the runtime."""
    named = {to.target for row in load().rows() for to in row.to if to.target.startswith(PREFIX)}
    return sorted(tuple(name.removeprefix(PREFIX).split(".")) for name in named)


def missing_imports(files: dict[str, str]) -> list[str]:
    """Return the relative imports of names that the carried files do not define."""
    found = []
    trees = {Path(path).with_suffix("").parts: ast.parse(text) for path, text in files.items()}
    modules = {parts[:-1] if parts[-1] == "__init__" else parts: tree for parts, tree in trees.items()}
    for parts, tree in modules.items():
        package = parts if (*parts, "__init__") in trees else parts[:-1]
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = package[: len(package) - node.level + 1]
            source = tuple(part for part in (*base, *(node.module or "").split(".")) if part)
            bound = _bound(modules[source]) if source in modules else set()
            found += [
                f"{'.'.join(parts)}: {ast.unparse(node)}"
                for alias in node.names
                if alias.name not in bound and (*source, alias.name) not in modules and alias.name != "*"
            ]
    return found


def _bound(tree: ast.Module) -> set[str]:
    names = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return names | {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}


def undefined(files: dict[str, str], folder: Path) -> str:
    """Return what ruff says of names that files use and do not define."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--quiet",
        "--output-format",
        "concise",
    ]
    told = subprocess.run(
        [*command, "--select", "F821,F822,E9", str(folder)], capture_output=True, text=True, check=False
    )
    return told.stdout + told.stderr


@pytest.mark.parametrize("seed", range(12))
def test_what_is_carried_is_complete(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed).sample(targets(), 1 if seed < 6 else 12)
    files = carried_files(chosen)
    assert all(is_module(name[:1]) for name in chosen)
    assert missing_imports(files) == []
    assert undefined(files, tmp_path) == ""


def test_every_module_alone_is_complete(tmp_path: Path) -> None:
    for parts in sorted({name[:-1] for name in targets()}):
        first = next(name for name in targets() if name[:-1] == parts)
        files = carried_files({first})
        assert missing_imports(files) == []
        assert undefined(files, tmp_path / "_".join(parts)) == ""


def test_translation_carries_what_it_uses(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    source = make_tree(
        {"a.py": "import torch.nn.functional as F\n\n\ndef f(x):\n    return F.kl_div(x, x, log_target=True)\n"}
    )
    translate_project(source, tmp_path / "out")
    emitted = (tmp_path / "out" / "a.py").read_text("utf-8")
    found = {path.relative_to(tmp_path / "out" / NAME).as_posix() for path in (tmp_path / "out" / NAME).rglob("*.py")}
    assert found == set(carried_files(used_names([emitted], NAME)))


def test_translation_without_the_runtime_carries_none(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    source = make_tree({"a.py": "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.add(x, x)\n"})
    translate_project(source, tmp_path / "out")
    assert not (tmp_path / "out" / NAME).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("MODELS", "len(vision_models.MODELS)"),
        ("list_models", "vision_models.list_models('*resnet50')"),
        ("get_model_builder", "vision_models.get_model_builder('deeplabv3_resnet101').__name__"),
        ("fcn_resnet50", "len(vision_models.fcn_resnet50(weights_backbone=None).trainable_params())"),
    ],
)
def test_networks_that_are_asked_for_by_name_are_carried(name: str, code: str, tmp_path: Path) -> None:
    pytest.importorskip("mindspore")
    from torch2ms.runtime import vision_models

    for path, text in carried_files({("vision_models", name)}).items():
        (tmp_path / NAME / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / NAME / path).write_text(text)
    program = f"from {NAME} import vision_models\nprint({code})"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(eval(code, {"vision_models": vision_models}))


def test_what_advice_names_is_carried(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    source = make_tree({"a.py": "import torch.utils.data as d\n\n\ndef f(x):\n    return d.StackDataset(x)\n"})
    report = translate_project(source, tmp_path / "out")
    assert "write a torch2ms_runtime.data.Dataset" in report.diagnostics[0].advice
    assert "class Dataset" in (tmp_path / "out" / NAME / "data.py").read_text("utf-8")
