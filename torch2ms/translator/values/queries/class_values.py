"""Classes of networks that a program hands on as values: ``build(Net)``, ``partial(Net, 3)()``, ``type(net)()``.

What is called there has no kind, for it may be another class each time. That it is a network of the project's is all
that some questions need.
"""

from __future__ import annotations

import ast
from collections import Counter

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import Kind, candidates
from torch2ms.translator.values.world import CALLERS_READ

__all__ = ["handed_classes"]


def handed_classes(tree: ast.Call, ctx: FileFacts) -> list[str]:
    """Return the networks of the project that a call may make one of, by key; none where it may make anything else."""
    func = tree.func
    if ctx.kind(func).known and ctx.kind(func).name not in ("python", "factory"):
        return []
    keys = _of_name(func.id, ctx) if isinstance(func, ast.Name) else _of_value(func, ctx)
    return keys if all(":" in key and ctx.world.family(key).name == "Module" for key in keys) else []


def _of_value(value: ast.expr, ctx: FileFacts) -> list[str]:
    """Return the class in ``partial(Net, 3)``, and that of the network in ``type(net)`` and ``net.__class__``."""
    if isinstance(value, ast.Attribute) and value.attr == "__class__":
        return _own(value.value, ctx)
    if not isinstance(value, ast.Call) or not value.args:
        return []
    name = getattr(value.func, "attr", getattr(value.func, "id", ""))
    if name == "type" and len(value.args) == 1:
        return _own(value.args[0], ctx)
    return _classes(ctx.kind(value.args[0])) if name == "partial" else []


def _own(tree: ast.expr, ctx: FileFacts) -> list[str]:
    kind = ctx.kind(tree)
    return [*candidates(kind)] if kind.name == "Module" and kind.of else []


def _classes(kind: Kind) -> list[str]:
    return [*candidates(kind)] if kind.name in ("class", "factory") else []


def _of_name(name: str, ctx: FileFacts) -> list[str]:
    """Return the classes of a parameter, and of a name that the file binds to such values alone."""
    return _of_parameter(name, ctx) or ctx.once(_bound).get(name, [])


def _bound(ctx: FileFacts) -> dict[str, list[str]]:
    """Return the names that the file binds to ``partial(Net, 3)`` and the like, and to nothing else."""
    found: dict[str, list[list[str]]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            keys = _of_value(node.value, ctx) if isinstance(target, ast.Name) else []
            if keys and isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(keys)
    if not found:
        return {}
    stores = Counter(n.id for n in ctx.analysis.all(ast.Name) if n.id in found and not isinstance(n.ctx, ast.Load))
    return {name: [key for part in keys for key in part] for name, keys in found.items() if stores[name] == len(keys)}


def _of_parameter(name: str, ctx: FileFacts) -> list[str]:
    """Return the classes that the project's calls hand a function for a parameter, and its default."""
    function = ctx.functions[-1]
    if function is None or isinstance(function.node, ast.Lambda):
        return []
    arguments = function.node.args
    places = [*arguments.posonlyargs, *arguments.args]
    if name not in {arg.arg for arg in [*places, *arguments.kwonlyargs]}:
        return []
    stored = (node for node in walk(function.node) if isinstance(node, ast.Name) and node.id == name)
    if any(not isinstance(node.ctx, ast.Load) for node in stored):
        return []
    called = function.owner.node.name if function.name == "__init__" and function.owner is not None else function.name
    if len(ctx.world.symbols.likely_callers(called, ctx.path)) > CALLERS_READ:
        return []  # others may hand over what makes no network
    handed = [_classes(kind) for kind in ctx.world.handed_over(function, name)]
    defaults = zip(reversed(places), reversed(arguments.defaults), strict=False)
    handed += [_classes(ctx.kind(default)) for arg, default in defaults if arg.arg == name]
    return [key for keys in handed for key in keys] if all(handed) else []
