"""Slices of tensors whose gradient MindSpore's CPU kernel does not compute: ``x[:, 1::2]`` and ``x[:, :0]``.

``StridedSliceGrad`` (2.7 to 2.10) takes steps along the first and the last axis only, and reads outside of its memory
where a slice ends where the axis begins: "For 'StridedSliceGrad, 5 input memory out of bounds".
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiation import asks_for_gradients
from torch2ms.translator.syntax.cst_builders import build, code_of
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.queries.emptiness import may_be_zero

__all__ = ["is_dots", "is_tensor_by_use", "is_whole", "is_written", "read_in_slices", "read_in_steps", "trains"]

_WITHOUT_GRADIENT = ("torch.int", "torch.uint", "torch.long", "torch.short", "torch.bool")


def trains(ctx: Context) -> bool:
    """Whether the file computes gradients, or has networks, which other files train."""
    return asks_for_gradients(ctx) or ctx.once(_has_networks)


def _has_networks(ctx: Context) -> bool:
    return any(method.name == "forward" for method in ctx.analysis.all(ast.FunctionDef))


def read_in_slices(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression:
    """Return a subscript so that MindSpore has a gradient of what it reads."""
    if not isinstance(tree.ctx, ast.Load) or not _may_be_sliced(tree, ctx) or is_written(tree, ctx):
        return updated
    return _sliced(updated, tree, ctx)


def read_in_steps(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression | None:
    """Return how the places that ``x[:, 1::2] += y`` changes are read so that MindSpore has a gradient of it.

    None where reading them as they stand in the text has one.
    """
    made = _sliced(updated, tree, ctx) if _may_be_sliced(tree, ctx) else updated
    return None if code_of(made) == code_of(updated) else made


def _may_be_sliced(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether a tensor is indexed in steps or by nothing, and a gradient may be asked for on a CPU."""
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    may_train = _may_train(ctx)
    if not any(_is_stepped(part) or (may_train and _may_end_at_once(part, ctx)) for part in parts):
        return False
    kind = ctx.kind(tree.value)
    if not kind.known and (is_tensor_by_use(tree, ctx) or _may_be_trained(tree, ctx)):
        kind = Kind("Tensor")
    return kind.is_tensor and not kind.of.startswith(_WITHOUT_GRADIENT) and ctx.target.device in ("portable", "cpu")


def _may_train(ctx: Context) -> bool:
    """Whether what a file computes may be differentiated, there or in a file that imports it."""
    return trains(ctx) or ctx.world.symbols.is_imported(ctx.path)


