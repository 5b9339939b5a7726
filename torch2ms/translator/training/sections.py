"""Scripts that show one thing after the other: gradients by tensors first, a training step of a network behind them."""

from __future__ import annotations

import ast

from torch2ms.translator.dataflow import effects, live_in
from torch2ms.translator.trees import walk

__all__ = ["sections"]


def sections(tree: ast.Module) -> list[ast.Module]:
    """Return the parts of a script whose gradients have nothing to do with each other; often it is one.

    In front of the cut nothing takes a step, and behind it nothing is read that was bound in front of it, but imports.
    """
    starts = [index for index, statement in enumerate(tree.body) if _has_backward(statement)]
    for first, following in zip(starts[-2::-1], starts[:0:-1], strict=True):
        cut = 1 + max([first, *(i for i in range(first, following) if "grad" in _attributes(tree.body[i]))])
        front, behind = tree.body[:cut], tree.body[cut:]
        if _are_apart(front, behind):
            return [ast.Module(front, []), ast.Module(behind, [])]
    return [tree]


def _has_backward(statement: ast.stmt) -> bool:
    """Whether a statement of a script calls ``backward``, itself or in a loop; what a function does is its own."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    calls = (node for node in walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "backward" for call in calls)


def _attributes(statement: ast.stmt) -> set[str]:
    return {node.attr for node in walk(statement) if isinstance(node, ast.Attribute)}


def _are_apart(front: list[ast.stmt], behind: list[ast.stmt]) -> bool:
    asked = [set[str]().union(*map(_attributes, part)) for part in (front, behind)]
    if asked[0] & {"step", "zero_grad"} or "step" not in asked[1]:
        return False
    imports = [statement for statement in front if isinstance(statement, (ast.Import, ast.ImportFrom))]
    made = effects([statement for statement in front if statement not in imports]).binds
    return made.isdisjoint(live_in(behind))
