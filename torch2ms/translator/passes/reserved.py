"""Attributes whose names ``nn.Cell`` keeps for itself: ``self.cells`` becomes ``self.cells_`` everywhere."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.names import candidates

__all__ = ["RESERVED", "free_name", "is_free", "rename_call"]

RESERVED = frozenset({"apply", "cells", "cls_name", "construct", "param_prefix", "phase", "register_buffer"})
_NAMING = frozenset({"add_module", "register_module", "register_buffer", "register_parameter"})


def is_free(key: str, name: str, ctx: Context) -> bool:
    """Whether a class of the project sets an attribute of this name on ``self`` alone, so that it can be renamed."""
    bases = [base for base in ctx.world.ancestry(key) if ":" in base]
    if not any(name in ctx.world.attributes(base) for base in bases):
        return False
    return ctx.world.method(key, name) is None and not ctx.world.constant(key, name).known


def free_name(tree: ast.Attribute, ctx: Context) -> str | None:
    """Return the new name of an attribute that Cell has itself; None for all others."""
    if tree.attr not in RESERVED:
        return None
    base = ctx.kind(tree.value)
    keys = [key for key in candidates(base) if ":" in key] if base.name == "Module" else []
    if keys and all(is_free(key, tree.attr, ctx) for key in keys):
        return f"{tree.attr}_"
    if not base.known and tree.attr not in ("apply", "register_buffer") and ctx.world.symbols.stores(tree.attr):
        message = (
            f"{ast.unparse(tree.value)} could not be typed; .{tree.attr} has another name on the project's networks"
        )
        ctx.report("T2M207", tree, message, symbol=f"torch.nn.Module.{tree.attr}")
    return None


def rename_call(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return a call of such an attribute, or one that gives a part its name as a string: ``add_module("cells", x)``."""
    if not isinstance(tree.func, ast.Attribute) or not isinstance(updated.func, cst.Attribute):
        return updated
    new = free_name(tree.func, ctx) if tree.func.attr in RESERVED else None
    if new is not None:
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name(new)))
    name = tree.args[0] if tree.args else None
    if tree.func.attr not in _NAMING or not isinstance(name, ast.Constant) or name.value not in RESERVED:
        return updated
    keys = [key for key in candidates(ctx.kind(tree.func.value)) if ":" in key]
    literal = updated.args[0].value
    if not keys or not isinstance(literal, cst.SimpleString) or not all(is_free(k, name.value, ctx) for k in keys):
        return updated
    first = updated.args[0].with_changes(value=literal.with_changes(value=f"{literal.value[:-1]}_{literal.value[-1]}"))
    return updated.with_changes(args=[first, *updated.args[1:]])
