"""Whether a loop binds a name anew in each round, so that what an earlier round put away is another tensor."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_anew_each_round", "outermost_loop"]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_anew_each_round(
    name: str, node: ast.AST, use: ast.AST, ctx: FileFacts, is_new: Callable[[ast.expr, FileFacts], bool]
) -> bool:
    """Whether the way from ``node``, which stands behind ``use``, round to ``use`` always binds ``name`` anew.

    ``is_new`` says whether an expression is something that nobody has seen yet.
    """
    around = {id(parent) for parent in _around(node, ctx)}
    child = use
    for parent in _around(use, ctx):
        if isinstance(parent, _LOOPS) and id(parent) in around:
            before = parent.body[: parent.body.index(child)] if child in parent.body else []
            made = [s for s in before if isinstance(s, ast.Assign) and [ast.unparse(t) for t in s.targets] == [name]]
            return any(is_new(statement.value, ctx) for statement in made)
        child = parent
    return False


def _around(node: ast.AST, ctx: FileFacts) -> Iterator[ast.AST]:
    parent = ctx.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        yield parent
        parent = ctx.parent(parent)


def outermost_loop(use: ast.AST, ctx: FileFacts) -> ast.AST | None:
    """Return the loop of the same function around a place that no other one is around; None where there is none."""
    found, node = None, ctx.parent(use)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            found = node
        node = ctx.parent(node)
    return found
