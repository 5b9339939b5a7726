"""Powers whose exponent may be 0: MindSpore's slope of ``x ** 0`` is NaN where ``x`` is 0."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.cst_builders import build

__all__ = ["may_be_zero"]


def may_be_zero(exponent: ast.expr, ctx: Context) -> bool:
    """Whether an exponent is 0, or counted from 0 by a loop around it: ``for i in range(4): x ** i``."""
    if isinstance(exponent, ast.Constant):
        return type(exponent.value) in (int, float) and not exponent.value
    if not isinstance(exponent, ast.Name):
        return False
    node = ctx.parent(exponent)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        for loop in loops:
            if any(isinstance(part, ast.Name) and part.id == exponent.id for part in ast.walk(loop.target)):
                return _counts_from_zero(exponent.id, loop.target, loop.iter)
        node = ctx.parent(node)
    return False


def _counts_from_zero(name: str, target: ast.expr, source: ast.expr) -> bool:
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name) or source.keywords:
        return False
    if source.func.id == "enumerate":  # the number comes first; the others are what is gone through
        first = target.elts[0] if isinstance(target, ast.Tuple) else None
        return isinstance(first, ast.Name) and first.id == name and len(source.args) == 1
    start = source.args[0] if len(source.args) > 1 else ast.Constant(0)
    return source.func.id == "range" and isinstance(start, ast.Constant) and start.value == 0


@recipe("power", by_name_alone=True)
def power(site: CallSite, ctx: Context) -> Outcome:
    """``torch.pow(x, i)``: the runtime's where ``i`` may be 0."""
    exponent = site.argument("exponent")
    value = site.receiver if site.receiver is not None else None
    given = site.argument("input") if value is None else None
    value = given.code if given is not None else value
    tree = given.tree if given is not None else site.receiver_tree
    if exponent is None or value is None or tree is None or not ctx.kind(tree).is_tensor:
        return emit_call(site, ctx)
    if not may_be_zero(exponent.tree, ctx):
        return emit_call(site, ctx)
    function = ctx.reference("torch2ms.runtime.functional.power")
    return Replace(build("{f}({x}, {n})", f=function, x=value, n=exponent.code))
