"""Which argument a method changes in place: by a layer made with ``inplace=True`` that gets it as it came.

``h = x; h = self.relu(h)`` in a helper changes the caller's ``x``; so does a block whose ``forward`` begins like this.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch2ms.translator.inference.world import World
from torch2ms.translator.trees import walk

__all__ = ["Change", "change_of", "first_network"]

_DEPTH = 3  # calls of calls that are followed


@dataclass(frozen=True, slots=True)
class Change:
    """The change of an argument: by which layer, seen from the object whose method is called, and of which class."""

    layer: str
    kind: str
    first: bool  # nothing of the method has read the argument before, and the layer always runs


def change_of(key: str, position: int, owner: str, world: World, depth: int = _DEPTH) -> Change | None:
    """Return the change that the method ``key`` of the class ``owner`` makes to an argument, or None."""
    info = world.function(key)
    if info is None or isinstance(info.node, ast.Lambda):
        return None
    parameters = [arg.arg for arg in (*info.node.args.posonlyargs, *info.node.args.args)]
    if not parameters or parameters[0] != "self" or position + 1 >= len(parameters):
        return None
    names, read = {parameters[position + 1]}, False
    for statement in info.node.body:
        if isinstance(statement, ast.Assign) and _is_one_of(statement.value, names):
            names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
            continue
        reads = [node for node in walk(statement) if isinstance(node, ast.Name) and _is_one_of(node, names)]
        change, start = _change_in(statement, names, owner, world, depth) if reads else (None, (0, 0))
        if change is not None:
            plain = isinstance(statement, (ast.Assign, ast.Expr, ast.Return))
            before = read or any((node.lineno, node.col_offset) < start for node in reads)
            return replace(change, first=change.first and plain and not before)
        read = read or bool(reads)
        if isinstance(statement, ast.Assign):
            names -= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return None


def _is_one_of(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names


def _change_in(
    statement: ast.stmt, names: set[str], owner: str, world: World, depth: int
) -> tuple[Change | None, tuple[int, int]]:
    """Return the first change that a statement makes, and where the call that makes it starts."""
    for node in walk(statement):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        value = node.func.value
        if not isinstance(value, ast.Name) or value.id != "self":
            continue
        positions = [position for position, given in enumerate(node.args) if _is_one_of(given, names)]
        change = _change_by(node.func.attr, positions, owner, world, depth)
        if change is not None:
            return change, (node.lineno, node.col_offset)
    return None, (0, 0)


def _change_by(name: str, positions: Sequence[int], owner: str, world: World, depth: int) -> Change | None:
    """Return the change that ``self.name(...)`` makes to one of the arguments at these positions."""
    keys = [key for key in world.ancestry(owner) if ":" in key]
    if 0 in positions:
        for layer in (name, f"{name}[0]", f"{name}[0][0]"):
            kind = next(filter(None, (world.changes_input(key, layer) for key in keys)), "")
            if kind:
                return Change(layer, kind, True)
    if not depth:
        return None
    method, prefix, holder = world.method(owner, name), "", owner
    if method is None:
        place, holder = first_network(name, owner, world)
        part = next((world.attributes(key)[name] for key in keys if name in world.attributes(key)), None)
        if not holder and part is not None and part.name == "Module" and ":" in part.of and "|" not in part.of:
            place, holder = name, part.of
        method, prefix = world.method(holder, "forward") if holder else None, f"{place}."
    found = (change_of(method, position, holder, world, depth - 1) for position in positions if method is not None)
    change = next(filter(None, found), None)
    return None if change is None else replace(change, layer=prefix + change.layer)


def first_network(name: str, owner: str, world: World) -> tuple[str, str]:
    """Return where the project's network stands that the Sequential ``self.name`` calls first, and its class."""
    for key in world.ancestry(owner):
        for place in (f"{name}[0]", f"{name}[0][0]") if ":" in key else ():
            found = world.changes_input(key, f"{place}.forward")
            if found:
                return place, found
    return "", ""
