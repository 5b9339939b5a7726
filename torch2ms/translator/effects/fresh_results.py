"""Functions of the project whose result is a tensor of its own: ``return (a - b).mean()``; nobody else holds it."""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates

__all__ = ["makes_its_result"]

_TORCH = frozenset({"torch", "F", "nn", "functional"})  # what files call torch and its functions
_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Compare)
_READING = (*_COMPUTED, ast.Return, ast.AugAssign)


def makes_its_result(call: ast.Call, ctx: FileFacts) -> bool:
    """Whether every function that a call may run computes what it returns."""
    keys = candidates(ctx.kind(call.func))
    infos = [ctx.world.function(key) for key in keys if ":" in key]
    return (
        bool(infos)
        and len(infos) == len(keys)
        and all(info is not None and isinstance(info.node, ast.FunctionDef) and _computes(info.node) for info in infos)
    )


def _computes(function: ast.FunctionDef) -> bool:
    nodes = list(own(function))
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    if not returned or function.decorator_list or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in nodes):
        return False
    return all(value is not None and _is_made(value, nodes) for value in returned)


def _is_made(value: ast.expr, nodes: list[ast.AST]) -> bool:
    if isinstance(value, ast.Name):
        return _is_local(value.id, nodes)
    if isinstance(value, _COMPUTED):
        return True
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    name = value.func.attr
    if load_facts().may_share(name) or name.endswith("_") or _may_be_in_place(value):
        return False
    path = dotted_path(value.func)
    is_torch = path is not None and path.partition(".")[0] in _TORCH and not name[:1].isupper()
    return is_torch or _is_made(value.func.value, nodes)


def _may_be_in_place(call: ast.Call) -> bool:
    """Whether a call may say that its input is to hold the result: ``F.relu(x, True)``."""
    named = any(word.arg in ("inplace", "out", None) for word in call.keywords)
    return named or any(isinstance(arg, ast.Constant) and arg.value is True for arg in call.args)


def _is_local(name: str, nodes: list[ast.AST]) -> bool:
    """Whether a name holds nothing but what the function computes, and nothing else is given it."""
    bound = [n for n in nodes if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [name]]
    stores = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    changed = [n for n in nodes if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == name]
    if not bound or len(stores) != len(bound) + len(changed):
        return False
    reads = [
        parent
        for parent in nodes
        for child in children(parent)
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load)
    ]
    plain = all(isinstance(parent, _READING) for parent in reads)
    values = [node.value for node in bound]
    return plain and all(not isinstance(value, ast.Name) and _is_made(value, nodes) for value in values)
