"""What a function that is differentiated returns besides the value: which of it MindSpore takes for an output."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.use_evidence import is_network, uses

__all__ = ["is_no_output", "is_output"]

_OUTPUTS = frozenset({"Tensor", "Parameter", "list", "dict", "tuple"})


def is_output(name: str, body: Sequence[ast.stmt], carried: Collection[str], ctx: Context) -> bool:
    """Whether a step binds a name to what is known to be a tensor or a container, or to what a network returns.

    ``carried`` are the names whose value comes from the step before.
    """
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Name) and node.id == name and ctx.kind(node).name in _OUTPUTS:
                return True
            if isinstance(node, ast.Assign) and name in {
                part.id for target in node.targets for part in walk(target) if isinstance(part, ast.Name)
            }:
                value = _part_of(node, name)
                if value is node.value and isinstance(node.targets[0], ast.Tuple) and name not in carried:
                    continue  # one of several results may be a number or an array; a state that is carried on is not
                if ctx.kind(value).name in _OUTPUTS:
                    return True
                if isinstance(value, ast.Call) and _is_network(value.func, ctx):
                    return True
    return False


def _part_of(node: ast.Assign, name: str) -> ast.expr:
    """Return what an assignment gives to a name: its part where both sides are written out, else the whole."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, item in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Name) and part.id == name:
                return item
    return value


def _is_network(tree: ast.expr, ctx: Context) -> bool:
    """Whether what is called is a network, or nothing is known of it and it is asked for weights or a mode."""
    kind = ctx.kind(tree)
    return kind.name == "Module" or (not kind.known and is_network(uses(ctx.analysis.tree).of(tree)))


def is_no_output(name: str, body: Sequence[ast.stmt], ctx: Context) -> bool:
    """Whether all that is bound to a name is known and no tensor or container: a distribution, a number."""
    found = []
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == name for t in node.targets):
                found.append(ctx.kind(node.value))
            elif isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                found.append(ctx.kind(node))
    return bool(found) and all(kind.known and kind.name not in _OUTPUTS for kind in found)
