"""Whether a call stays within the limits of a target that is not exact: then it computes what PyTorch computes.

A row names the limits beyond which alone a target differs (``limits``):

- ``device``: it is documented for fewer devices than there are; portable code runs on the others;
- ``gradient``: no gradient flows through it, or not every one; the project asks for gradients;
- ``infinite``: the file writes infinity down;
- ``basis``: what it gives is one of several right answers, of which PyTorch may give another;
- ``dense``: what is sparse in PyTorch takes the memory of a dense tensor.
"""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.schema import Limit, MappedTo
from torch2ms.translator.context import Context
from torch2ms.translator.edges import names_infinity
from torch2ms.translator.empties import input_of
from torch2ms.translator.recipes.differentiation import GRADIENTS, asks_for_gradients
from torch2ms.translator.recording import requires_grad

__all__ = ["passes_limits"]


def passes_limits(option: MappedTo, tree: ast.AST, ctx: Context) -> bool:
    """Whether a program may get something else from a target than from PyTorch, by the limits that its row names."""
    return not option.limits or any(_is_passed(limit, tree, ctx) for limit in option.limits)


def _is_passed(limit: Limit, tree: ast.AST, ctx: Context) -> bool:
    if limit == "device":
        return ctx.target.device not in ("portable", "cpu")
    if limit == "gradient":
        given = input_of(tree, ctx) if isinstance(tree, ast.Call) else None
        asked = asks_for_gradients(ctx) or any(map(ctx.world.symbols.callers, GRADIENTS))
        return asked and (given is None or requires_grad(given, ctx) is not False)
    return limit == "infinite" and ctx.once(names_infinity)
