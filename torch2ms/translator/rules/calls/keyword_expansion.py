"""``f(x, **options)`` with the options written out, where the file shows which they are: then they can be renamed."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import code_of, fix_commas, parse_expression
from torch2ms.translator.values.containers import CHANGING
from torch2ms.translator.values.queries.known_values import values_of

__all__ = ["spread_options"]

_MANY = 6  # more options than that are not written out


def spread_options(updated: cst.Call, tree: ast.Call, ctx: Context) -> tuple[cst.Call, ast.Call] | None:
    """Return a call with ``name=options["name"]`` for ``**options``, numbers and texts as they are; None if unknown."""
    if any(arg.star == "*" for arg in updated.args) or not any(arg.star for arg in updated.args):
        return None
    args: list[cst.Arg] = []
    keywords: list[ast.keyword] = []
    waiting = iter(tree.keywords)
    for arg in updated.args:
        keyword = next(waiting) if arg.star or arg.keyword is not None else None
        if keyword is None or keyword.arg is not None:
            args.append(arg)
            keywords += [keyword] if keyword is not None else []
            continue
        options = _options(keyword.value, ctx)
        if options is None or len(options) > _MANY:
            return None
        for name, value in options.items():
            code = _code(name, value, arg.value)
            equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            args.append(cst.Arg(code, cst.Name(name), equal=equal))
            keywords.append(ast.keyword(name, value))
    plain = ast.copy_location(ast.Call(tree.func, tree.args, keywords), tree)
    return updated.with_changes(args=fix_commas(args, ())), plain


def _code(name: str, value: ast.expr, holder: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, ast.Constant) or not isinstance(holder, cst.Name):
        return parse_expression(ast.unparse(value))
    return parse_expression(f'{code_of(holder)}["{name}"]')


def _options(tree: ast.expr, ctx: Context) -> dict[str, ast.expr] | None:
    """Return the options that a dictionary holds, None where the file does not show all of them."""
    if isinstance(tree, ast.Name):
        values = values_of(tree, ctx)
        return _options(values[0], ctx) if len(values) == 1 and _is_constant(tree.id, ctx) else None
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "dict" and not tree.args:
        named = {word.arg: word.value for word in tree.keywords if word.arg}
        return named if len(named) == len(tree.keywords) else None
    if not isinstance(tree, ast.Dict):
        return None
    found: dict[str, ast.expr] = {}
    for key, value in zip(tree.keys, tree.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value.isidentifier():
            return None
        found[key.value] = value
    return found


def _is_constant(name: str, ctx: Context) -> bool:
    """Whether a dictionary is only read: by its keys, or spread out in calls."""
    for node in ctx.analysis.all(ast.Name):
        if node.id != name:
            continue
        parent = ctx.parent(node)
        if isinstance(node.ctx, ast.Store):
            if not isinstance(parent, ast.Assign):
                return False
        elif isinstance(parent, ast.Subscript):
            if not isinstance(parent.ctx, ast.Load):
                return False
        elif isinstance(parent, ast.Attribute):
            if parent.attr in CHANGING:
                return False
        elif not (isinstance(parent, ast.keyword) and parent.arg is None):
            return False
    return True
