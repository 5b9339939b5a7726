"""Second names of a tensor that an activation then changes in place: ``kept = x; x = self.conv(self.relu(x))``.

In torch the second name sees the activation. An activation that leaves its own result as it is may run for that name
alone, where the name is given: ``kept = self.relu(x)``.
"""

from __future__ import annotations

import ast

from torch2ms.translator.effects.first_layers import starts_of
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.inplace_layers import FIRST

__all__ = ["activated_by"]

_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def activated_by(tree: ast.AST | None, ctx: FileFacts) -> str:
    """Return the layer that changes what ``kept = x`` holds before anybody looks at it, as source; "" for none."""
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return ""
    target, value = tree.targets[0], tree.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.Name):
        return ""
    child: ast.AST = tree
    parent = ctx.parent(tree)
    while isinstance(parent, (ast.If, ast.FunctionDef)):
        block = next((part for part in (parent.body, getattr(parent, "orelse", [])) if child in part), None)
        for later in block[block.index(child) + 1 :] if block is not None else ():  # type: ignore[arg-type]
            if any(isinstance(node, ast.Name) and node.id == target.id for node in walk(later)):
                return ""
            layer = _activation(later, value.id, ctx)
            if layer or _changes(later, value.id):
                return layer
        child, parent = parent, ctx.parent(parent) if isinstance(parent, ast.If) else None
    return ""


def _activation(statement: ast.stmt, name: str, ctx: FileFacts) -> str:
    """Return the layer that ``x = self.conv(self.relu(x))`` always runs on ``x`` as it is."""
    bound = [ast.unparse(target) for target in getattr(statement, "targets", ())]
    if not isinstance(statement, ast.Assign) or bound != [name]:
        return ""
    sometimes = {part for node in walk(statement) if isinstance(node, _SOMETIMES) for part in walk(node)}
    for node in walk(statement):
        if isinstance(node, ast.Call) and node not in sometimes and _is_of(node, name):
            start = _activating(node, ctx)
            if start is not None:
                return ast.unparse(node.func) + start
    return ""


def _is_of(call: ast.Call, name: str) -> bool:
    return [ast.unparse(arg) for arg in call.args] == [name] and not call.keywords


def _activating(call: ast.Call, ctx: FileFacts) -> str | None:
    """Return which part of a layer activates its input: "" for all of it, ``[0]`` for a Sequential; None for none."""
    found = starts_of(call.func, ctx)
    return next((path for path in ("", FIRST, FIRST * 2) if path in found and found[path].is_repeatable), None)


def _changes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name anew, or may write into what it holds by a method."""
    for node in walk(statement):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == name and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and ast.unparse(node.value) == name:
            return True
    return False
