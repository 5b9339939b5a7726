"""Assertions: a call that is a statement of its own becomes Python's ``assert``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import ASSERTED, CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.cst_builders import bare, code_of, parenthesised

__all__: list[str] = []


@recipe("assertion")
def assertion(site: CallSite, ctx: Context) -> Outcome:
    """``torch._assert(x > 0, "no")`` -> ``assert x > 0, "no"``."""
    given = [site.argument(name) for name in ("condition", "message")]
    if not isinstance(ctx.parent(site.tree), ast.Expr) or "#" in code_of(site.updated):
        return Leave("it is no statement of its own, or has comments inside")
    parts = [cst.Arg(_on_its_own(argument.code)) for argument in given if argument is not None]
    return Replace(cst.Call(cst.Name(ASSERTED), parts))


def _on_its_own(code: cst.BaseExpression) -> cst.BaseExpression:
    """Return an argument of a call as a statement holds it: in parentheses where only the call's let it stand."""
    return parenthesised(code) if isinstance(code, cst.NamedExpr) or "\n" in code_of(code) else bare(code)
