"""Whether a call stays within the limits of a target that is not exact: then it computes what PyTorch computes.

A row names the limits beyond which alone a target differs (``limits``):

- ``device``: it is documented for fewer devices than there are; portable code runs on the others;
- ``gradient``: no gradient flows through it, or not every one; the project asks for gradients;
- ``infinite``: the file writes infinity down;
- ``basis``: what it gives is one of several right answers, of which PyTorch may give another;
- ``layout``: the input may lie in memory in another order than that of its axes;
- ``dense``: what is sparse in PyTorch takes the memory of a dense tensor;
- ``stored``: a sparse tensor of PyTorch may store zeros, which the dense one that stands for it does not tell.
"""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.schema import RECEIVER, Limit, MappedTo
from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiation import GRADIENTS, asks_for_gradients
from torch2ms.translator.effects.gradient_state import is_creation, requires_grad
from torch2ms.translator.syntax.ast_walk import changed_in_place
from torch2ms.translator.values.queries.edge_cases import names_infinity
from torch2ms.translator.values.queries.emptiness import input_of
from torch2ms.translator.values.queries.known_values import values_of

__all__ = ["passes_limits"]

_NUMBERS = ("int", "float", "bool", "list", "tuple")  # what a tensor is made of whose order is none of another's


def passes_limits(option: MappedTo, tree: ast.AST, ctx: Context) -> bool:
    """Whether a program may get something else from a target than from PyTorch, by the limits that its row names."""
    return not option.limits or any(_is_passed(limit, tree, ctx) for limit in option.limits)


def _is_passed(limit: Limit, tree: ast.AST, ctx: Context) -> bool:
    if limit == "device":
        return ctx.target.device not in ("portable", "cpu")
    given = input_of(tree, ctx) if isinstance(tree, ast.Call) else None
    if limit == "gradient":
        asked = asks_for_gradients(ctx) or any(map(ctx.world.symbols.callers, GRADIENTS))
        return asked and (given is None or requires_grad(given, ctx) is not False)
    if limit == "layout":
        return not _is_just_made(given, ctx)
    if limit == "stored":
        return not _is_just_converted(given, ctx)
    return limit == "infinite" and ctx.once(names_infinity)


def _is_just_made(given: ast.expr | None, ctx: Context) -> bool:
    """Whether a tensor is what one call made of numbers: it lies in memory in the order of its axes."""
    made = _made(given, ctx)
    return made is not None and is_creation(made) and all(ctx.kind(arg).name in _NUMBERS for arg in made.args)


def _is_just_converted(given: ast.expr | None, ctx: Context) -> bool:
    """Whether a sparse tensor is what one call made of a dense one: it stores what is not zero, and nothing else."""
    made = _made(given, ctx)
    if made is None or not isinstance(made.func, ast.Attribute) or not ctx.kind(made.func.value).is_tensor:
        return False
    row = ctx.tables.row(f"torch.Tensor.{made.func.attr}")
    converts = row is not None and any(option.target == RECEIVER and "dense" in option.limits for option in row.to)
    return converts and _is_just_made(made.func.value, ctx)


def _made(given: ast.expr | None, ctx: Context) -> ast.Call | None:
    """Return the one call that makes a tensor which nothing changes in place."""
    if isinstance(given, ast.Name):
        values = values_of(given, ctx)
        given = values[0] if len(values) == 1 and given.id not in ctx.once(_changed) else None
    return given if isinstance(given, ast.Call) else None


def _changed(ctx: Context) -> frozenset[str]:
    """Return the names whose objects a file changes in place: ``x.t_()``, ``x[0] = 1``, ``x += 1``."""
    changed: list[ast.expr] = [node.target for node in ctx.analysis.all(ast.AugAssign)]
    changed += [place for node in ctx.analysis.all(ast.Call) if (place := changed_in_place(node)) is not None]
    parts: list[ast.Subscript | ast.Attribute] = [*ctx.analysis.all(ast.Subscript), *ctx.analysis.all(ast.Attribute)]
    changed.extend(node.value for node in parts if not isinstance(node.ctx, ast.Load))
    return frozenset(part.id for part in changed if isinstance(part, ast.Name))
