"""Interfaces and places: what forward_fn takes, captures and returns, and where it is defined."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torch2ms.translator.effects.dataflow import Liveness, certain_binds, effects, live_in
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.syntax.ast_walk import changed_in_place, children, walk
from torch2ms.translator.training.find.scope import ProjectFile, Scope
from torch2ms.translator.training.model import Place
from torch2ms.translator.values.kinds import Oracle

__all__ = ["Interface", "find_interface", "find_unset", "is_asked_for", "may_be_missing"]

_FIXED = frozenset(
    {"Module", "Optimizer", "Scheduler", "GradScaler", "DataLoader", "class", "function", "api", "module", "Transform"}
)
_DATA = frozenset({"Tensor", "ndarray", "tuple", "list", "dict", "Size", "int", "float"})


@dataclass(frozen=True, slots=True)
class Interface:
    """What forward_fn takes, captures and returns, and where it is defined."""

    parameters: tuple[str, ...]
    captures: tuple[str, ...]
    aux: tuple[str, ...]
    hoist: Place
    uncertain: tuple[str, ...]  # outputs that some path through the body does not bind
    spoiled: tuple[str, ...]  # parameters that the body changes in place, which MindSpore refuses


def find_interface(
    scope: Scope,
    file: ProjectFile,
    oracle: Oracle,
    place: Place,
    end: int,
    body: Sequence[ast.stmt],
    loss: ast.expr,
    dropped: Collection[ast.stmt],
    optimizers: Collection[str],
) -> Interface:
    """Work out the interface of forward_fn for a body taken from ``place.statements[...:end]``.

    ``dropped`` statements are gone after the rewriting: what only they read is no output.
    """
    written = effects(body).binds
    aux = _outputs(scope, file, place, end, body, written, loss, dropped)
    tail = ast.Expr(ast.copy_location(ast.Tuple([loss], ast.Load()), loss))
    wanted = live_in([*_unrolled(body), tail], aux)
    elsewhere = _bound_elsewhere(scope, body)
    free = [
        name
        for name in _reading_order([*body, tail], aux)
        if name in wanted and (name not in written or name in elsewhere)
    ]
    roles = _Roles(body, loss, oracle)
    fixed = {name for name in free if roles.is_fixed(name)} - written
    hoist, crossed = _hoist(scope, file, place, fixed | set(optimizers))
    variant = set().union(*(effects(loop).binds for loop in crossed)) if crossed else set()
    own = effects(scope.body).binds | scope.parameters
    # MindSpore refuses to differentiate a function that changes what it is given in place; what it captures may change.
    found = file.effects(body)
    changed = {root(path) for path in found.mutates | found.touches}
    parameters = [
        name
        for name in free
        if name in written
        or (name not in changed and (name in variant or (not crossed and name in own and roles.is_data(name))))
    ]
    captures = tuple(name for name in free if name not in parameters and name in own)
    names = [*aux, *([loss.id] if isinstance(loss, ast.Name) else [])]
    certain = certain_binds(body, loops_run=True)
    uncertain = tuple(name for name in names if name in written and name not in certain and name not in parameters)
    spoiled = tuple(name for name in parameters if _changes_first(body, name, file))
    spoiled += tuple(name for name in captures if name in _renewed(body))
    return Interface(tuple(parameters), captures, aux, hoist, uncertain, spoiled)


def _renewed(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names whose tensors the body fills anew: ``x.data.copy_(y)``, which binds the name in MindSpore."""
    owners = [changed_in_place(node) for statement in body for node in walk(statement)]
    inner = [node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node for node in owners]
    return {node.id for node in inner if isinstance(node, ast.Name)}


def _changes_first(body: Sequence[ast.stmt], name: str, file: ProjectFile) -> bool:
    """Whether the body changes the object that ``name`` holds on entry before it binds the name anew."""
    for statement in body:
        if any(root(path) == name for path in effects(statement, file.inert).mutates):
            return True
        if name in certain_binds([statement]):
            return False
    return False


