"""Indices that torch takes and MindSpore does not: ``x[range(n), labels]``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax import build

__all__ = ["rewrite_index"]


def rewrite_index(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """Return a subscript of a tensor whose ranges are lists."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if not any(_is_range(part) for part in parts) or not ctx.kind(tree.value).is_tensor:
        return updated
    if len(parts) != len(updated.slice):
        return updated
    elements = list(updated.slice)
    for position, part in enumerate(parts):
        index = elements[position].slice
        if _is_range(part) and isinstance(index, cst.Index):
            made = index.with_changes(value=build("list({value})", value=index.value))
            elements[position] = elements[position].with_changes(slice=made)
    return updated.with_changes(slice=elements)


def _is_range(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range"
