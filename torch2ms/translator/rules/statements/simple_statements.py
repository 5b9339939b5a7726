"""Simple statements: what an assignment, an expression statement or an assert becomes, or that it goes."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.activation_aliases import activated_by
from torch2ms.translator.effects.copied_views import lost_writes
from torch2ms.translator.rules.call_site import ASSERTED, DROPPED
from torch2ms.translator.rules.calls.dynamic import report_patch
from torch2ms.translator.rules.calls.gradient_reads import put_gradient
from torch2ms.translator.rules.calls.replaced_parts import exchanged_part
from torch2ms.translator.rules.expressions.boolean_masks import cut_condition
from torch2ms.translator.rules.made_parameters import made_parameter, owning
from torch2ms.translator.rules.recipes.switches import keeps_switch
from torch2ms.translator.rules.recorded_leaves import mark_statement
from torch2ms.translator.rules.statements.augmented_assignment import augmented
from torch2ms.translator.rules.statements.buffer_assignment import bound_buffer
from torch2ms.translator.rules.statements.element_assignment import written_elements
from torch2ms.translator.rules.statements.layer_settings import changed_setting, kept_optimizer
from torch2ms.translator.rules.statements.parameter_assignment import renewed_parameter
from torch2ms.translator.rules.statements.parameter_data import put_data, report_frozen
from torch2ms.translator.rules.statements.parameter_groups import put_groups
from torch2ms.translator.rules.statements.third_party import is_watch
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import code_of, parse_expression

__all__ = ["drops_setting", "rewrite_small"]


def drops_setting(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a statement only sets switches that MindSpore has not: ``torch.backends.cudnn.benchmark = True``."""
    if not isinstance(tree, ast.Assign):
        return False
    targets = [one for target in tree.targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    switches = [found for target in targets if (found := _switch(target, ctx)) is not None]
    named = any(ctx.kind(node).name == "api" and ctx.is_import_root(node) for node in walk(tree.value))
    if len(switches) < len(targets) or named:
        return False
    for target, name in switches:
        ctx.accounted.update(dict.fromkeys((target, target.value)))
        ctx.account(target, name, "removed")
        ctx.report("T2M304", tree, f"{name} has no effect in MindSpore; dropped", symbol=name)
    return True


def _switch(target: ast.expr, ctx: Context) -> tuple[ast.Attribute, str] | None:
    """Return a switch that an assignment sets and that MindSpore has not, with its name; None if it sets no such."""
    if not isinstance(target, ast.Attribute) or not ctx.is_import_root(target):
        return None
    base = ctx.kind(target.value)
    row = ctx.tables.row(f"{base.of}.{target.attr}") if base.name == "api" else None
    options = ctx.tables.select(row, ctx.target) if row is not None and row.kind == "attribute" else ()
    if row is not None and options and options[0].recipe in ("literal", "switch"):
        return None if keeps_switch(row.name, ctx) else (target, row.name)
    return (target, f"{base.of}.{target.attr}") if base.name == "api" and _holds_switches(base.of, ctx) else None


def _holds_switches(name: str, ctx: Context) -> bool:
    """Whether all that a module holds, or what it is part of, are such switches: ``torch._dynamo.config``."""
    while name:
        row = ctx.tables.row(name)
        if row is not None and any(option.recipe == "switches" for option in row.to):
            return True
        name = name.rpartition(".")[0]
    return False


_HOLDS = frozenset({"True", "not False", "False == False", "False is False", "True == True", "True is True"})


def rewrite_small(node: Any, updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return what a small statement becomes; None when it goes."""
    if (type(updated) is cst.Expr and updated.value is DROPPED) or is_watch(tree, ctx):
        return None
    if type(updated) is cst.Assert and updated is not node and code_of(updated.test) in _HOLDS:
        return None
    if type(updated) is cst.Expr and isinstance(updated.value, cst.Call) and code_of(updated.value.func) == ASSERTED:
        test, message = (arg.value for arg in updated.value.args)
        updated = cst.Assert(test, message, semicolon=updated.semicolon)
    report_patch(tree, ctx)
    for lost in lost_writes(tree, ctx):
        ctx.report("T2M305", tree, lost, symbol="torch.Tensor.__setitem__")
    report_frozen(tree, ctx)
    if isinstance(tree, ast.AugAssign) and isinstance(updated, cst.AugAssign):
        updated = augmented(updated, tree, ctx)
    if isinstance(updated, (cst.Assign, cst.AugAssign)):
        updated = cut_condition(written_elements(updated, tree, ctx), tree, ctx)
    layer = activated_by(tree, ctx) if isinstance(updated, cst.Assign) else ""
    if layer and isinstance(updated.value, cst.Name):
        updated = updated.with_changes(value=parse_expression(f"{layer}({updated.value.value})"))
    if isinstance(tree, ast.Assign) and isinstance(updated, cst.Assign) and _sets_data(tree):
        updated = updated.with_changes(value=owning(updated.value, tree.value, ctx))
    updated = mark_statement(updated, tree, ctx)
    updated = put_gradient(kept_optimizer(changed_setting(updated, tree, ctx), tree, ctx), tree, ctx)
    updated = bound_buffer(made_parameter(put_data(updated, tree, ctx), tree, ctx), tree, ctx)
    updated = renewed_parameter(exchanged_part(put_groups(updated, tree, ctx), tree, ctx), tree, ctx)
    if ctx.rebind:
        names, ctx.rebind = ctx.rebind, []
        updated = _rebound(updated, names)
    if updated is not node and isinstance(updated, cst.Assign) and _assigns_itself(updated):
        ctx.report("T2M304", tree, "the statement only moved values between devices; dropped")
        return None
    return updated


def _sets_data(tree: ast.Assign) -> bool:
    return all(isinstance(target, ast.Attribute) and target.attr == "data" for target in tree.targets)


def _rebound(node: Any, names: list[str]) -> Any:
    """Return the statement with further names bound to its value: ``y = x = value``."""
    targets = [cst.AssignTarget(parse_expression(name)) for name in dict.fromkeys(names)]  # type: ignore[arg-type]
    if isinstance(node, cst.Expr):
        return cst.Assign(targets, node.value)
    return node.with_changes(targets=[*node.targets, *targets])


def _assigns_itself(node: cst.Assign) -> bool:
    """Whether an assignment does nothing: ``x = x``, ``a, b = a, b``, ``batch[0] = batch[0]``."""
    if len(node.targets) != 1:
        return False
    target, value = node.targets[0].target, node.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        pairs = zip(target.elements, value.elements, strict=True)
        return all(_same_place(a.value, b.value) for a, b in pairs)
    return _same_place(target, value)


def _same_place(a: cst.BaseExpression, b: cst.BaseExpression) -> bool:
    """Whether two expressions are the same name, attribute of one, or item of one under a plain index."""
    if isinstance(a, (cst.Name, cst.Integer, cst.SimpleString)):
        return type(a) is type(b) and a.value == b.value
    if isinstance(a, cst.Attribute) and isinstance(b, cst.Attribute):
        return a.attr.value == b.attr.value and _same_place(a.value, b.value)
    if isinstance(a, cst.Subscript) and isinstance(b, cst.Subscript) and len(a.slice) == len(b.slice) == 1:
        ours, others = a.slice[0].slice, b.slice[0].slice
        if isinstance(ours, cst.Index) and isinstance(others, cst.Index):
            return _same_place(a.value, b.value) and _same_place(ours.value, others.value)
    return False
