"""Where a function changes what a name holds, behind the statement that hands it on: ``x[0] = 1``, ``x += 1``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates
from torch2ms.translator.values.scopes import root_of

__all__ = ["changes_behind", "scope_of", "written_into"]

# Methods of arrays, and functions of numpy with their first argument, that work in place.
_ARRAY_METHODS = frozenset({"fill", "sort", "put", "itemset", "partition", "setfield"})
_NUMPY_FUNCTIONS = frozenset({"copyto", "shuffle", "put", "fill_diagonal", "place", "putmask", "at", "put_along_axis"})


def scope_of(ctx: FileFacts) -> ast.AST:
    """Return the function that is being rewritten; the file outside of all functions."""
    function = ctx.functions[-1]
    return function.node if function is not None else ctx.analysis.tree


def changes_behind(names: Collection[str], call: ast.Call, ctx: FileFacts) -> Iterator[ast.expr | ast.stmt]:
    """Yield the places behind a call that change one of the names' tensors or arrays where it stands."""
    for node in walk(scope_of(ctx)):
        if getattr(node, "lineno", 0) <= call.lineno:
            continue
        if isinstance(node, ast.AugAssign):
            changed = node.target.id if isinstance(node.target, ast.Name) else None
        elif isinstance(node, ast.Subscript):
            changed = root_of(node) if isinstance(node.ctx, ast.Store) else None
        else:
            changed = _changed_by(node, ctx) if isinstance(node, ast.Call) else None
        if changed in names:
            assert isinstance(node, (ast.AugAssign, ast.Subscript, ast.Call))
            yield node


def _changed_by(call: ast.Call, ctx: FileFacts) -> str | None:
    """Return the name whose object a call changes: by a method, by ``out=``, by a function of numpy or torch."""
    out = next((keyword.value for keyword in call.keywords if keyword.arg == "out"), None)
    if out is not None or not isinstance(call.func, ast.Attribute):
        return root_of(out) if out is not None else None
    name = call.func.attr
    in_place = name in _ARRAY_METHODS or (name.endswith("_") and not name.endswith("__"))
    is_function = in_place and any(of.endswith(f".{name}") for of in candidates(ctx.kind(call.func)))
    if (name in _NUMPY_FUNCTIONS or is_function) and call.args:
        return root_of(call.args[0])
    return root_of(call.func.value) if in_place else None


def written_into(ctx: FileFacts) -> frozenset[str]:
    """Return what the file changes in place, as it is written: ``x`` of ``x[0] = 1``, ``x += 1``, ``x.fill_(1)``."""
    stored = [x.value for x in ctx.analysis.all(ast.Subscript) if not isinstance(x.ctx, ast.Load)]
    added = [x.target for x in ctx.analysis.all(ast.AugAssign)]
    methods = (x for x in ctx.analysis.all(ast.Attribute) if x.attr.endswith("_") and not x.attr.endswith("__"))
    return frozenset(map(ast.unparse, [*stored, *added, *(x.value for x in methods)]))