def _may_be_trained(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether a value that is indexed by axes may be a tensor with a gradient; the runtime reads arrays as well."""
    may_train = trains(ctx) or ctx.kind(tree.value).may_be("Tensor", "Parameter")
    return may_train and isinstance(tree.slice, ast.Tuple) and not any(map(_is_backwards, tree.slice.elts))


def _is_backwards(part: ast.expr) -> bool:
    """Whether a part of an index goes backwards, which no index of a tensor does."""
    return isinstance(part, ast.Slice) and isinstance(part.step, ast.UnaryOp)


def is_tensor_by_use(tree: ast.Subscript, ctx: Context) -> bool:
    """Whether what is read can only be a tensor: a function of torch takes it, ``lambda x: F.pad(x[:, ::2], ...)``."""
    above = ctx.parent(tree)
    if isinstance(above, ast.Call) and tree in above.args:
        callee = ctx.kind(above.func)
        return callee.name == "api" and callee.of.startswith("torch.nn.functional.")
    return ctx.kind(tree).is_tensor


def is_written(tree: ast.expr, ctx: Context) -> bool:
    """Whether what is read is a place to write to: ``x[:, ::2].clamp_()``, ``x[:, ::2][0] = y``."""
    above = ctx.parent(tree)
    while isinstance(above, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(above, ast.Call):
            name = above.func.attr if isinstance(above.func, ast.Attribute) else getattr(above.func, "id", "")
            return _is_in_place(name) if above.func is not tree else is_written(above, ctx)
        if not isinstance(above.ctx, ast.Load) or (isinstance(above, ast.Attribute) and _is_in_place(above.attr)):
            return True
        tree, above = above, ctx.parent(above)
    return False


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_stepped(part: ast.expr) -> bool:
    step = part.step if isinstance(part, ast.Slice) else None
    return step is not None and not (isinstance(step, ast.Constant) and step.value in (None, 1))


def _may_end_at_once(part: ast.expr, ctx: Context) -> bool:
    """Whether a slice begins where its axis does, and the text shows that it may end there as well."""
    if not isinstance(part, ast.Slice) or part.upper is None:
        return False
    begins = part.lower is None or may_be_zero(part.lower, ctx)
    return begins and may_be_zero(part.upper, ctx)


def _sliced(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression:
    """``x[:, 1::2, ::2, 0]`` -> ``take_every(take_every(x, 2, axis=1, start=1), 2, axis=2)[:, :, :, 0]``.

    And ``x[..., :start]`` -> ``span(x, axis=-1, stop=start)`` where ``start`` may be 0.
    """
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    axes = _axes(parts, ctx)
    if axes is None:
        return updated
    value, elements = updated.value, list(updated.slice)
    may_train = _may_train(ctx)
    for position, (part, axis) in enumerate(zip(parts, axes, strict=True)):
        given = elements[position].slice
        if axis is None or not isinstance(given, cst.Slice):
            continue
        first = all(not isinstance(part, ast.Slice) for part in parts[:position]) and axis >= 0
        ends = may_train and _may_end_at_once(part, ctx)
        if not ends and (axis == -1 or first or not _is_stepped(part)):
            continue
        value = _read(value, given, axis, _is_stepped(part), ctx)
        elements[position] = elements[position].with_changes(slice=cst.Slice(None, None))
    return _without_whole(updated, value, elements)


def _read(value: cst.BaseExpression, given: cst.Slice, axis: int, steps: bool, ctx: Context) -> cst.BaseExpression:
    """Return the call that reads one slice of a value along an axis."""
    places = {"axis": cst.parse_expression(str(axis)), "start": given.lower, "stop": given.upper}
    named = {key: place for key, place in places.items() if place is not None and _says_anything(key, place)}
    words = "".join(f", {key}={{{key}}}" for key in named)
    if not steps or given.step is None:
        span = ctx.reference("torch2ms.runtime.functional.span")
        return build("{span}({value}" + words + ")", span=span, value=value, **named)
    every = ctx.reference("torch2ms.runtime.functional.take_every")
    return build("{every}({value}, {step}" + words + ")", every=every, value=value, step=given.step, **named)


def _says_anything(bound: str, place: cst.BaseExpression) -> bool:
    """Whether a bound of a slice says anything: a start of ``0`` and ``None`` do not."""
    return code_of(place) != "None" and (bound == "stop" or code_of(place) != "0" or bound == "axis")


def _without_whole(
    updated: cst.Subscript, value: cst.BaseExpression, elements: list[cst.SubscriptElement]
) -> cst.BaseExpression:
    """Return a value with what is left of its index: parts that say nothing at the end are left out."""
    for position in reversed(range(1, len(elements))):
        if is_dots(elements[position - 1]) and is_whole(elements[position]):
            del elements[position]
    while elements and is_whole(elements[-1]):
        elements.pop()
    if not elements:
        return value
    elements[-1] = elements[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(value=value, slice=elements)


def _axes(parts: list[ast.expr], ctx: Context) -> list[int | None] | None:
    """Return the axis that each part of an index is of, from the end behind ``...``; None where that is not known."""
    taken: list[int] = []
    for part in parts:
        if isinstance(part, ast.Slice) or ctx.kind(part).name == "int":
            taken.append(1)
        elif isinstance(part, ast.Constant) and part.value in (None, ...):
            taken.append(0)
        else:
            return None
    dots = [place for place, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is ...]
    last = dots[0] if dots else len(parts)
    front: list[int | None] = [sum(taken[:place]) if taken[place] else None for place in range(last)]
    return front + [-sum(taken[place:]) if taken[place] else None for place in range(last, len(parts))]


def is_dots(element: cst.SubscriptElement) -> bool:
    """Whether a part of an index is ``...``."""
    return isinstance(element.slice, cst.Index) and isinstance(element.slice.value, cst.Ellipsis)


def is_whole(element: cst.SubscriptElement) -> bool:
    """Whether a part of an index is ``:`` or ``...``, which say nothing at the end."""
    part = element.slice
    return is_dots(element) or (isinstance(part, cst.Slice) and part.lower is part.upper is part.step is None)
