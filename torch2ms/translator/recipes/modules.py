"""Modules: what a network says of itself, where Cell says it in other words."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax import build

__all__ = ["goes_to_optimizer"]


@recipe("eval_mode")
def eval_mode(site: CallSite, ctx: Context) -> Outcome:
    """``net.eval()`` -> ``net.set_train(False)``."""
    assert site.receiver is not None  # noqa: S101
    return Replace(build("{net}.set_train(False)", net=site.receiver))


def goes_to_optimizer(tree: ast.AST, ctx: Context) -> bool:
    """Whether a value is what an optimizer is made of: an argument of it, through lists, groups and filters."""
    child, parent = tree, ctx.parent(tree)
    while parent is not None:
        if isinstance(parent, ast.Call):
            if child is parent.func:
                return False
            callee = ctx.kind(parent.func)
            if callee.name == "api" and callee.of.startswith("torch.optim."):
                return True
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if name not in ("list", "tuple", "filter", "chain", "add_param_group"):
                return False
            if name == "add_param_group":
                return True
        elif not isinstance(parent, (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.BinOp, ast.keyword)):
            return False
        child, parent = parent, ctx.parent(parent)
    return False


def _asks_for_gradient(tree: ast.AST, ctx: Context) -> bool:
    """Whether the value is iterated over by a comprehension whose condition is ``p.requires_grad`` (and more)."""
    clause = ctx.parent(tree)
    if not isinstance(clause, ast.comprehension):
        return False
    tests = [part for test in clause.ifs for part in (test.values if isinstance(test, ast.BoolOp)
             and isinstance(test.op, ast.And) else [test])]  # fmt: skip
    return any(isinstance(test, ast.Attribute) and test.attr == "requires_grad" for test in tests)


@recipe("parameters")
def parameters(site: CallSite, ctx: Context) -> Outcome:
    """``net.parameters()``: ``trainable_params()`` where only those count, else the runtime's (Cell's list has buffers)."""
    assert site.receiver is not None  # noqa: S101
    if not site.updated.args and (goes_to_optimizer(site.tree, ctx) or _asks_for_gradient(site.tree, ctx)):
        return Replace(build("{net}.trainable_params()", net=site.receiver))
    return _through_runtime("modules.parameters", site, ctx)


@recipe("through_runtime")
def through_runtime(site: CallSite, ctx: Context) -> Outcome:
    """A method becomes the runtime's function of the same arguments."""
    return _through_runtime(site.option.target.removeprefix("torch2ms.runtime."), site, ctx)


def _through_runtime(name: str, site: CallSite, ctx: Context) -> Outcome:
    if site.receiver is None:
        return Leave("it is not called on a network")
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    first = cst.Arg(site.receiver, comma=comma if site.updated.args else cst.MaybeSentinel.DEFAULT)
    func = ctx.reference(f"torch2ms.runtime.{name}")
    return Replace(site.updated.with_changes(func=func, args=[first, *site.updated.args]))


@recipe("modules")
def modules(site: CallSite, ctx: Context) -> Outcome:
    """``net.modules()``: the cells of ``cells_and_names``."""
    assert site.receiver is not None  # noqa: S101
    if isinstance(ctx.parent(site.tree), (ast.For, ast.comprehension)):
        return Replace(build("[cell for _, cell in {net}.cells_and_names()]", net=site.receiver))
    return _through_runtime("modules.modules", site, ctx)


@recipe("read_through_runtime")
def read_through_runtime(site: CallSite, ctx: Context) -> Outcome:
    """An attribute becomes the runtime's function of the object."""
    if site.receiver is None:
        return Leave("it is not read from an object")
    return Replace(cst.Call(ctx.reference(site.option.target), [cst.Arg(site.receiver)]))
