"""Gradients of weights that an attack leaves behind in torch, and that a gradient by the input alone does not give.

``loss.backward()`` of an attack fills the gradients of the network as well. Where the step that calls it resets them
before the attack, and not behind it, torch updates the weights by the sum of both. MindSpore's gradient function gives
that of the input only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import children, walk

__all__ = ["step_that_adds"]

_EVENTS = ("zero_grad", "backward", "step")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def step_that_adds(tree: ast.Call, ctx: Context) -> str:
    """Return where a step calls the function of a backward call between its reset and its own; else nothing.

    Steps of other files count as well: what attacks often has a file of its own.
    """
    unit = next((one for one in ctx.training.leaves.units if one.call is tree and one.is_backward), None)
    function = _function(tree, ctx.parent)
    if unit is None or unit.network or function is None or _events(function, after=tree.lineno):
        return ""
    made = (node for part in [*unit.body, unit.loss] for node in walk(part) if isinstance(node, ast.Call))
    if not any(_may_be_network(call, ctx) for call in made):
        return ""
    line = _step(ctx.analysis.tree, function, ctx)
    if line:
        return f"line {line}"
    for path in _others(function, ctx):
        other = ctx.world.tree(path)
        line = _step(other, function, ctx) if other is not None else 0
        if line:
            return f"line {line} of {path}"
    return ""


def _others(function: ast.AST, ctx: Context) -> list[str]:
    """Return the other files that may call a function, or make an object that is called for it."""
    symbols = ctx.world.symbols
    named = [*symbols.callers(getattr(function, "name", "")), *symbols.callers(_class_name(function, ctx))]
    return [path for path in dict.fromkeys(named) if path != ctx.path and symbols.calls_any(path, _BACKWARD)]


_BACKWARD = frozenset({"backward"})


def _class_name(function: ast.AST, ctx: Context) -> str:
    """Return the name of the class whose objects are called for a function; empty where it is called by its own."""
    parent = ctx.parent(function)
    is_call = getattr(function, "name", "") in ("forward", "__call__")
    return parent.name if is_call and isinstance(parent, ast.ClassDef) else ""


def _step(tree: ast.Module, function: ast.AST, ctx: Context) -> int:
    """Return the line where a step of a file calls a function between its reset and its own backward call; else 0."""
    parents = {id(child): node for node in walk(tree) for child in children(node)}
    names = {getattr(function, "name", "")}
    maker = _class_name(function, ctx)
    if maker:
        names = {
            _last(t) for n in walk(tree) if isinstance(n, ast.Assign) and _last(n.value) == maker for t in n.targets
        }
    for call in walk(tree):
        around = _function(call, lambda node: parents.get(id(node))) or tree
        if not isinstance(call, ast.Call) or _last(call) not in names or around is function:
            continue
        early, late = _events(around, before=call.lineno), _events(around, after=call.lineno)
        if "zero_grad" in early[-1:] and late[:1] == ["backward"] and "step" in late:
            return call.lineno
    return 0


def _last(node: ast.AST) -> str:
    """Return the last name of what an expression is, or of what it calls."""
    named = node.func if isinstance(node, ast.Call) else node
    return getattr(named, "attr", "") or getattr(named, "id", "")


def _function(tree: ast.AST, parent: Callable[[ast.AST], ast.AST | None]) -> ast.AST | None:
    node: ast.AST | None = tree
    while node is not None and not isinstance(node, _FUNCTIONS):
        node = parent(node)
    return node


def _events(scope: ast.AST, *, before: float = float("inf"), after: float = 0) -> list[str]:
    """Return what a scope does with gradients between two lines, in order."""
    nodes = (node for node in walk(scope) if isinstance(node, ast.Attribute) and node.attr in _EVENTS)
    return [node.attr for node in sorted(nodes, key=lambda node: node.lineno) if after < node.lineno < before]


def _may_be_network(call: ast.Call, ctx: Context) -> bool:
    """Whether a call may be that of a network with weights: of what a function is handed, say."""
    kind = ctx.kind(call.func)
    if kind.name == "Module":
        return not kind.of.startswith("torch.nn.") or kind.of == "torch.nn.Sequential"
    return not kind.known and isinstance(call.func, (ast.Name, ast.Attribute))
