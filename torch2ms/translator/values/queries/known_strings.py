"""Texts that the file shows though they are put together: ``"conv%dd" % n`` with ``n = 2`` is ``conv2d``."""

from __future__ import annotations

import ast

from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.queries.known_values import values_of

__all__ = ["shown_text"]

_DEPTH = 4  # how far names are followed


def shown_text(tree: ast.expr, ctx: FileFacts) -> str:
    """Return the text that an expression has whenever it is computed; empty where the file does not show it."""
    found = _shown(tree, ctx, _DEPTH)
    return found if isinstance(found, str) else ""


def _shown(tree: ast.expr, ctx: FileFacts, depth: int) -> str | int | None:
    if isinstance(tree, ast.Constant):
        value = tree.value
        return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    if depth == 0:
        return None
    if isinstance(tree, ast.JoinedStr):
        parts = [_part(part, ctx, depth - 1) for part in tree.values]
        return "".join(map(str, parts)) if None not in parts else None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Mod, ast.Add)):
        return _joined(tree, ctx, depth - 1)
    if not isinstance(tree, ast.Name) or ctx.once(_bindings).get(tree.id) != 1:
        return None
    values = values_of(tree, ctx)
    return _shown(values[0], ctx, depth - 1) if len(values) == 1 else None


def _part(part: ast.expr, ctx: FileFacts, depth: int) -> str | int | None:
    if not isinstance(part, ast.FormattedValue):
        return _shown(part, ctx, depth)
    return _shown(part.value, ctx, depth) if part.conversion == -1 and part.format_spec is None else None


def _joined(tree: ast.BinOp, ctx: FileFacts, depth: int) -> str | None:
    """Return ``"a" + b`` or ``"a%d" % b``, where both are shown."""
    left = _shown(tree.left, ctx, depth)
    elements = tree.right.elts if isinstance(tree.right, ast.Tuple) else [tree.right]
    right = [_shown(element, ctx, depth) for element in elements]
    if not isinstance(left, str) or None in right:
        return None
    try:
        if isinstance(tree.op, ast.Mod):
            return left % tuple(right)
        return left + right[0] if len(right) == 1 and isinstance(right[0], str) else None
    except (TypeError, ValueError):
        return None


def _bindings(ctx: FileFacts) -> dict[str, int]:
    """Return how often the file binds each name, in whatever scope."""
    found: dict[str, int] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = found.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            found[node.arg] = 2
    return found
