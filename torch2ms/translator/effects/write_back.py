"""Working copies of weights: ``q = p.data.float()``, changed in place, and ``p.data.copy_(q)``.

In float32 ``q`` is the weight's own memory in torch, and a tensor of its own in MindSpore. That is the same where the
weight gets what the copy holds before anything reads it.
"""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_written_back"]

_KEEPING = frozenset({"float", "double", "half", "to", "type", "type_as", "contiguous", "detach"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_written_back(name: str, use: ast.AST, ctx: FileFacts) -> bool:
    """Whether the weight that ``name`` was made from gets its value behind a change, before anything else reads it."""
    statement, loop = ctx.small, _loop_around(use, ctx)
    if statement is None or loop is None:
        return False
    nodes = list(walk(loop))
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    bound = [ctx.parent(node) for node in names if not isinstance(node.ctx, ast.Load)]
    made = bound[0] if len(bound) == 1 else None
    weight = _weight(made.value) if isinstance(made, ast.Assign) and len(made.targets) == 1 else ""
    if made is None or not weight or ctx.parent(made) is not loop or any(_is_handed_on(node, ctx) for node in names):
        return False
    node: ast.AST = statement
    while node is not loop:
        above = ctx.parent(node)
        assert above is not None
        if isinstance(above, _LOOPS) and above is not loop:
            return False
        for later in _behind(node, above):
            if _writes_back(later, name, weight):
                return True
            if any(isinstance(part, ast.Name) and part.id == weight for part in walk(later)):
                return False
        node = above
    return False


def _loop_around(node: ast.AST, ctx: FileFacts) -> ast.AST | None:
    """Return the innermost loop around a place that binds what is gone over: ``for p in group['params']``."""
    above = ctx.parent(node)
    while above is not None and not isinstance(above, (*_LOOPS, *_FUNCTIONS)):
        above = ctx.parent(above)
    return above if isinstance(above, ast.For) else None


def _weight(value: ast.expr) -> str:
    """Return ``p`` of ``p.data``, ``p.data.float()``, ``p.detach().to(torch.float32)``."""
    cut = False
    while True:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPING:
            cut, value = cut or value.func.attr == "detach", value.func.value
        elif isinstance(value, ast.Attribute) and value.attr == "data":
            cut, value = True, value.value
        else:
            return value.id if cut and isinstance(value, ast.Name) else ""


def _is_handed_on(node: ast.Name, ctx: FileFacts) -> bool:
    """Whether another name or a container may hold the copy."""
    parent = ctx.parent(node)
    if not isinstance(node.ctx, ast.Load):
        return False
    return not isinstance(parent, (ast.Attribute, ast.BinOp, ast.Call, ast.keyword, ast.UnaryOp, ast.Compare))


def _behind(node: ast.AST, above: ast.AST) -> list[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(above, field, None)
        if isinstance(block, list) and node in block:
            return block[block.index(node) + 1 :]
    return []


def _writes_back(statement: ast.stmt, name: str, weight: str) -> bool:
    """Whether a statement is ``p.data.copy_(q)`` or ``p.data = q``."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        target = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "copy_" else None
        source = call.args[0] if len(call.args) == 1 else None
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, source = statement.targets[0], statement.value
    else:
        return False
    is_weight = (
        isinstance(target, ast.Attribute) and target.attr == "data" and getattr(target.value, "id", "") == weight
    )
    return is_weight and isinstance(source, ast.Name) and source.id == name
