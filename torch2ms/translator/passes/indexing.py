"""Indices that torch takes and MindSpore does not: ``x[range(n), labels]``, ``x[order]`` with numpy's numbers."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax import build

__all__ = ["rewrite_index"]


def rewrite_index(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """Return a subscript of a tensor whose ranges are lists, and numpy's arrays and numbers tensors."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    templates = [_template(part, ctx) for part in parts]
    if not any(templates) or not ctx.kind(tree.value).is_tensor or len(parts) != len(updated.slice):
        return updated
    elements = list(updated.slice)
    for position, template in enumerate(templates):
        index = elements[position].slice
        if template and isinstance(index, cst.Index):
            parts_of = {"tensor": ctx.reference("mindspore.Tensor")} if "{tensor}" in template else {}
            made = index.with_changes(value=build(template, value=index.value, **parts_of))
            elements[position] = elements[position].with_changes(slice=made)
    return updated.with_changes(slice=elements)


def _template(tree: ast.expr, ctx: Context) -> str:
    """Return how an index is to be written; empty where it stays."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range":
        return "list({value})"
    return "{tensor}({value})" if ctx.kind(tree).name == "ndarray" else ""
