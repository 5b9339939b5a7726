"""Tensors that a gradient function is handed, and whose elements are assigned besides: ``x.data[mask] = y[mask]``.

MindSpore refuses to write what a mask or a list selects into a tensor that ``grad`` or ``value_and_grad`` was given as
an argument ("Can not modify tensor id of input tensor from network", 2.7 to 2.10). It is handed a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.effects.sharing import what_index_gives
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["handed"]


def handed(names: Sequence[str], scope: ast.AST, ctx: FileFacts) -> str:
    """Return the arguments of a gradient call: the names, and copies of those whose elements ``scope`` assigns."""
    stored = {name for name, node in ctx.once(_stored) if name in names and _is_within(node, scope, ctx)}
    return ", ".join(f"{name}.copy()" if name in stored else name for name in names)


def _stored(ctx: FileFacts) -> list[tuple[str, ast.Subscript]]:
    """Return the assignments to elements of tensors that a slice or a number does not select."""
    found: list[tuple[str, ast.Subscript]] = []
    for node in ctx.analysis.all(ast.Subscript):
        if isinstance(node.ctx, ast.Load):
            continue
        base = node.value
        if isinstance(base, ast.Attribute) and base.attr == "data":
            base = base.value
        if isinstance(base, ast.Name) and ctx.kind(base).is_tensor and what_index_gives(node.slice, ctx) != "part":
            found.append((base.id, node))
    return found


def _is_within(node: ast.AST, scope: ast.AST, ctx: FileFacts) -> bool:
    """Whether a node stands inside of a function, or of the file."""
    current: ast.AST | None = node
    while current is not None and current is not scope:
        current = ctx.parent(current)
    return current is scope
