"""Modules: classes and functions. ``forward`` becomes ``construct``; children that Cell has names for are reported."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.optimizer_wrappers import holds_only
from torch2ms.translator.rules.calls.own_mode import is_own_mode, with_own_mode
from torch2ms.translator.rules.calls.reserved_names import METHODS, RESERVED, is_free, is_own_method
from torch2ms.translator.rules.statements.checkpointing import with_recorded_base
from torch2ms.translator.rules.statements.conditional_layers import report_seldom_reached
from torch2ms.translator.rules.statements.construction_run import in_mode_of_birth
from torch2ms.translator.rules.statements.delegation import guard_delegation
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.containers import OF_NETWORKS
from torch2ms.translator.values.families import PARTS

__all__ = ["rewrite_class", "rewrite_for", "rewrite_function"]

# Attributes through which children and weights are found whatever their names
_TENSORS = re.compile(r"torch\.\w*Tensor")  # of any dtype


def rewrite_class(node: cst.ClassDef, updated: cst.ClassDef, tree: ast.ClassDef, ctx: Context) -> cst.ClassDef:
    """Return a class; its bases were rewritten as values already."""
    info = ctx.analysis.class_of.get(tree)
    if info is not None and ctx.world.family(info.key).name == "Module":
        updated = with_own_mode(updated, info.key, ctx)
        taken = RESERVED & (ctx.world.attributes(info.key).keys() | (info.methods.keys() - {"apply"}))
        taken |= METHODS & info.methods.keys()
        for name in sorted(name for name in taken if not is_free(info.key, name, ctx)):
            message = f"{tree.name}.{name}: nn.Cell keeps the name {name} for itself"
            ctx.report("T2M203", tree, message, symbol="torch.nn.Module", advice="rename the attribute in the source")
        for name, place in _unused_weights(tree, ctx).items():
            message = f"self.{name} is never read: torch leaves weights without gradient alone, MindSpore's decay"
            ctx.report(
                "T2M303", place, message, symbol="torch.nn.Module", advice="remove it, or give it no weight decay"
            )
        report_seldom_reached(tree, ctx)
    updated = _with_tensor_base(updated, tree, ctx)
    if holds_only(tree) and ctx.target.mindspore >= (2, 1) and "torch.optim.Optimizer" in ctx.kind(tree.bases[0]).of:
        return updated.with_changes(bases=[cst.Arg(ctx.reference("torch2ms.runtime.gradients.Holder"))])
    return with_recorded_base(updated, tree, ctx)


def _with_tensor_base(updated: cst.ClassDef, tree: ast.ClassDef, ctx: Context) -> cst.ClassDef:
    """Return a class of tensors with MindSpore's as its base, and say that operations do not give such ones back."""
    places = [place for place, base in enumerate(tree.bases) if _TENSORS.fullmatch(ctx.kind(base).of)]
    if not places or len(updated.bases) != len(tree.bases):
        return updated
    message = f"{tree.name} is a kind of tensor: MindSpore's operations return plain tensors, and change none in place"
    ctx.report("T2M203", tree, message, symbol="torch.Tensor", advice="hold the tensor in an attribute instead")
    bases = list(updated.bases)
    for place in places:
        bases[place] = bases[place].with_changes(value=ctx.reference("mindspore.Tensor"))
    return updated.with_changes(bases=bases)


def _unused_weights(tree: ast.ClassDef, ctx: Context) -> dict[str, ast.Assign]:
    """Return the weights that a file trains with decay and never reads: a network sets them, nothing asks for them.

    torch's optimizers pass over weights whose gradient is None; MindSpore's gradient is zero there.
    """
    words = ctx.once(_words)
    if words is None:
        return {}
    kept: dict[str, ast.Assign] = {}
    for node in walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = node.targets[0]
            own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
            if own and isinstance(target, ast.Attribute) and target.attr not in words and _has_weights(node.value, ctx):
                kept[target.attr] = node
    return kept


def _words(ctx: Context) -> frozenset[str] | None:
    """Return the attributes and strings of a file that trains with weight decay; None for others, or where any weight
    may be read by another name."""
    reads = {node.attr for node in ctx.analysis.all(ast.Attribute) if isinstance(node.ctx, ast.Load)}
    strings = {node.value for node in ctx.analysis.all(ast.Constant) if isinstance(node.value, str)}
    decays = any(node.arg == "weight_decay" for node in ctx.analysis.all(ast.keyword))
    decays = decays or "AdamW" in reads or "weight_decay" in strings
    return frozenset(reads | strings) if decays and not reads & (PARTS | OF_NETWORKS | {"__dict__"}) else None


def _has_weights(call: ast.Call, ctx: Context) -> bool:
    """Whether a call makes a parameter or a layer with weights."""
    if ctx.kind(call).name == "Parameter":
        return True
    callee = ctx.kind(call.func)
    row = ctx.tables.row(callee.of) if callee.of.startswith("torch.nn.") else None
    return row is not None and any(option.state is not None for option in row.to)


