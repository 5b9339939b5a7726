"""Gradients of weights that an attack leaves behind in torch, and that a gradient by the input alone does not give.

``loss.backward()`` of an attack fills the gradients of the network as well. Where the step that calls it resets them
before the attack, and not behind it, torch updates the weights by the sum of both. MindSpore's gradient function gives
that of the input only.
"""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.trees import walk

__all__ = ["step_that_adds"]

_EVENTS = ("zero_grad", "backward", "step")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def step_that_adds(tree: ast.Call, ctx: Context) -> int:
    """Return the line where a step calls the function of a backward call between its reset and its own; else 0."""
    unit = next((one for one in ctx.training.leaves.units if one.call is tree and one.is_backward), None)
    function = _function(tree, ctx)
    if unit is None or unit.network or function is None or _events(function, after=tree.lineno):
        return 0
    made = (node for part in [*unit.body, unit.loss] for node in walk(part) if isinstance(node, ast.Call))
    if not any(_may_be_network(call, ctx) for call in made):
        return 0
    for call in ctx.analysis.all(ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        around = _function(call, ctx) or ctx.analysis.tree
        if name != getattr(function, "name", "") or around is function:
            continue
        early, late = _events(around, before=call.lineno), _events(around, after=call.lineno)
        if "zero_grad" in early[-1:] and late[:1] == ["backward"] and "step" in late:
            return call.lineno
    return 0


def _function(tree: ast.AST, ctx: Context) -> ast.AST | None:
    node: ast.AST | None = tree
    while node is not None and not isinstance(node, _FUNCTIONS):
        node = ctx.parent(node)
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
