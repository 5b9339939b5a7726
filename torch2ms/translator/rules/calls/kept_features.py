"""Features that are kept while the next part of a network runs on them, which may start with an in-place activation.

``out.append(x); x = layer(x)`` over the layers of a VGG keeps what a convolution computed, and the activation behind
it then changes what is kept. MindSpore's layers leave their inputs alone. Where the text shows which layer is first,
``inplace`` gives the same features; where a number, or a loop, decides it, this is reported.
"""

from __future__ import annotations

import ast
import re

from torch2ms.translator.context import Context
from torch2ms.translator.effects.first_layers import is_of_known, loop_around, starts_of
from torch2ms.translator.effects.liveness import read_again, read_beside
from torch2ms.translator.effects.mutated_arguments import first_change
from torch2ms.translator.effects.sharing import seen_elsewhere
from torch2ms.translator.syntax.ast_walk import bound_pairs, walk
from torch2ms.translator.syntax.names import dotted
from torch2ms.translator.values.copied_sequentials import vgg_activations
from torch2ms.translator.values.self_attributes import is_inplace

__all__ = ["report_kept"]

_MESSAGE = (
    "{layer} may start with an activation that works in place: torch then changes {name}, which is kept;"
    " MindSpore leaves it as it was"
)
# Networks of torchvision whose lists of layers hold activations, and those whose parts start otherwise
_FLAT = re.compile(r"vgg|alexnet|squeezenet", re.IGNORECASE)
_BLOCKS = re.compile(r"res(net|nex)|densenet|mobilenet|mnasnet|efficientnet|shufflenet|convnext|inception|swin|vit_")
_VGG = re.compile(r"\bmodels\.(vgg1[1369])(_bn)?\(")
_LAYERS = re.compile(r"features|children\(|_modules\b|named_modules|\bvgg")
_DEPTH = 4


def report_kept(tree: ast.Call, ctx: Context) -> None:
    """Report a call of a part of a network whose input is kept elsewhere, or read again."""
    if len(tree.args) != 1 or tree.keywords or not isinstance(tree.args[0], ast.Name):
        return
    if first_change(starts_of(tree.func, ctx))[1] is not None:
        return  # the text shows which layer is first
    small, name = ctx.small, tree.args[0].id
    if not isinstance(small, (ast.Assign, ast.Expr, ast.Return)) or not _starts_in_place(tree.func, ctx, is_held=True):
        return
    if is_of_known(tree.func, ctx):
        return
    targets = {t.id for t in getattr(small, "targets", ()) if isinstance(t, ast.Name)}
    held = seen_elsewhere(name, small, ctx) == "object" or _is_added(name, ctx)
    kept = held or read_beside(name, tree, small, ctx)
    again = kept or (name not in targets and read_again(name, small, ctx))
    if again and _starts_in_place(tree.func, ctx, is_held=held):
        ctx.report("T2M305", tree, _MESSAGE.format(layer=ast.unparse(tree.func), name=name), symbol="inplace")


def _is_added(name: str, ctx: Context) -> bool:
    """Whether the function adds a tensor to a list: ``out += [x]``."""
    function = ctx.functions[-1]
    return any(
        isinstance(node, ast.AugAssign)
        and isinstance(node.value, ast.List)
        and any(getattr(element, "id", "") == name for element in node.value.elts)
        for node in walk(function.node if function is not None else ctx.analysis.tree)
    )


def _starts_in_place(func: ast.expr, ctx: Context, *, is_held: bool) -> bool:
    """Whether what is called may be, or start with, an activation that works in place.

    ``is_held``: something else than the name holds the input; only then any list of layers is asked.
    """
    kind = ctx.kind(func)
    if kind.known and not (kind.name == "Module" and kind.of in ("", "torch.nn.Module", "torch.nn.Sequential")):
        return False
    if isinstance(func, ast.Name):
        loop = loop_around(func, ctx)
        return (
            isinstance(loop, ast.For) and _is_list(loop.iter, ctx, is_held=is_held) and _may_hold(loop.iter, None, ctx)
        )
    if isinstance(func, ast.Subscript):
        return _is_list(func.value, ctx) and _part(func, ctx)
    values = ctx.once(_bound).get(ast.unparse(func), []) if isinstance(func, ast.Attribute) else []
    return any(_is_made_so(value, func, ctx) for value in values)


def _is_list(source: ast.expr, ctx: Context, *, is_held: bool = True) -> bool:
    """Whether an expression is a list of layers, by its kind or its name."""
    return (is_held and ctx.kind(source).name == "Module") or bool(_LAYERS.search(ast.unparse(source)))


