"""Two names of one tensor: after ``h = x``, what torch changes in place under one name has changed under the other."""

from __future__ import annotations

import ast

from torch2ms.translator.effects.liveness import read_again
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_given_up", "twin_of"]


def twin_of(name: str, use: ast.AST | None, ctx: FileFacts) -> ast.Name | None:
    """Return the ``x`` that ``name`` was bound to in the same block before ``use``, where both still hold one tensor.

    Both can be bound anew then, which is what torch does as far as the function can see; None for all else.
    """
    parent = ctx.parent(use) if use is not None else None
    block = getattr(parent, "body", [])
    if ctx.functions[-1] is None or not isinstance(block, list) or use not in block:
        return None
    bound: set[str] = set()
    for statement in reversed(block[: block.index(use)]):
        twin = _other_name(statement, name)
        if twin is not None:
            is_own = twin.id not in bound and twin.id != name and ctx.kind(twin).is_tensor
            return twin if is_own and _is_local(twin.id, ctx) else None
        if not (isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", "") == name):
            bound |= {node.id for node in walk(statement) if isinstance(node, ast.Name) and _is_bound(node)}
        if name in bound:
            return None
    return None


def _other_name(statement: ast.stmt, name: str) -> ast.Name | None:
    """Return the ``x`` of a statement ``name = x``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return None
    return statement.value if [getattr(target, "id", "") for target in statement.targets] == [name] else None


def _is_bound(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_local(name: str, ctx: FileFacts) -> bool:
    """Whether a name is an argument of the function around, or bound in it, and no name of an outer function."""
    info = ctx.functions[-1]
    if info is None or isinstance(info.node, ast.Lambda):
        return False
    arguments = info.node.args
    if name in {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}:
        return True
    nodes = [node for statement in info.node.body for node in walk(statement)]
    outer = any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in nodes)
    return not outer and any(isinstance(node, ast.Name) and node.id == name and _is_bound(node) for node in nodes)


def is_given_up(name: str, use: ast.AST, ctx: FileFacts) -> bool:
    """Whether nothing reads a local name behind ``use``: after ``y = x``, ``y`` is then the one name of the tensor."""
    info = ctx.functions[-1]
    if info is None or not _is_local(name, ctx) or read_again(name, use, ctx):
        return False
    inner = [n for n in walk(info.node) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not info.node]
    return not any(getattr(part, "id", "") == name for node in inner for part in walk(node))
