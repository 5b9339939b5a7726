"""What a parameter is given in place before training: ``p.normal_(0, 0.02)`` as an initializer, which reads nothing."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.parameter_storage import is_held_elsewhere, may_have_stepped
from torch2ms.translator.rules.call_site import CallSite
from torch2ms.translator.rules.recipes.inplace_values import bare_name, is_inplace
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.scopes import root_of

__all__ = ["first_value", "may_be_float64"]


def first_value(site: CallSite, tree: ast.expr, code: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """Return ``p.set_data(init.initializer(...))`` for what fills a parameter without reading it; None for the rest."""
    if is_inplace(site.receiver_tree, ctx) or site.argument("generator") is not None or not site.bound:
        return None
    if may_have_stepped(site.tree, ctx) or is_held_elsewhere(tree, ctx):
        return None
    how = _initializer(site, ctx)
    if how is None:
        return None
    made = ctx.reference("mindspore.common.initializer.initializer")
    return build("{p}.set_data({made}({how}, {p2}.shape, {p3}.dtype))", p=code, made=made, how=how,
                 p2=code.deep_clone(), p3=code.deep_clone())  # fmt: skip


def _initializer(site: CallSite, ctx: Context) -> cst.BaseExpression | None:
    name = bare_name(site)
    if name == "zero":
        return cst.SimpleString('"zeros"' if ctx.quote == '"' else "'zeros'")
    if name == "fill":
        value = site.argument("value")
        return value.code if value is not None and not ctx.kind(value.tree).is_tensor else None
    if name == "normal":
        mean, std = site.argument("mean"), site.argument("std")
        return build("{normal}(sigma={s}, mean={m})", normal=ctx.reference("mindspore.common.initializer.Normal"),
                     s=std.code if std is not None else cst.Float("1.0"),
                     m=mean.code if mean is not None else cst.Float("0.0"))  # fmt: skip
    if name == "uniform":
        low, high = site.argument("from_"), site.argument("to")
        if low is not None and high is not None and _opposite(low.tree, high.tree):
            uniform = ctx.reference("mindspore.common.initializer.Uniform")
            return build("{uniform}({s})", uniform=uniform, s=high.code)
    return None


def _opposite(low: ast.expr, high: ast.expr) -> bool:
    return isinstance(low, ast.UnaryOp) and isinstance(low.op, ast.USub) and ast.dump(low.operand) == ast.dump(high)


def may_be_float64(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor may be of float64, numpy's own floats: it is made of an array, in its expression or before."""
    kind = ctx.kind(tree)
    if kind.of in ("torch.float32", "torch.float"):
        return False
    if kind.of:
        return True
    name, info = root_of(tree), ctx.functions[-1]
    bound = [
        node.value
        for node in walk(info.node if info is not None else ctx.analysis.tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    made = [node for value in (tree, *bound) for node in walk(value) if isinstance(node, ast.Call) and node.args]
    return any(
        ctx.kind(call.func).of == "torch.from_numpy"
        or (ctx.kind(call.func).of in ("torch.tensor", "torch.as_tensor") and ctx.kind(call.args[0]).name == "ndarray")
        for call in made
    )
