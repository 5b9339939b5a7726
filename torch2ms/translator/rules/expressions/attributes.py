"""Attributes of torch objects: a layer's ``weight``, a tensor's ``data``, a module's ``forward``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.schema import RECEIVER, MappedTo, Row
from torch2ms.translator.context import Context
from torch2ms.translator.effects import gradient_state
from torch2ms.translator.effects.gradient_uses import looks_like_weight
from torch2ms.translator.rules.calls.gradient_reads import gradient_of
from torch2ms.translator.rules.calls.layer_calls import class_name
from torch2ms.translator.rules.calls.reserved_names import free_name
from torch2ms.translator.rules.calls.torch_calls import member_row
from torch2ms.translator.rules.recipes import RECIPES, CallSite, Replace
from torch2ms.translator.rules.statements.parameter_assignment import is_new_statistic, is_renewed
from torch2ms.translator.rules.statements.parameter_groups import written_groups
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.kinds import UNKNOWN, Kind, candidates
from torch2ms.translator.values.overloads import field_of
from torch2ms.translator.values.queries.layer_members import (
    LAYER_MEMBERS,
    LAYER_SETTINGS,
    UNTYPED_SETTINGS,
    is_forward,
    is_mixed_in,
    is_settings,
    layer_by_name,
    new_names,
)

__all__ = ["rewrite_attribute"]

# Methods that are called without arguments: what their call becomes may be handed on in a lambda.
_WALKS = frozenset(
    f"torch.nn.Module.{name}"
    for name in "modules children parameters buffers".split()
    + "named_modules named_children named_parameters named_buffers".split()
)
_MODE = "torch.nn.Module.training"


def rewrite_attribute(
    node: cst.Attribute, updated: cst.Attribute, tree: ast.Attribute, ctx: Context
) -> cst.BaseExpression:
    """Return what ``value.name`` becomes when it is not the callee of a call."""
    if tree in ctx.training.formal:
        ctx.account(tree, "torch.Tensor.requires_grad", "removed")
        return updated
    told = _told_by_kind(updated, tree, ctx)
    if told is not None:
        return told
    found = member_row(ctx, tree)
    if found is None:
        return _of_unknown(updated, tree, ctx)
    row, base = found
    if row.name == _MODE and _is_being_made(tree, ctx):
        ctx.account(tree, row.name, "mapped", "True")
        return cst.Name("True")
    if row.kind == "method" and not ctx.kind(tree.value).known:
        return updated  # the name of a method, not called, on a value nothing is known of: any object may have it
    keep = row.keep or _own_name(tree, row, ctx)
    if keep:
        ctx.account(tree, row.name, "kept", advice=keep)
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
        if isinstance(made, Replace) and not isinstance(tree.ctx, ast.Load) and _is_value(made, option):
            made = written_groups(updated, tree, row.name, ctx)
        if isinstance(made, Replace):
            ctx.account(tree, row.name, "mapped", option.target, option.fidelity)
            if row.kind == "method":  # what its call becomes is no function
                return _handed_on(made.code, updated, tree, row, ctx)
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
        walked = build("{f}({x})", f=ctx.reference(option.target), x=updated.value) if row.name in _WALKS else updated
        return _handed_on(walked, updated, tree, row, ctx)
    name = option.target.rpartition(".")[2]
    return updated if updated.attr.value == name else updated.with_changes(attr=cst.Name(name))


def _is_value(made: Replace, option: MappedTo) -> bool:
    """Whether a recipe made something of an attribute that nothing can be assigned to."""
    return isinstance(made.code, (cst.Call, cst.Name)) or option.recipe == "literal"


def _own_name(tree: ast.Attribute, row: Row, ctx: Context) -> str:
    """Say that an attribute is the program's own, though a method of all networks has its name: ``layer.type = t``."""
    if row.kind != "method" or not row.name.startswith("torch.nn.Module."):
        return ""
    written = (node for node in ctx.analysis.nodes if isinstance(node, ast.Attribute) and node.attr == tree.attr)
    is_written = any(isinstance(node.ctx, ast.Store) for node in written)
    return "an attribute that the program gives its networks" if is_written else ""


def _handed_on(
    call: cst.BaseExpression, updated: cst.Attribute, tree: ast.Attribute, row: Row, ctx: Context
) -> cst.BaseExpression:
    """Return a method that is not called: what its call becomes in a lambda, where it takes no arguments."""
    if row.name in _WALKS:
        return cst.Lambda(cst.Parameters(), call)
    ctx.report("T2M208", tree, f"{row.name} is handed on without being called", symbol=row.name)
    return updated


def _is_being_made(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a network asks for its mode in its own constructor: PyTorch's is in train mode there, a Cell is not."""
    function = ctx.functions[-1]
    if function is None or function.name != "__init__" or function.owner is None or not isinstance(tree.ctx, ast.Load):
        return False
    owner = tree.value.id if isinstance(tree.value, ast.Name) else ""
    if not function.node.args.args or owner != function.node.args.args[0].arg:
        return False
    return not any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == owner
        and (node.attr in ("train", "eval") or (node.attr == "training" and not isinstance(node.ctx, ast.Load)))
        for node in walk(function.node)
    )


