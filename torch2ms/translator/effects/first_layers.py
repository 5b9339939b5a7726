"""How a layer begins that is called: ``self.block``, ``self.one.model``, ``m`` of ``for m in self.blocks``."""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.inplace_layers import (
    EACH,
    FIRST,
    KNOWN,
    MAKES,
    Place,
    Starts,
    merged,
    own_starts,
    value_starts,
)

__all__ = ["is_fed_by_others", "is_of_known", "loop_around", "own_class", "starts_of"]

_DEPTH = 4


def starts_of(layer: ast.expr, ctx: FileFacts, depth: int = _DEPTH) -> Starts:
    """Return how the layer begins that an expression gives, by paths as of ``layer_starts``."""
    if depth == 0:
        return {}
    if isinstance(layer, ast.Attribute):
        owner = own_class(layer.value, ctx)
        if owner is None:
            kind = ctx.kind(layer.value)
            owner = kind.of if kind.name == "Module" and ":" in kind.of and "|" not in kind.of else ""
        return own_starts(owner, layer.attr, ctx.world) if owner else {}
    if isinstance(layer, ast.Subscript):
        first = isinstance(layer.slice, ast.Constant) and layer.slice.value == 0
        inner = starts_of(layer.value, ctx, depth - 1)
        found = _behind(inner, FIRST) if first else {}
        if first and MAKES in inner:
            return found
        return found or ({} if isinstance(layer.slice, ast.Slice) else _behind(inner, EACH))
    if isinstance(layer, ast.Name):
        loop = loop_around(layer, ctx)
        if loop is not None:
            return _behind(starts_of(_walked(loop.iter, loop.target, layer.id), ctx, depth - 1), EACH)
        taken = [value for value in _bound_here(layer, ctx) if isinstance(value, (ast.Attribute, ast.Subscript))]
        if taken:
            return merged([starts_of(value, ctx, depth - 1) for value in taken])
    function = ctx.functions[-1]
    place = Place(ctx.world, ctx.analysis, "", function.node if function is not None else None)
    return value_starts(layer, place)


def is_fed_by_others(layer: ast.expr, ctx: FileFacts) -> bool:
    """Whether the layer that a loop goes over gets only what the loop's layers made, for the first of them makes anew.

    ``for layer in self.layers: x = layer(x)``: what ``x`` was before the loop reaches the first layer alone.
    """
    statement = ctx.small
    loop = loop_around(layer, ctx) if isinstance(layer, ast.Name) else None
    if not isinstance(loop, ast.For) or not isinstance(statement, ast.Assign) or ctx.parent(statement) is not loop:
        return False
    assert isinstance(layer, ast.Name)
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return False
    values = _branches(statement.value)
    if not all(isinstance(value, ast.Call) and getattr(value.func, "id", "") == layer.id for value in values):
        return False
    given = {id(value.args[0]) for value in values if isinstance(value, ast.Call) and value.args}
    read = (n for n in walk(loop) if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load))
    return all(id(node) in given for node in read) and MAKES in starts_of(
        _walked(loop.iter, loop.target, layer.id), ctx
    )


def is_of_known(layer: ast.expr, ctx: FileFacts) -> bool:
    """Whether a layer is out of a list of which everything is known: ``self.layers[i]``, or one a loop goes over."""
    if isinstance(layer, ast.Subscript) and not isinstance(layer.slice, ast.Slice):
        return KNOWN in starts_of(layer.value, ctx)
    loop = loop_around(layer, ctx) if isinstance(layer, ast.Name) else None
    if loop is None or not isinstance(layer, ast.Name):
        return False
    return KNOWN in starts_of(_walked(loop.iter, loop.target, layer.id), ctx)


def _branches(value: ast.expr) -> list[ast.expr]:
    """Return what an expression may be: the branches of ``a if c else b``."""
    return [*_branches(value.body), *_branches(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def _behind(starts: Starts, step: str) -> Starts:
    """Return how what a step leads to begins."""
    return {path.removeprefix(step): start for path, start in starts.items() if path.startswith(step)}


def own_class(tree: ast.expr, ctx: FileFacts) -> str | None:
    """Return the key of the class whose method an expression is ``self`` of, or None."""
    function = ctx.functions[-1]
    while function is not None and function.owner is None:
        function = function.outer
    if function is None or function.owner is None:
        return None
    return function.owner.key if ctx.kind(tree).evidence == "self" else None


def _bound_here(name: ast.Name, ctx: FileFacts) -> list[ast.expr]:
    """Return what the function around binds a name to."""
    function = ctx.functions[-1]
    inside = function.node if function is not None else ctx.analysis.tree
    assigned = (node for node in walk(inside) if isinstance(node, ast.Assign))
    return [node.value for node in assigned if any(getattr(target, "id", "") == name.id for target in node.targets)]


def loop_around(name: ast.Name, ctx: FileFacts) -> ast.For | ast.comprehension | None:
    """Return the loop around a place whose variable is called there."""
    node = ctx.parent(name)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for loop in [node] if isinstance(node, ast.For) else getattr(node, "generators", ()):
            if any(getattr(part, "id", "") == name.id for part in walk(loop.target)):
                return loop
        node = ctx.parent(node)
    return None


def _walked(source: ast.expr, target: ast.expr, name: str) -> ast.expr:
    """Return which of ``enumerate(layers)``, ``zip(layers, others)`` a part of the loop's target goes over."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name) or not source.args:
        return source
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    place = next((i for i, part in enumerate(parts) if any(getattr(n, "id", "") == name for n in walk(part))), 0)
    if source.func.id == "enumerate" and place == 1:
        return _walked(source.args[0], parts[1], name)
    if source.func.id == "zip" and place < len(source.args):
        return source.args[place]
    return source.args[0] if source.func.id in ("reversed", "list") else source
