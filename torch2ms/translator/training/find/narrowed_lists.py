"""Optimizers that train a part of what is clipped: the norm is of gradients that no step uses, and they build up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torch2ms.translator.effects.freezing import frozen
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.families import WEIGHTS

__all__ = ["trains_a_part"]


def trains_a_part(given: Sequence[ast.expr], clipped: Sequence[ast.expr], tree: ast.AST) -> bool:
    """Whether an optimizer certainly has fewer weights than a clipped list has, and the others have gradients.

    ``given`` and ``clipped`` are what the two are made of, names followed. A program that freezes weights has none of
    theirs in either.
    """
    mine, whole = ([part for node in nodes for part in walk(node) if _is_list(part)] for nodes in (given, clipped))
    if len(mine) != 1 or len(whole) != 1 or any(frozen(node) for node in walk(tree)):
        return False
    own, all_of = ast.unparse(_receiver(mine[0])), ast.unparse(_receiver(whole[0]))
    if any(_is_narrowed(node) for node in clipped):
        return False
    return own.startswith((f"{all_of}.", f"{all_of}[")) or (own == all_of and any(_is_narrowed(node) for node in given))


def _is_list(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in WEIGHTS


def _receiver(node: ast.AST) -> ast.expr:
    assert isinstance(node, ast.Attribute)
    return node.value


def _is_narrowed(node: ast.expr) -> bool:
    """Whether a list holds a selection: a slice, a filter, a condition other than that gradients are wanted."""
    for part in walk(node):
        if isinstance(part, ast.Subscript) and any(_is_list(inner) for inner in walk(part.value)):
            return True
        if any("requires_grad" not in ast.unparse(test) for test in _conditions(part)):
            return True
    return False


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.comprehension):
        yield from node.ifs
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filter" and node.args:
        yield node.args[0]
