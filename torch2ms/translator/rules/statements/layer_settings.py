"""Settings of layers that a program changes later: ``m.momentum = 0.01``, ``conv.stride = (1, 1)``.

MindSpore's layers build their operators when they are made; an attribute that is set afterwards changes nothing. The
runtime makes the operators anew.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.calls.optimizers import trained_calls
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.kinds import candidates
from torch2ms.translator.values.use_evidence import may_be_optimizer, uses

__all__ = ["changed_setting", "kept_optimizer"]

_SETTINGS = frozenset({"momentum", "eps", "p", "stride", "padding", "dilation", "padding_mode", "ceil_mode"})

_OF_LAYERS = frozenset({"kernel_size", "dilation", "in_channels", "out_channels", "running_mean", "running_var"})


def changed_setting(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``settings.change(layer, "momentum", value)`` for an assignment to a setting of a layer of torch's."""
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1 or not isinstance(updated, cst.Assign):
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if isinstance(target, ast.Tuple):
        return _several(updated, target, tree.value, ctx)
    if not isinstance(target, ast.Attribute) or not isinstance(code, cst.Attribute):
        return updated
    is_unbiased = target.attr == code.attr.value == "bias" and ctx.kind(tree.value).name == "none"
    if target.attr not in _SETTINGS and not is_unbiased:
        return updated
    base = ctx.kind(target.value)
    names = candidates(base)
    known = base.name == "Module" and base.evidence not in ("self", "super")
    told = not base.known and (_looks_like_layer(target.value, ctx) or _is_momentum_of_layer(target, ctx))
    if any(":" in name for name in names) or not (known or told):
        return updated
    change = ctx.reference("torch2ms.runtime.settings.change")
    name = ctx.literal(f"'{target.attr}'")
    call = build("{f}({x}, {name}, {value})", f=change, x=code.value, name=name, value=updated.value)
    return cst.Expr(call)


def _several(updated: cst.Assign, target: ast.Tuple, value: ast.expr, ctx: Context) -> Any:
    """Return ``m.stride, m.padding = 1, 2`` as a tuple of changes, where all are such settings of constants."""
    code, values = updated.targets[0].target, updated.value
    same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
    if not (same and isinstance(value, ast.Tuple) and isinstance(code, cst.Tuple) and isinstance(values, cst.Tuple)):
        return updated
    changes = []
    for part, given, part_code, given_code in zip(target.elts, value.elts, code.elements, values.elements, strict=True):
        if literal(given) is None or not isinstance(part_code.value, (cst.Attribute, cst.Name)):
            return updated
        one = ast.copy_location(ast.Assign([part], given), part)
        changed = changed_setting(cst.Assign([cst.AssignTarget(part_code.value)], given_code.value), one, ctx)
        if not isinstance(changed, cst.Expr):
            return updated
        changes.append(cst.Element(changed.value))
    return cst.Expr(cst.Tuple(changes, lpar=[], rpar=[]))


def kept_optimizer(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``object.__setattr__(self, "optimizer", value)`` for an optimizer that a network keeps.

    MindSpore's optimizers are cells: as an attribute of a network, one would be a part of it, and its state would be
    among the parameters, in checkpoints as well. So would a tensor that an optimizer trains, which is a parameter here
    and none of the network's in PyTorch: ``self.log_alpha = torch.zeros(1, requires_grad=True)``.
    """
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1 or not isinstance(updated, cst.Assign):
        return updated
    target, code = tree.targets[0], updated.targets[0].target
    if not isinstance(target, ast.Attribute) or not isinstance(code, cst.Attribute):
        return updated
    if ctx.kind(target.value).name != "Module":
        return updated
    made = ctx.kind(tree.value).name == "Optimizer" or _is_used_as_optimizer(target, tree.value, ctx)
    if not made and tree.value not in ctx.once(trained_calls):
        return updated
    name = ctx.literal(f"'{target.attr}'")
    return cst.Expr(build("object.__setattr__({x}, {name}, {value})", x=code.value, name=name, value=updated.value))


def _is_used_as_optimizer(target: ast.Attribute, value: ast.expr, ctx: Context) -> bool:
    """Whether a function that was handed over makes an optimizer, by its use: ``self.actor_opt = opt_fn(params)``."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or not value.args:
        return False
    unknown = not ctx.kind(value).known and not ctx.kind(value.func).known
    weights = any(isinstance(n, ast.Attribute) and n.attr == "parameters" for a in value.args for n in walk(a))
    return unknown and (weights or may_be_optimizer(uses(ctx.analysis.tree).of(target)))


def _is_momentum_of_layer(target: ast.Attribute, ctx: Context) -> bool:
    """Whether ``m.momentum = v`` may be a normalisation's: of a plain name, in a file that tests for one."""
    if target.attr != "momentum" or not isinstance(target.value, ast.Name) or target.value.id == "self":
        return False
    named = any("BatchNorm" in ctx.kind(node).of for node in ctx.analysis.all(ast.Attribute))
    return named or any(
        isinstance(node.func, ast.Name) and node.func.id == "hasattr" and "'momentum'" in ast.unparse(node)
        for node in ctx.analysis.all(ast.Call)
    )


def _looks_like_layer(tree: ast.expr, ctx: Context) -> bool:
    """Whether a function asks a name of unknown kind what only layers know: ``if m.kernel_size == (3, 3)``."""
    function = ctx.functions[-1]
    return (
        function is not None
        and isinstance(tree, ast.Name)
        and any(
            isinstance(node, ast.Attribute) and node.attr in _OF_LAYERS and getattr(node.value, "id", "") == tree.id
            for node in walk(function.node)
        )
    )
