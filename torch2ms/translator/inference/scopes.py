"""Scopes: which names a function binds, what it reads of them, and where a block ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.names import imported
from torch2ms.translator.trees import children, walk

__all__ = ["as_load", "leaves", "local_names", "members_used"]


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block always leaves by return, raise, continue or break."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def as_load(target: ast.expr) -> ast.expr:
    """Return the target of an augmented assignment as the value it reads first."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def local_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names a function binds itself."""
    bound = {arg.arg for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    bound |= {arg.arg for arg in (node.args.vararg, node.args.kwarg) if arg is not None}
    outside: set[str] = set()
    stack: list[ast.AST] = list(node.body) if not isinstance(node, ast.Lambda) else [node.body]
    while stack:
        current = stack.pop()
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(current.name)
            continue
        if isinstance(current, (ast.Global, ast.Nonlocal)):
            outside.update(current.names)
        elif isinstance(current, ast.Name) and not isinstance(current.ctx, ast.Load):
            bound.add(current.id)
        elif isinstance(current, (ast.Import, ast.ImportFrom)):
            bound.update(name for name, _, _ in imported(current))
        if not isinstance(current, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            stack.extend(children(current))
    return frozenset(bound - outside)


def members_used(node: ast.AST) -> dict[str, tuple[tuple[ast.Call, ...], frozenset[str]]]:
    """Return, for every plain name in a function, the calls of its methods and the attributes read from it."""
    called: dict[str, list[ast.Call]] = {}
    read: dict[str, set[str]] = {}
    callees: set[ast.AST] = set()
    for child in walk(node):
        if isinstance(child, ast.Call):
            callees.add(child.func)
            if isinstance(child.func, ast.Attribute) and isinstance(child.func.value, ast.Name):
                called.setdefault(child.func.value.id, []).append(child)
        elif isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name) and child not in callees:
            read.setdefault(child.value.id, set()).add(child.attr)
    names = called.keys() | read.keys()
    return {name: (tuple(called.get(name, ())), frozenset(read.get(name, ()))) for name in names}
