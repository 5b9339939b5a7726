"""Tensors without axes beside others: torch takes the dtype of those with axes, MindSpore the wider one of both."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build, parenthesised
from torch2ms.translator.values.queries.dtype_widths import dtype_name, is_wider
from torch2ms.translator.values.queries.ranks import OTHERS, ranks

__all__ = ["narrowed"]


def narrowed(code: cst.BaseExpression, tree: ast.expr, other: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return an operand in the dtype of the other one where it is wider, of the same kind, and has no axes."""
    own, wanted = dtype_name(ctx.kind(tree)), dtype_name(ctx.kind(other))
    if not is_wider(own, wanted) or ranks(tree, ctx) != {0}:
        return code
    axes = ranks(other, ctx)
    if not axes or axes & {0, OTHERS}:
        return code
    return build("{x}.astype({dtype})", x=parenthesised(code), dtype=ctx.reference(f"mindspore.{wanted}"))
