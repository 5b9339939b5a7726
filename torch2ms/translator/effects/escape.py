"""Tensors that something else holds as well as the expression that gives them."""

from __future__ import annotations

import ast

from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_held"]


def is_held(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression gives a tensor that something else holds as well.

    ``x[...] = y`` lets ``x`` have the memory of ``y`` where their sizes agree, and what is written into the one is seen
    in the other (2.7 to 2.10).
    """
    if isinstance(tree, ast.Call):  # x.detach(), x.view(-1): what is computed is new
        shared = shared_memory(tree, ctx)
        return shared is not None and any(is_held(source, ctx) for source in shared.sources)
    named = isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript))
    return named and ctx.kind(tree).name in ("Tensor", "Parameter", "unknown")
