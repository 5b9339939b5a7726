"""``self.state = value`` where a buffer carries a gradient: ``parts.set_buffer(self, "state", value)``."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.buffers import class_around, is_bound_live
from torch2ms.translator.syntax.cst_builders import build, code_of

__all__ = ["bound_buffer"]


def bound_buffer(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return the statement that binds a buffer of ``self`` anew; else what it is."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign)) or not isinstance(updated, (cst.Assign, cst.AugAssign)):
        return updated
    target = tree.target if isinstance(tree, ast.AugAssign) else tree.targets[0]
    code = updated.target if isinstance(updated, cst.AugAssign) else updated.targets[0].target
    if not isinstance(target, ast.Attribute) or not isinstance(code, cst.Attribute):
        return updated
    if target not in ctx.once(_live):
        return updated
    value = updated.value
    if isinstance(updated, cst.AugAssign):
        operator = code_of(updated.operator).strip().removesuffix("=")
        value = build(f"{{x}} {operator} {{value}}", x=code.deep_clone(), value=value)
    function, name = ctx.reference("torch2ms.runtime.parts.set_buffer"), ctx.literal(f"'{target.attr}'")
    return cst.Expr(build("{f}({x}, {name}, {v})", f=function, x=code.value, name=name, v=value))


def _live(ctx: Context) -> set[ast.Attribute]:
    """Return the attributes of ``self`` that are bound where a buffer of the class carries a gradient."""
    found: set[ast.Attribute] = set()
    for call in ctx.analysis.all(ast.Call):
        name = _registered(call)
        where = class_around(call, ctx)
        if name and where is not None and is_bound_live(name, where, ctx):
            attributes = ctx.analysis.all(ast.Attribute)
            found.update(node for node in attributes if node.attr == name and isinstance(node.ctx, ast.Store))
    return found


def _registered(call: ast.Call) -> str:
    """Return the name in ``self.register_buffer("name", tensor)``; empty where the tensor is None, or another call."""
    named = call.args[0] if call.args else None
    none = len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and call.args[1].value is None
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "register_buffer" or getattr(func.value, "id", "") != "self":
        return ""
    return named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) and not none else ""
