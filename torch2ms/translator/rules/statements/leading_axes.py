"""``x[i] = row`` where ``row`` has leading axes of one besides, (1, n): MindSpore drops no axis of what is assigned.

Recurrent layers give such states, (1, batch, features); ``torch.zeros(1, n, m)`` begins them. So do networks for one
sample: ``samples[t] = net(x)``. Where the text shows no number of axes, what is assigned is reshaped at a place that
counts along an axis: for one axis ``.reshape(-1)``, which changes nothing that fits.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build, parse_expression
from torch2ms.translator.values.queries.ranks import OTHERS, is_sized, ranks

__all__ = ["without_leading_axes"]

_FLAT = ("()", "-1")  # the sizes of all that a place without axes, or with one, can take
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.UnaryOp, ast.Slice, ast.Tuple, ast.expr_context,
          ast.unaryop)  # fmt: skip


def without_leading_axes(node: cst.Assign, place: ast.Subscript, tree: ast.Assign, ctx: Context) -> cst.Assign:
    """Return the assignment of a value that may have more axes than its place."""
    value, kind, axes = _undetached(tree.value), ctx.kind(tree.value), _axes_of_place(place, ctx)
    if (kind.known and not kind.is_tensor) or not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call,
                                                                     ast.BinOp)):  # fmt: skip
        return node
    given = ranks(value, ctx) or frozenset({OTHERS})
    if (axes is None or OTHERS in given) and _picks_one(place, ctx) and _is_one_row(tree.value, ctx):
        return node.with_changes(value=build("{value}[0]", value=node.value))
    if OTHERS not in given and (axes is None or max(given) <= max(axes, 1)):
        return node
    if axes is not None and len(given) == 1 and OTHERS not in given:
        surplus = max(given) - axes
        first = "0" if surplus == 1 else str(tuple(range(surplus)))
        return node.with_changes(value=build("{h}.squeeze({first})", h=node.value, first=parse_expression(first)))
    if OTHERS in given and not (_counts(place, ctx) and _is_unknown(value, given, place, axes, ctx)):
        return node
    return node if axes is not None and axes < 0 else _fitted(node, place, tree, axes, ctx)


def _fitted(node: cst.Assign, place: ast.Subscript, tree: ast.Assign, axes: int | None, ctx: Context) -> cst.Assign:
    """Return ``x[:, t, :] = h.reshape(h.shape[-2:])``, which fails where the axes before are not of one."""
    is_tensor = ctx.kind(tree.value).is_tensor
    if axes is not None and axes < len(_FLAT) and is_tensor:
        made = build("{h}.reshape({sizes})", h=node.value, sizes=parse_expression(_FLAT[axes]))
    elif axes is not None and is_tensor and isinstance(tree.value, ast.Name):
        parts = {"h": node.value, "h2": node.value.deep_clone(), "axes": cst.Integer(str(axes))}
        made = build("{h}.reshape({h2}.shape[-{axes}:])", **parts)
    elif axes is None and not all(isinstance(part, _PLAIN) for part in ast.walk(place)):
        return node
    else:
        target = node.targets[0].target
        count = build("{x}.ndim", x=target.deep_clone()) if axes is None else cst.Integer(str(axes))
        fitted = ctx.reference("torch2ms.runtime.functional.fitted")
        made = build("{f}({h}, {n})", f=fitted, h=node.value, n=count)
    return node.with_changes(value=made)


def _counts(place: ast.Subscript, ctx: Context) -> bool:
    """Whether an index may count along an axis: what is assigned there often has the axis still, of one."""
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    return any(
        ctx.kind(part).name == "int" or not ctx.kind(part).known
        for part in parts
        if not isinstance(part, (ast.Slice, ast.Constant)) or ctx.kind(part).name == "int"
    )


def _is_unknown(value: ast.expr, given: frozenset[int], place: ast.Subscript, axes: int | None, ctx: Context) -> bool:
    """Whether nothing shows that a value fits: it is an argument, say, or what a network or a function gives."""
    if isinstance(value, ast.BinOp):
        return axes is not None and given == {OTHERS}
    if isinstance(value, ast.Subscript) and ctx.kind(value.value).is_tensor:  # x[i] = x[j], boxes[:, 0] = x[:, 0]
        return axes is not None and ast.dump(value.value) != ast.dump(place.value)
    if not isinstance(value, ast.Call):
        return True
    called = ctx.kind(value.func)
    if called.name == "Module":
        return not called.of.endswith("Loss")
    return called.name != "api" or axes is not None


def _undetached(tree: ast.expr) -> ast.expr:
    """Return ``h`` of ``h.data`` and ``h.detach()``."""
    if isinstance(tree, ast.Call) and not tree.args and getattr(tree.func, "attr", "") == "detach":
        tree = tree.func
    return tree.value if isinstance(tree, ast.Attribute) and tree.attr in ("data", "detach") else tree


def _axes_of_place(place: ast.Subscript, ctx: Context) -> int | None:
    """Return how many axes an index leaves of a tensor; None if that is not known."""
    whole = ranks(place.value, ctx) - {OTHERS}
    if len(whole) != 1:
        return None
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    left = next(iter(whole))
    for part in parts:
        kind = ctx.kind(part)
        if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is ...):
            continue
        if kind.name == "int":
            left -= 1
        elif kind.name == "none":
            left += 1
        elif len(parts) == 1:
            return _axes_of_picked(part, left, ctx)
        else:
            return None
    return left


def _axes_of_picked(index: ast.expr, whole: int, ctx: Context) -> int | None:
    """Return how many axes a tensor has behind a mask, a list of places, or a tensor of them."""
    own = {1} if isinstance(index, ast.List) else ranks(index, ctx)
    if isinstance(index, ast.Compare) and len(index.ops) == 1:
        own = frozenset({max(ranks(index.left, ctx), default=OTHERS)})
    if len(own) != 1 or OTHERS in own:
        return None
    axes = next(iter(own))
    is_mask = isinstance(index, ast.Compare) or ctx.kind(index).of == "torch.bool"
    return (
        whole - axes + 1 if is_mask else whole - 1 + axes if isinstance(index, ast.List) or ctx.kind(index).of else None
    )


def _picks_one(place: ast.Subscript, ctx: Context) -> bool:
    """Whether an index is made of numbers alone: ``x[i]``, ``x[i, 0]``."""
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    return all(ctx.kind(part).name == "int" for part in parts)


def _is_one_row(made: ast.expr, ctx: Context) -> bool:
    """Whether a tensor is made with a first axis of one, and more axes: without it, it fits wherever it did."""
    if not isinstance(made, ast.Call) or not ctx.kind(made).is_tensor:
        return False
    name = made.func.attr if isinstance(made.func, ast.Attribute) else getattr(made.func, "id", "")
    if name == "unsqueeze":
        return [ast.unparse(given) for given in made.args] == ["0"]
    listed = bool(made.args) and isinstance(made.args[0], (ast.Tuple, ast.List))
    sizes = made.args[0].elts if listed else made.args  # type: ignore[attr-defined]
    holds = name == "Tensor" and listed  # what it holds, not its sizes
    first = sizes[0] if is_sized(name) and len(sizes) > 1 and not holds else None
    return isinstance(first, ast.Constant) and first.value == 1
