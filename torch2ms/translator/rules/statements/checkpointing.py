"""Functions that are computed once more for their gradient, to save memory: gradient checkpointing by hand.

Their ``forward`` calls a function that it was given without recording; ``backward`` calls it again, recording, and
returns what ``torch.autograd.grad`` gives. The gradients are those that MindSpore records when the function is called
once, with more memory: ``backward`` is left out.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.families import FUNCTION
from torch2ms.translator.values.kinds import candidates

__all__ = ["drops_backward", "with_recorded_base"]

_BASE = "torch2ms.runtime.recomputed.Recomputed"
_GRAD = "torch.autograd.grad"
# What such a backward calls besides: nothing that changes a gradient.
_HARMLESS = frozenset(
    "detach requires_grad_ view_as enable_grad autocast is_tensor".split()
    + "len list tuple isinstance zip enumerate append".split()
)


def with_recorded_base(updated: cst.ClassDef, tree: ast.ClassDef, ctx: Context) -> cst.ClassDef:
    """Return a class of such a function with a base that only calls its ``forward``."""
    if not _recomputes(tree, ctx):
        return updated
    return updated.with_changes(bases=[cst.Arg(ctx.reference(_BASE))])


def drops_backward(tree: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> bool:
    """Whether a method is the ``backward`` of such a function; what it names is accounted for."""
    parent = ctx.parent(tree) if tree.name == "backward" else None
    if not isinstance(parent, ast.ClassDef) or not _recomputes(parent, ctx):
        return False
    for node in walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and ctx.kind(node).name == "api":
            ctx.accounted[node] = None
    ctx.account(tree, _GRAD, "removed")
    message = f"{parent.name}: gradients are recorded, nothing is computed anew for them; backward is left out"
    ctx.report("T2M304", tree, message, symbol=_GRAD)
    return True


def _recomputes(tree: ast.ClassDef, ctx: Context) -> bool:
    info = ctx.analysis.class_of.get(tree)
    if info is None or FUNCTION not in ctx.world.torch_bases(info.key) or len(tree.bases) != 1 or tree.keywords:
        return False
    methods = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None or len(methods) != 2 or not forward.args.args:
        return False
    called = _called_without_recording(forward, ctx)
    return called is not None and _asks_for_its_gradient(backward, called, ctx)


def _called_without_recording(forward: ast.FunctionDef, ctx: Context) -> str | None:
    """Return the attribute of the context that holds the function which ``forward`` calls and whose result it gives."""
    space, *given = [arg.arg for arg in forward.args.args]
    kept: dict[str, str] = {}  # attribute: the argument that it holds
    results: dict[str, str] = {}  # name: the attribute whose function gave it
    returned = ""
    for statement in forward.body:
        if isinstance(statement, ast.With):
            if not all(_is_api(item.context_expr, "torch.no_grad", ctx) for item in statement.items):
                return None
            for inner in statement.body:
                found = _result(inner, space, kept)
                if found is None:
                    return None
                results[found[0]] = found[1]
        elif isinstance(statement, ast.Return):
            returned = statement.value.id if isinstance(statement.value, ast.Name) else ""
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if not isinstance(target, ast.Attribute) or not _is_of(target, space):
                return None
            if isinstance(statement.value, ast.Name) and statement.value.id in given:
                kept[target.attr] = statement.value.id
        elif not isinstance(statement, ast.Expr):
            return None
    return results.get(returned)


def _result(statement: ast.stmt, space: str, kept: dict[str, str]) -> tuple[str, str] | None:
    """Return the name that ``y = ctx.function(...)`` or ``y = function(...)`` binds, and the function's attribute."""
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.Call):
        return None
    if _is_of(value.func, space) and isinstance(value.func, ast.Attribute) and value.func.attr in kept:
        return target.id, value.func.attr
    attributes = [name for name, held in kept.items() if isinstance(value.func, ast.Name) and held == value.func.id]
    return (target.id, attributes[0]) if attributes else None


def _asks_for_its_gradient(backward: ast.FunctionDef, called: str, ctx: Context) -> bool:
    """Whether ``backward`` calls the function again, and returns the gradients as they are."""
    asks = calls = False
    for node in walk(backward):
        if isinstance(node, ast.BinOp):
            repeats = isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Tuple)
            if not (repeats or isinstance(node.op, ast.Add)):
                return False
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if _is_api(node, _GRAD, ctx):
                asks = True
            elif name == called:
                calls = True
            elif name not in _HARMLESS:
                return False
        elif isinstance(node, (ast.AugAssign, ast.UnaryOp)) and not isinstance(getattr(node, "op", None), ast.Not):
            return False
    return asks and calls


def _is_of(tree: ast.expr, name: str) -> bool:
    """Whether an expression is an attribute of ``name``."""
    return isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name) and tree.value.id == name


def _is_api(tree: ast.expr, name: str, ctx: Context) -> bool:
    function = tree.func if isinstance(tree, ast.Call) else tree
    kind = ctx.kind(function)
    return kind.name == "api" and set(candidates(kind)) == {name}
