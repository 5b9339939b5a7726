"""Gradient contexts: MindSpore records only inside ``value_and_grad``, so ``no_grad`` has nothing to switch off.

Inside a network's own code it has: there a gradient function may be running, and the runtime's context stops it.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.recipes.base import CallSite, Outcome, Replace, recipe

__all__ = ["PLAIN_CONTEXT", "empty_context"]

PLAIN_CONTEXT = cst.Name("__plain_context__")  # stands for a context manager or decorator that goes


def empty_context(ctx: Context) -> cst.BaseExpression:
    """Return ``nullcontext()``, under the name the file has for it."""
    for node in ctx.analysis.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "contextlib":
            name = next((alias.asname or alias.name for alias in node.names if alias.name == "nullcontext"), None)
            if name is not None:
                return cst.Call(cst.Name(name))
    return cst.Call(ctx.reference("contextlib.nullcontext"))


@recipe("no_grad")
def no_grad(site: CallSite, ctx: Context) -> Outcome:
    """``with torch.no_grad():`` goes outside networks; inside it becomes the runtime's."""
    parent = ctx.parent(site.tree)
    is_with = isinstance(parent, ast.withitem)
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        from torch2ms.translator.passes.calls import DROPPED

        return Replace(DROPPED, (("T2M304", "MindSpore records gradients only inside value_and_grad; dropped"),))
    if not is_with and ctx.use_of(site.tree) != "decorator":
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.autograd.no_grad", None)))  # kept for later
    if _in_network(ctx, parent):
        made = ctx.reference("torch2ms.runtime.autograd.no_grad", None)
        return Replace(cst.Call(made))
    return Replace(PLAIN_CONTEXT)


def _in_network(ctx: Context, parent: ast.AST | None) -> bool:
    """Whether the code may run inside a gradient function: in a method of a module."""
    function = ctx.functions[-1]
    if function is None or function.owner is None:
        return False
    if function.name in ("__init__", "reset_parameters", "init_weights", "_init_weights", "_initialize_weights"):
        return False
    return ctx.world.family(function.owner.key).name == "Module"
