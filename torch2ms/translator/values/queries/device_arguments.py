"""Arguments that say a device or a dtype, by their kind, or by what they are used for elsewhere."""

from __future__ import annotations

import ast

from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.use_evidence import is_device, uses

__all__ = ["describes_device", "describes_dtype", "is_used_as_device"]


def describes_device(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an argument says a device: a torch.device, its name or number, or what is used as one elsewhere."""
    kind = ctx.kind(tree)
    if kind.name in ("device", "str", "int") or (isinstance(tree, ast.Constant) and tree.value is None):
        return True
    return (not kind.known or kind.name == "none") and is_used_as_device(tree, ctx)


def is_used_as_device(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a place holds a device elsewhere: ``net.to(d)``, ``device=d``, ``args.d = torch.device(...)``."""
    found = uses(ctx.analysis.tree).of(tree)
    stored = ctx.once(_stored).get(tree.attr, []) if isinstance(tree, ast.Attribute) else []
    if stored and all(ctx.kind(value).name == "device" for value in stored):
        return True  # ``args.device = torch.device(...)`` in another function
    return is_device(found) or any(_moves(call, place, ctx) for call, place in found.given)


def _stored(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what the file stores under each attribute."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                found.setdefault(target.attr, []).append(node.value)
    return found


def _moves(call: ast.Call, place: int | str, ctx: FileFacts) -> bool:
    """Whether ``to`` moves something to its first argument: a network, or a tensor that is told how to be moved."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "to" or place != 0:
        return False
    is_told = any(word.arg == "non_blocking" for word in call.keywords)
    return is_told or isinstance(ctx.parent(call), ast.Expr) or ctx.kind(function.value).name == "Module"


def describes_dtype(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an argument says a dtype: one of torch's, or what is used as one elsewhere: ``dtype=d``."""
    kind = ctx.kind(tree)
    if kind.name == "dtype" or (kind.name == "api" and kind.of.startswith("torch.")):
        return True
    return not kind.known and any(word == "dtype" for _, word in uses(ctx.analysis.tree).of(tree).given)
