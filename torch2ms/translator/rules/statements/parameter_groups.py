"""``optimizer.param_groups = groups``: MindSpore's optimizers keep theirs, and are given the settings."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import Leave, Replace
from torch2ms.translator.syntax.cst_builders import build

__all__ = ["put_groups", "written_groups"]

_NAME = "torch.optim.Optimizer.param_groups"


def written_groups(updated: cst.Attribute, tree: ast.Attribute, name: str, ctx: Context) -> Replace | Leave:
    """Return the target of a statement that gives an optimizer parameter groups; what else is written to stays."""
    small = ctx.small
    if name != _NAME or not isinstance(small, ast.Assign) or small.targets != [tree]:
        return Leave("it is written to, and MindSpore only lets it be read")
    ctx.puts_groups.add(tree)
    return Replace(updated)


def put_groups(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``groups.put(optimizer, value)`` for such a statement; else what it is."""
    if not isinstance(tree, ast.Assign) or not isinstance(updated, cst.Assign):
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if not isinstance(target, ast.Attribute) or target not in ctx.puts_groups or not isinstance(code, cst.Attribute):
        return updated
    put = ctx.reference("torch2ms.runtime.groups.put")
    return cst.Expr(build("{put}({x}, {value})", put=put, x=code.value, value=updated.value))
