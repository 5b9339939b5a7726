"""Operators whose operands are seldom met: a list repeated as often as a tensor says, infinity and hashes divided."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.recipes.powers import may_be_zero
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.queries.edge_cases import may_be_long, names_infinity

__all__ = ["long_operator", "rare_operator"]

# What MindSpore computes in float64 for whole numbers, and the runtime's functions that do not
_EXACT: dict[type[ast.operator], str] = {ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power"}
_REPEATED = frozenset({"list", "str", "tuple"})


def rare_operator(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``[0] * n`` with a tensor and ``x // 2`` with infinity become; None of any other operator."""
    name = long_operator(tree.op, tree.left, tree.right, ctx)
    if isinstance(tree.op, ast.FloorDiv) and _divides_infinity(tree, ctx):
        name = "floor_divide"
    if isinstance(tree.op, ast.Mod) and _may_be_endless(tree, ctx):
        name = "remainder"
    if isinstance(tree.op, ast.Pow) and may_be_zero(tree.right, ctx) and ctx.kind(tree.left).is_tensor:
        name = "power"
    if name:
        function = ctx.reference(f"torch2ms.runtime.functional.{name}")
        return build("{f}({a}, {b})", f=function, a=bare(updated.left), b=bare(updated.right))
    if isinstance(tree.op, ast.Mult) and _is_repeated(tree, ctx):
        return _repeated(updated, tree, ctx)
    return None


def long_operator(operator: ast.operator, left: ast.expr, right: ast.expr, ctx: Context) -> str:
    """Return the runtime's function for an operator whose operands may be whole numbers beyond 2**53, else nothing."""
    name = _EXACT.get(type(operator), "")
    if not name or not (may_be_long(left, ctx) or may_be_long(right, ctx)):
        return ""
    kinds = [ctx.kind(part) for part in (left, right)]
    families = [family(kind.of) for kind in kinds if kind.is_tensor]
    if "float" in families or any(kind.name == "float" for kind in kinds):
        return ""
    return name if name != "power" or families == ["int"] else ""  # a power is mostly one of floats


def _divides_infinity(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether ``x // y`` may meet infinity, of which PyTorch makes NaN."""
    kinds = [ctx.kind(part) for part in (tree.left, tree.right)]
    tensors = [kind for kind in kinds if kind.is_tensor]
    return any(family(kind.of) in ("", "float") for kind in tensors) and ctx.once(names_infinity)


def _may_be_endless(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether ``x % y`` may have infinity for ``y``, of which MindSpore makes NaN, and PyTorch ``x`` or ``y``."""
    is_text = not (ctx.kind(tree.left).is_tensor or ctx.kind(tree.left).name in ("int", "float"))
    return not is_text and not isinstance(tree.right, ast.Constant) and _divides_infinity(tree, ctx)


def _is_repeated(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether a list or a text is repeated as often as a tensor says, which PyTorch takes for a number there."""
    kinds = [ctx.kind(part) for part in (tree.left, tree.right)]
    return any(a.name in _REPEATED and b.is_tensor for a, b in (kinds, kinds[::-1]))


def _repeated(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression:
    if ctx.kind(tree.left).is_tensor:
        return updated.with_changes(left=build("int({x})", x=bare(updated.left)))
    return updated.with_changes(right=build("int({x})", x=bare(updated.right)))
