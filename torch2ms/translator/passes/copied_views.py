"""Values written into what shares memory in PyTorch and not in MindSpore: ``c.real[0] = 1``, ``y = x.flatten(1)``."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.inference.scopes import root_of
from torch2ms.translator.names import candidates

__all__ = ["report_copied_view"]

# Views that MindSpore computes anew
_COPIED = frozenset({"real", "imag", "flatten", "ravel", "unfold", "unflatten", "view_as_real", "broadcast_tensors"})


def report_copied_view(tree: ast.AST | None, ctx: Context) -> None:
    """Report an assignment of elements whose tensor is a copy in MindSpore of the one that torch changes."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign)):
        return
    for target in tree.targets if isinstance(tree, ast.Assign) else [tree.target]:
        if isinstance(target, ast.Subscript) and ctx.kind(target.value).is_tensor:
            shown = _copied(target.value, ctx)
            if shown:
                message = f"{shown} shares its memory in torch and is a copy in MindSpore, where only the copy changes"
                ctx.report("T2M305", tree, message, symbol="torch.Tensor.__setitem__")


def _copied(value: ast.expr, ctx: Context) -> str:
    """Return the view that an expression is, or that the one binding of a name gives it; empty where it is none."""
    if isinstance(value, ast.Name):
        binding = ctx.once(_bindings).get((_scope(value, ctx), value.id))
        view = _view(binding, ctx) if binding is not None else None
        return ast.unparse(view) if view is not None and root_of(view) != value.id and binding is not None else ""
    view = _view(value, ctx)
    return ast.unparse(view) if view is not None else ""


def _view(value: ast.expr, ctx: Context) -> ast.expr | None:
    function = value.func if isinstance(value, ast.Call) else value
    if not isinstance(function, ast.Attribute) or function.attr not in _COPIED:
        return None
    api = ctx.kind(function)
    if api.name == "api":
        return value if candidates(api) == (f"torch.{function.attr}",) and isinstance(value, ast.Call) else None
    return value if ctx.kind(function.value).is_tensor else None


def _bindings(ctx: Context) -> dict[tuple[ast.AST | None, str], ast.expr | None]:
    """Return what each name is bound to in its function; None where that is several things, or not an expression."""
    found: dict[tuple[ast.AST | None, str], ast.expr | None] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            parent = ctx.parent(node)
            key = (_scope(node, ctx), node.id)
            found[key] = parent.value if isinstance(parent, ast.Assign) and key not in found else None
    return found


def _scope(tree: ast.AST, ctx: Context) -> ast.AST | None:
    parent = ctx.parent(tree)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = ctx.parent(parent)
    return parent
