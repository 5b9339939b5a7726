"""Tensors and lists that may have no elements, as far as the text of a file shows: what a mask selects, a length of 0.

MindSpore's sums, means and ``any`` of those are whatever the memory held, so that they get the runtime's functions.
What a program makes of such a tensor may be empty as well; signatures tell the calls that reduce it to one number.
"""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.mapping_tables.schema import Signature
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.queries.known_values import default_of, values_of
from torch2ms.translator.values.use_evidence import may_be_mask, place_of, uses

__all__ = ["input_of", "lists_of_the_picked", "may_be_empty", "may_be_zero"]

_DATA = frozenset({"tensor", "Tensor", "as_tensor", "new_tensor"})
_SELECTORS = frozenset({"masked_select", "nonzero", "argwhere"})
_JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "stack"})
_DEPTH = 8  # how many steps an expression is followed


def input_of(tree: ast.Call, ctx: FileFacts) -> ast.expr | None:
    """Return the tensor that a method or function is called for."""
    if isinstance(tree.func, ast.Attribute) and ctx.kind(tree.func.value).is_tensor:
        return tree.func.value
    named = (keyword.value for keyword in tree.keywords if keyword.arg == "input")
    return tree.args[0] if tree.args else next(named, None)


def may_be_empty(tree: ast.expr | None, ctx: FileFacts, depth: int = _DEPTH) -> bool:
    """Whether the text shows that a tensor may have no elements: what a mask selects, or a length of 0."""
    if tree is None or depth == 0:
        return False
    if isinstance(tree, ast.Name):
        return _any_of([*values_of(tree, ctx), *ctx.once(_unpacked).get(tree.id, ())], tree.id, ctx, depth)
    if isinstance(tree, ast.Attribute):
        if isinstance(tree.value, ast.Name) and tree.value.id == "self":
            return _any_of(ctx.once(_members).get(tree.attr, []), f"self.{tree.attr}", ctx, depth)
        return may_be_empty(tree.value, ctx, depth - 1)  # x.T, torch.sort(x).values
    if isinstance(tree, ast.Subscript):
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        chosen = any(_may_select_nothing(part, ctx, depth - 1) for part in parts)
        return chosen or may_be_empty(tree.value, ctx, depth - 1)
    if isinstance(tree, ast.Call):
        return _makes_nothing(tree, ctx, depth)
    return any(may_be_empty(part, ctx, depth - 1) for part in _parts(tree))


def _parts(tree: ast.expr) -> tuple[ast.expr, ...]:
    """Return the tensors of which an expression has the shape."""
    match tree:
        case ast.BinOp(left=left, right=right):
            return left, right
        case ast.Compare(left=left, comparators=others):
            return left, *others
        case ast.UnaryOp(operand=operand):
            return (operand,)
        case ast.IfExp(body=body, orelse=other):
            return body, other
    return ()


def _any_of(values: list[ast.expr], name: str, ctx: FileFacts, depth: int) -> bool:
    known = ctx.once(_known)  # a long function may assign to one name some hundred times
    key = (name, *map(id, values), depth)
    if key not in known:
        known[key] = False  # while it is asked for: ``x = x + 1`` says nothing
        known[key] = any(may_be_empty(value, ctx, depth - 1) for value in values)
    return known[key]


def _known(_: FileFacts) -> dict[tuple[object, ...], bool]:
    """Return where it is kept which lists of values have one that may be empty, by the depth it was asked at."""
    return {}


