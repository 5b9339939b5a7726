"""Which names a gradient reaches: ``a`` of ``(a.detach() * b).backward()`` has none; PyTorch says None, not zero."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.names_used import binds
from torch2ms.translator.syntax.ast_walk import children

__all__ = ["attached"]


def attached(body: Sequence[ast.stmt], loss: ast.expr) -> set[str]:
    """Return the names whose values the loss of a function is computed from by what can be differentiated."""
    found = _reads(loss)
    for statement in reversed(body):
        if binds(statement) & found:
            found |= _reads(statement)
    return found


def _reads(node: ast.AST) -> set[str]:
    """Return the names that are read otherwise than behind a cut: ``x.detach()``, ``x.data``, ``x.shape``."""
    if isinstance(node, ast.Attribute) and load_facts().detaches(node.attr) and isinstance(node.ctx, ast.Load):
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    own = _reads_of_target(node.target) if isinstance(node, ast.AugAssign) else set()
    return own.union(*map(_reads, children(node)))


def _reads_of_target(target: ast.expr) -> set[str]:
    return {target.id} if isinstance(target, ast.Name) else set()
