"""Scopes: which names a function binds, what it reads of them, and where a block ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.names import imported
from torch2ms.translator.trees import children, walk

__all__ = ["as_load", "attributes_used", "leaves", "local_names"]


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


def attributes_used(node: ast.AST) -> dict[str, frozenset[str]]:
    """Return, for every plain name in a function, the attributes read from it."""
    used: dict[str, set[str]] = {}
    for child in walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
            used.setdefault(child.value.id, set()).add(child.attr)
    return {name: frozenset(attributes) for name, attributes in used.items()}
