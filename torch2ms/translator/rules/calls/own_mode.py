"""Networks with a ``train`` of their own: it becomes ``set_train``, which is called for the parts of a network too."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.world import World

__all__ = ["has_own_mode", "is_own_mode", "with_own_mode"]

_BASE = "torch2ms.runtime.mode.OwnMode"


def is_own_mode(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method of a network is torch's ``train``, overridden: it takes the mode and nothing else."""
    names = [arg.arg for arg in [*tree.args.posonlyargs, *tree.args.args]]
    others = tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs
    return tree.name == "train" and len(names) == 2 and not others and _hands_on(tree)


def _hands_on(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the method calls the ``train`` of its base class."""
    for node in walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "train":
            owner = node.func.value
            is_super = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super"
            first = node.args[0] if node.args else None
            if is_super or getattr(first, "id", "") == tree.args.args[0].arg:
                return True
    return False


def has_own_mode(key: str, world: World) -> bool:
    """Whether a network of the project has a ``train`` of its own that stands for torch's."""
    method = world.method(key, "train")
    info = world.function(method) if method is not None else None
    return info is not None and not isinstance(info.node, ast.Lambda) and is_own_mode(info.node)


def with_own_mode(updated: cst.ClassDef, key: str, ctx: Context) -> cst.ClassDef:
    """Return a class with the base that calls its ``set_train``, unless a base has it already."""
    info = ctx.world.class_info(key)
    if info is None or "train" not in info.methods or not has_own_mode(key, ctx.world):
        return updated
    above = [base for base in ctx.world.ancestry(key) if ":" in base and base != key]
    if any(has_own_mode(base, ctx.world) for base in above):
        return updated
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return updated.with_changes(bases=[cst.Arg(ctx.reference(_BASE), comma=comma), *updated.bases])
