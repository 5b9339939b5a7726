"""Whether a call stays within the limits of a target that is not exact: then it computes what PyTorch computes.

A row names the limits beyond which alone a target differs (``limits``):

- ``device``: it is documented for fewer devices than there are; portable code runs on the others;
- ``gradient``: no gradient flows through it, or not every one; the project asks for gradients;
- ``infinite``: the file writes infinity down;
- ``basis``: what it gives is one of several right answers, of which PyTorch may give another;
- ``layout``: the input may lie in memory in another order than that of its axes;
- ``dense``: what is sparse in PyTorch takes the memory of a dense tensor.
"""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.schema import Limit, MappedTo
from torch2ms.translator.context import Context
from torch2ms.translator.edges import names_infinity
from torch2ms.translator.empties import input_of
from torch2ms.translator.recipes.differentiation import GRADIENTS, asks_for_gradients
from torch2ms.translator.recording import is_creation, requires_grad
from torch2ms.translator.shown_values import values_of

__all__ = ["passes_limits"]

_NUMBERS = ("int", "float", "bool", "list", "tuple")  # what a tensor is made of whose order is none of another's


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
    if limit == "layout":
        return not _is_just_made(input_of(tree, ctx) if isinstance(tree, ast.Call) else None, ctx)
    return limit == "infinite" and ctx.once(names_infinity)


def _is_just_made(given: ast.expr | None, ctx: Context) -> bool:
    """Whether a tensor is what one call made of numbers: it lies in memory in the order of its axes."""
    values = values_of(given, ctx) if isinstance(given, ast.Name) else [] if given is None else [given]
    made = values[0] if len(values) == 1 and is_creation(values[0]) else None
    return isinstance(made, ast.Call) and all(ctx.kind(arg).name in _NUMBERS for arg in made.args)