def rewrite_for(node: cst.For, updated: cst.For, tree: ast.For | ast.AsyncFor, ctx: Context) -> cst.For:
    """Return a loop; one over ``modules()`` takes the cells from ``cells_and_names()`` directly."""
    cells = _cells(updated.iter)
    if cells is None or not isinstance(updated.target, cst.Name) or updated.iter is node.iter:
        return updated
    target = cst.Tuple([cst.Element(cst.Name("_")), cst.Element(updated.target)], lpar=[], rpar=[])
    return updated.with_changes(target=target, iter=cells)


def _cells(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``x.cells_and_names()`` of ``[cell for _, cell in x.cells_and_names()]``."""
    if not isinstance(node, cst.ListComp) or not isinstance(node.elt, cst.Name) or node.elt.value != "cell":
        return None
    source = node.for_in.iter
    if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):
        return source if source.func.attr.value == "cells_and_names" else None
    return None


def rewrite_function(
    node: cst.FunctionDef, updated: cst.FunctionDef, tree: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context
) -> cst.FunctionDef:
    """Return a function; the ``forward`` of a module is its ``construct``."""
    info = ctx.analysis.function_of.get(tree)
    if info is None or info.owner is None or ctx.world.family(info.owner.key).name != "Module":
        return updated
    if ctx.options.target.graph and info.owner.node in ctx.analysis.tree.body and tree.name != "__init__":
        updated = _with_named_super(updated, tree, info.owner.node.name)
    if tree.name == "forward":
        return _with_self(updated, tree).with_changes(name=cst.Name("construct"))
    if tree.name == "__init__":
        return in_mode_of_birth(updated, tree, ctx)
    if tree.name == "__getattr__" and "raise AttributeError" not in ast.unparse(tree):
        return guard_delegation(updated, tree)
    if tree.name == "train" and is_own_mode(tree):
        return updated.with_changes(name=cst.Name("set_train"))
    if tree.name == "extra_repr":
        return updated.with_changes(name=cst.Name("extend_repr"))
    makes_state = ctx.world.method(info.owner.key, "__getstate__") is not None  # then it is that which comes back
    if tree.name == "__setstate__" and len(tree.args.args) == 2 and not makes_state:
        body = updated.body.visit(_Restored(tree.args.args[1].arg))
        assert isinstance(body, cst.BaseSuite)
        return updated.with_changes(body=body)
    if is_own_method(info.key, ctx):
        return updated.with_changes(name=cst.Name(f"{tree.name}_"))
    return updated


def _with_self(updated: cst.FunctionDef, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
    """Return ``forward`` with its first parameter called ``self``: MindSpore's graph parser asks for that very name."""
    parameters = [*tree.args.posonlyargs, *tree.args.args]
    first = parameters[0].arg if parameters else "self"
    used = {node.id for node in walk(tree) if isinstance(node, ast.Name)} | {item.arg for item in parameters}
    if first == "self" or "self" in used:
        return updated
    renamed = updated.visit(_Renamed(first, "self"))
    assert isinstance(renamed, cst.FunctionDef)
    return renamed


def _with_named_super(
    updated: cst.FunctionDef, tree: ast.FunctionDef | ast.AsyncFunctionDef, owner: str
) -> cst.FunctionDef:
    """Return a method whose ``super()`` says its class: graph mode takes the object's, and calls the method again."""
    parameters = [*tree.args.posonlyargs, *tree.args.args]
    if not parameters:
        return updated
    body = updated.body.visit(_NamedSuper(owner, parameters[0].arg))
    assert isinstance(body, cst.BaseSuite)
    return updated.with_changes(body=body)


class _NamedSuper(cst.CSTTransformer):
    """Gives ``super()`` its arguments; functions and classes within have their own."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        """Leave functions within."""
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        """Leave classes within."""
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Complete the call."""
        is_short = isinstance(updated_node.func, cst.Name) and updated_node.func.value == "super"
        if updated_node.args or not is_short:
            return updated_node
        return updated_node.with_changes(args=[cst.Arg(cst.Name(name)) for name in self.names])


class _Renamed(cst.CSTTransformer):
    """Calls a variable otherwise; attributes and keywords of the same name stay."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self.old, self.new = old, new

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        """Rename the variable."""
        return updated_node.with_changes(value=self.new) if updated_node.value == self.old else updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        """Keep the attribute's own name."""
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """Keep the keyword."""
        return updated_node.with_changes(keyword=original_node.keyword)


class _Restored(cst.CSTTransformer):
    """Reads and sets in ``state[1]`` what PyTorch has in ``state``: MindSpore restores a Cell from a pair."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.inside = name, 0

    def visit_Call(self, node: cst.Call) -> bool:
        """Leave the pair itself to ``super().__setstate__(state)``."""
        return not (isinstance(node.func, cst.Attribute) and node.func.attr.value == "__setstate__")

    def _enter(self, node: cst.CSTNode) -> None:
        self.inside += 1

    def _leave(self, node: cst.CSTNode) -> None:
        self.inside -= 1

    visit_Attribute_attr = visit_Arg_keyword = _enter  # names of members and keywords are no variables
    leave_Attribute_attr = leave_Arg_keyword = _leave

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Take the second of the pair."""
        if self.inside or original_node.value != self.name:
            return updated_node
        return cst.Subscript(updated_node, [cst.SubscriptElement(cst.Index(cst.Integer("1")))])
