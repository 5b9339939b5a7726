"""``x.requires_grad = True`` in a file whose steps are recorded: ``x = gradients.weight(x)``, which keeps one.

Where the tensor is made in a way that shows it (``hand_trained``), it is made a parameter there. Others come out of
a function together with something else, or as something that is not known.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Replace
from torch2ms.translator.syntax.cst_builders import build, parenthesised

__all__ = ["is_made_here", "made_here", "made_parameter", "owning"]

_WEIGHT = "torch2ms.runtime.gradients.weight"


def is_made_here(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether the statement around an attribute makes a parameter of what its variable holds."""
    small = ctx.small
    return small is not None and small in ctx.analysis.remade and ctx.kind(tree.value).name in ("Tensor", "unknown")


def made_here(site: CallSite, ctx: Context) -> Replace:
    """Return the mark as it is, or the parameter that a statement of its own is bound to."""
    assert isinstance(site.tree.func, ast.Attribute)
    assert site.receiver is not None
    if not isinstance(ctx.small, ast.Expr):
        return Replace(site.updated.func)  # its statement is written anew
    assert isinstance(site.tree.func.value, ast.Name)
    ctx.rebind.append(site.tree.func.value.id)
    return Replace(build("{made}({x})", made=ctx.reference(_WEIGHT), x=site.receiver))


def made_parameter(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``x = gradients.weight(x)`` for ``x.requires_grad = True``; else the statement as it is."""
    if not isinstance(tree, ast.Assign) or not isinstance(updated, cst.Assign) or len(tree.targets) != 1:
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if not isinstance(target, ast.Attribute) or not isinstance(code, cst.Attribute) or not is_made_here(target, ctx):
        return updated
    made = build("{made}({x})", made=ctx.reference(_WEIGHT), x=code.value)
    return cst.Assign([cst.AssignTarget(cst.ensure_type(code.value, cst.Name))], made)


def owning(code: cst.BaseExpression, tree: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return a value that a parameter is made of, copied where it is a view of another tensor."""
    function = tree.func if isinstance(tree, ast.Call) else tree
    views = isinstance(function, ast.Attribute) and load_facts().may_share(function.attr)
    is_part = isinstance(tree, ast.Subscript)
    return build("{x}.copy()", x=parenthesised(code)) if ctx.kind(tree).is_tensor and (views or is_part) else code
