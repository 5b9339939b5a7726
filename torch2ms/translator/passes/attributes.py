"""Attributes of torch objects: a layer's ``weight``, a tensor's ``data``, a module's ``forward``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.schema import RECEIVER
from torch2ms.translator.context import Context
from torch2ms.translator.inference.overloads import field_of
from torch2ms.translator.names import candidates
from torch2ms.translator.passes.calls import member_row
from torch2ms.translator.passes.training import gradient_of
from torch2ms.translator.recipes import RECIPES, CallSite, Leave, Replace
from torch2ms.translator.syntax import build

__all__ = ["rewrite_attribute"]


def rewrite_attribute(
    node: cst.Attribute, updated: cst.Attribute, tree: ast.Attribute, ctx: Context
) -> cst.BaseExpression:
    """Return what ``value.name`` becomes when it is not the callee of a call."""
    gradient = gradient_of(tree, updated.value, ctx)
    if gradient is not None:
        return gradient
    position = field_of(ctx.kind(tree.value), tree.attr)
    if position is not None:
        return build("{pair}[{position}]", pair=updated.value, position=cst.Integer(str(position)))
    renamed = _of_layer(updated, tree, ctx)
    if renamed is not None:
        return renamed
    found = member_row(ctx, tree)
    if found is None:
        return updated
    row, base = found
    if row.kind == "method" and not ctx.kind(tree.value).known:
        return updated  # the name of a method, not called, on a value nothing is known of: any object may have it
    if row.keep:
        ctx.account(tree, row.name, "kept", advice=row.keep)
        return updated
    options = ctx.tables.select(row, ctx.target)
    if row.unsupported or not options:
        advice = row.unsupported or f"not available for {ctx.target}"
        ctx.account(tree, row.name, "unsupported", advice=advice)
        ctx.report("T2M201", tree, f"{row.name} has no MindSpore equivalent", symbol=row.name, advice=advice)
        return updated
    option = options[0]
    if option.target == RECEIVER:
        ctx.account(tree, row.name, "removed")
        return updated.value
    if option.recipe is not None:
        recipe = RECIPES.get(option.recipe)
        call = ast.copy_location(ast.Call(tree, [], []), tree)
        site = CallSite(row, option, call, cst.Call(updated), None, updated.value, base)
        made = recipe(site, ctx) if recipe is not None else None
        if isinstance(made, Replace) and not isinstance(tree.ctx, ast.Load) and isinstance(made.code, cst.Call):
            made = Leave("it is written to, and MindSpore only lets it be read")
        if isinstance(made, Replace):
            ctx.account(tree, row.name, "mapped", option.target, option.fidelity)
            for code, message in made.codes:
                ctx.report(code, tree, message, symbol=row.name)
            return made.code
        reason = made.message if made is not None else f"the recipe {option.recipe} is not there yet"
        ctx.account(tree, row.name, "unsupported", advice=reason)
        ctx.report("T2M203", tree, f"{row.name}: {reason}", symbol=row.name)
        return updated
    ctx.account(tree, row.name, "mapped", option.target, option.fidelity)
    if row.kind == "method" and not option.target.startswith("mindspore.Tensor."):
        if option.target.startswith(("mindspore.nn.Cell.", "mindspore.experimental.optim.")):
            return updated.with_changes(attr=cst.Name(option.target.rpartition(".")[2]))
        ctx.report("T2M208", tree, f"{row.name} is handed on without being called", symbol=row.name)
        return updated
    name = option.target.rpartition(".")[2]
    return updated if updated.attr.value == name else updated.with_changes(attr=cst.Name(name))


def _of_layer(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Rename a parameter or setting of a layer: ``bn.weight`` -> ``bn.gamma``; all candidate classes must agree."""
    base = ctx.kind(tree.value)
    if base.name != "Module":
        return None
    new: set[str] = set()
    names: list[str] = []
    for key in candidates(base):
        if ":" in key:
            if ctx.world.sets(key, tree.attr):
                return _forward(updated, tree, ctx)
            names.extend(ctx.world.torch_bases(key))
        else:
            names.append(key)
    for name in names:
        row = ctx.tables.row(name)
        options = ctx.tables.select(row, ctx.target) if row is not None else ()
        if not options:
            continue
        state = options[0].state
        mapped = options[0].attributes.get(tree.attr)
        if mapped is None and state is not None and state != "same":
            mapped = state.get(tree.attr)
        new.add(mapped or tree.attr)
    generic = {"torch.nn.Module"}.issuperset(names) and not any(":" in key for key in candidates(base))
    unknown = generic and base.evidence not in ("self", "super") and tree.attr in ("weight", "bias")
    if unknown and not isinstance(tree.ctx, ast.Load):
        message = f".{tree.attr} has another name in some of MindSpore's layers, and the class of this one is not known"
        ctx.report("T2M206", tree, message, symbol=f"torch.nn.Module.{tree.attr}")
    if (unknown or len(new) > 1) and tree.attr in ("weight", "bias") and isinstance(tree.ctx, ast.Load):
        return cst.Call(ctx.reference(f"torch2ms.runtime.modules.{tree.attr}"), [cst.Arg(updated.value)])
    if len(new) > 1:
        ctx.report("T2M206", tree, f".{tree.attr} has another name in each of {', '.join(names)}", symbol=names[0])
        return updated
    if new and new != {tree.attr}:
        return _renamed(updated, new.pop())
    return _forward(updated, tree, ctx)


def _renamed(node: cst.Attribute, name: str) -> cst.Attribute:
    """Return ``x.name``; the name may be a path (BatchNorm3d keeps its parameters in ``bn2d``)."""
    *path, last = name.split(".")
    value: cst.BaseExpression = node.value
    for part in path:
        value = cst.Attribute(value, cst.Name(part))
    return node.with_changes(value=value, attr=cst.Name(last))


def _forward(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """``module.forward`` is ``module.construct``."""
    if tree.attr == "forward":
        return updated.with_changes(attr=cst.Name("construct"))
    return None
