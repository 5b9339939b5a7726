"""``x.masked_fill(mask, torch.iinfo(torch.int64).max)``: whole numbers that MindSpore would take through float32."""

from __future__ import annotations

import ast
from dataclasses import replace

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Outcome, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.values.dtypes import family

__all__ = ["exactly_filled"]

_FLOAT32_HOLDS = 2**24  # whole numbers up to here


@recipe("masked_fill")
def masked_fill(site: CallSite, ctx: Context) -> Outcome:
    """``x.masked_fill(mask, 2**40)`` -> the runtime's function, which gives the value the dtype of the tensor."""
    return emit_call(exactly_filled(site, ctx), ctx)


def exactly_filled(site: CallSite, ctx: Context) -> CallSite:
    """Return a call that fills with a value; one that float32 does not hold goes to the runtime's function."""
    value = site.argument("value")
    if value is None or not _is_large(value.tree):
        return site
    if site.receiver_tree is not None and family(ctx.kind(site.receiver_tree).of) == "float":
        return site
    return replace(site, option=replace(site.option, target="torch2ms.runtime.functional.masked_fill", rename={}))


def _is_large(tree: ast.expr) -> bool:
    """Whether a value is a large whole number as it stands, or the limit of a dtype of whole numbers."""
    if isinstance(tree, ast.UnaryOp):
        return _is_large(tree.operand)
    if isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Pow):  # 2**31; not computed, for it may be of any size
            base, power = literal(tree.left), literal(tree.right)
            if not isinstance(base, int) or not isinstance(power, int) or abs(base) < 2:
                return False
            return power * (abs(base).bit_length() - 1) >= _FLOAT32_HOLDS.bit_length() - 1
        return _is_large(tree.left) or _is_large(tree.right)
    if isinstance(tree, ast.Attribute) and tree.attr in ("max", "min") and isinstance(tree.value, ast.Call):
        called = tree.value.func
        return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "iinfo"
    number = literal(tree)
    return isinstance(number, int) and abs(number) >= _FLOAT32_HOLDS
