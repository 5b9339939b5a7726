"""Indices that torch takes and MindSpore does not: ``x[range(n), labels]``, ``x[order]`` with numpy's numbers."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Literal

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.definite_assignment import element_of
from torch2ms.translator.effects.members import changed_members, member_names
from torch2ms.translator.effects.sharing import what_index_gives
from torch2ms.translator.rules.calls.untyped_receivers import told
from torch2ms.translator.rules.expressions.slices import (
    is_dots,
    is_tensor_by_use,
    is_whole,
    is_written,
    read_in_slices,
    trains,
)
from torch2ms.translator.syntax.ast_walk import are_alike, walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.queries.emptiness import lists_of_the_picked
from torch2ms.translator.values.queries.known_values import holds_negative, never_negative
from torch2ms.translator.values.queries.ranks import binding_scope, ranks
from torch2ms.translator.values.scopes import root_of
from torch2ms.translator.values.use_evidence import may_be_mask, place_of, uses

__all__ = ["rewrite_index"]


def rewrite_index(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression:
    """Return a subscript of a tensor in the form that MindSpore takes."""
    typed = _typed(_bounded(updated, tree, ctx), tree, ctx)
    indexed = _numbers_first(_without_end(typed, tree, ctx), tree, ctx)
    indexed = _one_by_one(_from_the_end(indexed, tree, ctx), tree, ctx)
    if _ends_in_mask(tree, ctx) and len(indexed.slice) > 1:
        picked = ctx.reference("torch2ms.runtime.functional.picked_at_end")
        mask = cst.ensure_type(indexed.slice[1].slice, cst.Index).value
        return build("{picked}({x}, {mask})", picked=picked, x=indexed.value, mask=mask)
    if _may_be_one_element(tree, ctx):
        element = ctx.reference("torch2ms.runtime.functional.element")
        star: Literal["", "*"] = "" if isinstance(tree.slice, ast.Tuple) else "*"
        given = [cst.Arg(cst.ensure_type(part.slice, cst.Index).value, star=star) for part in indexed.slice]
        return cst.Call(build("{element}", element=element), [cst.Arg(indexed.value), *given])
    if _is_row_of_weights(tree, ctx):
        rows = ctx.reference("torch2ms.runtime.functional.rows")
        index = cst.ensure_type(indexed.slice[0].slice, cst.Index).value
        return build("{rows}({table}, {index})", rows=rows, table=indexed.value, index=index)
    if isinstance(tree.ctx, ast.Load) and ctx.kind(tree.value).is_tensor and _is_changed_later(tree, ctx):
        copies = what_index_gives(tree.slice, ctx) == "copy"
        return build("{x}.copy()", x=indexed) if copies else indexed
    return read_in_slices(indexed, tree, ctx)


def _is_changed_later(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether a name holds what is read, whose elements are assigned somewhere: the way it is read then matters.

    In MindSpore ``y = x[mask]; y[0] = 1`` writes into ``x`` as well, which torch does for a part of ``x`` only.
    """
    parent = ctx.parent(tree)
    targets = parent.targets if isinstance(parent, ast.Assign) and parent.value is tree else []
    above = ctx.parent(parent) if isinstance(parent, ast.Tuple) else None
    if isinstance(above, ast.Assign) and isinstance(parent, ast.Tuple):  # ``row, col = row[mask], col[mask]``
        parts = [part for target in above.targets for part in getattr(target, "elts", ())]
        targets = [n for n in parts if isinstance(n, ast.Name) and element_of(above.targets[0], parent, n.id) is tree]
    names = {target.id: binding_scope(target.id, target, ctx) for target in targets if isinstance(target, ast.Name)}
    if not names:
        return bool(ctx.once(changed_members) & member_names(tree, ctx))
    changed = ((node, name) for node in ctx.analysis.nodes for name in _changed(node) if name in names)
    return any(binding_scope(name, node, ctx) is names[name] and _may_change(node, ctx) for node, name in changed)


