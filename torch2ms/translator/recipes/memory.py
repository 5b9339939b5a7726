"""How a tensor lies in memory: ``contiguous()``, ``stride()``, ``is_contiguous()``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.binding import literal
from torch2ms.translator.context import Context
from torch2ms.translator.emission import emit_call
from torch2ms.translator.inference.scopes import root_of
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.recipes.views import owner_of
from torch2ms.translator.syntax import build

__all__: list[str] = []

_ASKED = frozenset({"is_contiguous", "stride", "storage_offset", "data_ptr"})
# What makes tensors that MindSpore lays out in another way.
_UNLIKE = frozenset(
    {"expand", "expand_as", "broadcast_to", "broadcast_tensors", "as_strided", "memory_format", "unfold"}
)
# A clone of these keeps their order of axes in memory; MindSpore's copies are laid out anew.
_TURNING = frozenset({"t", "T", "mT", "transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis"})


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
    return bool(names & _UNLIKE) or ("clone" in names and bool(names & _TURNING))


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


@recipe("clone")
def clone(site: CallSite, ctx: Context) -> Outcome:
    """``x.clone()`` -> ``x.copy()``, or ``ops.deepcopy(x)`` of what may be a parameter.

    The copy of a parameter is another parameter: no gradient gets through it to the first.
    """
    argument = site.argument("input") if site.receiver is None else None
    code = site.receiver if argument is None else argument.code
    tree = site.tree.func.value if argument is None and isinstance(site.tree.func, ast.Attribute) else None
    tree = argument.tree if argument is not None else tree
    if code is None or tree is None or not _may_be_parameter(tree, ctx):
        return emit_call(site, ctx)
    return Replace(build("{f}({x})", f=ctx.reference("mindspore.ops.deepcopy"), x=code))


def _may_be_parameter(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor may be a parameter, and is not what was computed just here."""
    if isinstance(tree, ast.Name):
        return owner_of(tree.id, tree, ctx) != "fresh"
    if isinstance(tree, ast.Attribute):
        return tree.attr not in _COMPUTED
    if isinstance(tree, ast.Subscript):
        index = tree.slice
        is_key = isinstance(index, (ast.Name, ast.Attribute, ast.JoinedStr)) or isinstance(literal(index), str)
        return is_key or not ctx.kind(tree.value).is_tensor
    if isinstance(tree, ast.IfExp):
        return _may_be_parameter(tree.body, ctx) or _may_be_parameter(tree.orelse, ctx)
    if isinstance(tree, ast.Call):
        function = tree.func
        if isinstance(function, ast.Attribute) and function.attr in _SAME and ctx.kind(function).name != "api":
            return _may_be_parameter(function.value, ctx)
        of_torch = ctx.kind(function).name == "api" or ctx.kind(function).name == "Module"
        return not (of_torch or (isinstance(function, ast.Attribute) and ctx.kind(function.value).is_tensor))
    return not isinstance(tree, (ast.BinOp, ast.UnaryOp, ast.Compare))


_COMPUTED = frozenset({"data", "grad", "T", "mT", "H", "mH", "real", "imag"})
# What gives the tensor itself where there is nothing to do.
_SAME = frozenset("to float double half bfloat16 type type_as contiguous cpu cuda requires_grad_".split())
