"""Calls whose spelling depends on the release of what they call, where MindSpore keeps to another than the source."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects import dotted_path
from torch2ms.translator.kinds import Kind

__all__ = ["older_call"]

_COPIERS = frozenset({"numpy.array", "numpy.asarray"})


def older_call(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return ``np.array(x, copy=False)`` for ``copy=None``, and ``next(batches)`` for ``batches.next()``.

    NumPy 2's ``copy=None`` (copy where needed) is what ``copy=False`` means in NumPy 1, which MindSpore asks for. The
    iterators of loaders had a method ``next`` before PyTorch 1.13.
    """
    if callee.name == "module" and callee.of in _COPIERS:
        args = [
            arg.with_changes(value=cst.Name("False"))
            if arg.keyword is not None and arg.keyword.value == "copy" and _is_none(arg.value)
            else arg
            for arg in updated.args
        ]
        return updated.with_changes(args=args)
    func = updated.func
    if isinstance(tree.func, ast.Attribute) and tree.func.attr == "next" and not tree.args and not tree.keywords:
        path = dotted_path(tree.func.value)
        if isinstance(func, cst.Attribute) and (_iterates(tree.func.value) or path in ctx.once(_iterators)):
            return cst.Call(cst.Name("next"), [cst.Arg(func.value)])
    return updated


def _is_none(code: cst.BaseExpression) -> bool:
    return isinstance(code, cst.Name) and code.value == "None"


def _iterates(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "iter"


def _iterators(ctx: Context) -> frozenset[str]:
    """Return the names and attributes that are only ever bound to ``iter(...)``."""
    bound: dict[str, bool] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                path = dotted_path(target)
                if path is not None:
                    bound[path] = bound.get(path, True) and _iterates(node.value)
    return frozenset(path for path, always in bound.items() if always)
