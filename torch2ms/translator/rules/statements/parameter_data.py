"""``weight.data = value`` behind the first step: an optimizer of MindSpore trains no more what was replaced."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.freezing import frees, frozen
from torch2ms.translator.effects.parameter_storage import gives_first_values, is_weight, may_have_stepped
from torch2ms.translator.syntax.cst_builders import build, code_of

__all__ = ["put_data", "report_frozen"]


def report_frozen(tree: ast.AST, ctx: Context) -> None:
    """Report ``p.requires_grad = False`` behind a step, in a file that never frees: the optimizer goes on with it."""
    if not frozen(tree) or frees(ctx.analysis.nodes) or not may_have_stepped(tree, ctx):
        return
    message = (
        "the optimizer goes on moving what is frozen behind a step, by momentum, averages and decay: its gradient is 0"
    )
    advice = "make the optimizer anew, of the weights that are still trained"
    ctx.report("T2M303", tree, message, symbol="torch.Tensor.requires_grad", advice=advice)


def put_data(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``weight_data.put(weight, value)`` for a statement that gives a weight other data; else what it is."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign)) or not isinstance(updated, (cst.Assign, cst.AugAssign)):
        return updated
    targets = [tree.target] if isinstance(tree, ast.AugAssign) else tree.targets
    new = updated.target if isinstance(updated, cst.AugAssign) else updated.targets[0].target
    if len(targets) > 1 or not is_weight(targets[0], ctx):
        return updated
    if gives_first_values(ctx) and not may_have_stepped(tree, ctx):
        return updated
    if not isinstance(new, cst.Attribute) or new.attr.value != "data":
        return updated
    value = updated.value
    if isinstance(updated, cst.AugAssign):
        operator = code_of(updated.operator).strip().removesuffix("=")
        value = build(f"{{x}} {operator} {{value}}", x=new.value.deep_clone(), value=value)
    put = ctx.reference("torch2ms.runtime.weight_data.put")
    return cst.Expr(build("{put}({x}, {value})", put=put, x=new.value, value=value))