def _told_by_kind(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Return what an attribute becomes that no row answers for; None for the others."""
    free = free_name(tree, ctx)
    if free is not None:
        return updated.with_changes(attr=cst.Name(free))
    gradient = gradient_of(tree, updated.value, ctx)
    if gradient is not None:
        return gradient
    position = field_of(ctx.kind(tree.value), tree.attr)
    if position is not None:
        return build("{pair}[{position}]", pair=updated.value, position=cst.Integer(str(position)))
    return _of_layer(updated, tree, ctx) or class_name(updated, tree, ctx)


def _of_unknown(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression:
    """Return an attribute of a value nothing is known of: a wrapper that went, a layer's member, or what it is."""
    if ctx.kind(tree.value).known:
        return updated
    if not isinstance(tree.ctx, ast.Load):
        return _stored_in_unknown(updated, tree, ctx)
    if tree.attr == "module" and ctx.world.symbols.wraps_networks and not ctx.world.symbols.stores("module"):
        if _is_guarded(tree, ctx):
            return updated
        name = ctx.literal("'module'")
        return build("getattr({x}, {name}, {y})", x=updated.value, name=name, y=updated.value.deep_clone())
    if tree.attr == "n" and getattr(tree.value, "attr", "").endswith(_SPACES) and not _is_taken_by_anything(tree, ctx):
        return build("int({n})", n=updated)  # gymnasium's count is numpy's, which MindSpore's layers do not take
    is_translated = ctx.imports.imports("mindspore")  # its layers may be meant, under MindSpore's names
    if tree.attr in ("weight", "bias") and not is_translated and _is_parameter_by_use(tree, ctx):
        return _of_any_layer(updated, tree, ctx)
    if tree.attr in LAYER_MEMBERS and not is_translated and _is_of_layer(tree, ctx):
        return _of_any_layer(updated, tree, ctx)
    is_holder = isinstance(tree.value, ast.Attribute) and tree.value.attr == "parametrizations"  # torch's names hold
    if tree.attr in LAYER_MEMBERS and not is_settings(tree.value, ctx) and not is_translated and not is_holder:
        return _of_layer_by_name(updated, tree, ctx)
    if tree.attr in UNTYPED_SETTINGS and not is_settings(tree.value, ctx) and not _is_called(tree, ctx):
        return _of_any_layer(updated, tree, ctx)
    return _mark_of_unknown(updated, tree, ctx) if tree.attr == "requires_grad" else updated


def _of_layer_by_name(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression:
    layer = layer_by_name(tree.value, ctx)
    if layer.known:
        return _member(updated, tree, layer, ctx) or updated
    shown = ast.unparse(tree.value)
    message = f"{shown} could not be typed; .{tree.attr} has another name on a normalisation layer or an embedding"
    ctx.report("T2M207", tree, message, symbol=f"torch.nn.Module.{tree.attr}")
    return updated


def _stored_in_unknown(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression:
    """Return ``x.weight`` in ``x.weight = nn.Parameter(w)``: under another name, MindSpore's layer would not use it."""
    given = ctx.small.value if isinstance(ctx.small, ast.Assign) else None
    if tree.attr not in LAYER_MEMBERS or given is None or ctx.imports.imports("mindspore"):
        return updated
    if (is_renewed(tree, ctx) or is_new_statistic(tree, ctx)) and not layer_by_name(tree.value, ctx).known:
        return updated
    is_tensor = ctx.kind(given).is_tensor or tree.attr.startswith("running")
    return _of_layer_by_name(updated, tree, ctx) if is_tensor or layer_by_name(tree.value, ctx).known else updated


_MARK = "torch.Tensor.requires_grad"


def _mark_of_unknown(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression:
    """Return ``value.requires_grad`` of what may be a weight, which has it in MindSpore, or another tensor."""
    found = gradient_state.requires_grad(tree.value, ctx)
    if found is not None:
        message = f"torch would answer {found}; MindSpore's tensors do not say"
        ctx.report("T2M302", tree, message, symbol=_MARK)
        return cst.Name(str(found))
    wanted = gradient_state.makes_no_difference(tree, ctx)
    if wanted is not None:  # a weight says so itself
        ctx.report("T2M302", tree, "MindSpore's tensors do not say what torch records", symbol=_MARK)
        return build(f"getattr({{x}}, 'requires_grad', {wanted})", x=updated.value)
    function = ctx.functions[-1]
    given = {a.arg for a in function.node.args.args} if function is not None else set()
    is_given = isinstance(tree.value, ast.Name) and tree.value.id in given
    if isinstance(tree.value, ast.Call) or (is_given and not looks_like_weight(tree.value, ctx.analysis.tree)):
        shown = ast.unparse(tree.value)
        message = f"{shown} could not be typed; of tensors, only weights have .requires_grad in MindSpore"
        ctx.report("T2M207", tree, message, symbol=_MARK)
    return updated


_SPACES = ("action_space", "observation_space")  # of an environment
_TAKE_ANYTHING = frozenset(
    {"int", "range", "randint", "choice", "randrange", "print", "arange", "zeros", "ones", "one_hot"}
)


def _is_taken_by_anything(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a count is compared, or goes to a function that takes numpy's as well."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Call):
        return getattr(parent.func, "attr", getattr(parent.func, "id", "")) in _TAKE_ANYTHING
    return isinstance(parent, (ast.Compare, ast.FormattedValue))


def _is_parameter_by_use(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a value is asked for what only tensors have: ``model.head.bias.requires_grad = False``."""
    parent = ctx.parent(tree)
    return isinstance(parent, ast.Attribute) and parent.attr in ("data", "grad", "requires_grad", "requires_grad_")


def _is_called(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a value is called: ``match.groups()`` is none of a layer's."""
    call = ctx.parent(tree)
    return isinstance(call, ast.Call) and call.func is tree


def _is_of_layer(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a value is a part of a Sequential, ``branch.bn.weight``, or is asked for what normalisations keep."""
    owner = ctx.kind(tree.value.value) if isinstance(tree.value, ast.Attribute) else UNKNOWN
    return tree.attr in ("running_mean", "running_var") or owner.of == "torch.nn.Sequential"


def _is_guarded(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether ``x.module`` is only read where ``hasattr(x, "module")`` holds: then it is right as it is."""
    child: ast.AST = tree
    parent = ctx.parent(tree)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        test = parent.test if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test else None
        for node in walk(test) if test is not None else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hasattr":
                return True
        child, parent = parent, ctx.parent(parent)
    return False


def _of_layer(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Rename a parameter or setting of a layer: ``bn.weight`` -> ``bn.gamma``; all candidate classes must agree."""
    base = ctx.kind(tree.value)
    if is_forward(tree, ctx):
        return updated.with_changes(attr=cst.Name("construct"))
    if base.name != "Module":
        return _of_any_layer(updated, tree, ctx) if is_mixed_in(base, tree, ctx) else None
    return _member(updated, tree, base, ctx)


def _member(updated: cst.Attribute, tree: ast.Attribute, base: Kind, ctx: Context) -> cst.BaseExpression | None:
    """Return a parameter, a statistic or a setting of a layer; None where it keeps its name."""
    found = new_names(base, tree.attr, ctx)
    if found is None:
        return _forward(updated, tree, ctx)
    new, names = found
    generic = {"torch.nn.Module"}.issuperset(names) and not any(":" in key for key in candidates(base))
    told_by_layer = tree.attr in LAYER_MEMBERS | LAYER_SETTINGS
    if generic and base.evidence not in ("self", "super") and told_by_layer:
        return _of_any_layer(updated, tree, ctx)
    if len(new) > 1 and told_by_layer and isinstance(tree.ctx, ast.Load):
        return _of_any_layer(updated, tree, ctx)
    reading = {name for name in new if name.startswith("torch2ms.runtime.settings.")}
    if len(reading) == 1 and new == reading | {tree.attr} and isinstance(tree.ctx, ast.Load):
        new = reading  # which reads the setting of a layer that has it under PyTorch's name, too
    if len(new) > 1:
        ctx.report("T2M206", tree, f".{tree.attr} has another name in each of {', '.join(names)}", symbol=names[0])
        return updated
    if new and new != {tree.attr}:
        name = new.pop()
        if not name.startswith("torch2ms.runtime."):
            return _renamed(updated, name)
        return cst.Call(ctx.reference(name), [cst.Arg(updated.value)]) if isinstance(tree.ctx, ast.Load) else None
    return _forward(updated, tree, ctx)


def _of_any_layer(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression:
    """Return a parameter or a statistic of a layer whose class is not known: the runtime finds it."""
    if not isinstance(tree.ctx, ast.Load):
        if is_renewed(tree, ctx) or is_new_statistic(tree, ctx):
            return updated
        message = f".{tree.attr} has another name in some of MindSpore's layers, and the class of this one is not known"
        ctx.report("T2M206", tree, message, symbol=f"torch.nn.Module.{tree.attr}")
        return updated
    if tree.attr in ("weight", "bias"):
        return cst.Call(ctx.reference(f"torch2ms.runtime.modules.{tree.attr}"), [cst.Arg(updated.value)])
    get = ctx.reference("torch2ms.runtime.modules.get")
    return build("{get}({x}, {name})", get=get, x=updated.value, name=ctx.literal(f"'{tree.attr}'"))


def _renamed(node: cst.Attribute, name: str) -> cst.Attribute:
    """Return ``x.name``; the name may be a path (BatchNorm3d keeps its parameters in ``bn2d``)."""
    *path, last = name.split(".")
    value: cst.BaseExpression = node.value
    for part in path:
        value = cst.Attribute(value, cst.Name(part))
    return node.with_changes(value=value, attr=cst.Name(last))


_METHODS = {"forward": "construct", "extra_repr": "extend_repr"}


def _forward(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """``module.forward`` is ``module.construct``: a method that the project defines under PyTorch's name."""
    name = _METHODS.get(tree.attr)
    return updated.with_changes(attr=cst.Name(name)) if name is not None else None
