"""Packages that a program asks for by their names: ``rearrange, found = optional_import("einops", name="rearrange")``.

MONAI has such a function, and others have taken it over. What stands in for the package is always there.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build

__all__ = ["asked_member"]


def asked_member(tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``(einops.rearrange, True)`` for a member of a package that has another one in its place, else None."""
    called = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
    if called != "optional_import" or not tree.args:
        return None
    given = [tree.args[0], *(word.value for word in tree.keywords if word.arg == "name")]
    texts = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if len(texts) != 2 or texts[0].partition(".")[0] != "einops":
        return None
    row = ctx.tables.row(".".join(texts))
    options = ctx.tables.select(row, ctx.target) if row is not None else ()
    if row is None or not options or options[0].target is None:
        return None
    ctx.account(tree.func, row.name, "mapped", options[0].target)
    return build("({member}, True)", member=ctx.reference(options[0].target))
