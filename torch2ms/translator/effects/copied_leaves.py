"""Copies of tensors whose gradient is wanted, ``y = deepcopy(x)``: leaves of their own, and read as such.

What a clone is computed from gets its gradient; what is copied deeply does not. Lines keep their numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.effects.gradient_marks import is_marked
from torch2ms.translator.effects.input_attacks import PLACE, edited, parses
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["with_copied_leaves"]

_COPIES = frozenset({"deepcopy", "copy.deepcopy"})


def with_copied_leaves(text: str) -> str | None:
    """Return the text with such copies written as detached clones with the mark; None where there is none."""
    if "deepcopy(" not in text or "requires_grad" not in text or ".grad" not in text:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    scopes = [node for node in walk(tree) if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))]
    places = [place for scope in scopes for place in _places(scope)]
    new = edited(text, places)
    return new if places and parses(new) else None


def _places(scope: ast.AST) -> Iterator[PLACE]:
    """Yield the copies in one scope of what its own statements make with the mark."""
    bound = [node for node in own(scope) if isinstance(node, ast.Assign)]
    for node in bound:
        call = node.value
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in _COPIES or call.lineno != call.end_lineno:
            continue
        name = call.args[0].id if len(call.args) == 1 and isinstance(call.args[0], ast.Name) else ""
        values = [n.value for n in bound if any(isinstance(t, ast.Name) and t.id == name for t in n.targets)]
        if values and all(is_marked(value) and isinstance(value, ast.Call) for value in values):
            new = f"{name}.detach().clone().requires_grad_()"
            yield call.lineno, call.col_offset, call.end_col_offset or 0, new
