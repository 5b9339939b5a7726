"""The weight of a one-dimensional convolution, which has a further axis of size 1 in MindSpore: (O, I, 1, k).

What is read as torch's tensor of three dimensions is squeezed, what is written is brought into MindSpore's shape. A
weight that is only handed on (to an initializer, an optimizer, another layer) stays what it is: the parameter.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.names import candidates
from torch2ms.translator.syntax import build, parenthesised

__all__ = ["fitted", "is_wide", "narrowed", "rewrite_data"]

_LAYERS = {"torch.nn.Conv1d", "torch.nn.ConvTranspose1d"}

# Members that say the same of the parameter itself, or of what a layer does with it.
_SAME = frozenset({"data", "detach", "grad", "requires_grad", "requires_grad_", "dtype", "device", "numel", "is_leaf"})


def is_wide(tree: ast.expr, ctx: Context) -> bool:
    """Whether an expression is the weight of a one-dimensional convolution."""
    if not isinstance(tree, ast.Attribute) or tree.attr != "weight":
        return False
    base = ctx.kind(tree.value)
    if base.name != "Module":
        return False
    classes = {name for key in candidates(base) for name in (ctx.world.torch_bases(key) if ":" in key else [key])}
    return bool(classes) and classes <= _LAYERS | {"torch.nn.Module"} and not classes.isdisjoint(_LAYERS)


def narrowed(updated: cst.Attribute, tree: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Return ``conv.weight.squeeze(2)`` where the weight's values or shape are asked for."""
    if not isinstance(tree.ctx, ast.Load) or not is_wide(tree, ctx) or not _is_asked(tree, ctx):
        return None
    return build("{weight}.squeeze(2)", weight=updated)


def _is_asked(tree: ast.expr, ctx: Context) -> bool:
    above = ctx.parent(tree)
    if isinstance(above, ast.Attribute):
        return above.attr not in _SAME and not above.attr.endswith("_")
    if isinstance(above, ast.Subscript):
        return above.value is tree and isinstance(above.ctx, ast.Load)
    return isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Compare))


def fitted(value: cst.BaseExpression, parameter: cst.BaseExpression) -> cst.BaseExpression:
    """Return a value in the shape of the parameter that is set to it."""
    return build("{x}.reshape({weight}.shape)", x=parenthesised(value), weight=parameter)


def rewrite_data(updated: cst.Assign, tree: ast.Assign, ctx: Context) -> cst.Assign:
    """``conv.weight.data = w`` -> ``conv.weight.data = w.reshape(conv.weight.shape)``."""
    target = tree.targets[0]
    if len(tree.targets) != 1 or not isinstance(target, ast.Attribute) or target.attr != "data":
        return updated
    place = updated.targets[0].target
    if not is_wide(target.value, ctx) or not isinstance(place, cst.Attribute) or not ctx.kind(tree.value).is_tensor:
        return updated
    return updated.with_changes(value=fitted(updated.value, place.value.deep_clone()))
