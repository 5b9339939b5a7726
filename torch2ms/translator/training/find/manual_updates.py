"""Updates without an optimizer: ``for p in model.parameters(): p.data.add_(p.grad, alpha=-lr)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import changed_in_place, walk
from torch2ms.translator.values.kinds import Oracle

__all__ = ["gradients_of", "updated_module"]


def updated_module(statement: ast.stmt, oracle: Oracle) -> ast.Call | None:
    """Return the call ``module.parameters()`` of a loop that only reads the gradients of the weights it goes over."""
    if not isinstance(statement, ast.For) or statement.orelse or not isinstance(statement.target, ast.Name):
        return None
    call = statement.iter
    if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr != "parameters" or dotted_path(call.func.value) is None:
        return None
    if oracle.kind(call.func.value).name not in ("Module", "unknown"):  # nothing else has parameters()
        return None
    found = gradients_of(statement)
    if not found or not all(_is_read(node, statement.target.id) for node in found):
        return None
    if not _changes_weights(statement.body, statement.target.id):
        return None  # it only looks at the gradients
    known = {id(node) for node in found}
    return None if _changes_gradients(statement.body, known) else call


def gradients_of(statement: ast.For) -> list[ast.Attribute]:
    """Return every ``.grad`` in the body of the loop."""
    nodes = (node for inner in statement.body for node in walk(inner))
    return [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "grad"]


def _is_read(node: ast.Attribute, variable: str) -> bool:
    return isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == variable


def _changes_weights(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether the weight itself is written to: ``p.data.add_(...)``, ``p -= ...``, ``p.data = ...``."""
    for node in (node for statement in body for node in walk(statement)):
        target = changed_in_place(node)
        if isinstance(node, ast.AugAssign):
            target = node.target
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            target = node
        while isinstance(target, ast.Subscript):
            target = target.value
        if target is not None and dotted_path(target) in (variable, f"{variable}.data"):
            return True
    return False


def _changes_gradients(body: Sequence[ast.stmt], gradients: set[int]) -> bool:
    """Whether a gradient is written into: ``p.grad.zero_()``, ``p.grad += x``, ``p.grad[0] = 0``."""
    for node in (node for statement in body for node in walk(statement)):
        target = changed_in_place(node)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            target = node.value
        if target is not None and any(id(part) in gradients for part in walk(target)):
            return True
    return False