def _is_made_so(value: ast.expr, place: ast.expr, ctx: Context) -> bool:
    """Whether a part of a network is made of a slice of layers that may begin with such an activation."""
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and _part(value, ctx)
    if not isinstance(value, ast.Call) or getattr(value.func, "attr", getattr(value.func, "id", "")) != "Sequential":
        return False
    if not value.args:
        return _is_filled(place, ctx)
    first = value.args[0].value if isinstance(value.args[0], ast.Starred) else None
    slices = [node for node in walk(first) if isinstance(node, ast.Subscript)] if first is not None else []
    return bool(slices) and isinstance(slices[0].slice, ast.Slice) and _part(slices[0], ctx)


def _is_filled(place: ast.expr, ctx: Context) -> bool:
    """Whether a loop from no constant number on fills a Sequential: ``self.s.add_module(str(i), layers[i])``."""
    for loop in ctx.analysis.all(ast.For):
        start = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and len(loop.iter.args) > 1 else None
        if start is None or isinstance(start, ast.Constant):
            continue
        for node in walk(loop):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{ast.unparse(place)}.add_module":
                taken = node.args[1] if len(node.args) > 1 else None
                return isinstance(taken, ast.Subscript) and _may_hold(taken.value, None, ctx)
    return False


def _part(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether ``layers[start:]``, or ``layers[index]``, may begin with such an activation."""
    start = tree.slice.lower if isinstance(tree.slice, ast.Slice) else tree.slice
    if start is None:
        return False
    number = start.value if isinstance(start, ast.Constant) and isinstance(start.value, int) else None
    return number != 0 and _may_hold(tree.value, number, ctx)


def _may_hold(source: ast.expr, place: int | None, ctx: Context, depth: int = _DEPTH) -> bool:
    """Whether a list of layers may hold what starts in place, at a place of it or anywhere behind the first."""
    for value in [source, *ctx.once(_bound).get(ast.unparse(source), [])]:
        layers = _listed(value)
        if layers:
            chosen = layers[1:] if place is None else layers[place : place + 1]
            return depth > 0 and any(_begins(layer, ctx, depth - 1) for layer in chosen)
    text = " ".join(map(ast.unparse, _made(source, ctx)))
    models = set(_VGG.findall(text))
    if len(models) == 1 and place is not None:
        return place in vgg_activations(*models.pop())
    if _FLAT.search(text):
        return True
    return place is None and not _BLOCKS.search(text) and ctx.once(_works_in_place)


def _listed(value: ast.expr) -> list[ast.expr]:
    """Return the layers of ``nn.Sequential(a, b)`` or ``nn.ModuleList([a, b])``; none where one is no expression."""
    name = getattr(value.func, "attr", getattr(value.func, "id", "")) if isinstance(value, ast.Call) else ""
    if not isinstance(value, ast.Call) or name not in ("Sequential", "ModuleList") or not value.args:
        return []
    first = value.args[0]
    layers = first.elts if isinstance(first, ast.List) else value.args if name == "Sequential" else []
    return [] if any(isinstance(layer, ast.Starred) for layer in layers) else list(layers)


def _begins(layer: ast.expr, ctx: Context, depth: int) -> bool:
    """Whether a layer works in place, or may start with one that does."""
    if isinstance(layer, (ast.Name, ast.Attribute)):
        return not ctx.kind(layer).known or (
            ctx.kind(layer).of == "torch.nn.Sequential" and _may_hold(layer, 0, ctx, depth)
        )
    inner = _listed(layer)
    return is_inplace(layer) or (bool(inner) and depth > 0 and _begins(inner[0], ctx, depth - 1))


def _made(source: ast.expr, ctx: Context) -> list[ast.expr]:
    """Return an expression and what the names in it are bound to, in the file."""
    found, pending = [source], [source]
    for _ in range(_DEPTH):
        names = [n for part in pending for n in walk(part) if isinstance(n, (ast.Name, ast.Attribute))]
        bound = ctx.once(_bound)
        pending = [
            value for name in names for value in bound.get(dotted(name) or ast.unparse(name), []) if value not in found
        ]
        found += pending
    return found


def _bound(ctx: Context) -> dict[str, list[ast.expr]]:
    """Return what the names and attributes of the file are assigned, by their text."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for place, value in bound_pairs(node):
            if isinstance(place, (ast.Name, ast.Attribute)):
                found.setdefault(dotted(place) or ast.unparse(place), []).append(value)
    return found


def _works_in_place(ctx: Context) -> bool:
    """Whether the file makes activations that work in place."""
    return any(is_inplace(call) for call in ctx.analysis.all(ast.Call))
