"""``x[:, t, :] = h`` where ``h`` has a first axis of one besides: MindSpore drops no axis of what is assigned.

Recurrent layers give such states, (1, batch, features); ``torch.zeros(1, n, m)`` begins them. So do networks for one
sample: ``samples[t] = net(x)``. A value of which nothing is known is looked at when the program runs.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, parse_expression
from torch2ms.translator.values.families import RECURRENT
from torch2ms.translator.values.queries.ranks import OTHERS, ranks
from torch2ms.translator.values.use_evidence import uses

__all__ = ["without_leading_axes"]

_STATE_AXES = 3
_BATCH_AXES = 2  # of what a network gives for a batch, at least
_WHOLE = ("()", "-1")  # the sizes of all that a place without axes, or with one, can take


def without_leading_axes(node: cst.Assign, place: ast.Subscript, tree: ast.Assign, ctx: Context) -> cst.Assign:
    """Return the assignment of a value that may have more axes than its place."""
    made = _without_known_axes(node, place, tree, ctx)
    axes = _axes_of_place(place, ctx)
    if made is not node or axes is None or axes < 0 or not _takes_one(place, ctx):
        return made
    held = _undetached(tree.value)
    if not isinstance(held, (ast.Name, ast.Call, ast.BinOp)):
        return made
    if (ctx.kind(tree.value).known or ctx.kind(held).known) and not _is_handed(held, ctx):
        return made
    fitted = ctx.reference("torch2ms.runtime.functional.fitted")
    return node.with_changes(value=build("{f}({h}, {n})", f=fitted, h=node.value, n=cst.Integer(str(axes))))


def _without_known_axes(node: cst.Assign, place: ast.Subscript, tree: ast.Assign, ctx: Context) -> cst.Assign:
    """Return ``x[:, t, :] = h.reshape(h.shape[-2:])`` where ``h`` may have more axes than the place.

    It fails where these axes are not of one, as PyTorch's assignment does, and changes nothing where there are none.
    """
    held = _undetached(tree.value)
    if not isinstance(held, (ast.Name, ast.Call, ast.BinOp)):
        return node
    axes = _axes_of_place(place, ctx)
    if axes is None or axes < 0:
        return node
    if axes < _BATCH_AXES and _is_output(held, ctx):
        return node.with_changes(
            value=build("{h}.reshape({sizes})", h=node.value, sizes=parse_expression(_WHOLE[axes]))
        )
    if axes < 1:
        return node
    if not isinstance(tree.value, ast.Name):
        return _squeezed(node, ranks(tree.value, ctx), axes)
    given = set(ranks(tree.value, ctx)) | ({_STATE_AXES} if _is_state(tree.value.id, ctx) else set())
    if max(given, default=OTHERS) <= axes:
        return node
    return node.with_changes(value=build("{h}.reshape({h2}.shape[-{axes}:])", h=node.value, h2=node.value.deep_clone(),
                                         axes=cst.Integer(str(axes))))  # fmt: skip


def _takes_one(place: ast.Subscript, ctx: Context) -> bool:
    """Whether an index counts along an axis: what is assigned there often has the axis still, of one."""
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    return any(ctx.kind(part).name == "int" for part in parts)


def _is_handed(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor is an argument of the function around, which may have any number of axes; of no network's."""
    function = ctx.functions[-1]
    if function is None or (function.owner is not None and ctx.world.family(function.owner.key).name == "Module"):
        return False
    if not isinstance(tree, ast.Name) or ranks(tree, ctx) - {OTHERS}:
        return False
    arguments = function.node.args
    return any(arg.arg == tree.id for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _squeezed(node: cst.Assign, given: frozenset[int], axes: int) -> cst.Assign:
    """Return ``x[i] = torch.pow(rows, 2).squeeze(0)`` where a value surely has more axes; each must be of one."""
    surplus = max(given, default=0) - axes
    if len(given) != 1 or surplus < 1:
        return node
    first = "0" if surplus == 1 else str(tuple(range(surplus)))
    return node.with_changes(value=build("{h}.squeeze({first})", h=node.value, first=parse_expression(first)))


def _undetached(tree: ast.expr) -> ast.expr:
    """Return ``h`` of ``h.data`` and ``h.detach()``."""
    if isinstance(tree, ast.Call) and not tree.args and getattr(tree.func, "attr", "") == "detach":
        tree = tree.func
    return tree.value if isinstance(tree, ast.Attribute) and tree.attr in ("data", "detach") else tree


def _is_output(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is what a network gives, of one sample: it has an axis for the batch. A loss has none."""
    if isinstance(tree, ast.Call):
        network = ctx.kind(tree.func)
        return network.name == "Module" and not network.of.endswith("Loss") and not _is_number(tree, ctx)
    function = ctx.functions[-1]
    body = ctx.analysis.tree if function is None else function.node
    given = [
        node.value
        for node in (walk(body) if isinstance(tree, ast.Name) else ())
        if isinstance(node, ast.Assign) and any(_id(target) == _id(tree) for target in node.targets)
    ]
    return bool(given) and all(isinstance(value, ast.Call) and _is_output(value, ctx) for value in given)


def _is_number(call: ast.Call, ctx: Context) -> bool:
    """Whether what a call gives is differentiated, or asked for its number."""
    found = [uses(ctx.analysis.tree).of(target) for target in getattr(ctx.parent(call), "targets", ())]
    return any({"backward", "item"} & of_target.methods.keys() for of_target in found)


def _axes_of_place(place: ast.Subscript, ctx: Context) -> int | None:
    """Return how many axes an index leaves of a tensor, made of whole axes, slices and numbers; None if not known."""
    whole = ranks(place.value, ctx) - {OTHERS}
    if len(whole) != 1:
        return None
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    taken = 0
    for part in parts:
        if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is ...):
            continue
        if ctx.kind(part).name != "int":
            return None
        taken += 1
    return next(iter(whole)) - taken


def _is_state(name: str, ctx: Context) -> bool:
    """Whether the function takes a value from what a recurrent layer gives beside its outputs."""
    function = ctx.functions[-1]
    if function is None:
        return False
    assigned = [node for node in walk(function.node) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    states: set[str] = set()
    for node in assigned:
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == 2 and _runs_recurrent(node.value, ctx):
            states |= {n.id for n in walk(target.elts[1]) if isinstance(n, ast.Name)}
    parts = ((n.targets[0], n.value.value) for n in assigned if isinstance(n.value, ast.Subscript))
    return name in states or any(_id(target) == name and _id(whole) in states for target, whole in parts)


def _id(tree: ast.expr) -> str:
    return tree.id if isinstance(tree, ast.Name) else ""


def _runs_recurrent(call: ast.expr, ctx: Context) -> bool:
    return isinstance(call, ast.Call) and ctx.kind(call.func).name == "Module" and ctx.kind(call.func).of in RECURRENT
