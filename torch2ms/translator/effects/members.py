"""Tensors that lists, dictionaries and attributes hold, and which of them a file changes in place."""

from __future__ import annotations

import ast

from torch2ms.translator.values.containers import PUTTING
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.scopes import root_of

__all__ = ["changed_members", "is_handed_tensor", "member_names"]


def member_names(tree: ast.expr, ctx: FileFacts) -> set[str]:
    """Return the names of the containers, and attributes, that a value is put into as it is."""
    child: ast.AST = tree
    parent = ctx.parent(tree)
    while isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.comprehension, ast.ListComp)):
        child, parent = parent, ctx.parent(parent)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and child in parent.args:
        return {_name(parent.func.value)} - {""} if parent.func.attr in PUTTING else set()
    if not isinstance(parent, ast.Assign) or parent.value is not child:
        return set()
    return {_name(target) for target in parent.targets if child is not tree or not isinstance(target, ast.Name)} - {""}


def changed_members(ctx: FileFacts) -> set[str]:
    """Return the containers, and attributes, of which a member is changed in place: ``xs[0].add_(1)``."""
    found: set[str] = set()
    loops = {
        node.target.id: node.iter
        for node in ctx.analysis.nodes
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    for node in ctx.analysis.nodes:
        changed = _changed(node)
        if isinstance(changed, ast.Name) and changed.id in loops:
            found.add(_name(loops[changed.id]))
        elif isinstance(changed, (ast.Subscript, ast.Attribute)):
            found.add(_name(changed))
    return found - {""}


def is_handed_tensor(attribute: str, ctx: FileFacts) -> bool:
    """Whether an object keeps a tensor under this name that its class is called with: ``self.t = t``, ``Box(x)``."""
    for node in ctx.analysis.nodes:
        held = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(node.targets) == 1
        if not held or not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
            continue
        maker = ctx.parent(node)
        owner = ctx.parent(maker) if isinstance(maker, ast.FunctionDef) and maker.name == "__init__" else None
        if node.targets[0].attr != attribute or not isinstance(owner, ast.ClassDef):
            continue
        assert isinstance(maker, ast.FunctionDef)
        names = [arg.arg for arg in maker.args.args[1:]]
        if isinstance(node.value, ast.Name) and node.value.id in names:
            place = names.index(node.value.id)
            calls = (n for n in ctx.analysis.nodes if isinstance(n, ast.Call) and _is_call_of(n, owner.name))
            if any(len(call.args) > place and ctx.kind(call.args[place]).is_tensor for call in calls):
                return True
    return False


def _is_call_of(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _changed(node: ast.AST) -> ast.expr | None:
    """Return the tensor whose elements a node changes."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        return node.func.value if name.endswith("_") and not name.endswith("__") else None
    return None


def _name(tree: ast.expr) -> str:
    """Return the name of the container that an expression is or is taken from, or that of an attribute."""
    while isinstance(tree, ast.Subscript):
        tree = tree.value
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        return _name(tree.func.value)  # for t in d.values()
    return tree.attr if isinstance(tree, ast.Attribute) else root_of(tree) or ""
