"""Layers that change their input: activations made with ``inplace=True``, what starts with one, methods that call one.

torch changes the tensor itself, and everybody who holds it sees that; MindSpore computes a new one. Where only one name
holds it there is no difference; where the name is read again it is bound anew; where somebody else may look, T2M305.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.first_layers import is_fed_by_others, own_class, starts_of
from torch2ms.translator.effects.liveness import read_again, read_before, read_beside
from torch2ms.translator.effects.mutated_arguments import Change, change_of, first_change, first_network
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.effects.sharing import seen_elsewhere
from torch2ms.translator.syntax.cst_builders import code_of
from torch2ms.translator.values.inplace_layers import FORWARD, IDEMPOTENT, Starts
from torch2ms.translator.values.self_attributes import INPLACE_AT, is_inplace

__all__ = ["changed_arguments", "inplace_layer"]

# Activations that are of the same class in MindSpore, where the runtime asks for it
_SAME_CLASS = frozenset({"CELU", "ELU", "LeakyReLU", "Mish", "ReLU", "ReLU6", "SiLU"})

_WHOLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NONE = ("", "", "", True)
_FUNCTIONS = {"ReLU": "mindspore.ops.relu", "ReLU6": "mindspore.ops.relu6"}


def inplace_layer(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Keep the meaning of ``y = self.relu(x)`` where the layer changes ``x`` and ``x`` is read again.

    ``torch.cat([x, self.model(x)], 1)``, where ``self.model`` begins with such an activation (the U-Net of pix2pix),
    takes what that made of ``x``: the runtime runs it first, and the rest of ``self.model`` in its place.
    """
    if not tree.args or not isinstance(tree.args[0], ast.Name) or ctx.small is None:
        return updated
    name, small = tree.args[0].id, ctx.small
    path, start = first_change(starts_of(tree.func, ctx))
    if start is None or is_fed_by_others(tree.func, ctx):
        return updated
    if path:
        held = start.certain and seen_elsewhere(name, small, ctx) != "fresh"
        if isinstance(small, _WHOLE) and (held or _is_noticed(name, tree, small, ctx)):
            layer = ast.unparse(tree.func) + path
            change = Change(layer, start.of, start.certain)
            if _is_split(name, change, updated, tree, ctx):
                return _split(name, start.of, updated, ctx)
            _say_change(name, layer, change, tree, ctx)
        return updated
    if read_beside(name, tree, small, ctx):
        ctx.report("T2M305", tree, f"{name} is changed in place and read again; MindSpore leaves it as it was")
        return updated
    if isinstance(small, ast.Return) or not isinstance(small, (ast.Assign, ast.Expr)):
        return updated
    targets = {t.id for t in getattr(small, "targets", ()) if isinstance(t, ast.Name)}
    if seen_elsewhere(name, small, ctx) != "fresh":
        other = f"{ast.unparse(tree.func)} changes {name} in place, which another name may see; MindSpore does not"
        ctx.report("T2M305", tree, other, symbol="inplace")
    if name in targets or not read_again(name, small, ctx):
        return updated
    if small.value is tree and start.certain:
        ctx.rebind.append(name)
    else:
        ctx.report("T2M305", tree, f"{name} is changed in place and read again; MindSpore leaves it as it was")
    return updated


def changed_arguments(tree: ast.Call, ctx: Context) -> None:
    """Keep the meaning of ``self.residual(x) + x`` where the method, or another network's, changes ``x`` in place.

    As with a Sequential, ``x = self.relu(x)`` in front of the statement says so, where the layer may run twice.
    """
    small = ctx.small
    given = [(place, arg.id) for place, arg in enumerate(tree.args) if isinstance(arg, ast.Name)]
    if small is None or not given:
        return
    noticed = [(place, name) for place, name in given if _is_noticed(name, tree, small, ctx)]
    key, owner, holder, certain = _called(tree, ctx) if noticed else _NONE
    for place, name in noticed if key else ():
        change = change_of(key, place, owner, ctx.world)
        if change is not None:
            change = Change(change.layer, change.kind, change.first and certain)
            _say_change(name, f"{holder}.{change.layer}" if change.layer else "", change, tree, ctx)
            return


