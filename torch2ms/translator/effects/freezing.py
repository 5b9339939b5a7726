"""Weights that a program freezes or frees: ``p.requires_grad = False``, ``net.requires_grad_()``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["freed", "frees", "frozen", "thaws"]


def freed(node: ast.AST) -> list[ast.expr]:
    """Return what a statement or call lets have gradients."""
    if isinstance(node, ast.Assign) and not _is_false(node.value):
        return _marked(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        return [] if node.args and _is_false(node.args[0]) else [node.func.value]
    return []


def frozen(statement: ast.AST) -> list[ast.expr]:
    """Return what a statement freezes for good."""
    if isinstance(statement, ast.Assign) and _is_false(statement.value):
        return _marked(statement)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        return [call.func.value] if call.args and _is_false(call.args[0]) else []
    return []


def frees(nodes: Iterable[ast.AST]) -> bool:
    """Whether something that may be a weight is let have gradients; what is computed on the spot is none."""
    return any(not isinstance(value, ast.BinOp) for node in nodes for value in freed(node))


def thaws(tree: ast.AST) -> bool:
    """Whether a file both freezes weights and frees them again, written out: helpers that another file calls."""
    nodes = list(walk(tree))
    true = (
        n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) and n.value.value is True
    )
    return any(isinstance(v, ast.Name) for n in true for v in _marked(n)) and any(frozen(n) for n in nodes)


def _marked(node: ast.Assign) -> list[ast.expr]:
    return [t.value for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "requires_grad"]


def _is_false(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is False
