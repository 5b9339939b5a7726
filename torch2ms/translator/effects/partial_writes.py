"""Functions that are handed a part of a tensor and change it in place: ``scale_(x[0])``."""

from __future__ import annotations

import ast

from torch2ms.translator.effects.sharing import is_view_of_memory, what_index_gives
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_handed_parts"]


def is_handed_parts(tree: ast.expr | None, ctx: FileFacts) -> bool:
    """Whether a call in the file hands the function around a part of a tensor, by the name that is looked at.

    ``copy_`` of MindSpore does not reach the tensor behind such a part: nothing happens, or it fails (2.7 to 2.10).
    """
    while isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):  # z.uniform_().mul_(2)
        tree = tree.func.value
    function = ctx.functions[-1]
    if function is None or not isinstance(tree, ast.Name) or tree.id not in function.filled:
        return False
    place = function.filled.index(tree.id)
    for call in ctx.analysis.all(ast.Call):
        if function.name == getattr(call.func, "attr", getattr(call.func, "id", "")):
            named = [keyword.value for keyword in call.keywords if keyword.arg == tree.id]
            if any(_is_part(value, ctx) for value in (*call.args[place : place + 1], *named)):
                return True
    return False


def _is_part(value: ast.expr, ctx: FileFacts) -> bool:
    if isinstance(value, ast.Subscript) and ctx.kind(value.value).is_tensor:
        return what_index_gives(value.slice, ctx) == "part"
    return is_view_of_memory(value, ctx)
