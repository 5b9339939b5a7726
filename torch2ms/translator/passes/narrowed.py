"""Tensors without axes beside others: torch takes the dtype of those with axes, MindSpore the wider one of both."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.ranks import OTHERS, ranks
from torch2ms.translator.syntax import build, parenthesised

__all__ = ["narrowed"]

_NAMES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64"}
_WIDTHS = ({"float16": 1, "float32": 2, "float64": 3}, {"uint8": 1, "int8": 1, "int16": 2, "int32": 3, "int64": 4})


def narrowed(code: cst.BaseExpression, tree: ast.expr, other: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return an operand in the dtype of the other one where it is wider, of the same kind, and has no axes."""
    own, wanted = _dtype(tree, ctx), _dtype(other, ctx)
    is_wider = any(widths.get(own, 0) > widths.get(wanted, 9) for widths in _WIDTHS)
    if not is_wider or ranks(tree, ctx) != {0}:
        return code
    axes = ranks(other, ctx)
    if not axes or axes & {0, OTHERS}:
        return code
    return build("{x}.astype({dtype})", x=parenthesised(code), dtype=ctx.reference(f"mindspore.{wanted}"))


def _dtype(tree: ast.expr, ctx: Context) -> str:
    """Return the name of a tensor's dtype, as far as it is known."""
    kind = ctx.kind(tree)
    name = kind.of.removeprefix("torch.") if kind.name == "Tensor" else ""
    return _NAMES.get(name, name)
