"""Which modules a module may import: by statements, by strings, by names that it computes; an ``ImportNames``.

``import_module(f"{__name__}.{name}")`` may mean any module of its own package: ``searched`` holds ``(1, "")``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["ImportNames", "import_names"]

_OWN_FOLDER = frozenset({"__path__", "__file__"})


@dataclass(frozen=True, slots=True)
class ImportNames:
    """The imports of one module; a module is ``(level, dotted name)`` as in an import statement."""

    modules: frozenset[tuple[int, str]]  # shown: statements, and import_module("shown.name")
    strings: frozenset[str] = frozenset()  # texts that may be names of modules, where it imports by name
    searched: frozenset[tuple[int, str]] = frozenset()  # packages of which any module may be meant
    is_searching: bool = False  # whether it looks through its own folder


def import_names(tree: ast.Module) -> ImportNames:
    """Return what a module may import.

    It imports by name where it computes the name, has an ``__all__`` for star imports or a ``__getattr__``, or hands
    its own name to a helper that imports for it.
    """
    modules: set[tuple[int, str]] = set()
    searched: set[tuple[int, str]] = set()
    texts: set[str] = set()
    names: set[str] = set()
    is_computing = is_handing = False
    for node in walk(tree):
        if isinstance(node, ast.Import):
            modules.update((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            own = node.module or ""
            modules.add((node.level, own))
            modules.update((node.level, f"{own}.{alias.name}".lstrip(".")) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Call):
            is_handing |= any(isinstance(arg, ast.Name) and arg.id == "__name__" for arg in node.args)
            if _imports(node):
                start = _start(node.args[0])
                is_computing |= start is not node.args[0] or not isinstance(start, ast.Constant)
                (searched if start is not node.args[0] else modules).update(_module(start, start is not node.args[0]))
    is_searching = is_computing and not names.isdisjoint(_OWN_FOLDER)
    by_name = is_computing or is_handing or any(map(_lists_modules, tree.body))
    return ImportNames(
        frozenset(modules),
        frozenset(texts) if by_name else frozenset(),
        frozenset(searched | ({(1, "")} if is_searching else set())),
        is_searching,
    )


def _imports(call: ast.Call) -> bool:
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in ("import_module", "__import__") and bool(call.args)


def _start(name: ast.expr) -> ast.expr:
    """Return how the name that a call imports begins: all of it where it is a constant."""
    while True:
        match name:
            case ast.BinOp(left=inner) | ast.FormattedValue(value=inner):
                name = inner
            case ast.JoinedStr(values=[inner, *_]):
                name = inner
            case ast.Call(func=ast.Attribute(value=inner)):  # "...".format(name)
                name = inner
            case _:
                return name


def _module(start: ast.expr, is_part: bool) -> set[tuple[int, str]]:
    """Return the module that a text names, or, where it is a part of a name, the package that it begins with."""
    if isinstance(start, ast.Name):
        return {(1, "")} if start.id in ("__name__", "__package__") else set()
    if not isinstance(start, ast.Constant) or not isinstance(start.value, str):
        return set()
    name = start.value.lstrip(".")
    level = len(start.value) - len(name)
    whole = name.rpartition(".")[0] if is_part else name
    return {(level, whole)} if whole or level else set()


def _lists_modules(statement: ast.stmt) -> bool:
    """Whether a statement of a module defines ``__all__`` or ``__getattr__``."""
    if isinstance(statement, ast.FunctionDef):
        return statement.name == "__getattr__"
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