def _changed(node: ast.AST) -> list[str]:
    """Return the names whose tensors a node may change: by their elements, part by part, or in a function."""
    if isinstance(node, ast.Subscript):
        return [root_of(node) or ""] if isinstance(node.ctx, ast.Store) else []
    given = [node.iter] if isinstance(node, ast.For) else node.args if isinstance(node, ast.Call) else []
    return [arg.id for arg in given if isinstance(arg, ast.Name)]


def _may_change(node: ast.AST, ctx: Context) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return called is None or isinstance(called, ast.Lambda) or ctx.kind(called).name == "function"


def _without_end(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """``x[mask, :]`` -> ``x[mask]``: behind a mask of several axes, MindSpore reads ``:`` as the length of the mask."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else []
    if not parts or not isinstance(tree.ctx, ast.Load) or len(parts) != len(updated.slice):
        return updated
    held = ctx.kind(tree.value)
    if not (held.is_tensor or not held.known) or not _may_be_mask(parts[0], ctx):
        return updated
    if not all(is_whole(element) for element in updated.slice[1:]):
        return updated
    return updated.with_changes(slice=[updated.slice[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


def _numbers_first(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """``x[1, :, [0, 2]]`` -> ``x[1][:, [0, 2]]``: a number beside lists takes part in MindSpore's broadcasting.

    The axis of the list then comes first, as numpy has it; torch selects the number's axis and leaves the others.
    """
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else []
    if not isinstance(tree.ctx, ast.Load) or not ctx.kind(tree.value).is_tensor or len(parts) != len(updated.slice):
        return updated
    numbers = [place for place, part in enumerate(parts) if _is_int(part, ctx)]
    lists = [place for place, part in enumerate(parts) if ctx.kind(part).is_tensor or ctx.kind(part).name == "list"]
    if not numbers or not lists:
        return updated
    first, last = min(*numbers, *lists), max(*numbers, *lists)
    if len(numbers) + len(lists) == last - first + 1:
        return updated  # side by side, they stay where they are
    dots = any(isinstance(part, ast.Constant) and part.value is ... for part in parts)
    whole = cst.SubscriptElement(cst.Slice(None, None))
    front = [
        element if place in numbers or is_dots(element) else whole
        for place, (part, element) in enumerate(zip(parts, updated.slice, strict=True))
        if (dots or place <= numbers[-1]) and not (isinstance(part, ast.Constant) and part.value is None)
    ]
    rest = [element for place, element in enumerate(updated.slice) if place not in numbers]
    front[-1] = front[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(value=updated.with_changes(slice=front, lpar=[], rpar=[]), slice=rest)


def _from_the_end(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """``x[index]`` -> ``x[index, ...]`` where the index shows negative places, and the file asks for gradients.

    MindSpore's gradient of ``x[index]`` leaves out what a negative place has taken (2.7 and 2.10); that of the other
    forms does not.
    """
    if isinstance(tree.slice, (ast.Tuple, ast.Slice)) or not isinstance(tree.ctx, ast.Load):
        return updated
    index = ctx.kind(tree.slice)
    if not index.is_tensor or not trains(ctx) or not holds_negative(tree.slice, ctx):
        return updated
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    dots = cst.SubscriptElement(cst.Index(cst.Ellipsis()))
    return updated.with_changes(slice=[updated.slice[0].with_changes(comma=comma), dots])


def _is_row_of_weights(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether rows of a weight are read at places that may count from the end, for all that the file shows.

    Tables of relative positions are: their indices are differences, moved to start from zero or not.
    """
    if isinstance(tree.slice, (ast.Tuple, ast.Slice)) or not isinstance(tree.ctx, ast.Load) or is_written(tree, ctx):
        return False
    index = ctx.kind(tree.slice)
    if ctx.kind(tree.value).name != "Parameter" or not index.is_tensor or index.of in ("torch.bool", "torch.uint8"):
        return False
    return not holds_negative(tree.slice, ctx) and not never_negative(tree.slice, ctx)


def _one_by_one(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """``scores[0, best]`` -> ``scores[0][best]``: MindSpore 2.10 has no gradient of an element that a tensor names."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else []
    if not isinstance(tree.ctx, ast.Load) or not ctx.kind(tree.value).is_tensor or len(parts) != len(updated.slice):
        return updated
    tensors = [part for part in parts if ctx.kind(part).is_tensor]
    numbers = [part for part in parts if part not in tensors and ctx.kind(part).name == "int"]
    if not tensors or len(tensors) + len(numbers) < len(parts) or any(ranks(part, ctx) != {0} for part in tensors):
        return updated
    made = updated.value
    for element in updated.slice:
        made = cst.Subscript(made, [element.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
    assert isinstance(made, cst.Subscript)
    return made.with_changes(lpar=updated.lpar, rpar=updated.rpar)


def _may_be_one_element(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether tensors may name one element together, and its gradient is asked for: ``scores[tags[i + 1], tags[i]]``.

    How many axes they have the text does not show. MindSpore has no gradient of such an element (2.7 to 2.10).
    """
    if not isinstance(tree.ctx, ast.Load) or not ctx.kind(tree.value).is_tensor or is_written(tree, ctx):
        return False
    kinds = ctx.kind(tree.slice).items if ctx.kind(tree.slice).name == "tuple" else ()
    if not trains(ctx) or not all(kind.name == "int" or (kind.is_tensor and kind.of != "torch.bool") for kind in kinds):
        return False
    if not isinstance(tree.slice, ast.Tuple):  # for place in zip(rows, columns): x[place]
        return _is_gone_over(tree.slice, ctx) and any(kind.is_tensor for kind in kinds)
    tensors = [part for part, kind in zip(tree.slice.elts, kinds, strict=False) if kind.is_tensor]
    found = [ranks(part, ctx) for part in tensors if _picks_one(part, ctx, ())]
    return any(not axes or min(axes) <= 0 for axes in found) and any(axes != {0} for axes in found)


def _picks_one(part: ast.expr, ctx: Context, seen: tuple[str, ...]) -> bool:
    """Whether an index is what a number or a loop picks from a tensor, or computed from that: ``lengths[i] - 1``."""
    if isinstance(part, ast.BinOp):
        return _picks_one(part.left, ctx, seen) or _picks_one(part.right, ctx, seen)
    if isinstance(part, ast.Name) and part.id not in seen:
        given = uses(ctx.analysis.tree).of(part).values
        return _is_gone_over(part, ctx) or any(_picks_one(value, ctx, (*seen, part.id)) for value in given)
    return isinstance(part, ast.Subscript) and _is_int(part.slice, ctx)


def _is_gone_over(tree: ast.expr, ctx: Context) -> bool:
    return isinstance(tree, ast.Name) and tree.id in ctx.once(_gone_over)


def _ends_in_mask(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether a mask of several axes stands behind ``...``, where MindSpore takes it for the index of one axis."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else []
    if len(parts) != 2 or not isinstance(tree.ctx, ast.Load) or is_written(tree, ctx):
        return False
    dots = isinstance(parts[0], ast.Constant) and parts[0].value is ...
    kind = ctx.kind(parts[1])
    return dots and kind.is_tensor and kind.of in ("", "torch.bool") and max(ranks(parts[1], ctx), default=0) > 1


def _is_int(part: ast.expr, ctx: Context) -> bool:
    return not isinstance(part, (ast.Slice, ast.List)) and ctx.kind(part).name == "int"


def _may_be_mask(tree: ast.expr, ctx: Context) -> bool:
    """Whether an index is a tensor that may hold bools, or is used as flags."""
    kind = ctx.kind(tree)
    if kind.known:
        return kind.is_tensor and kind.of in ("", "torch.bool", "torch.uint8")
    is_type = isinstance(tree, ast.Name) and hasattr(builtins, tree.id) and binding_scope(tree.id, tree, ctx) is None
    return not is_type and bool(place_of(tree)) and may_be_mask(uses(ctx.analysis.tree).of(tree))


def _typed(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """Return a subscript of a tensor whose ranges are lists, and numpy's arrays and numbers tensors."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if len(parts) != len(updated.slice):
        return updated
    elements = list(updated.slice)
    held = ctx.kind(tree.value)
    if held.name == "Module" and isinstance(elements[0].slice, cst.Index) and ctx.kind(parts[0]).name == "ndarray":
        number = elements[0].slice.with_changes(value=build("int({value})", value=elements[0].slice.value))
        return updated.with_changes(slice=[elements[0].with_changes(slice=number)])
    if not held.is_tensor and held.name != "dict" and len(parts) > 1:  # right for an array as well as for a tensor
        for position, part in enumerate(parts):
            index = elements[position].slice
            template = "int({value})" if _is_number_of_numpy(part, ctx) else "list({value})" if _is_range(part) else ""
            if isinstance(index, cst.Index) and template:
                made = index.with_changes(value=build(template, value=index.value))
                elements[position] = elements[position].with_changes(slice=made)
    if not held.is_tensor and not (not held.known and _is_asked_as_tensor(tree, ctx)):
        changed = any(new is not old for new, old in zip(elements, updated.slice, strict=True))
        return updated.with_changes(slice=elements) if changed else updated
    for position, part in enumerate(parts):
        template, index = _template(part, ctx) or _at_run_time(part, ctx), elements[position].slice
        if isinstance(part, ast.Slice) and isinstance(index, cst.Slice):
            bounds = _with_bounds(index, part, lambda bound: _bound_template(bound, ctx), ctx)
            if bounds is not index:
                elements[position] = elements[position].with_changes(slice=bounds)
        elif template and isinstance(index, cst.Index):
            made = index.with_changes(value=_filled(template, index.value, ctx))
            elements[position] = elements[position].with_changes(slice=made)
    same = all(new is old for new, old in zip(elements, updated.slice, strict=True))
    return updated if same else updated.with_changes(slice=elements)


def _is_asked_as_tensor(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether what is read is asked at once for what only tensors have: ``data.images[places, ...].unsqueeze(1)``.

    Or where the function reads the same once more: ``F.nll_loss(output[idx_train], labels[idx_train])``.
    """
    above = ctx.parent(tree)
    if isinstance(above, ast.Attribute):
        return told(above, ctx).is_tensor
    if not isinstance(tree.ctx, ast.Load) or not isinstance(tree.value, (ast.Name, ast.Attribute)):
        return False
    info = ctx.functions[-1]
    nodes = walk(info.node) if info is not None else [tree]
    alike = (node for node in nodes if isinstance(node, ast.Subscript) and node.value.__class__ is tree.value.__class__)
    return any(is_tensor_by_use(node, ctx) for node in alike if are_alike(node, tree))


def _is_range(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range"


def _is_number_of_numpy(tree: ast.expr, ctx: Context) -> bool:
    """Whether an index is certainly one number of numpy's: ``np.where(row)[0][0]``, ``np.argmax(row)``."""
    if ctx.kind(tree).name != "ndarray":
        return False
    if isinstance(tree, ast.Call):
        return ast.unparse(tree.func) in ("np.argmax", "np.argmin") and len(tree.args) == 1 and not tree.keywords
    if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Subscript):
        return False
    inner, places = tree.value.value, (tree.slice, tree.value.slice)
    found = isinstance(inner, ast.Call) and ast.unparse(inner.func) in ("np.where", "np.nonzero")
    whole = isinstance(inner, ast.Call) and len(inner.args) == 1
    return found and whole and all(isinstance(place, (ast.Constant, ast.UnaryOp)) for place in places)


def _with_bounds(index: cst.Slice, tree: ast.Slice, template: Callable[[ast.expr], str], ctx: Context) -> cst.Slice:
    """``a:b`` of numbers that MindSpore takes no bounds of -> ``int(a):int(b)``, by the template of each bound."""
    changed: dict[str, cst.BaseExpression] = {}
    for name in ("lower", "upper", "step"):
        bound = getattr(tree, name)
        if bound is not None and (text := template(bound)):
            changed[name] = _filled(text, getattr(index, name), ctx)
    return index.with_changes(**changed) if changed else index


def _filled(template: str, value: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return a template of an index, ``{index}({value})``, with the value and the names that it is written with."""
    names = {"tensor": "mindspore.Tensor", "bool": "mindspore.bool_", "index": _AS_INDEX}
    parts = {key: ctx.reference(name) for key, name in names.items() if f"{{{key}}}" in template}
    return build(template, value=value, **parts)


def _bound_template(bound: ast.expr, ctx: Context) -> str:
    """Return how a bound of a slice is written that is, or may be, a number of numpy's; empty where it stays."""
    template = _at_run_time(bound, ctx)
    is_number = ctx.kind(bound).name == "ndarray" or isinstance(bound, ast.BinOp)  # no sum is None
    return "int({value})" if template and is_number else template


def _of_one_element(bound: ast.expr, ctx: Context) -> str:
    return "int({value})" if ctx.kind(bound).is_tensor and 1 in ranks(bound, ctx) else ""


def _bounded(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.Subscript:
    """``x[:, :t]`` of a tensor with one element in an axis of its own -> ``x[:, :int(t)]``."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    if len(parts) != len(updated.slice) or not any(isinstance(part, ast.Slice) for part in parts):
        return updated
    elements = list(updated.slice)
    for position, (part, element) in enumerate(zip(parts, updated.slice, strict=True)):
        if isinstance(part, ast.Slice) and isinstance(element.slice, cst.Slice):
            bounds = _with_bounds(element.slice, part, lambda bound: _of_one_element(bound, ctx), ctx)
            elements[position] = element if bounds is element.slice else element.with_changes(slice=bounds)
    same = all(new is old for new, old in zip(elements, updated.slice, strict=True))
    return updated if same else updated.with_changes(slice=elements)


def _template(tree: ast.expr, ctx: Context) -> str:
    """Return how an index is to be written; empty where it stays."""
    if _is_range(tree):
        return "list({value})"
    kind = ctx.kind(tree)
    if isinstance(tree, ast.List) and not tree.elts:
        return "{index}({value})"
    if kind.name == "list" and isinstance(tree, ast.Name) and tree.id in ctx.once(lists_of_the_picked):
        return "{index}({value})"  # keep = []; if ...: keep.append(i): MindSpore takes no list without places
    if kind.is_tensor and kind.of == "torch.uint8":
        return "{value}.astype({bool})"  # a mask: numbers to MindSpore
    if kind.name == "iterator" and [item.name for item in kind.items] == ["ndarray"]:
        return "{index}({value})"  # np.where(mask): one array for each axis
    if kind.name == "ndarray" and _is_gone_over(tree, ctx):
        return "{index}({value})"  # for i in predictions.numpy(): numbers
    listed = kind.name == "list" and [item.name for item in kind.items] == ["ndarray"]
    return "{tensor}({value})" if kind.name == "ndarray" or listed else ""


def _gone_over(ctx: Context) -> frozenset[str]:
    """Return the variables of the loops and comprehensions of a file."""
    targets = [loop.target for loop in ctx.analysis.all(ast.For)]
    targets += [loop.target for loop in ctx.analysis.all(ast.comprehension)]
    return frozenset(node.id for target in targets for node in walk(target) if isinstance(node, ast.Name))


_AS_INDEX = "torch2ms.runtime.functional.as_index"


def _at_run_time(part: ast.expr, ctx: Context) -> str:
    """Return how an index is written that may be of numpy's: nothing says what it is, and the file uses numpy."""
    kind = ctx.kind(part)
    held = kind.items[0] if kind.name == "list" and kind.items else kind
    doubtful = held.may_be("ndarray") or (not kind.known and ctx.once(_uses_numpy))
    return "{index}({value})" if doubtful and not isinstance(part, (ast.Slice, ast.Constant)) else ""


def _uses_numpy(ctx: Context) -> bool:
    return ctx.world.symbols.reaches_package(ctx.path, "numpy")
