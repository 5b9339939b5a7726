"""Scripts that show one thing after the other: gradients by tensors, a minimum, a training step of a network."""

from __future__ import annotations

import ast

from torch2ms.translator.effects.dataflow import effects, live_in
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["sections"]

_ENDING = {"grad", "step", "zero_grad"}  # what follows a backward call


def sections(tree: ast.Module) -> list[ast.Module]:
    """Return the parts of a script whose gradients have nothing to do with each other; often it is one.

    Behind a cut nothing is read that was bound in front of it, but imports.
    """
    starts = [index for index, statement in enumerate(tree.body) if _asks_gradients(statement)]
    for first, following in zip(starts[-2::-1], starts[:0:-1], strict=True):
        earliest = 1 + max([first, *(i for i in range(first, following) if _ENDING & _attributes(tree.body[i]))])
        for cut in range(earliest, following + 1):
            front, behind = tree.body[:cut], tree.body[cut:]
            if _are_apart(front, behind):
                return [*sections(ast.Module(front, [])), ast.Module(behind, [])]
    return [tree]


def _asks_gradients(statement: ast.stmt) -> bool:
    """Whether a statement of a script asks for gradients, itself or in a loop; what a function does is its own."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    calls = (node for node in walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in ("backward", "grad") for call in calls)


def _attributes(statement: ast.stmt) -> set[str]:
    return {node.attr for node in walk(statement) if isinstance(node, ast.Attribute)}


def _are_apart(front: list[ast.stmt], behind: list[ast.stmt]) -> bool:
    imports = [statement for statement in front if isinstance(statement, (ast.Import, ast.ImportFrom))]
    made = effects([statement for statement in front if statement not in imports]).binds
    return all(_is_bound_first(name, behind) for name in made & live_in(behind))


def _is_bound_first(name: str, statements: list[ast.stmt]) -> bool:
    """Whether the first statement that has a name in it binds it: what functions behind it read is that."""
    for statement in statements:
        if any(isinstance(node, ast.Name) and node.id == name for node in walk(statement)):
            found = effects(statement)
            return isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in found.binds - found.reads
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name == name:
            return not effects(statement).reads & {name}
    return True
