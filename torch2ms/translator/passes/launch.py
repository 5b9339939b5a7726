"""Scripts below the root: Python looks beside the script that is started, and the runtime stands at the root.

A script in ``tools/`` that needs the runtime, itself or through a module of the project, puts the root on its path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.inference import World

__all__ = ["reach_runtime"]

_COMMENT = "  # where torch2ms_runtime is"


def reach_runtime(module: cst.Module, ctx: Context) -> cst.Module:
    """Return the module with the root on the path, where it is a script that cannot find the runtime otherwise."""
    depth = ctx.path.count("/")
    if not depth or ctx.options.runtime != "copied" or ctx.path.endswith("__init__.py"):
        return module
    own = any(needed.module.partition(".")[0] == ctx.imports.runtime for needed in ctx.imports.needed)
    if not (own or _is_needed_below(ctx)) or not _is_script(ctx):
        return module
    root = f"Path(__file__).resolve().parents[{depth}]"
    text = f"import sys\nfrom pathlib import Path\n\nsys.path.append(str({root})){_COMMENT}\n"
    lines: list[Any] = list(cst.parse_module(text).body)
    body = list(module.body)
    position = next((i for i, statement in enumerate(body) if _is_import(statement)), None)
    if position is None:
        return module
    first = body[position]
    lines[0] = lines[0].with_changes(leading_lines=first.leading_lines)
    body[position] = first.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return module.with_changes(body=[*body[:position], *lines, *body[position:]])


def _is_import(statement: Any) -> bool:
    """Whether a statement imports something, from the future excepted; compound statements may do it inside."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return True
    for part in statement.body:
        if isinstance(part, cst.Import):
            return True
        if isinstance(part, cst.ImportFrom):
            return not (isinstance(part.module, cst.Name) and part.module.value == "__future__")
    return False


def _is_script(ctx: Context) -> bool:
    """Whether the file is started: nothing in the project imports it, or it asks for its own name."""
    for statement in ctx.analysis.tree.body:
        test = statement.test if isinstance(statement, ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__":
            return True
    return ctx.path not in _imported_files(ctx.world)


_IMPORTED: WeakKeyDictionary[World, frozenset[str]] = WeakKeyDictionary()  # found once a project


def _imported_files(world: World) -> frozenset[str]:
    """Return the files that another file of the project imports."""
    if world not in _IMPORTED:
        _IMPORTED[world] = frozenset(found for path in world.symbols.files for found in _imports(path, world))
    return _IMPORTED[world]


def _is_needed_below(ctx: Context) -> bool:
    """Whether a module of the project that the file imports, directly or not, works with torch."""
    world = ctx.world
    seen: set[str] = set()
    waiting = list(_imports(ctx.path, world))
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        index = world.symbols.files.get(path)
        if index is None:
            continue
        if any(world.symbols.is_torch(path, module, level) for level, module in index.imports):
            return True
        waiting.extend(_imports(path, world))
    return False


def _imports(path: str, world: World) -> Iterator[str]:
    """Yield the files of the project that a file imports."""
    index = world.symbols.files.get(path)
    for level, module in index.imports if index is not None else ():
        found = world.symbols.find_module(path, module, level)
        if found is not None:
            yield found
