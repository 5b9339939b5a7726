"""Switches that MindSpore lacks: setting one is dropped, reading one gives PyTorch's default.

Where a program sets a switch and reads it, the runtime keeps the value between. A row of a function that sets a switch
names the function that reads it: ``torch.set_num_threads`` has the target ``torch.get_num_threads``.
"""

from __future__ import annotations

import ast
from typing import cast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.cst_builders import build, parse_expression
from torch2ms.translator.values.kinds import UNKNOWN

__all__ = ["keeps_switch", "put_setting", "read_switch"]


@recipe("switch")
def switch(site: CallSite, ctx: Context) -> Outcome:
    """A switch that is read: the value that the program has set, or else PyTorch's default, the target."""
    if site.option is not site.row.to[-1] and not keeps_switch(site.row.name, ctx):
        return Leave("the program does not set it")
    return Replace(read_switch(site.row.name, site.option.target, ctx))


@recipe("sets_switch")
def sets_switch(site: CallSite, ctx: Context) -> Outcome:
    """A call that sets a switch, where the program reads it by the function that is the target."""
    first = next(iter(site.bound), None) if site.bound is not None else None
    if first is None or not keeps_switch(site.option.target, ctx):
        return Leave("the program does not read what it sets")
    return Replace(_put(site.option.target, first.code, ctx))


def read_switch(name: str, default: str, ctx: Context) -> cst.BaseExpression:
    """Return what an attribute that is a switch becomes where it is read."""
    if not keeps_switch(name, ctx):
        return parse_expression(default)
    function = ctx.reference("torch2ms.runtime.switches.get")
    return build("{f}({name}, {default})", f=function, name=_name(name), default=parse_expression(default))


def put_setting(node: cst.CSTNode, tree: ast.AST | None, ctx: Context) -> list[cst.Expr]:
    """Return what ``torch.backends.cudnn.benchmark = True`` becomes where the program reads it; [] for the others."""
    if not isinstance(tree, ast.Assign) or not isinstance(node, cst.Assign):
        return []
    pairs = _pairs(node, tree)
    names = [_switch(target, ctx) for target, _ in pairs]
    if not all(names) or not any(keeps_switch(name, ctx) for name in names):
        return []
    made: list[cst.Expr] = []
    for name, (target, value) in zip(names, pairs, strict=True):
        assert isinstance(target, ast.Attribute)
        ctx.accounted.update(dict.fromkeys((target, target.value)))
        ctx.account(target, name, "mapped", "torch2ms.runtime.switches.put")
        made.append(cst.Expr(_put(name, cast(cst.BaseExpression, ctx.visit_apart(value)), ctx)))
    return made


def _pairs(node: cst.Assign, tree: ast.Assign) -> list[tuple[ast.expr, cst.BaseExpression]]:
    """Return the targets of an assignment with what each is given; [] where that is not plain."""
    target = tree.targets[0]
    if len(tree.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(node.value, cst.Tuple):
        values = [element.value for element in node.value.elements]
        return list(zip(target.elts, values, strict=True)) if len(values) == len(target.elts) else []
    if len(tree.targets) > 1 and not isinstance(tree.value, (ast.Constant, ast.Name)):
        return []
    return [(target, node.value) for target in tree.targets]


def _switch(target: ast.expr, ctx: Context) -> str:
    """Return the name of a switch that an assignment sets, or ""."""
    base = ctx.kind(target.value) if isinstance(target, ast.Attribute) else UNKNOWN
    if not isinstance(target, ast.Attribute) or base.name != "api" or not ctx.is_import_root(target):
        return ""
    row = ctx.tables.row(f"{base.of}.{target.attr}")
    options = ctx.tables.select(row, ctx.target) if row is not None else ()
    return row.name if row is not None and options and options[0].recipe == "switch" else ""


def _put(name: str, value: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    function = ctx.reference("torch2ms.runtime.switches.put")
    return build("{f}({name}, {value})", f=function, name=_name(name), value=value)


def keeps_switch(name: str, ctx: Context) -> bool:
    """Whether some file of the project sets a switch, and some file reads it: ``name`` is what reads it."""
    files, last = ctx.world.symbols.files.values(), name.rpartition(".")[2]
    row = ctx.tables.row(name)
    if row is not None and row.kind == "attribute":
        return any(last in file.set_on_others for file in files) and any(last in file.read for file in files)
    setters = {setter.rpartition(".")[2] for setter in ctx.tables.setters(name)}
    return any(last in file.calls for file in files) and any(setters & file.calls.keys() for file in files)


def _name(name: str) -> cst.SimpleString:
    return cst.SimpleString(repr(name).replace("'", '"'))
