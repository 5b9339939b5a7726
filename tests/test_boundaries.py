"""The architecture's borders: who may import whom, and what an import costs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "torch2ms"
FRAMEWORKS = {"torch", "torchvision", "mindspore"}


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "/golden/" not in path.as_posix())


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, anywhere in it; relative ones with their leading dots."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def offenders(folder: Path, forbidden: set[str]) -> list[str]:
    """Name each import below ``folder`` of a forbidden package or module."""
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(folder)
        for name in imports(path)
        if any(name == word or name.startswith(f"{word}.") for word in forbidden)
    ]


def test_the_check_sees_imports_of_all_forms(tmp_path: Path) -> None:
    """What finds nothing must be able to find something."""
    (tmp_path / "a.py").write_text("def f():\n    import torch.nn as nn\nfrom mindspore import ops\nfrom . import x\n")
    found = list(imports(tmp_path / "a.py"))
    assert found == ["mindspore", "mindspore.ops", ".", "..x", "torch.nn"]


def test_runtime_climbs_no_higher_than_its_own_folder() -> None:
    runtime = PACKAGE / "runtime"
    for path in modules(runtime):
        depth = len(path.relative_to(runtime).parts)
        for name in imports(path):
            level = len(name) - len(name.lstrip("."))
            assert level <= depth + 1, f"{path.relative_to(ROOT)} imports {name}"  # +1: the name behind "from ."


def test_only_the_command_line_uses_click() -> None:
    found = [line for line in offenders(PACKAGE, {"click"}) if not line.startswith("torch2ms/cli")]
    assert found == []


def loaded_by(statement: str) -> set[str]:
    """Return the top-level packages that a fresh interpreter has loaded after ``statement``."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_torch2ms_loads_nothing_heavy() -> None:
    heavy = FRAMEWORKS | {"numpy", "libcst", "click", "jinja2", "rich", "PIL", "multiprocessing", "asyncio"}
    assert loaded_by("import torch2ms") & heavy == set()


def test_loading_the_command_line_loads_only_click() -> None:
    heavy = FRAMEWORKS | {"numpy", "libcst", "jinja2", "rich", "PIL", "multiprocessing", "asyncio"}
    loaded = loaded_by("import torch2ms.cli")
    assert "click" in loaded
    assert loaded & heavy == set()


@pytest.mark.parametrize(
    "module",
    [
        "torch2ms.mapping_tables.lint",
        "torch2ms.mapping_tables.loader",
        "torch2ms.reports.write",
        "torch2ms.translator.pipeline",
        "torch2ms.verify",
        "torch2ms.weights",
    ],
)
def test_translating_loads_no_framework(module: str) -> None:
    assert loaded_by(f"import {module}") & FRAMEWORKS == set()


def test_every_public_name_can_be_loaded() -> None:
    import torch2ms

    for name in torch2ms.__all__:
        assert getattr(torch2ms, name) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        _ = torch2ms.no_such_name  # type: ignore[attr-defined]


def test_import_contracts_hold() -> None:
    """The order of the folders, and who may import whom: contracts of import-linter in pyproject.toml."""
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_figures_of_the_design_do_not_grow() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "check_design.py"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_figures_count_what_they_say() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from check_design import collections, spelling_tests, states_facts, walks
    finally:
        sys.path.pop(0)
    tree = ast.parse(
        '_A = frozenset("relu add".split())\n_B = ("x", "y") + ("z",)\n_C = {"k": 1}\n_D = (1, 2)\n__all__ = ["f"]\n'
        'def f(n):\n    inner = {"a", "b"}\n    return "scale" in n.id.lower() or [m for m in ast.walk(n)]\n'
    )
    assert list(collections(tree)) == [("_A", ["relu", "add"]), ("_B", ["x", "y", "z"]), ("_C", ["k"])]
    assert (spelling_tests(tree), walks(tree)) == (1, 1)
    known = frozenset({"relu", "add"})
    assert states_facts(["relu", "add", "x"], known)
    assert not states_facts(["relu", "x"], known)


def test_sizes() -> None:
    """No file over 500 lines, no function over 60."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "check_sizes.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_sizes_can_fail(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from check_sizes import oversized
    finally:
        sys.path.pop(0)
    (tmp_path / "torch2ms").mkdir()
    (tmp_path / "torch2ms" / "long.py").write_text("def f():\n" + "    x = 1\n" * 60 + "y = 2\n" * 500)
    assert len(list(oversized(tmp_path))) == 2


def test_runtime_keeps_to_python_3_9_syntax() -> None:
    for path in modules(PACKAGE / "runtime"):
        ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=(3, 9))


def test_base_classes_of_the_runtime_exist_in_the_oldest_release() -> None:
    # They are looked up when the runtime is imported: one that is missing takes all layers with it.
    from torch2ms.config import OLDEST
    from torch2ms.mapping_tables.catalogue import mindspore_catalogue

    catalogue = mindspore_catalogue(OLDEST)
    missing = [
        f"{path.name}: {ast.unparse(base)}"
        for path in sorted((Path(__file__).parent.parent / "torch2ms" / "runtime").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if ast.unparse(base).startswith("nn.") and catalogue.record(f"mindspore.{ast.unparse(base)}") is None
    ]
    assert missing == []
