"""Conditions that are counted with more than once: ``m = x > 0``, then ``a * m`` and ``b * m.float()``.

MindSpore hands gradients through a tensor of bools, and cannot add up two of them: the program stops. No gradient flows
through a condition, so that it is cut off where it is made.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.dtypes import family

__all__ = ["cut_condition"]

_COUNTED = (ast.Mult, ast.Add, ast.Sub, ast.Div)
_TAKES_NUMBERS = frozenset("bfloat16 double float half int long masked_select mean mul sum to type type_as".split())


def cut_condition(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``m = ops.stop_gradient(x > 0)`` where the function computes with ``m`` in two places, or in a loop."""
    if not isinstance(tree, ast.Assign) or not isinstance(updated, cst.Assign) or len(tree.targets) != 1:
        return updated
    target, function = tree.targets[0], ctx.functions[-1]
    if function is None or not isinstance(target, ast.Name) or not _is_condition(tree.value, ctx):
        return updated
    uses = [
        node
        for node in walk(function.node)
        if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
    ]
    counted = [node for node in uses if _is_counted(node, ctx)]
    if len(counted) + sum(_is_repeated(node, tree, ctx) for node in counted) < 2:
        return updated
    stop = ctx.reference("mindspore.ops.stop_gradient")
    return updated.with_changes(value=build("{stop}({value})", stop=stop, value=bare(updated.value)))


def _is_condition(value: ast.expr, ctx: Context) -> bool:
    """Whether a value is a tensor of bools that compares what may have a gradient, or is made of such a one."""
    if isinstance(value, ast.Compare):
        parts = [value.left, *value.comparators]
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and _compares(value.func.attr):
        parts = [value.func.value, *value.args]
    elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.BitAnd, ast.BitOr)):
        return _is_condition(value.left, ctx) or _is_condition(value.right, ctx)
    else:  # mask.unsqueeze(1)
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return False
        return _is_of_bools(value, ctx) and _is_of_bools(value.func.value, ctx)
    tensors = [kind for kind in map(ctx.kind, parts) if kind.is_tensor]
    return bool(tensors) and all(family(kind.of) not in ("int", "bool") for kind in tensors)


def _compares(name: str) -> bool:
    return load_facts().gives(name, "torch.bool") and load_facts().has_axes(name, "common")


def _is_of_bools(value: ast.expr, ctx: Context) -> bool:
    kind = ctx.kind(value)
    return kind.is_tensor and family(kind.of) == "bool"


def _is_counted(node: ast.Name, ctx: Context) -> bool:
    """Whether the bools are taken for numbers there."""
    parent = ctx.parent(node)
    if isinstance(parent, ast.keyword):
        parent = ctx.parent(parent)
    if isinstance(parent, (ast.BinOp, ast.AugAssign)):
        return isinstance(parent.op, _COUNTED)
    if isinstance(parent, ast.Attribute):
        return parent.attr in _TAKES_NUMBERS
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in _TAKES_NUMBERS


def _is_repeated(node: ast.AST, bound: ast.AST, ctx: Context) -> bool:
    """Whether a use stands in a loop that the binding is outside of."""
    around = ctx.parent(node)
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.Lambda)):
        is_loop = isinstance(around, (ast.For, ast.While, ast.ListComp, ast.GeneratorExp))
        if is_loop and not any(part is bound for part in walk(around)):
            return True
        around = ctx.parent(around)
    return False
