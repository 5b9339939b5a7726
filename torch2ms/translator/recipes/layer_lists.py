"""Lists of layers: ``nn.CellList`` takes lists, and nothing in the place of a layer."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax import build
from torch2ms.translator.trees import walk

__all__: list[str] = []


_ADDING = frozenset({"append", "insert", "extend"})


def _has_none(tree: ast.expr) -> bool:
    """Whether a list is seen to hold None, or what may be None: ``[a, b if flag else None]``."""
    if isinstance(tree, (ast.ListComp, ast.GeneratorExp)):
        return _may_be_none(tree.elt)
    if isinstance(tree, ast.BinOp):  # [None] * count, first + [None]
        return _has_none(tree.left) or _has_none(tree.right)
    return isinstance(tree, (ast.List, ast.Tuple)) and any(map(_may_be_none, tree.elts))


def _may_be_none(tree: ast.expr) -> bool:
    if isinstance(tree, ast.IfExp):
        return _may_be_none(tree.body) or _may_be_none(tree.orelse)
    return isinstance(tree, ast.Constant) and tree.value is None


def _is_given_none(name: str, ctx: Context) -> bool:
    """Whether the function puts None into the list that it calls ``name``: ``layers.append(None)``."""
    function = ctx.functions[-1]
    for node in walk(function.node if function is not None else ctx.analysis.tree):
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets) and _has_none(node.value):
            return True
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name and _has_none(node.value):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ADDING
            and any(_may_be_none(given) or _has_none(given) for given in node.args)
            and ast.unparse(node.func.value) == name
        ):
            return True
    return False


def _holds_none(site: CallSite, ctx: Context) -> bool:
    """Whether a list of layers is seen to hold None, at once or later."""
    argument, parent = site.argument("modules"), ctx.parent(site.tree)
    names = [ast.unparse(target) for target in parent.targets] if isinstance(parent, ast.Assign) else []
    if argument is not None:
        if _has_none(argument.tree):
            return True
        if isinstance(argument.tree, (ast.Name, ast.Attribute)):
            names.append(ast.unparse(argument.tree))
    return any(_is_given_none(name, ctx) for name in names)


def _is_star(tree: ast.expr, ctx: Context) -> bool:
    """Whether an expression is the function's ``*args``: a tuple, though it is typed like a list."""
    function = ctx.functions[-1]
    star = function.node.args.vararg if function is not None else None
    return star is not None and isinstance(tree, ast.Name) and tree.id == star.arg


_EMPTY = "an empty CellList would give the layers of every such list the same names"


@recipe("cell_list")
def cell_list(site: CallSite, ctx: Context) -> Outcome:
    """``nn.CellList`` takes a list and no other iterable, and must not begin empty: it would name what is appended."""
    argument = site.argument("modules")
    if argument is None:
        return Leave("its list is not named" if site.updated.args else _EMPTY)
    if isinstance(argument.tree, (ast.List, ast.Tuple)) and not argument.tree.elts:
        return Leave(_EMPTY)
    if _holds_none(site, ctx):
        return Leave("CellList takes no None in the place of a layer")
    func = ctx.reference(site.option.target, site.tree.func)
    code = argument.code
    if isinstance(code, cst.GeneratorExp):
        code = cst.ListComp(code.elt, code.for_in)
    elif _is_star(argument.tree, ctx) or (
        ctx.kind(argument.tree).name != "list" and not isinstance(code, (cst.List, cst.ListComp))
    ):
        code = build("list({value})", value=code)
    args = [argument.arg.with_changes(value=code, keyword=None, equal=cst.MaybeSentinel.DEFAULT)]
    return Replace(site.updated.with_changes(func=func, args=args))
