"""Parts of a tensor that ``narrow`` and ``select`` name, as an index: what is assigned there has a right gradient."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.sharing import owner_of
from torch2ms.translator.rules.recipes.inplace_values import repeatable
from torch2ms.translator.syntax.cst_builders import code_of, parenthesised

__all__ = ["narrowed_part"]


_GIVEN = {"narrow": ("dim", "start", "length"), "select": ("dim", "index")}


def narrowed_part(tree: ast.expr, code: cst.BaseExpression, ctx: Context) -> tuple[cst.BaseExpression, str] | None:
    """Return ``x`` and ``i, :, a:a + n`` of ``x[i].narrow(1, a, n)``, which became ``code``; None for others."""
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr in _GIVEN):
        return None
    base, wanted = tree.func.value, _GIVEN[tree.func.attr]
    given = dict(zip(wanted, tree.args, strict=False))
    given.update((word.arg, word.value) for word in tree.keywords if word.arg in wanted)
    if len(given) != len(wanted) or not isinstance(code, cst.Call) or len(code.args) != len(wanted) + 1:
        return None
    axis, start = given["dim"], given[wanted[1]]
    if not isinstance(axis, ast.Constant) or not isinstance(axis.value, int):
        return _along(base, [given[name] for name in wanted], code, ctx)
    if not repeatable(start):
        return None
    if isinstance(start, ast.UnaryOp) and len(wanted) == 3:  # from the end: ``x[-2:-2 + 2]`` has nothing
        return None
    holder, before = _holder(base, code.args[0].value, ctx)
    named = {arg.keyword.value: arg.value for arg in code.args if arg.keyword is not None}
    if holder is None or "input" in named:
        return None
    places = [arg.value for arg in code.args if arg.keyword is None]
    numbers = [_spelled(named[name] if name in named else places[i]) for i, name in enumerate(wanted[1:], 2)]
    part = numbers[0] if len(numbers) == 1 else ":{1}" if numbers[0] == "0" else "{0}:{0} + {1}"
    return holder, ", ".join([*before, *[":"] * axis.value, part.format(*numbers)])


def _along(
    base: ast.expr, given: list[ast.expr], code: cst.Call, ctx: Context
) -> tuple[cst.BaseExpression, str] | None:
    """Return ``x`` and ``functional.along(x, dim, a, n)`` of ``x.narrow(dim, a, n)``, whatever axis ``dim`` names."""
    holder, before = _holder(base, code.args[0].value, ctx)
    plain = all(arg.keyword is None and not arg.star for arg in code.args)
    if holder is None or before or not plain or not all(repeatable(part) for part in given):
        return None
    along = code_of(ctx.reference("torch2ms.runtime.functional.along"))
    return holder, f"{along}({', '.join(code_of(arg.value) for arg in code.args)})"


def _spelled(code: cst.BaseExpression) -> str:
    """Return the text of a number, in parentheses where it is computed."""
    is_whole = isinstance(code, (cst.Integer, cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.UnaryOperation))
    return code_of(code if is_whole else parenthesised(code))


def _holder(tree: ast.expr, code: cst.BaseExpression, ctx: Context) -> tuple[cst.BaseExpression | None, list[str]]:
    """Return the tensor with a name, and the numbers that ``x[i, j]`` takes of it."""
    name = tree.value if isinstance(tree, ast.Subscript) else tree
    if not isinstance(name, ast.Name) or owner_of(name.id, name, ctx) not in ("fresh", "object"):
        return None, []  # a view, whose elements may be those of another tensor
    if name is tree and ctx.kind(tree).is_tensor:
        return code, []
    if not isinstance(tree, ast.Subscript) or not isinstance(code, cst.Subscript):
        return None, []
    numbers = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if not ctx.kind(name).is_tensor or any(ctx.kind(number).name != "int" for number in numbers):
        return None, []
    return code.value, [code_of(element.slice) for element in code.slice]