def _members(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what the file's methods assign to the members of their objects."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                found.setdefault(target.attr, []).append(node.value)
    return found


def _unpacked(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return the calls whose results go to several names: ``rows, columns = torch.where(mask)``."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        if isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Tuple):
            for name in node.targets[0].elts:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(node.value)
    return found


def _makes_nothing(tree: ast.Call, ctx: FileFacts, depth: int) -> bool:
    func = tree.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in _SELECTORS or (name == "where" and len(tree.args) == 1 and not tree.keywords):
        return True
    facts = load_facts()
    if facts.has_axes(name, "sizes") or name in ("full", "new_full"):
        is_told = any(_is_zero(size) for arg in tree.args for size in getattr(arg, "elts", [arg]))
        if is_told or not facts.may_share(name):
            return is_told
    if name in _DATA:
        given = tree.args[0] if tree.args else None
        return not tree.args or (isinstance(given, (ast.List, ast.Tuple)) and not given.elts)
    own = ctx.once(_functions).get(name, []) if isinstance(func, ast.Name) else []
    if own:
        return _any_of(own, f"{name}()", ctx, depth)
    if name in _JOINING:
        joined = getattr(tree.args[0], "elts", []) if tree.args else []
        return bool(joined) and all(may_be_empty(part, ctx, depth - 1) for part in joined)
    signature = _signature(tree, name, ctx)
    if signature is None:
        return False
    names = {parameter.name for parameter in signature.parameters}
    chosen = [*tree.args, *(word.value for word in tree.keywords)] if "index" in names else []
    shaping = any(may_be_empty(value, ctx, depth - 1) for value in (*chosen, input_of(tree, ctx)))
    return shaping and _keeps_nothing(tree, name, names, ctx)


def _functions(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what the functions of the file return, by their names."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.FunctionDef):
        values = [part.value for part in walk(node) if isinstance(part, ast.Return)]
        found.setdefault(node.name, []).extend(value for value in values if value is not None)
    return found


def _keeps_nothing(tree: ast.Call, name: str, names: set[str], ctx: FileFacts) -> bool:
    """Whether a call of torch for a tensor without elements gives one, too: all but reductions to one number do."""
    if not ctx.kind(tree).known:
        return False
    if "reduction" in names:
        return any(word.arg == "reduction" and getattr(word.value, "value", "") == "none" for word in tree.keywords)
    if "keepdim" not in names:
        return name not in _WHOLE
    is_method = isinstance(tree.func, ast.Attribute) and ctx.kind(tree.func.value).is_tensor
    dims = [*tree.args[0 if is_method else 1 :][:1], *(w.value for w in tree.keywords if w.arg in ("dim", "axis"))]
    return bool(dims) and not _is_zero(dims[0])  # those along a later axis leave as many as there were


# What gives one number without having an axis to choose
_WHOLE = frozenset({"dot", "vdot", "dist", "trace", "numel", "item", "bincount", "histc", "size", "dim"})


def _signature(tree: ast.Call, name: str, ctx: FileFacts) -> Signature | None:
    """Return the signature of a function or method of torch, as its row or the catalogue has it."""
    func = tree.func
    if isinstance(func, ast.Attribute) and ctx.kind(func.value).is_tensor:
        full = f"torch.Tensor.{name}"
    else:
        kind = ctx.kind(func)
        full = kind.of if kind.name == "api" else ""
    row = ctx.tables.row(full)
    return None if row is None else row.signature or ctx.tables.signature(full)


def _may_select_nothing(part: ast.expr, ctx: FileFacts, depth: int) -> bool:
    """Whether an index may be a mask that holds nowhere, places that are none, or a slice of nothing."""
    if isinstance(part, ast.Slice):
        return _ends_at_once(part, ctx)
    kind = ctx.kind(part)
    if kind.is_tensor and kind.of in ("torch.bool", "torch.uint8"):
        return True
    unclear = not kind.known or (kind.is_tensor and not kind.of)
    if unclear and place_of(part) and may_be_mask(uses(ctx.analysis.tree).of(part)):
        return True
    return not isinstance(part, ast.Constant) and may_be_empty(part, ctx, depth)


def _ends_at_once(part: ast.Slice, ctx: FileFacts) -> bool:
    """Whether a slice runs up to 0, on from the last place, ``x[i + 1:]``, or between ``x[ends[i]:ends[j]]``."""
    lower, upper = part.lower, part.upper
    if lower is None:
        return upper is not None and _may_be_zero(upper, ctx)
    if upper is None:
        return _is_next(lower)
    return any(isinstance(bound, ast.Subscript) or _counts(bound, ctx) for bound in (lower, upper))


def _is_next(bound: ast.expr) -> bool:
    """Whether a slice begins behind a place that a name tells: the place may be the last."""
    if not isinstance(bound, ast.BinOp) or not isinstance(bound.op, ast.Add) or not isinstance(bound.left, ast.Name):
        return False
    return isinstance(bound.right, ast.Constant) and type(bound.right.value) is int and bound.right.value > 0


def _may_be_zero(bound: ast.expr, ctx: FileFacts) -> bool:
    """Whether the end of a slice is 0, counts what a tensor holds, or runs from 0 in a loop."""
    if _is_zero(bound) or ctx.kind(bound).is_tensor:
        return True
    if isinstance(bound, ast.Name):
        if bound.id in ctx.once(_from_zero):
            return True
        return any(_counts(value, ctx) for value in values_of(bound, ctx))
    return _counts(bound, ctx)


def may_be_zero(bound: ast.expr, ctx: FileFacts, depth: int = _DEPTH) -> bool:
    """Whether the text shows that a number may be 0: a literal, a default, an argument, what a loop counts from 0."""
    if depth == 0 or _is_zero(bound):
        return depth > 0
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Mult):
        return may_be_zero(bound.left, ctx, depth - 1) or may_be_zero(bound.right, ctx, depth - 1)
    if isinstance(bound, ast.Name):
        values = [*values_of(bound, ctx), *default_of(bound, ctx)]
        return bound.id in ctx.once(_from_zero) or any(may_be_zero(value, ctx, depth - 1) for value in values)
    if isinstance(bound, ast.Attribute) and isinstance(bound.value, ast.Name) and bound.value.id == "self":
        return any(may_be_zero(value, ctx, depth - 1) for value in ctx.once(_members).get(bound.attr, ()))
    return False


def _counts(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a number is asked of a tensor: ``mask.sum().item()``, ``int(mask.sum())``."""
    if ctx.kind(tree).is_tensor:
        return True
    if not isinstance(tree, ast.Call):
        return False
    if isinstance(tree.func, ast.Attribute):
        return tree.func.attr == "item" and ctx.kind(tree.func.value).is_tensor
    return getattr(tree.func, "id", "") == "int" and bool(tree.args) and ctx.kind(tree.args[0]).is_tensor


def _from_zero(ctx: FileFacts) -> frozenset[str]:
    """Return the names that a loop counts from 0: ``for i in range(n)``."""
    found: set[str] = set()
    for node in ctx.analysis.all(ast.For):
        if isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name):
            bounds = node.iter.args
            if getattr(node.iter.func, "id", "") == "range" and (len(bounds) == 1 or _is_zero(bounds[0])):
                found.add(node.target.id)
    return frozenset(found)


def _is_zero(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value == 0 and type(tree.value) is int


def lists_of_the_picked(ctx: FileFacts) -> frozenset[str]:
    """Return the names of the lists of a file that start empty, and get something under a condition."""
    starts = (node for node in ctx.analysis.all(ast.Assign) if isinstance(node.value, ast.List) and not node.value.elts)
    names = frozenset(target.id for node in starts for target in node.targets if isinstance(target, ast.Name))
    return frozenset(name for name in names if any(_is_conditional(call, ctx) for call in _appends(name, ctx)))


def _appends(name: str, ctx: FileFacts) -> list[ast.Call]:
    """Return the calls ``name.append(...)`` of a file."""
    calls = (node for node in ctx.analysis.all(ast.Call) if getattr(node.func, "attr", "") == "append")
    return [call for call in calls if getattr(getattr(call.func, "value", None), "id", "") == name]


def _is_conditional(node: ast.AST | None, ctx: FileFacts) -> bool:
    """Whether a condition, or a loop with one, stands around a node in its function."""
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(node, (ast.If, ast.While)):
            return True
        node = ctx.parent(node)
    return False
