"""Tensors whose gradients are wanted: ``x.requires_grad_()`` stays where MindSpore records what a program computes.

``mindspore.grad`` is told what to differentiate by, and the marks go. ``recording.grad`` asks for the gradient of what
was recorded, and that begins at tensors that are marked before they are used.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Replace
from torch2ms.translator.syntax.cst_builders import build, undetached

__all__ = ["TENSORS", "is_marking", "made_leaf", "mark_statement", "marked", "marked_untyped"]

TENSORS = (2, 8)  # the first MindSpore whose record tells gradients by tensors
_FLAG = "requires_grad"
_LEAF = "torch2ms.runtime.recording.leaf"
_VARIABLE = "torch.autograd.Variable"


def is_marking(ctx: Context) -> bool:
    """Whether the file, or one near it, may ask the record for gradients by tensors."""
    if ctx.training.asked:
        return True
    file = ctx.world.symbols.files.get(ctx.path)
    if file is not None and "grad" in file.calls:
        return False  # it asks for gradients itself, and functions give them
    able = ctx.target.mindspore >= TENSORS and ctx.options.mode == "pynative"
    return able and not ctx.training.leaves.units and ctx.world.symbols.is_near("asks_for_records", ctx.path)


def marked(site: CallSite, ctx: Context) -> Replace:
    """Return ``x.requires_grad_()`` as a statement, ``recording.leaf(x)`` where the tensor is used further."""
    assert site.receiver is not None
    flag = site.argument(_FLAG)
    args = [cst.Arg(flag.code)] if flag is not None else []
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        return Replace(cst.Call(cst.Attribute(site.receiver, cst.Name(f"{_FLAG}_")), args))
    return Replace(_leaf(site.receiver, args, ctx))


def marked_untyped(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``recording.leaf(x)`` for ``x.requires_grad_()`` of what may be a tensor, a weight or a network."""
    if getattr(tree.func, "attr", "") != f"{_FLAG}_" or not isinstance(updated.func, cst.Attribute):
        return None
    if len(tree.args) + len(tree.keywords) > 1 or not is_marking(ctx):
        return None
    args = [cst.Arg(arg.value) for arg in updated.args]
    return _leaf(updated.func.value, args, ctx)


def made_leaf(made: Replace | Leave, site: CallSite, ctx: Context) -> Replace | Leave:
    """Return ``recording.leaf(x)`` for a tensor that is made with ``requires_grad=True``."""
    if isinstance(made, Leave) or site.row.returns not in ("Tensor", "argument") or not _names_flag(site.tree):
        return made
    if site.row.returns == "argument" and site.row.name != _VARIABLE:
        return made
    flag = site.argument(_FLAG)
    if flag is None or _is_constant(flag.tree, False) or not is_marking(ctx):
        return made
    code = made.code
    if site.row.name == _VARIABLE and undetached(code) is code:  # another tensor than the one that it is made of
        code = build("{stop}({x})", stop=ctx.reference("mindspore.ops.stop_gradient"), x=code)
    args = [] if _is_constant(flag.tree, True) else [cst.Arg(flag.code)]
    kept = tuple((name, message) for name, message in made.codes if _FLAG not in message)
    return replace(made, code=_leaf(code, args, ctx), codes=kept)


def _names_flag(tree: ast.Call) -> bool:
    return any(word.arg == _FLAG for word in tree.keywords)


def _leaf(tensor: cst.BaseExpression, args: list[cst.Arg], ctx: Context) -> cst.Call:
    return cst.Call(ctx.reference(_LEAF), [cst.Arg(tensor), *args])


def mark_statement(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``x.requires_grad_(flag)`` for ``x.requires_grad = flag`` of a tensor."""
    if not isinstance(tree, ast.Assign) or not isinstance(updated, cst.Assign) or len(tree.targets) > 1:
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if not isinstance(target, ast.Attribute) or target.attr != _FLAG or not isinstance(code, cst.Attribute):
        return updated
    kind = ctx.kind(target.value)
    if not (kind.name == "Tensor" or (not kind.known and _is_given(target.value, ctx))) or not is_marking(ctx):
        return updated
    args = [] if _is_constant(tree.value, True) else [cst.Arg(updated.value)]
    if kind.name != "Tensor":  # it may be a weight
        return cst.Expr(_leaf(code.value, args, ctx))
    return cst.Expr(cst.Call(cst.Attribute(code.value, cst.Name(f"{_FLAG}_")), args))


def _is_given(tree: ast.expr, ctx: Context) -> bool:
    """Whether a name is a parameter of the function around it."""
    function = ctx.functions[-1]
    given = {argument.arg for argument in function.node.args.args} if function is not None else set()
    return isinstance(tree, ast.Name) and tree.id in given


def _is_constant(tree: ast.expr, value: bool) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is value
