"""Parts of networks that are exchanged or deleted: ``setattr(net, name, layer)``, ``del net.head``, ``net._modules``.

A ``SequentialCell`` would go on running what it was made of; where the network may be one, the runtime changes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, slice_object
from torch2ms.translator.values.declarations import FileAnalysis
from torch2ms.translator.values.families import PARTS
from torch2ms.translator.values.kinds import candidates

__all__ = ["exchanged_by_name", "exchanged_part", "puts_parts_below", "taken_part"]

_MODULE = "torch2ms.runtime.parts"
_SEQUENTIAL = "torch.nn.Sequential"


def exchanged_part(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return what an assignment or a ``del`` becomes that changes the parts of a network which may be a Sequential."""
    if isinstance(tree, ast.Assign) and isinstance(updated, cst.Assign) and len(tree.targets) == 1:
        return _assigned(updated, tree.targets[0], tree.value, ctx)
    if isinstance(tree, ast.Delete) and isinstance(updated, cst.Del) and len(tree.targets) == 1:
        return _deleted(updated, tree.targets[0], ctx)
    return updated


def exchanged_by_name(name: str, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``setattr(net, name, layer)`` and ``delattr(net, name)`` by the runtime; None where Python's will do."""
    if name not in ("setattr", "delattr") or len(tree.args) != (3 if name == "setattr" else 2) or tree.keywords:
        return None
    value = tree.args[2] if name == "setattr" else None
    if not _may_be_sequential(tree.args[0], value, ctx):
        return None
    function = "set_part" if name == "setattr" else "delete_part"
    return updated.with_changes(func=ctx.reference(f"{_MODULE}.{function}"))


def taken_part(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``net._modules.pop(name)`` by the runtime."""
    func = tree.func
    if not isinstance(func, ast.Attribute) or func.attr != "pop" or len(tree.args) != 1 or tree.keywords:
        return None
    code = updated.func
    if (
        not _is_parts(func.value, ctx)
        or not isinstance(code, cst.Attribute)
        or not isinstance(code.value, cst.Attribute)
    ):
        return None
    function = ctx.reference(f"{_MODULE}.take_part")
    return build("{f}({net}, {name})", f=function, net=code.value.value, name=updated.args[0].value)


_PUTTING = frozenset({"setattr", "add_module", "register_module"})


def puts_parts_below(ctx: Context) -> bool:
    """Whether the project puts layers into networks that are, or may be, parts of another one.

    Their parameters are named from there: ``q.weight`` in each of a network's blocks, where the path is ``0.q.weight``.
    """
    if any(_puts_below(node, ctx.analysis) for node in ctx.analysis.nodes):
        return True
    symbols = ctx.world.symbols
    putting = symbols.remembered("parts below", lambda: frozenset(_putting_files(ctx)))
    return bool(putting)


def _putting_files(ctx: Context) -> Iterator[tuple[str, str]]:
    for path, index in ctx.world.symbols.files.items():
        if index.set_on_others or not (_PUTTING | PARTS).isdisjoint(index.calls):
            analysis = ctx.analysis if path == ctx.path else ctx.world.file(path)
            if analysis is not None and any(_puts_below(node, analysis) for node in analysis.nodes):
                yield path, ""


def _puts_below(node: ast.AST, analysis: FileAnalysis) -> bool:
    """Whether a node puts a layer into a network that the same function has not just made."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            place = target.value if isinstance(target, ast.Subscript) else target  # net._modules[name]
            is_place = isinstance(place, ast.Attribute) and (place is target or place.attr == "_modules")
            owner = place.value if is_place and isinstance(place, ast.Attribute) else None
            if owner is not None and _may_be_below(owner, analysis) and analysis.kind(node.value).name == "Module":
                return True
        return False
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute):
        given = [node.func.value, *node.args] if node.func.attr in _PUTTING else []
    else:
        given = node.args if getattr(node.func, "id", "") == "setattr" else []
    return len(given) == 3 and _may_be_below(given[0], analysis) and analysis.kind(given[2]).name == "Module"


def _may_be_below(owner: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a network may be a part of another one: it is no ``self``, and no name that a call was bound to."""
    kind = analysis.kind(owner)
    if kind.name not in ("Module", "unknown") or (isinstance(owner, ast.Name) and kind.evidence in ("self", "super")):
        return False
    return not (isinstance(owner, ast.Name) and _is_made_here(owner.id, analysis))


def _is_made_here(name: str, analysis: FileAnalysis) -> bool:
    """Whether a file binds a name to what calls return, and to nothing else: ``net = ResNet()``."""
    bound = [node for node in analysis.all(ast.Name) if node.id == name and not isinstance(node.ctx, ast.Load)]
    made = [
        target
        for node in analysis.all(ast.Assign)
        if isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name
    ]
    return len(bound) == len(made) and name not in {argument.arg for argument in analysis.all(ast.arg)}


def _assigned(updated: cst.Assign, target: ast.expr, value: ast.expr, ctx: Context) -> Any:
    code = updated.targets[0].target
    if isinstance(target, ast.Attribute) and isinstance(code, cst.Attribute):
        if not _is_sequential(target.value, ctx) or ctx.kind(value).name not in ("Module", "unknown"):
            return updated
        if _is_unmade(target.value, ctx):
            return updated
        return _call("set_part", code.value, ctx.literal(f"'{target.attr}'"), ctx, updated.value)
    if isinstance(target, ast.Subscript) and _is_parts(target.value, ctx):
        return _of_parts("set_part", code, ctx, updated.value) or updated
    return updated


def _deleted(updated: cst.Del, target: ast.expr, ctx: Context) -> Any:
    code = updated.target
    if isinstance(target, ast.Attribute) and isinstance(code, cst.Attribute) and _is_sequential(target.value, ctx):
        return _call("delete_part", code.value, ctx.literal(f"'{target.attr}'"), ctx)
    if isinstance(target, ast.Subscript) and isinstance(code, cst.Subscript):
        if _is_parts(target.value, ctx):
            return _of_parts("delete_part", code, ctx) or updated
        if _is_sequential(target.value, ctx):
            return _call("delete_at", code.value, _index(target.slice, code, ctx), ctx)
    return updated


def _index(tree: ast.expr, code: cst.Subscript, ctx: Context) -> cst.BaseExpression:
    element = code.slice[0].slice
    if isinstance(element, cst.Index):
        return element.value
    assert isinstance(element, cst.Slice)
    return slice_object(element)


def _of_parts(function: str, code: cst.BaseExpression, ctx: Context, value: cst.BaseExpression | None = None) -> Any:
    """Return the call for ``net._cells[name]``."""
    if not isinstance(code, cst.Subscript) or not isinstance(code.value, cst.Attribute) or len(code.slice) != 1:
        return None
    index = code.slice[0].slice
    return _call(function, code.value.value, index.value, ctx, value) if isinstance(index, cst.Index) else None


def _call(
    function: str,
    net: cst.BaseExpression,
    name: cst.BaseExpression,
    ctx: Context,
    value: cst.BaseExpression | None = None,
) -> cst.Expr:
    callee = ctx.reference(f"{_MODULE}.{function}")
    args = [cst.Arg(part) for part in (net, name, value) if part is not None]
    commas = [arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))) for arg in args[:-1]]
    return cst.Expr(cst.Call(callee, [*commas, args[-1]]))


def _is_parts(tree: ast.expr, ctx: Context) -> bool:
    """Whether an expression is the dictionary of a network's parts."""
    return (
        isinstance(tree, ast.Attribute)
        and tree.attr == "_modules"
        and ctx.kind(tree.value).name in ("Module", "unknown")
    )


def _classes(tree: ast.expr, ctx: Context) -> set[str]:
    """Return the classes of torch that a network is of, those its own class descends from included."""
    names = candidates(ctx.kind(tree))
    return {base for name in names for base in (ctx.world.torch_bases(name) if ":" in name else (name,))}


def _is_sequential(tree: ast.expr, ctx: Context) -> bool:
    return ctx.kind(tree).name == "Module" and _SEQUENTIAL in _classes(tree, ctx)


def _is_unmade(tree: ast.expr, ctx: Context) -> bool:
    """Whether ``self`` is not made yet, where ``super().__init__`` comes later: it can have no parts there."""
    function = ctx.functions[-1]
    if function is None or function.name != "__init__" or ctx.kind(tree).evidence != "self":
        return False
    made = (node for node in walk(function.node) if isinstance(node, ast.Attribute) and node.attr == "__init__")
    return all(node.lineno > tree.lineno for node in made)


def _may_be_sequential(tree: ast.expr, value: ast.expr | None, ctx: Context) -> bool:
    """Whether a part is set of what is, or may be, a Sequential; ``value``: the part, None where it is deleted."""
    kind = ctx.kind(tree)
    if kind.name == "Module":
        known = _classes(tree, ctx)
        return _SEQUENTIAL in known or (kind.evidence not in ("self", "super") and known <= {"torch.nn.Module"})
    return kind.name == "unknown" and value is not None and ctx.kind(value).name == "Module"
