"""Slices of containers of layers: ``self.blocks[:2]``.

In MindSpore such a slice is a new container, and names the parameters that it holds after their places there: the names
of the network's parameters change when it is run, and may be the same twice. Where the slice becomes a part of the
network they are named again; elsewhere it is taken in a way that leaves them alone.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build, slice_object
from torch2ms.translator.values.kinds import candidates

__all__ = ["sliced_part"]

_SEQUENTIAL, _LIST = "torch.nn.Sequential", "torch.nn.ModuleList"
_ITERATES = frozenset({"enumerate", "zip", "reversed", "list", "tuple", "len"})


def sliced_part(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression:
    """Return a slice of a Sequential or a list of layers whose parameters keep their names."""
    if not isinstance(tree.slice, ast.Slice) or not isinstance(tree.ctx, ast.Load) or _becomes_part(tree, ctx):
        return updated
    kind = ctx.kind(tree.value)
    if kind.name != "Module":
        return updated
    names = candidates(kind)
    classes = {base for name in names for base in (ctx.world.torch_bases(name) if ":" in name else (name,))}
    if classes == {_LIST} and _is_iterated(tree, ctx):
        return updated.with_changes(value=build("list({x})", x=updated.value))
    element = updated.slice[0].slice
    if classes & {_SEQUENTIAL, _LIST} and isinstance(element, cst.Slice):
        function = ctx.reference("torch2ms.runtime.parts.sliced")
        return build("{f}({x}, {index})", f=function, x=updated.value, index=slice_object(element))
    return updated


def _becomes_part(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether a slice is assigned to an attribute, which names the parameters after it."""
    parent = ctx.parent(tree)
    return isinstance(parent, ast.Assign) and all(isinstance(target, ast.Attribute) for target in parent.targets)


def _is_iterated(tree: ast.Subscript, ctx: Context) -> bool:
    parent = ctx.parent(tree)
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is tree
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in _ITERATES and tree in parent.args
    return isinstance(parent, ast.Starred)
