"""How a tensor lies in memory: ``contiguous()``, ``stride()``, ``is_contiguous()``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.emission import emit_call
from torch2ms.translator.inference.scopes import root_of
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax import build

__all__: list[str] = []

_ASKED = frozenset({"is_contiguous", "stride", "storage_offset", "data_ptr"})
# What makes tensors that MindSpore lays out in another way.
_UNLIKE = frozenset(
    {"expand", "expand_as", "broadcast_to", "broadcast_tensors", "as_strided", "memory_format", "unfold"}
)


@recipe("contiguous")
def contiguous(site: CallSite, ctx: Context) -> Outcome:
    """``x.contiguous()`` -> ``x``: MindSpore's views need no copy; but where that copy is written into or asked for."""
    assert site.receiver is not None
    if not (_is_changed(site.tree, ctx) or ctx.once(_is_asked)):
        return Replace(site.receiver)
    return Replace(build("{x}.contiguous()", x=site.receiver))


def _is_changed(tree: ast.Call, ctx: Context) -> bool:
    """Whether elements of the name that holds the copy are assigned: a view would hand them on."""
    small = ctx.small
    if not isinstance(small, ast.Assign) or small.value is not tree:
        return False
    names = {target.id for target in small.targets if isinstance(target, ast.Name)}
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and root_of(node) in names
        for node in ctx.analysis.nodes
    )


def _is_asked(ctx: Context) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _ASKED for node in ctx.analysis.nodes)


def _is_unlike(ctx: Context) -> bool:
    names = {node.attr for node in ctx.analysis.nodes if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in ctx.analysis.nodes if isinstance(node, ast.keyword) and node.arg}
    return bool(names & _UNLIKE)


@recipe("layout")
def layout(site: CallSite, ctx: Context) -> Outcome:
    """``x.stride()`` -> ``tuple(x.stride())``; where the layouts differ, it says so."""
    made: Outcome = _stride(site) if site.row.name.endswith("stride") else emit_call(site, ctx)
    if isinstance(made, Leave) or not ctx.once(_is_unlike):
        return made
    message = "MindSpore may lay the tensor out in another way than torch, which repeats or skips memory here"
    return Replace(made.code, (*made.codes, ("T2M303", message)))


def _stride(site: CallSite) -> Outcome:
    assert site.receiver is not None
    strides: cst.BaseExpression = build("{x}.stride()", x=site.receiver)
    if not site.updated.args:
        return Replace(build("tuple({x})", x=strides))
    return Replace(build("{x}[{dim}]", x=strides, dim=site.updated.args[0].value))