def find_unset(scope: Scope, place: Place, names: Sequence[str]) -> tuple[tuple[str, ast.stmt], ...]:
    """Return the ``names`` that may be unbound at ``place``, each with the statement of the scope that first binds it.

    The source reads them only on the paths that bind them; the call of forward_fn reads them always. A name that the
    scope declares global, or another function's, is bound there: it would lose its value.
    """
    bound = scope.parameters | scope.outer
    statement, block, index = place.statement, place.statements, place.index
    for parent in (*scope.ancestors(statement), None):
        bound = bound | certain_binds(block[:index])
        if parent is None:
            break
        headers = [parent.target] if isinstance(parent, (ast.For, ast.AsyncFor)) else []
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            headers = [item.optional_vars for item in parent.items if item.optional_vars is not None]
        bound = bound | effects(headers).binds
        location = scope.location(parent)
        block, index = location.block, location.index
    found = []
    for name in names:
        first = next((s for s in scope.body if name in effects(s).binds), None)
        if name not in bound and first is not None:
            found.append((name, first))
    return tuple(found)


def _unrolled(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Take every loop of the body to run at least once: what only its rounds bind is not read from outside."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.For, ast.While)):
            inner = effects(statement.body)
            if not inner.jumps:
                if isinstance(statement, ast.For):
                    found.append(ast.copy_location(ast.Assign([statement.target], statement.iter), statement))
                else:
                    found.append(ast.copy_location(ast.Expr(statement.test), statement))
                found.extend(_unrolled(statement.body))
        found.append(statement)
    return found


def _outputs(
    scope: Scope,
    file: ProjectFile,
    place: Place,
    end: int,
    body: Sequence[ast.stmt],
    written: Collection[str],
    loss: ast.expr,
    dropped: Collection[ast.stmt],
) -> tuple[str, ...]:
    """The names the body binds that are read after it, in binding order; the loss itself excluded.

    What a module binds in any case is part of it: importers, later cells and whoever runs it read it by its name.
    """
    exported = file.globals_read if scope.is_module else frozenset()
    flow = Liveness(scope.body, exported=exported, dropped={id(statement) for statement in dropped})
    block = place.statements
    live = set(flow.before(block[end]) if block[end] not in dropped else flow.after(block[end]))
    inside = {id(statement) for statement in body} | {id(statement) for statement in dropped}
    for statement in block[place.index : end]:
        if id(statement) not in inside:
            live |= effects(statement).names_read
    if scope.is_module:
        live |= certain_binds(body)
    name = loss.id if isinstance(loss, ast.Name) else ""
    return tuple(item for item in _binding_order(body) if item in written and item in live and item != name)


def _binding_order(body: Sequence[ast.stmt]) -> list[str]:
    order: dict[str, None] = {}
    for statement in body:
        names = effects(statement).binds
        positions = {
            node.id: (node.lineno, node.col_offset)
            for node in walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        for name in sorted(names, key=lambda name: (positions.get(name, (0, 0)), name)):
            order.setdefault(name)
    return list(order)


def _reading_order(body: Sequence[ast.stmt], aux: Sequence[str]) -> list[str]:
    order: dict[str, None] = {}
    for statement in body:
        nodes = [node for node in walk(statement) if isinstance(node, ast.Name)]
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            order.setdefault(node.id)
    for name in aux:
        order.setdefault(name)
    return list(order)


def _bound_elsewhere(scope: Scope, body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that the scope binds outside of the body."""
    inside = {id(node) for statement in body for node in walk(statement)}
    found = set(scope.parameters)
    for statement in scope.statements:
        if id(statement) in inside:
            continue
        heads = [
            part for part in children(statement) if not isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case))
        ]
        compound = any(isinstance(part, ast.stmt) for part in children(statement))
        found |= effects(heads if compound and not _is_definition(statement) else statement).binds
        if isinstance(statement, ast.Try):
            found |= {handler.name for handler in statement.handlers if handler.name}
    return frozenset(found)


def _is_definition(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


class _Roles:
    """What a free name is to the body: something fixed that is called, or data that changes."""

    def __init__(self, body: Sequence[ast.stmt], loss: ast.expr, oracle: Oracle) -> None:
        self.kinds: dict[str, str] = {}
        self.called: set[str] = set()
        self.given: set[str] = set()
        for node in (item for part in [*body, loss] for item in walk(part)):
            if isinstance(node, ast.Name):
                self.kinds.setdefault(node.id, oracle.kind(node).name)
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    self.called.add(node.func.id)
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                self.given |= {value.id for value in values if isinstance(value, ast.Name)}

    def is_fixed(self, name: str) -> bool:
        """Whether forward_fn should see the name itself, not take it as data."""
        kind = self.kinds.get(name, "unknown")
        return name in ("self", "cls") or kind in _FIXED or (name in self.called and kind not in _DATA)

    def is_data(self, name: str) -> bool:
        """Whether the name is data that reads well as a parameter."""
        kind = self.kinds.get(name, "unknown")
        return not self.is_fixed(name) and (kind == "Tensor" or (kind == "unknown" and name in self.given))


def _hoist(scope: Scope, file: ProjectFile, place: Place, fixed: Collection[str]) -> tuple[Place, list[ast.stmt]]:
    """Return where the definitions go, and the loops they were taken out of, innermost first."""
    makers = _makers(scope, file, fixed)
    statement = place.statement
    inside = place
    crossed: list[ast.stmt] = []
    if _calls_any(scope, ("add_param_group",)):
        return place, crossed
    for loop in scope.loops(statement):
        found = effects(loop)
        stores = found.binds | {path for path in found.mutates if "." in path}
        moved = any(path == store or path.startswith(store + ".") for path in fixed for store in stores)
        moved = moved or not makers.isdisjoint(found.reads)
        if moved:
            break
        location = scope.location(loop)
        inside = Place(location.block, location.index)
        crossed.append(loop)
    return inside, crossed


def _makers(scope: Scope, file: ProjectFile, fixed: Collection[str]) -> frozenset[str]:
    """The functions and methods of the file that bind one of the ``fixed`` paths anew when they are called."""
    found: set[str] = set()
    for item in file.assignments:
        if item.path not in fixed or item.owner is None or item.owner is scope.node or item.owner.name == "__init__":
            continue
        if "." in item.path:
            found.add(f"self.{item.owner.name}")
        elif any(isinstance(node, ast.Global) and item.path in node.names for node in walk(item.owner)):
            found.add(item.owner.name)
    return frozenset(found)


def _calls_any(scope: Scope, names: Collection[str]) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names
        for statement in scope.body
        for node in walk(statement)
    )


def may_be_missing(scope: Scope, file: ProjectFile, optimizer: str) -> bool:
    """Whether the optimizer can be None or unbound where the program has not asked for training."""
    if any(isinstance(value, ast.Constant) and value.value is None for value in file.values_of(optimizer, scope)):
        return True
    if isinstance(scope.node, ast.Module) or root(optimizer) not in scope.parameters or "." in optimizer:
        return False
    arguments = scope.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(plain), reversed(arguments.defaults), strict=False))
    pairs += [(key, value) for key, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return any(
        argument.arg == optimizer and isinstance(value, ast.Constant) and value.value is None
        for argument, value in pairs
    )


def is_asked_for(scope: Scope, backward: ast.stmt, steps: Sequence[ast.stmt], optimizer: str) -> bool:
    """Whether a step is taken only where there is an optimizer, behind a backward call that needs none."""
    around = {id(node) for node in scope.ancestors(backward)}
    tests = [
        node.test
        for step in steps
        for node in scope.ancestors(step)
        if isinstance(node, ast.If) and id(node) not in around
    ]
    return any(dotted_path(node) == optimizer for test in tests for node in walk(test) if isinstance(node, ast.expr))
