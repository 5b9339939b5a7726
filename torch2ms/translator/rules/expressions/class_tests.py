"""Tests for the exact class of a layer: ``type(m) == nn.Conv2d``, ``type(m) in (nn.Conv2d, nn.Linear)``.

PyTorch's class may be MindSpore's own in one place and the runtime's, which derives from it, in another: what both are
called in PyTorch decides.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.kinds import candidates

__all__ = ["exact_class_test"]

_LAYERS = "torch2ms.runtime.layers."
_EQUAL = (ast.Eq, ast.Is, ast.In)
_UNEQUAL = (ast.NotEq, ast.IsNot, ast.NotIn)


def exact_class_test(updated: cst.Comparison, tree: ast.Compare, ctx: Context) -> cst.BaseExpression | None:
    """Return ``modules.is_exactly(m, nn.Conv2d)`` where a layer may be of two classes; None for other comparisons."""
    asked, operator = tree.left, tree.ops[0]
    if not isinstance(asked, ast.Call) or getattr(asked.func, "id", "") != "type" or len(asked.args) != 1:
        return _identity_test(updated, tree, ctx)
    classes = tree.comparators[0]
    listed = classes.elts if isinstance(classes, (ast.Tuple, ast.List, ast.Set)) else [classes]
    if not isinstance(operator, (*_EQUAL, *_UNEQUAL)) or not any(_has_two(node, ctx) for node in listed):
        return None
    left = updated.left
    if not isinstance(left, cst.Call) or isinstance(classes, (ast.List, ast.Set)):
        return None
    function = ctx.reference("torch2ms.runtime.modules.is_exactly")
    test = build("{f}({m}, {c})", f=function, m=left.args[0].value, c=updated.comparisons[0].comparator)
    return build("not {test}", test=test) if isinstance(operator, _UNEQUAL) else test


def _identity_test(updated: cst.Comparison, tree: ast.Compare, ctx: Context) -> cst.BaseExpression | None:
    """Return ``norm == nn.BatchNorm2d`` for ``norm is nn.BatchNorm2d``: the two classes are equal, not identical."""
    operator = tree.ops[0]
    if not isinstance(operator, (ast.Is, ast.IsNot)):
        return None
    if any(_may_be_its_own(node, ctx) for node in (tree.left, tree.comparators[0])):
        ctx.report("T2M305", tree, _OTHER, severity=Severity.ERROR)
    if not _has_two(tree.comparators[0], ctx):
        return None
    sign = "==" if isinstance(operator, ast.Is) else "!="
    return build(f"{{a}} {sign} {{b}}", a=updated.left, b=updated.comparisons[0].comparator)


_OTHER = "a cast to the dtype that a tensor has gives the tensor itself in torch, a new one in MindSpore"


def _may_be_its_own(node: ast.expr, ctx: Context) -> bool:
    """Whether a cast of a tensor is asked for its identity: ``x.float() is x`` holds in PyTorch."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if not load_facts().may_cast(node.func.attr):
        return False
    moves = node.func.attr == "to" and all(ctx.kind(given).name in ("device", "str") for given in node.args)
    return ctx.kind(node.func.value).is_tensor and not moves


def _has_two(node: ast.expr, ctx: Context) -> bool:
    """Whether a class of PyTorch's stands for one of MindSpore's and one of the runtime's, by the arguments."""
    kind = ctx.kind(node)
    rows = [ctx.tables.row(name) for name in candidates(kind)] if kind.name == "api" else []
    for row in rows:
        targets = {option.target for option in ctx.tables.select(row, ctx.target)} if row is not None else set()
        if len(targets) > 1 and any(target.startswith(_LAYERS) for target in targets):
            return True
    return False
