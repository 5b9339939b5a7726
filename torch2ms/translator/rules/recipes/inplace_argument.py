"""``F.relu(x, inplace=True)`` changes ``x`` itself; MindSpore computes a new tensor, to which ``x`` must be bound."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.liveness import read_again, read_beside
from torch2ms.translator.effects.sharing import fills_whole, owner_of, seen_elsewhere
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.snapshots import of_old_values

__all__ = ["inplace_argument", "rebind"]


@recipe("inplace_argument")
def inplace_argument(site: CallSite, ctx: Context) -> Outcome:
    """Drop ``inplace`` and bind the changed name to the result as well."""
    made = emit_call(site, ctx)
    if isinstance(made, Leave):
        return made
    given = site.argument("input")
    first = site.tree.args[0] if site.tree.args else given.tree if given is not None else None
    inplace = site.argument("inplace")
    if first is None or inplace is None:
        return made
    if isinstance(inplace.tree, ast.Constant) and not inplace.tree.value:
        return made
    problem = rebind(first, site.tree, ctx)
    if problem:
        return Replace(made.code, (*made.codes, ("T2M305", problem)))
    if isinstance(first, ast.Name) and ctx.rebind[-1:] == [f"{first.id}[()]"]:
        operation = site.row.name.rpartition(".")[2]
        return replace(made, code=of_old_values(made.code, cst.Name(first.id), operation, [first], ctx))
    return made


def rebind(changed: ast.expr, call: ast.Call, ctx: Context) -> str:
    """Have the statement bind ``changed`` to the call's result; return what cannot be said, if anything."""
    if not isinstance(changed, ast.Name):
        if isinstance(changed, (ast.Attribute, ast.Subscript)):
            return f"{ast.unparse(changed)} is changed in place, and keeps its old value in MindSpore"
        return ""  # a fresh value that nothing else refers to
    small = ctx.small
    if small is not None and read_beside(changed.id, call, small, ctx):
        return f"{changed.id} is changed in place in the middle of an expression"
    if isinstance(small, ast.Return):
        return ""
    if isinstance(small, ast.Assign) and any(isinstance(t, ast.Name) and t.id == changed.id for t in small.targets):
        return ""
    held = owner_of(changed.id, call, ctx) if fills_whole(ctx) and not _is_argument(changed.id, ctx) else "fresh"
    held = seen_elsewhere(changed.id, call, ctx) if held == "fresh" and fills_whole(ctx) else held
    if held == "fresh" and not read_again(changed.id, small, ctx):
        return ""
    whole = isinstance(small, (ast.Assign, ast.Expr)) and small.value is call
    if whole:
        ctx.rebind.append(f"{changed.id}[()]" if held in ("object", "shared") else changed.id)
        if held == "view":
            return f"{changed.id} may share its memory with another tensor, which keeps its old value in MindSpore"
        return ""
    return f"{changed.id} is changed in place in the middle of an expression"


def _is_argument(name: str, ctx: Context) -> bool:
    """Whether a name is an argument of the function around: callers seldom look at it again."""
    info = ctx.functions[-1]
    return info is not None and name in [arg.arg for arg in [*info.node.args.posonlyargs, *info.node.args.args]]