def _called(tree: ast.Call, ctx: Context) -> tuple[str, str, str, bool]:
    """Return the method that a call runs, the class it is looked up in, the object that has it, and if it always is."""
    callee, func = ctx.kind(tree.func), tree.func
    if "|" in callee.of:
        return _NONE
    if callee.name == "function":
        info = ctx.world.function(callee.of)
        if info is None or info.owner is None:
            return callee.of, "", "", True
        own = own_class(func.value, ctx) if isinstance(func, ast.Attribute) else None
        return (callee.of, own, ast.unparse(func.value), True) if own and isinstance(func, ast.Attribute) else _NONE
    place, owner, certain = _network(starts_of(func, ctx))
    if callee.name == "Module" and ":" in callee.of:
        place, owner, certain = "", callee.of, True
    method = ctx.world.method(owner, "forward") if owner else None
    return method or "", owner, f"{ast.unparse(func)}{place}", certain


def _network(starts: Starts) -> tuple[str, str, bool]:
    """Return which network of the project a layer is, or calls first, where that stands in it, and if it always is."""
    start = starts.get(FORWARD)
    return first_network(starts) if start is None else ("", start.of, start.certain)


def _is_noticed(name: str, tree: ast.Call, small: ast.AST, ctx: Context) -> bool:
    """Whether a name is read after a call that changes what it holds."""
    if read_beside(name, tree, small, ctx) or (isinstance(small, ast.AugAssign) and _is_name(small.target, name)):
        return True
    bound = any(_is_name(target, name) for target in getattr(small, "targets", ()))
    return not bound and not isinstance(small, ast.Return) and read_again(name, small, ctx)


def _is_split(name: str, change: Change, updated: cst.Call, tree: ast.Call, ctx: Context) -> bool:
    """Whether a Sequential that changes a name first may be run in two parts: its first layer, and what is behind it.

    Where another layer may be the first, the runtime asks for its class: then all of that class must work in place.
    """
    if change.kind not in _SAME_CLASS or (change.first and change.kind in IDEMPOTENT) or ctx.options.mode == "graph":
        return False
    if not _runs_alone(name, tree, ctx) or len(updated.args) != 1 or dotted_path(tree.func) is None:
        return False
    if change.first:
        return True
    owner = own_class(tree.func.value, ctx) if isinstance(tree.func, ast.Attribute) else None
    made = [node for node in ctx.analysis.all(ast.Call) if _last(node.func) == change.kind] if owner else []
    place = INPLACE_AT[change.kind]
    told = (s.positional > place or "inplace" in s.keywords for s in ctx.world.symbols.shapes(frozenset({change.kind})))
    return bool(made) and all(map(is_inplace, made)) and all(told)


def _split(name: str, kind: str, updated: cst.Call, ctx: Context) -> cst.Call:
    begun, behind = (code_of(ctx.reference(f"torch2ms.runtime.parts.{part}")) for part in ("begun", "behind"))
    layer = code_of(updated.func)
    ctx.frame.before.append(cst.parse_statement(f"{name} = {begun}({layer}, {name}, '{kind}')"))
    made = cst.parse_expression(f"{behind}({layer}, {name}, '{kind}')")
    assert isinstance(made, cst.Call)
    return made


def _last(tree: ast.expr) -> str:
    return getattr(tree, "attr", getattr(tree, "id", ""))


def _say_change(name: str, layer: str, change: Change, tree: ast.Call, ctx: Context) -> None:
    if change.first and change.kind in IDEMPOTENT and _runs_alone(name, tree, ctx):
        function = layer or code_of(ctx.reference(_FUNCTIONS[change.kind]))
        ctx.frame.before.append(cst.parse_statement(f"{name} = {function}({name})"))
    else:
        what = f"{ast.unparse(tree.func)} changes {name} in place ({layer or change.kind}), which is read again"
        ctx.report("T2M305", tree, f"{what}; MindSpore leaves it", symbol="inplace")


def _runs_alone(name: str, tree: ast.Call, ctx: Context) -> bool:
    """Whether a call always runs, before its statement has read the name, and nobody else holds what it names."""
    small = ctx.small
    assert small is not None
    node = ctx.parent(tree)
    always = isinstance(small, _WHOLE)
    while node is not None and node is not small:
        always, node = always and not isinstance(node, _SOMETIMES), ctx.parent(node)
    return always and seen_elsewhere(name, small, ctx) == "fresh" and not read_before(name, tree, small, ctx)


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name
