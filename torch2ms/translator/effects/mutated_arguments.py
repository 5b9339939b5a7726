"""Which argument a function changes in place: by a layer or call with ``inplace=True`` that gets it as it came.

``h = x; h = self.relu(h)`` in a helper changes the caller's ``x``; so does a block whose ``forward`` begins like this.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.inplace_layers import FIRST, FORWARD, Beginning, Starts, own_starts
from torch2ms.translator.values.kinds import UNKNOWN
from torch2ms.translator.values.self_attributes import is_inplace
from torch2ms.translator.values.world import World

__all__ = ["Change", "change_of", "first_change", "first_network"]

_LIKE = {"relu": "ReLU", "relu6": "ReLU6"}
_DEPTH = 3  # calls of calls that are followed


@dataclass(frozen=True, slots=True)
class Change:
    """The change of an argument: by which layer, seen from the object whose method is called, and of which class.

    ``layer`` is empty for a function; the kind is then that of the layer that does the same, or the function's name.
    """

    layer: str
    kind: str
    first: bool  # nothing of the method has read the argument before, and the layer always runs


def change_of(key: str, position: int, owner: str, world: World, depth: int = _DEPTH) -> Change | None:
    """Return the change that a method of the class ``owner``, or a function ("": no class), makes to an argument."""
    info = world.function(key)
    if info is None or isinstance(info.node, ast.Lambda):
        return None
    parameters = [arg.arg for arg in (*info.node.args.posonlyargs, *info.node.args.args)]
    parameters = parameters[1:] if owner and parameters[:1] == ["self"] else [] if owner else parameters
    if position >= len(parameters):
        return None
    names, read = {parameters[position]}, False
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
        if not isinstance(node, ast.Call):
            continue
        positions = [position for position, given in enumerate(node.args) if _is_one_of(given, names)]
        change = None
        made = node.func if isinstance(node.func, ast.Call) else node  # nn.ReLU(True)(x), F.relu(x, inplace=True)
        if 0 in positions and is_inplace(made, is_layer=made is not node):
            name = getattr(made.func, "attr", getattr(made.func, "id", ""))
            change = Change("", _LIKE.get(name, name), True)
        elif owner and isinstance(node.func, ast.Attribute) and _is_one_of(node.func.value, {"self"}):
            change = _change_by(node.func.attr, positions, owner, world, depth)
        if change is not None:
            return change, (node.lineno, node.col_offset)
    return None, (0, 0)


def _change_by(name: str, positions: Sequence[int], owner: str, world: World, depth: int) -> Change | None:
    """Return the change that ``self.name(...)`` makes to one of the arguments at these positions."""
    starts = own_starts(owner, name, world)
    path, start = first_change(starts) if 0 in positions else ("", None)
    if start is not None:
        return Change(f"{name}{path}", start.of, start.certain)
    if not depth:
        return None
    method, prefix, holder, certain = world.method(owner, name), "", owner, True
    if method is None:
        place, holder, certain = first_network(starts)
        part = world.attribute(owner, name) if not holder else UNKNOWN
        if part.name == "Module" and ":" in part.of and "|" not in part.of:
            holder = part.of
        method, prefix = world.method(holder, "forward") if holder else None, f"{name}{place}."
    found = (change_of(method, position, holder, world, depth - 1) for position in positions if method is not None)
    change = next(filter(None, found), None)
    if change is None:
        return None
    return replace(change, layer=change.layer and prefix + change.layer, first=change.first and certain)


def first_change(starts: Starts) -> tuple[str, Beginning | None]:
    """Return the part of a layer, itself or the first of a Sequential, that works in place, and which class it is."""
    return next(((path, starts[path]) for path in _PATHS if path in starts), ("", None))


def first_network(starts: Starts) -> tuple[str, str, bool]:
    """Return where the project's network stands that a Sequential calls first, its class, and whether it always is."""
    path = next((path for path in _PATHS[1:] if path + FORWARD in starts), None)
    start = starts[path + FORWARD] if path is not None else None
    return (path or "", start.of, start.certain) if start is not None else ("", "", True)


_PATHS = tuple(FIRST * depth for depth in range(4))
