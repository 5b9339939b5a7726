"""Methods called through their class, with the object as first argument: ``nn.Module.__init__(self)``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.schema import MappedTo, Row
from torch2ms.translator.context import Context
from torch2ms.translator.values.families import instance_of
from torch2ms.translator.values.kinds import Kind

__all__ = ["as_bound", "rewrite_unbound"]

_METHODS = "mindspore.nn.Cell."
_RESET = "torch2ms.runtime.resets.reset_as"


def rewrite_unbound(updated: cst.Call, tree: ast.Call, name: str, ctx: Context) -> cst.BaseExpression | None:
    """Return the call of MindSpore's class, as a class derived from torch's would call its base; None for others."""
    owner, _, method = name.rpartition(".")
    if not isinstance(tree.func, ast.Attribute) or not tree.args or isinstance(tree.args[0], ast.Starred):
        return None
    row = ctx.tables.row(owner)
    if row is None or row.kind != "class" or row.unsupported:
        return None
    base = _base(row, ctx.tables.select(row, ctx.target))
    if base and method == "reset_parameters":  # a method of PyTorch's layers alone
        ctx.account(tree.func, name, "mapped", _RESET)
        called = cst.Arg(ctx.reference(base), comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return updated.with_changes(func=ctx.reference(_RESET), args=[called, *updated.args])
    new = _method(owner, method, ctx)
    if not base or not new:
        return None
    target = f"{base}.{new}"
    ctx.account(tree.func, name, "mapped", target)
    return updated.with_changes(func=cst.Attribute(ctx.reference(base), cst.Name(new)))


def _base(row: Row, options: tuple[MappedTo, ...] | list[MappedTo]) -> str:
    """Return what a class derives from in place of a torch class; empty where there is none."""
    if not options:
        return ""
    target = row.adapter or options[0].target
    return "" if target.startswith("@") else target


def _method(owner: str, method: str, ctx: Context) -> str:
    """Return MindSpore's name of a method that can be called this way; empty where there is none."""
    if method.startswith("__") and method.endswith("__"):
        return method
    if instance_of(owner).name != "Module":
        return ""
    if method == "forward":
        return "construct"
    row = ctx.tables.row(f"torch.nn.Module.{method}")
    options = ctx.tables.select(row, ctx.target) if row is not None and not row.keep and not row.unsupported else ()
    option = options[0] if options else None
    if option is None or option.recipe or option.rename or option.add or not option.target.startswith(_METHODS):
        return ""
    return option.target.removeprefix(_METHODS)


def as_bound(updated: cst.Call, tree: ast.Call, name: str, ctx: Context) -> tuple[cst.Call, ast.Call, Kind] | None:
    """Return ``torch.Tensor.mul(x, 2)`` as ``x.mul(2)``: code, tree and kind of the object; None where it cannot be.

    Inside a method of that very name the call means the base class's, and stays.
    """
    owner, _, method = name.rpartition(".")
    inside = ctx.functions[-1]
    if not tree.args or isinstance(tree.args[0], ast.Starred) or (inside is not None and inside.name == method):
        return None
    first, *rest = tree.args
    func = ast.copy_location(ast.Attribute(first, method, ast.Load()), tree.func)
    made = ast.copy_location(ast.Call(func, rest, tree.keywords), tree)
    receiver = updated.args[0].value
    if not isinstance(receiver, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) and not receiver.lpar:
        receiver = receiver.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    code = updated.with_changes(func=cst.Attribute(receiver, cst.Name(method)), args=updated.args[1:])
    kind = ctx.kind(first)
    return code, made, kind if kind.known else instance_of(owner)
