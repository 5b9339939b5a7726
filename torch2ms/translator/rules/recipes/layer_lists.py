"""Lists of layers: ``nn.CellList`` takes lists, nothing in the place of a layer, and no dictionary of layers."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.containers import PUTTING

__all__: list[str] = []


def _has_refused(tree: ast.expr, ctx: Context) -> bool:
    """Whether a list is seen to hold what CellList refuses, or may: ``[a, b if flag else None]``."""
    if isinstance(tree, (ast.ListComp, ast.GeneratorExp)):
        return _may_be_refused(tree.elt, ctx)
    if isinstance(tree, ast.BinOp):  # [None] * count, first + [None]
        return _has_refused(tree.left, ctx) or _has_refused(tree.right, ctx)
    return isinstance(tree, (ast.List, ast.Tuple)) and any(_may_be_refused(element, ctx) for element in tree.elts)


def _may_be_refused(tree: ast.expr, ctx: Context, *, is_bound: bool = False) -> bool:
    """Whether an element is None or a dictionary of layers, or a name that the function binds to one."""
    if isinstance(tree, ast.Name) and not is_bound:
        return any(_may_be_refused(value, ctx, is_bound=True) for value in _bound_to(tree.id, ctx))
    if isinstance(tree, ast.IfExp):
        return any(_may_be_refused(way, ctx, is_bound=is_bound) for way in (tree.body, tree.orelse))
    if isinstance(tree, ast.Constant) and tree.value is None:
        return True
    kind = ctx.kind(tree)
    return kind.name == "Module" and "torch.nn.ModuleDict" in kind.of.split("|")


def _bound_to(name: str, ctx: Context) -> list[ast.expr]:
    """Return what the statements of the function bind a name to."""
    function = ctx.functions[-1]
    nodes = walk(function.node if function is not None else ctx.analysis.tree)
    bindings = (node for node in nodes if isinstance(node, ast.Assign))
    return [node.value for node in bindings if any(isinstance(t, ast.Name) and t.id == name for t in node.targets)]


def _is_given_refused(name: str, ctx: Context) -> bool:
    """Whether the function puts such an element into the list that it calls ``name``: ``layers.append(None)``."""
    function = ctx.functions[-1]
    for node in walk(function.node if function is not None else ctx.analysis.tree):
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets) and _has_refused(node.value, ctx):
            return True
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name and _has_refused(node.value, ctx):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in PUTTING
            and any(_may_be_refused(given, ctx) or _has_refused(given, ctx) for given in node.args)
            and ast.unparse(node.func.value) == name
        ):
            return True
    return False


def _holds_refused(site: CallSite, ctx: Context) -> bool:
    """Whether a list of layers is seen to hold what CellList refuses, at once or later."""
    argument, parent = site.argument("modules"), ctx.parent(site.tree)
    names = [ast.unparse(target) for target in parent.targets] if isinstance(parent, ast.Assign) else []
    if argument is not None:
        if _has_refused(argument.tree, ctx):
            return True
        if isinstance(argument.tree, (ast.Name, ast.Attribute)):
            names.append(ast.unparse(argument.tree))
    return any(_is_given_refused(name, ctx) for name in names)


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
    if _holds_refused(site, ctx):
        return Leave("CellList takes no None in the place of a layer, and no dictionary of layers")
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


@recipe("part_added")
def part_added(site: CallSite, ctx: Context) -> Outcome:
    """``net.append(layer)`` gives the container in torch, and nothing in MindSpore: what reads it asks the runtime.

    ``layers.extend(others)`` gives it in both, but MindSpore's takes a list and no other iterable.
    """
    if site.receiver is None or len(site.updated.args) != 1:
        return Leave("it is not called on a container with what is added")
    added, argument = site.updated.args[0].value, site.tree.args[0] if site.tree.args else site.tree.keywords[0].value
    is_one = site.option.target.endswith(".append")
    alone = isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree
    is_named = isinstance(argument, (ast.Name, ast.Attribute)) and not _is_star(argument, ctx)
    is_list = isinstance(argument, (ast.List, ast.ListComp)) or (is_named and ctx.kind(argument).name == "list")
    if alone if is_one else is_list:
        plain = site.updated.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)  # laid out as it was
        return Replace(site.updated.with_changes(args=[plain]))
    function = ctx.reference("torch2ms.runtime.modules.extend")
    given = cst.List([cst.Element(added)]) if is_one else added
    return Replace(build("{f}({net}, {given})", f=function, net=site.receiver, given=bare(given)))
