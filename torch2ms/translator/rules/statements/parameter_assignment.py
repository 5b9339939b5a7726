"""``layer.weight = nn.Parameter(value)`` where the layer has a weight already.

MindSpore names a parameter by the path that its layer has when the parameter is set; what comes in the place of another
later is only called ``weight``, and an optimizer refuses two that share a name.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build, code_of, keyword_arg
from torch2ms.translator.values.kinds import candidates
from torch2ms.translator.values.queries.layer_members import layer_by_name

__all__ = ["is_new_statistic", "is_renewed", "renewed_parameter"]

_NAMES = ("weight", "bias")
_STATISTICS = ("running_mean", "running_var")


def is_renewed(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether an attribute is the target of ``layer.weight = nn.Parameter(value)``, and not one of ``self`` itself."""
    statement = ctx.small
    return (
        isinstance(statement, ast.Assign)
        and statement.targets == [tree]
        and tree.attr in _NAMES
        and not (isinstance(tree.value, ast.Name) and tree.value.id in ("self", "cls"))
        and isinstance(statement.value, ast.Call)
        and ctx.kind(statement.value).name == "Parameter"
        and not ctx.imports.imports("mindspore")
    )


def is_new_statistic(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether an attribute is the target of ``layer.running_mean = value``: pruned networks are filled so."""
    statement = ctx.small
    if not isinstance(statement, ast.Assign) or statement.targets != [tree] or tree.attr not in _STATISTICS:
        return False
    return not ctx.imports.imports("mindspore") and ctx.kind(statement.value).name != "none"


def renewed_parameter(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``layer.weight = ms.Parameter(value, name=layer.weight.name)``; the runtime's where there may be none."""
    if not isinstance(tree, ast.Assign) or not isinstance(updated, cst.Assign) or len(updated.targets) != 1:
        return updated
    target, code, value = tree.targets[0], updated.targets[0].target, updated.value
    if not isinstance(target, ast.Attribute) or not isinstance(code, cst.Attribute):
        return updated
    if is_new_statistic(target, ctx) and code.attr.value == target.attr and not _is_own(target, ctx):
        function, name = ctx.reference("torch2ms.runtime.parts.set_statistic"), ctx.literal(f"'{target.attr}'")
        return cst.Expr(build("{f}({x}, {name}, {v})", f=function, x=code.value, name=name, v=value))
    if not is_renewed(target, ctx):
        return updated
    if not isinstance(value, cst.Call) or not code_of(value.func).endswith("Parameter"):
        return updated
    if target.attr == "weight" and _always_has(target.value, ctx):
        name = cst.Attribute(code.deep_clone(), cst.Name("name"))
        return updated.with_changes(value=_with_name(value, name))
    function = ctx.reference("torch2ms.runtime.parts.set_parameter")
    attribute = ctx.literal(f"'{target.attr}'")
    return cst.Expr(build("{f}({x}, {name}, {v})", f=function, x=code.value, name=attribute, v=value))


def _is_own(target: ast.Attribute, ctx: Context) -> bool:
    """Whether a class of the project has a statistic of its own under that name."""
    kind = ctx.kind(target.value)
    if isinstance(target.value, ast.Name) and target.value.id in ("self", "cls"):
        return True
    return any(":" in key for key in candidates(kind)) or (kind.known and kind.name != "Module")


def _always_has(tree: ast.expr, ctx: Context) -> bool:
    """Whether a layer is of torch's classes that always have a weight."""
    kind = ctx.kind(tree)
    names = candidates(kind if kind.known else layer_by_name(tree, ctx))
    return bool(names) and all(name.startswith(_WEIGHTED) for name in names)


_WEIGHTED = tuple(f"torch.nn.{name}" for name in "Linear Conv Embedding PReLU Bilinear BatchNorm GroupNorm".split())


def _with_name(value: cst.Call, name: cst.BaseExpression) -> cst.Call:
    """Return ``Parameter(..., name=name)``."""
    if not value.args or any(arg.keyword is not None and arg.keyword.value == "name" for arg in value.args):
        return value
    last = value.args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return value.with_changes(args=[*value.args[:-1], last, keyword_arg("name", name)])
