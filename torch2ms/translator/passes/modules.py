"""Modules: classes and functions. ``forward`` becomes ``construct``; children that Cell has names for are reported."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context

__all__ = ["rewrite_class", "rewrite_for", "rewrite_function"]

RESERVED = frozenset({"cls_name", "param_prefix", "phase", "cells", "construct", "apply", "register_buffer"})


def rewrite_class(node: cst.ClassDef, updated: cst.ClassDef, tree: ast.ClassDef, ctx: Context) -> cst.ClassDef:
    """Return a class; its bases were rewritten as values already."""
    info = ctx.analysis.class_of.get(tree)
    if info is not None and ctx.world.family(info.key).name == "Module":
        for name in sorted(RESERVED & ctx.world.attributes(info.key).keys()):
            message = f"{tree.name}.{name}: nn.Cell keeps the name {name} for itself"
            ctx.report("T2M203", tree, message, symbol="torch.nn.Module", advice="rename the attribute in the source")
    return updated


def rewrite_for(node: cst.For, updated: cst.For, tree: ast.For | ast.AsyncFor, ctx: Context) -> cst.For:
    """Return a loop; one over ``modules()`` takes the cells from ``cells_and_names()`` directly."""
    cells = _cells(updated.iter)
    if cells is None or not isinstance(updated.target, cst.Name) or updated.iter is node.iter:
        return updated
    target = cst.Tuple([cst.Element(cst.Name("_")), cst.Element(updated.target)], lpar=[], rpar=[])
    return updated.with_changes(target=target, iter=cells)


def _cells(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``x.cells_and_names()`` of ``[cell for _, cell in x.cells_and_names()]``."""
    if not isinstance(node, cst.ListComp) or not isinstance(node.elt, cst.Name) or node.elt.value != "cell":
        return None
    source = node.for_in.iter
    if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):
        return source if source.func.attr.value == "cells_and_names" else None
    return None


def rewrite_function(
    node: cst.FunctionDef, updated: cst.FunctionDef, tree: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context
) -> cst.FunctionDef:
    """Return a function; the ``forward`` of a module is its ``construct``."""
    info = ctx.analysis.function_of.get(tree)
    if info is None or info.owner is None or ctx.world.family(info.owner.key).name != "Module":
        return updated
    if tree.name == "forward":
        return updated.with_changes(name=cst.Name("construct"))
    if tree.name == "extra_repr":
        return updated.with_changes(name=cst.Name("extend_repr"))
    return updated
