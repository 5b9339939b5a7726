"""Statements that bind a name whatever happens: what was bound before cannot be meant behind them."""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import children

__all__ = ["binds", "is_certain"]


def binds(target: ast.AST, name: str) -> bool:
    """Whether a target is a name, or holds it: ``a, *b = f()``."""
    if isinstance(target, ast.Name):
        return target.id == name
    return isinstance(target, (ast.Tuple, ast.List, ast.Starred)) and any(
        binds(part, name) for part in children(target)
    )


def is_certain(name: str, statement: ast.stmt) -> bool:
    """Whether a statement binds a name whatever happens, or what follows it does not run: in both branches of an if."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return True
    if isinstance(statement, ast.If):
        return all(any(_binds_surely(name, part) for part in block) for block in (statement.body, statement.orelse))
    return isinstance(statement, ast.With) and any(_binds_surely(name, part) for part in statement.body)


def _binds_surely(name: str, statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Raise, ast.Return, ast.Continue, ast.Break)):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    own = any(binds(target, name) for target in targets)
    return own or (isinstance(statement, (ast.If, ast.With)) and is_certain(name, statement))


def element_of(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """Return the part of a value that a name of the target gets: ``a, b = f(), g()``."""
    pair = (ast.Tuple, ast.List)
    if not (isinstance(target, pair) and isinstance(value, pair)) or len(target.elts) != len(value.elts):
        return value
    if any(isinstance(part, ast.Starred) for part in [*target.elts, *value.elts]):
        return value
    for part, given in zip(target.elts, value.elts, strict=True):
        if binds(part, name):
            return element_of(part, given, name)
    return value
