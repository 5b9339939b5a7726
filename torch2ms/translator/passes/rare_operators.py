"""Operators whose operands are seldom met: a list repeated as often as a tensor says, infinity divided."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.edges import names_infinity
from torch2ms.translator.inference.dtypes import family
from torch2ms.translator.syntax import bare, build

__all__ = ["rare_operator"]

_REPEATED = frozenset({"list", "str", "tuple"})


def rare_operator(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``[0] * n`` with a tensor and ``x // 2`` with infinity become; None of any other operator."""
    if isinstance(tree.op, ast.FloorDiv) and _divides_infinity(tree, ctx):
        function = ctx.reference("torch2ms.runtime.functional.floor_divide")
        return build("{f}({a}, {b})", f=function, a=bare(updated.left), b=bare(updated.right))
    if isinstance(tree.op, ast.Mult) and _is_repeated(tree, ctx):
        return _repeated(updated, tree, ctx)
    return None


def _divides_infinity(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether ``x // y`` may meet infinity, of which PyTorch makes NaN."""
    kinds = [ctx.kind(part) for part in (tree.left, tree.right)]
    tensors = [kind for kind in kinds if kind.is_tensor]
    return any(family(kind.of) in ("", "float") for kind in tensors) and ctx.once(names_infinity)


def _is_repeated(tree: ast.BinOp, ctx: Context) -> bool:
    """Whether a list or a text is repeated as often as a tensor says, which PyTorch takes for a number there."""
    kinds = [ctx.kind(part) for part in (tree.left, tree.right)]
    return any(a.name in _REPEATED and b.is_tensor for a, b in (kinds, kinds[::-1]))


def _repeated(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression:
    if ctx.kind(tree.left).is_tensor:
        return updated.with_changes(left=build("int({x})", x=bare(updated.left)))
    return updated.with_changes(right=build("int({x})", x=bare(updated.right)))
