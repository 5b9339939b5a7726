"""Signatures of the runtime, read from its source: it needs mindspore to be imported, its source does not."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from torch2ms.mapping_tables.schema import Signature
from torch2ms.mapping_tables.signatures import signature_of_node

__all__ = ["PREFIX", "runtime_has", "runtime_signature"]

PREFIX = "torch2ms.runtime."
_FOLDER = Path(__file__).parent.parent / "runtime"
_Definition = ast.FunctionDef | ast.ClassDef


@lru_cache(maxsize=64)
def _module(parts: tuple[str, ...]) -> ast.Module | None:
    stem = _FOLDER.joinpath(*parts)
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return ast.parse(path.read_text(encoding="utf-8"))
    return None


def _members(body: list[ast.stmt], package: tuple[str, ...]) -> dict[str, ast.stmt]:
    """Return what a body defines by name; ``package`` is the folder that relative imports start from."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, _Definition):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update((target.id, node) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, (ast.If, ast.Try)):
            found.update(_members(node.body + node.orelse, package))
        elif isinstance(node, ast.ImportFrom):
            found.update(_imported(node, package))
    return found


def _imported(node: ast.ImportFrom, package: tuple[str, ...]) -> dict[str, ast.stmt]:
    """Return what a relative import brings in: the definitions themselves, as far as they are the runtime's."""
    offered: dict[str, ast.stmt] = {}
    if node.level:
        base = package[: len(package) - (node.level - 1)]
        parts = (*base, *(node.module.split(".") if node.module else ()))
        module = _module(parts)
        if module is not None:
            offered = _members(module.body, parts if _is_package(parts) else parts[:-1])
    if any(alias.name == "*" for alias in node.names):
        return offered
    return {alias.asname or alias.name: offered.get(alias.name, node) for alias in node.names}


def _is_package(parts: tuple[str, ...]) -> bool:
    return _FOLDER.joinpath(*parts).is_dir()


def _find(name: str) -> tuple[ast.stmt | None, bool]:
    """Return the statement that defines a runtime name, and whether it stands in a class."""
    parts = tuple(name.removeprefix(PREFIX).split("."))
    for cut in range(len(parts), 0, -1):
        module = _module(parts[:cut])
        if module is None:
            continue
        node: ast.stmt | None = None
        inside = False
        members = _members(module.body, parts[:cut] if _is_package(parts[:cut]) else parts[: cut - 1])
        for part in parts[cut:]:
            inside = isinstance(node, ast.ClassDef)
            node = members.get(part)
            members = _members(node.body, ()) if isinstance(node, ast.ClassDef) else {}
        return node, inside
    return None, False


def runtime_has(name: str) -> bool:
    """Whether the runtime defines the name ``torch2ms.runtime.<module>.<name>``."""
    return _find(name)[0] is not None


def runtime_signature(name: str) -> Signature | None:
    """Return the signature of a function, method or constructor of the runtime, without ``self``.

    None for what is no function or class, and for a class whose constructor is inherited from outside its module.
    """
    node, inside = _find(name)
    if isinstance(node, ast.FunctionDef):
        static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
        return signature_of_node(node.args, skip_first=inside and not static)
    if isinstance(node, ast.ClassDef):
        return _constructor(node, name)
    return None


def _constructor(node: ast.ClassDef, name: str) -> Signature | None:
    members = _members(node.body, ())
    for method in ("__init__", "__new__"):
        found = members.get(method)
        if isinstance(found, ast.FunctionDef):
            return signature_of_node(found.args, skip_first=True)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id != node.name:
            inherited = runtime_signature(f"{name.rpartition('.')[0]}.{base.id}")
            if inherited is not None:
                return inherited
    return None
