"""Settings of layers that a program changes later: ``m.momentum = 0.01``, ``conv.stride = (1, 1)``.

MindSpore's layers build their operators when they are made; an attribute that is set afterwards changes nothing. The
runtime makes the operators anew.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.names import candidates
from torch2ms.translator.syntax import build

__all__ = ["changed_setting"]

_SETTINGS = frozenset({"momentum", "eps", "p", "stride", "padding", "dilation", "padding_mode", "ceil_mode"})


def changed_setting(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``settings.change(layer, "momentum", value)`` for an assignment to a setting of a layer of torch's."""
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1 or not isinstance(updated, cst.Assign):
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if not isinstance(target, ast.Attribute) or target.attr not in _SETTINGS or not isinstance(code, cst.Attribute):
        return updated
    base = ctx.kind(target.value)
    names = candidates(base)
    if base.name != "Module" or base.evidence in ("self", "super") or not names or any(":" in n for n in names):
        return updated
    change = ctx.reference("torch2ms.runtime.settings.change")
    name = ctx.literal(f"'{target.attr}'")
    call = build("{f}({x}, {name}, {value})", f=change, x=code.value, name=name, value=updated.value)
    return cst.Expr(call)
