"""Names of modules that a program looks for among those that are loaded: ``if "torch" in sys.modules:``.

Packages for several frameworks find out so whose tensors they may be given; in the translation they are MindSpore's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.translator.context import Context

__all__ = ["rewrite_loaded_module"]

_LOADED = "sys.modules"


def rewrite_loaded_module(node: cst.SimpleString, tree: ast.Constant, ctx: Context) -> cst.SimpleString | None:
    """Return ``"mindspore"`` for ``"torch"`` where it is looked for, by itself or by the name that it is given."""
    if tree.value != "torch":
        return None
    if not _is_sought(tree, ctx):
        names = set(_names_of(tree, ctx))
        if not names & ctx.once(_sought_names):
            if _is_taken(tree, ctx):
                ctx.report("T2M503", tree, "the string names torch, which is taken from the loaded modules")
            return None
        if names & ctx.once(_compared_names):
            ctx.report("T2M503", tree, "the string names torch; it is looked for in sys.modules, and compared")
            return None
    message = "what is looked for among the loaded modules is mindspore"
    ctx.report("T2M503", tree, message, symbol="torch", severity=Severity.NOTE)
    return node.with_changes(value=f"{node.quote}mindspore{node.quote}")


def _is_sought(tree: ast.AST, ctx: Context) -> bool:
    """Whether an expression is looked for in ``sys.modules``."""
    parent = ctx.parent(tree)
    if not isinstance(parent, ast.Compare) or parent.left is not tree or len(parent.ops) != 1:
        return False
    return isinstance(parent.ops[0], (ast.In, ast.NotIn)) and ctx.kind(parent.comparators[0]).of == _LOADED


def _is_taken(tree: ast.Constant, ctx: Context) -> bool:
    """Whether the module of a name is taken: ``sys.modules["torch"]``, ``sys.modules.get("torch")``."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Subscript):
        return ctx.kind(parent.value).of == _LOADED
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Attribute):
        return False
    return ctx.kind(parent.func.value).of == _LOADED


def _names_of(tree: ast.Constant, ctx: Context) -> Iterator[str]:
    """Yield the names that hold a text: by an assignment, or in a loop over several."""
    parent = ctx.parent(tree)
    targets: list[ast.expr] = []
    if isinstance(parent, ast.Assign):
        targets = parent.targets
    elif isinstance(parent, ast.AnnAssign):
        targets = [parent.target]
    elif isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        above = ctx.parent(parent)
        targets = [above.target] if isinstance(above, (ast.For, ast.comprehension)) and above.iter is parent else []
    yield from filter(None, map(_name, targets))


def _name(tree: ast.expr) -> str:
    return tree.attr if isinstance(tree, ast.Attribute) else getattr(tree, "id", "")


def _sought_names(ctx: Context) -> frozenset[str]:
    """Return the names and members that the file looks for in ``sys.modules``."""
    asked = (node.left for node in ctx.analysis.all(ast.Compare) if _is_sought(node.left, ctx))
    return frozenset(filter(None, map(_name, asked)))


def _compared_names(ctx: Context) -> frozenset[str]:
    """Return the names and members that the file compares with ``"torch"``."""
    found: set[str] = set()
    for node in ctx.analysis.all(ast.Compare):
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) and side.value == "torch" for side in sides):
            found.update(filter(None, map(_name, sides)))
    return frozenset(found)
