"""Where the text marks a tensor as one whose gradient is wanted: ``requires_grad=True``, ``x.requires_grad_()``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["frozen", "handed_in", "is_cut", "is_marked", "is_of_another", "marks", "may_be_marked", "named_twice"]

_WORD = "requires_grad"


def marks(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """Return the variables that are marked, each with the line of the first mark."""
    found: dict[str, int] = {}
    for node in nodes:
        name = ""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id if is_marked(node.value) else ""
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_set = node.attr == _WORD and isinstance(node.ctx, ast.Store)
            name = node.value.id if is_set or node.attr == f"{_WORD}_" else ""
        if name and isinstance(node, (ast.Assign, ast.Attribute)):
            found[name] = min(node.lineno, found.get(name, node.lineno))
    return found


def frozen(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the paths of what is frozen, and never thawed: ``net.weight.requires_grad_(False)``."""
    flags: dict[str, bool] = {}
    for node in nodes:
        target, value = None, None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            target, value = node.func, node.args[0]
        path = dotted_path(target.value) if target is not None and target.attr.rstrip("_") == _WORD else None
        if path is not None:
            flags[path] = flags.get(path, False) or getattr(value, "value", None) is not False
    return frozenset(path for path, thawed in flags.items() if not thawed)


def named_twice(nodes: Iterable[ast.AST], asked: Iterable[ast.Attribute]) -> bool:
    """Whether two variables whose ``.grad`` is asked for are one tensor, ``y = x``: it has one gradient."""
    names = {node.value.id for node in asked if isinstance(node.value, ast.Name)}
    copies = (node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name))
    return any(
        node.value.id in names and not names.isdisjoint(t.id for t in node.targets if isinstance(t, ast.Name))
        for node in copies
        if isinstance(node.value, ast.Name)
    )


def is_marked(value: ast.expr) -> bool:
    """Whether an expression makes a tensor with the mark."""
    return any(
        (isinstance(node, ast.keyword) and node.arg == _WORD and getattr(node.value, "value", None) is True)
        or (isinstance(node, ast.Attribute) and node.attr == f"{_WORD}_")
        for node in walk(value)
    )


def may_be_marked(made: ast.AST) -> bool:
    """Whether a statement says anything of gradients but ``requires_grad=False``."""
    said = ast.unparse(made)
    return said.count(_WORD) > said.count(f"{_WORD}=False")


def handed_in(path: str, scope: ast.AST, nodes: Iterable[ast.AST]) -> ast.AST | None:
    """Return the function or the loop that hands a scope a variable: an argument, what a loader gives."""
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        given = scope.args
        if any(arg.arg == path for arg in [*given.posonlyargs, *given.args, *given.kwonlyargs]):
            return scope
    loops = [node for node in nodes if isinstance(node, ast.For)]
    return next((loop for loop in loops if _names(loop.target) >= {path}), None)


def _names(target: ast.AST) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def is_cut(node: ast.AST) -> bool:
    """Whether a statement makes a leaf of what another tensor holds: ``x = x.detach().requires_grad_()``."""
    if not isinstance(node, ast.Assign) or not is_marked(node.value):
        return False
    return any(isinstance(part, ast.Attribute) and part.attr in ("detach", "data") for part in walk(node.value))


def is_of_another(call: ast.AST, scope: ast.AST) -> bool:
    """Whether ``optimizer.zero_grad()`` is for a parameter of a function whose steps are all those of others."""
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "zero_grad" or not isinstance(func.value, ast.Name):
        return False
    name = func.value.id
    if "opt" not in name or handed_in(name, scope, ()) is None:
        return False
    steps = [n.value for n in walk(scope) if isinstance(n, ast.Attribute) and n.attr == "step"]
    return bool(steps) and not any(isinstance(node, ast.Name) and node.id == name for node in steps)
