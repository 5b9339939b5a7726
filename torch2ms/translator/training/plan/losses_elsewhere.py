"""Losses that other functions keep: hooks, callbacks, and methods that a training step does not call itself.

What such a function stores under a key or as an attribute carries gradients of a forward pass that stands elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.effects.reads_and_writes import base_path, dotted_path, root
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.scope import FunctionNode, ProjectFile, Scope
from torch2ms.translator.training.find.vocabulary import CUTTING_ATTRIBUTES
from torch2ms.translator.training.plan.forward import Forward

__all__ = ["kept_apart"]

_MAKERS = frozenset({"__init__", "__getitem__", "__iter__", "__call__"})  # of data, and of objects to begin with
_PLAIN = CUTTING_ATTRIBUTES | {"grad"}


def kept_apart(forward: Forward, file: ProjectFile, flow: GradientFlow, scope: Scope) -> str | None:
    """Return a key or an attribute that a forward pass reads and that only other functions fill with such values."""
    read = _names_read(forward, file, scope)
    if not read:
        return None
    called = _called_from(forward.flow_nodes, file)
    handed = _handed(file.tree)
    inside = [file.functions[key] for name in called for key in (name, "." + name) if key in file.functions]
    own = {name for top in (*forward.flow_nodes, *inside) for node in walk(top) for name, _ in _stores(node)}
    for function in (node for node in walk(file.tree) if isinstance(node, FunctionNode)):
        if function is scope.node or function.name in _MAKERS or function.name in called:
            continue
        given = {argument.arg for argument in function.args.args} - {"self"} if function.name in handed else set()
        for node in (item for statement in function.body for item in walk(statement)):
            for name, value in _stores(node):
                if name not in read or name in own:
                    continue
                if flow.gives_gradient(value, function) or given & {root(p) for p in flow.differentiable_reads(value)}:
                    return name
    return None


def _names_read(forward: Forward, file: ProjectFile, scope: Scope) -> set[str]:
    """Return the keys and attributes that a forward pass reads out of objects from outside of it."""
    outside = {root(path) for path in forward.needed}
    found = set()
    for top in forward.flow_nodes:
        for node in walk(top):
            name = _name_of(node) if isinstance(node, (ast.Attribute, ast.Subscript)) else ""
            base = base_path(node) if isinstance(node, ast.expr) and name else None
            if base is not None and isinstance(getattr(node, "ctx", None), ast.Load):
                origins = file.origins(scope.node, base)
                found |= {name} if outside & {root(path) for path in origins} else set()
    return found - _PLAIN


def _name_of(node: ast.expr) -> str:
    """Return the attribute or the literal key that an expression reads or stores; else ""."""
    if isinstance(node, ast.Attribute):
        return node.attr
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, str) else ""


def _stores(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the keys and attributes that a node stores values under."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and (name := _name_of(target)):
                yield name, node.value
            elif isinstance(target, ast.Attribute) and not (dotted_path(target) or "").startswith("self."):
                yield target.attr, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
        yield from ((word.arg, word.value) for word in node.keywords if word.arg)


def _called_from(nodes: list[ast.AST], file: ProjectFile) -> set[str]:
    """Return the names of the file's functions and methods that code calls or names, directly or not."""
    found: set[str] = set()
    queue = list(nodes)
    while queue:
        for node in walk(queue.pop()):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name and name not in found:
                found.add(name)
                queue.extend(file.functions[key] for key in (name, "." + name) if key in file.functions)
    return found


def _handed(tree: ast.Module) -> set[str]:
    """Return the names of functions that are given to others: hooks."""
    calls = (node for node in walk(tree) if isinstance(node, ast.Call))
    values = (value for call in calls for value in (*call.args, *(word.value for word in call.keywords)))
    return {(dotted_path(value) or "").rpartition(".")[2] for value in values} - {""}
