"""Dynamic code: names looked up at run time, strings that are run, modules imported by name. Reported, not guessed."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context

__all__ = ["rewrite_dynamic"]


def rewrite_dynamic(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return a call of a Python builtin or of importlib; a literal ``getattr(torch, "relu")`` is a plain reference."""
    name = tree.func.id if isinstance(tree.func, ast.Name) else getattr(tree.func, "attr", "")
    if name in ("getattr", "hasattr") and tree.args and ctx.kind(tree.args[0]).name == "api":
        return _looked_up(name, updated, tree, ctx)
    text = _string(tree.args[0]) if tree.args else ""
    if name in ("eval", "exec") and isinstance(tree.func, ast.Name) and "torch" in text:
        ctx.report("T2M502", tree, f"{name}() runs code that names torch; the string is left as it is")
    if name in ("import_module", "__import__") and text.partition(".")[0] in ("torch", "torchvision"):
        ctx.report("T2M503", tree, f"{text} is imported by its name; the string is left as it is")
    return updated


def _looked_up(name: str, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    owner = ctx.kind(tree.args[0]).of
    attribute = _string(tree.args[1]) if len(tree.args) > 1 else ""
    row = ctx.tables.row(ctx.tables.canonical(f"{owner}.{attribute}")) if attribute and "|" not in owner else None
    if name == "hasattr" and row is not None:
        answer = bool(row.keep or ctx.tables.select(row, ctx.target))
        ctx.report("T2M302", tree, f"whether there is a {row.name} was answered from the tables", symbol=row.name)
        return cst.Name(str(answer))
    if name == "getattr" and row is not None:
        options = ctx.tables.select(row, ctx.target)
        option = options[0] if options else None
        plain = option is not None and not (option.rename or option.recipe or option.add or option.transform)
        if option is not None and plain and not option.target.startswith("@") and ".Tensor." not in option.target:
            return ctx.reference(option.target)
    shown = f"{owner}.{attribute}" if attribute else ast.unparse(tree)
    ctx.report("T2M501", tree, f"{shown} is looked up at run time", symbol=owner)
    return updated


def _string(tree: ast.expr) -> str:
    return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, str) else ""
