"""Whether a name is read again: what decides if it must be bound anew after an operation that torch does in place."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.trees import walk

__all__ = ["read_again"]


def read_again(name: str, statement: ast.AST | None, ctx: Context) -> bool:
    """Whether a name is read after a statement, before every path binds it anew; loops are taken as read again."""
    if statement is None:
        return True
    child: ast.AST = statement
    parent = ctx.parent(child)
    while parent is not None:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block:
                for later in block[block.index(child) + 1 :]:
                    if _reads(name, later):
                        return True
                    if _binds(name, later):
                        return False
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)) and _reads(name, parent):
            return True
        child, parent = parent, ctx.parent(parent)
    return False


def _reads(name: str, tree: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(tree))


def _binds(name: str, statement: ast.AST) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    return any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
