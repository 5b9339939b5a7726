"""How layers begin: which of them change their own input in place, as seen from the object that calls them.

``self.act = nn.ReLU(True)`` does; so does a Sequential whose first layer does, in a list that is filled step by step,
in a ModuleList, or made by a function. Where several layers may be first, the beginning is not certain.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from torch2ms.translator.syntax.ast_walk import bound_pairs, walk
from torch2ms.translator.values.copied_sequentials import taken_start
from torch2ms.translator.values.kinds import UNKNOWN, Kind
from torch2ms.translator.values.self_attributes import is_inplace

if TYPE_CHECKING:
    from torch2ms.translator.values.world import FileAnalysis, World

__all__ = [
    "EACH",
    "FIRST",
    "FORWARD",
    "IDEMPOTENT",
    "KNOWN",
    "MAKES",
    "Beginning",
    "Place",
    "Starts",
    "merged",
    "own_starts",
    "value_starts",
]

# Steps of a path from a layer to what begins it
FIRST, EACH, FORWARD = "[0]", "[*]", ".forward"
# Beside these: what a list of layers begins with makes a new tensor; all that it holds is known, and nothing of it
# starts in place but what a path says
MAKES, KNOWN = "first makes", "all known"
_DEPTH = 4  # names, functions and containers that are followed


@dataclass(frozen=True, slots=True)
class Beginning:
    """What begins a layer: the class of one that works in place, or, behind ``.forward``, a class of the project.

    ``certain``: always; otherwise in some cases.
    """

    of: str
    certain: bool = True

    @property
    def is_repeatable(self) -> bool:
        """Whether an activation begins the layer that leaves its own result as it is."""
        return self.certain and self.of in IDEMPOTENT


# Activations that leave their own result as it is
IDEMPOTENT = ("ReLU", "ReLU6", "Hardtanh")


# Paths, from the layer on, to what begins it: "" for the layer itself, "[0]", "[*][0]", "[0].forward"
Starts = Mapping[str, Beginning]


class Place(NamedTuple):
    """Where an expression stands: names and methods are looked up there."""

    world: World
    analysis: FileAnalysis
    owner: str  # key of the class around, "" for none
    function: ast.AST | None


def own_starts(key: str, name: str, world: World) -> Starts:
    """Return how the layer in an attribute of a project class begins; nothing where no layer works in place."""
    for base in (base for base in world.ancestry(key) if ":" in base):
        if base not in world.starts:
            world.starts[base] = _attribute_starts(base, world)
        if name in world.starts[base]:
            return world.starts[base][name]
    return {}


def _attribute_starts(key: str, world: World) -> dict[str, Starts]:
    """Return how the layers begin that the methods of a class set on ``self``, by attribute."""
    info = world.class_info(key)
    analysis = world.file(info.path) if info is not None else None
    found: dict[str, list[Starts]] = {}
    if info is None or analysis is None:
        return {}
    for method in info.methods.values():
        place = Place(world, analysis, key, method.node)
        for name, value in _set_on_self(method.node):
            found.setdefault(name, []).append(_filled_by_loop(name, value, place) or value_starts(value, place))
    return {name: one for name, starts in found.items() if (one := merged(starts))}


def _set_on_self(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the attributes of ``self`` that a method sets, or adds as parts, with their values."""
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and _is_self(target.value):
                    yield target.attr, node.value
        elif (part := _added(node)) is not None and _is_self(part.holder) and isinstance(part.name, ast.Constant):
            yield str(part.name.value), part.layer


class _Added(NamedTuple):
    """A part that ``holder.add_module(name, layer)`` gives a network."""

    holder: ast.expr
    name: ast.expr
    layer: ast.expr


def _added(node: ast.AST) -> _Added | None:
    if not isinstance(node, ast.Call) or len(node.args) != 2 or not isinstance(node.func, ast.Attribute):
        return None
    adds = node.func.attr in ("add_module", "register_module")
    return _Added(node.func.value, node.args[0], node.args[1]) if adds else None


def _is_self(tree: ast.AST | None) -> bool:
    return isinstance(tree, ast.Name) and tree.id == "self"


def _filled_by_loop(name: str, value: ast.expr, place: Place) -> Starts:
    """Return how a Sequential begins that a loop fills with the layers of one of torchvision's networks."""
    if not isinstance(value, ast.Call) or _name(value) != "Sequential" or value.args or place.function is None:
        return {}
    taken = taken_start(name, place.function, lambda tree: _kind(tree, place))
    return {FIRST: Beginning(taken)} if taken else {}


def value_starts(value: ast.expr, place: Place, depth: int = _DEPTH) -> Starts:
    """Return how the layer begins that an expression makes."""
    if depth == 0:
        return {}
    if isinstance(value, ast.IfExp):
        return merged([value_starts(part, place, depth - 1) for part in (value.body, value.orelse)])
    if isinstance(value, ast.Name):
        return merged([value_starts(given, place, depth - 1) for given in _given(value, place)])
    if not isinstance(value, ast.Call):
        return {}
    if is_inplace(value):
        return {"": Beginning(_name(value))}
    made = _name(value)
    if made in ("Sequential", "ModuleList"):
        filled = _parts_added(value, place, depth)
        return _container(value.args, filled, place, depth, has_first=made == "Sequential")
    kind = _kind(value.func, place)
    if kind.name == "function" and "|" not in kind.of:
        return merged([value_starts(given, inner, depth - 1) for given, inner in _returned(kind.of, place)])
    if kind.name == "class" and "|" not in kind.of and ":" in kind.of:
        return _sequence_of_own(kind.of, place, depth) or {FORWARD: Beginning(kind.of)}
    return {}


def _container(args: Sequence[ast.expr], filled: _Elements, place: Place, depth: int, *, has_first: bool) -> Starts:
    """Return how a Sequential, or a list of layers, of these arguments begins; ``filled`` is put into it later."""
    listed = len(args) == 1 and isinstance(args[0], (ast.List, ast.ListComp, ast.GeneratorExp, ast.BinOp, ast.Name))
    whole = listed and not has_first
    ordered = len(args) == 1 and isinstance(args[0], ast.Call) and _name(args[0]) == "OrderedDict"
    parts = (_elements(args[0], place, depth) if whole or ordered else _Elements.of(args, place, depth)).followed(
        filled
    )
    found: dict[str, Beginning] = {}
    begun = [value_starts(part, place, depth - 1) for part in parts.first]
    if has_first:
        found.update({FIRST + path: start for path, start in merged(begun).items()})
    if parts.first and not parts.may_be_empty and all(_makes(part, place, depth - 1) for part in parts.first):
        found[MAKES] = Beginning("")
    if parts.all and len(parts.all) <= _SHOWN and all(_is_known(part, place, depth - 1) for part in parts.all):
        found[KNOWN] = Beginning("")
    rest = parts.all if not has_first or len(parts.all) <= _SHOWN else []
    each = merged([value_starts(part, place, depth - 1) for part in rest])
    found.update({EACH + path: start for path, start in each.items()})
    return found


def _makes(layer: ast.expr, place: Place, depth: int) -> bool:
    """Whether a layer surely gives a new tensor, and not what it was given: a convolution, a block of the project."""
    if depth == 0:
        return False
    if isinstance(layer, ast.IfExp):
        return _makes(layer.body, place, depth - 1) and _makes(layer.orelse, place, depth - 1)
    if isinstance(layer, ast.Name):
        given = _given(layer, place)
        return bool(given) and all(_makes(value, place, depth - 1) for value in given)
    if not isinstance(layer, ast.Call) or is_inplace(layer):
        return False
    name, kind = _name(layer), _kind(layer.func, place)
    if name in _WRAPPERS:
        return bool(layer.args) and _makes(layer.args[0], place, depth - 1)
    if name == "Sequential":
        parts = _Elements.of(layer.args, place, depth - 1)
        known = bool(parts.first) and not parts.may_be_empty
        return known and all(_makes(part, place, depth - 1) for part in parts.first)
    if kind.name == "function" and "|" not in kind.of:
        made = [_makes(value, inner, depth - 1) for value, inner in _returned(kind.of, place)]
        return bool(made) and all(made)
    is_own = kind.name == "class" and ":" in kind.of and "|" not in kind.of
    return is_own or (kind.name == "api" and any(word in name for word in _MAKING))


def _is_known(layer: ast.expr, place: Place, depth: int) -> bool:
    """Whether a layer is one of torch's, or of the project's, of which the paths say how it starts."""
    if _makes(layer, place, depth):
        return True
    if isinstance(layer, ast.IfExp):
        return depth > 0 and all(_is_known(part, place, depth - 1) for part in (layer.body, layer.orelse))
    if isinstance(layer, ast.Name):
        given = _given(layer, place)
        return depth > 0 and bool(given) and all(_is_known(value, place, depth - 1) for value in given)
    if not isinstance(layer, ast.Call) or any(word.arg == "inplace" for word in layer.keywords):
        return isinstance(layer, ast.Call) and is_inplace(layer)
    kind = _kind(layer.func, place)
    if _name(layer) in ("Sequential", "ModuleList"):
        return KNOWN in value_starts(layer, place, depth) or not (layer.args or _name(layer) == "ModuleList")
    return kind.name == "api" and kind.of.startswith("torch.nn.") and "." not in kind.of.removeprefix("torch.nn.")


_WRAPPERS = frozenset({"weight_norm", "spectral_norm"})
_MAKING = ("Conv", "Linear", "Norm", "Pool", "Embedding")
_SHOWN = 24  # layers of a Sequential that are looked at one by one


class _Elements(NamedTuple):
    """What a list holds: what may be first, everything, and whether it may be empty."""

    first: list[ast.expr]
    all: list[ast.expr]
    may_be_empty: bool

    @staticmethod
    def of(parts: Sequence[ast.expr], place: Place, depth: int) -> _Elements:
        """Return the elements of a display, or the positional arguments of a call."""
        found = _Elements([], [], True)
        for part in parts:
            starred = isinstance(part, ast.Starred)
            inner = _elements(part.value, place, depth) if isinstance(part, ast.Starred) else None
            found = found.followed(inner if starred and inner is not None else _Elements([part], [part], False))
        return found

    def followed(self, other: _Elements) -> _Elements:
        """Return what a list of these and the other's elements holds."""
        first = [*self.first, *other.first] if self.may_be_empty else self.first
        return _Elements(first, [*self.all, *other.all], self.may_be_empty and other.may_be_empty)


_UNKNOWN = ast.Constant(None)  # an element of which nothing is known
_ANYTHING = _Elements([_UNKNOWN], [_UNKNOWN], False)
_NOTHING = _Elements([], [], True)


def _elements(tree: ast.expr, place: Place, depth: int) -> _Elements:
    """Return what an expression of a list, or of an OrderedDict, holds."""
    if depth == 0:
        return _ANYTHING
    if isinstance(tree, (ast.List, ast.Tuple)):
        return _Elements.of(tree.elts, place, depth)
    if isinstance(tree, (ast.ListComp, ast.GeneratorExp)):
        return _Elements([tree.elt], [tree.elt], False)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return _elements(tree.left, place, depth).followed(_elements(tree.right, place, depth))
    if isinstance(tree, ast.Call) and _name(tree) in ("list", "OrderedDict"):
        inner = _elements(tree.args[0], place, depth - 1) if tree.args else _NOTHING
        pairs = _name(tree) == "OrderedDict"
        return _Elements(_values(inner.first), _values(inner.all), inner.may_be_empty) if pairs else inner
    if isinstance(tree, ast.Name) and isinstance(place.function, ast.FunctionDef):
        return _built(tree, place, depth - 1)
    return _ANYTHING


def _values(pairs: Iterable[ast.expr]) -> list[ast.expr]:
    """Return the layers of ``[("conv", nn.Conv2d(...)), ...]``."""
    return [pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else _UNKNOWN for pair in pairs]


def _built(name: ast.Name, place: Place, depth: int) -> _Elements:
    """Return what a local list holds where it is read: how it was bound last, and what was put into it since."""
    assert isinstance(place.function, ast.FunctionDef)
    read = _Filling(name.id, None, place, depth, name.lineno)
    return read.run(place.function.body, None) or _NOTHING


def _parts_added(value: ast.Call, place: Place, depth: int) -> _Elements:
    """Return what the function puts into the container that a statement binds to ``self.blocks``, or to a name."""
    if not isinstance(place.function, ast.FunctionDef):
        return _NOTHING
    bound = [node for node in _assignments(place.function) if node.value is value]
    targets = [ast.unparse(target) for node in bound for target in node.targets]
    return (_Filling(targets[0], value, place, depth).run(place.function.body, None) if targets else None) or _NOTHING


@dataclass(frozen=True, slots=True)
class _Filling:
    """Runs statements in order for what they put into a list, or into a container that ``made`` binds to a path.

    None stands for a path that is not bound yet, or to something else. What is done to it otherwise makes it unknown.
    """

    path: str
    made: ast.expr | None
    place: Place
    depth: int
    last: float = float("inf")  # the line at which the list is read

    def run(self, block: Sequence[ast.stmt], found: _Elements | None) -> _Elements | None:
        """Return what is there behind a block, or where the list is read in it."""
        for statement in block:
            if statement.lineno >= self.last:
                break
            found = self._statement(statement, found)
        return found

    def _statement(self, statement: ast.stmt, found: _Elements | None) -> _Elements | None:
        if isinstance(statement, ast.If):
            if statement.lineno < self.last <= (statement.end_lineno or 0):
                is_else = bool(statement.orelse) and self.last >= statement.orelse[0].lineno
                return self.run(statement.orelse if is_else else statement.body, found)
            return _either(self.run(statement.body, found), self.run(statement.orelse, found))
        if isinstance(statement, (ast.For, ast.While, ast.With, ast.Try)):
            for handler in getattr(statement, "handlers", ()):
                found = _either(found, self.run(handler.body, found))
            return self.run([*statement.body, *getattr(statement, "orelse", ())], found)
        if isinstance(statement, ast.Assign):
            for target, value in bound_pairs(statement):
                if ast.unparse(target) == self.path:
                    return self._bound(value)
                if isinstance(target, ast.Subscript) and ast.unparse(target.value) == self.path:
                    return self._replaced(target, value, found)
        elif isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == self.path:
            return found.followed(_elements(statement.value, self.place, self.depth)) if found else None
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return found and found.followed(self._put(statement.value))
        return found

    def _bound(self, value: ast.expr) -> _Elements | None:
        if self.made is None:
            return _elements(value, self.place, self.depth)
        return _NOTHING if value is self.made else None

    def _replaced(self, target: ast.Subscript, value: ast.expr, found: _Elements | None) -> _Elements | None:
        """Return what ``layers[0] = layer`` leaves."""
        if found is None:
            return None
        is_first = isinstance(target.slice, ast.Constant) and target.slice.value == 0
        return _Elements([value] if is_first else [*found.first, value], [*found.all, value], False)

    def _put(self, call: ast.Call) -> _Elements:
        """Return what a call puts into the list: ``layers.append(layer)``, ``layers.extend(others)``."""
        func, args = call.func, call.args
        if not isinstance(func, ast.Attribute) or ast.unparse(func.value) != self.path:
            is_handed = any(ast.unparse(arg) == self.path for arg in args)
            return _ANYTHING if is_handed else _NOTHING
        part = _added(call)
        if part is not None or (func.attr == "append" and len(args) == 1):
            layer = part.layer if part is not None else args[0]
            return _Elements([layer], [layer], False)
        return _elements(args[0], self.place, self.depth) if func.attr == "extend" and args else _ANYTHING


def _either(one: _Elements | None, other: _Elements | None) -> _Elements | None:
    """Return what a list holds that was filled in one of two ways."""
    if one is None or other is None:
        return one or other
    first = {id(part): part for part in [*one.first, *other.first]}
    everything = {id(part): part for part in [*one.all, *other.all]}
    return _Elements([*first.values()], [*everything.values()], one.may_be_empty or other.may_be_empty)


def _always(statement: ast.stmt, name: ast.Name, place: Place) -> bool:
    """Whether a statement runs whenever the function gets to a place: no condition around it alone."""
    analysis, function = place.analysis, place.function
    return all(
        node.lineno <= name.lineno <= (node.end_lineno or 0)
        for node in ([*analysis.all(ast.If), *analysis.all(ast.Try)] if function is None else _conditions(function))
        if node is not statement and node.lineno <= statement.lineno <= (node.end_lineno or 0)
    )


# Many names of one function are asked for in turn
@lru_cache(maxsize=16)
def _assignments(scope: ast.AST) -> list[ast.Assign]:
    return [node for node in walk(scope) if isinstance(node, ast.Assign)]


@lru_cache(maxsize=16)
def _bindings(scope: ast.AST) -> dict[str, list[ast.Assign]]:
    """Return the assignments in a function or a module by each name that they bind."""
    found: dict[str, list[ast.Assign]] = {}
    for node in _assignments(scope):
        for name in {target.id for target in node.targets if isinstance(target, ast.Name)}:
            found.setdefault(name, []).append(node)
    return found


@lru_cache(maxsize=16)
def _conditions(function: ast.AST) -> list[ast.If | ast.Try]:
    return [node for node in walk(function) if isinstance(node, (ast.If, ast.Try))]


def _given(name: ast.Name, place: Place) -> list[ast.expr]:
    """Return what a name is bound to in the function, or in the file."""
    for scope in (place.function, place.analysis.tree):
        bound = _bindings(scope).get(name.id, []) if scope is not None else []
        before = [node for node in bound if node.lineno < name.lineno] or bound
        always = max((n.lineno for n in before if _always(n, name, place)), default=0)
        if before:
            return [node.value for node in before if node.lineno >= always]
    return []


def _returned(key: str, place: Place) -> Iterator[tuple[ast.expr, Place]]:
    """Yield what a function of the project returns, and where that stands."""
    info = place.world.function(key)
    analysis = place.world.file(key.rpartition(":")[0])
    if info is None or analysis is None or isinstance(info.node, ast.Lambda):
        return
    inner = Place(place.world, analysis, info.owner.key if info.owner is not None else "", info.node)
    for node in walk(info.node):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value, inner


def _sequence_of_own(key: str, place: Place, depth: int) -> Starts:
    """Return how a class derived from Sequential begins, by what its ``__init__`` hands on."""
    world = place.world
    info = world.class_info(key)
    analysis = world.file(info.path) if info is not None else None
    if (
        info is None
        or analysis is None
        or "torch.nn.Sequential" not in world.ancestry(key)
        or "forward" in info.methods
    ):
        return {}
    node = info.methods["__init__"].node if "__init__" in info.methods else None
    inner = Place(world, analysis, key, node)
    calls = [part for part in walk(node) if isinstance(part, ast.Call)] if node is not None else []
    for call in calls:
        if ast.unparse(call.func).endswith(").__init__") and call.args:
            return _container(call.args, _NOTHING, inner, depth - 1, has_first=True)
    added = (_added(call) for call in calls)
    parts = [part.layer for part in added if part is not None and _is_self(part.holder)]
    return _container([], _Elements(parts[:1], parts, not parts), inner, depth - 1, has_first=True)


def _kind(tree: ast.expr, place: Place) -> Kind:
    """Return the class, function or name of a library that an expression at this place stands for."""
    if isinstance(tree, ast.Name):
        return place.analysis.names.get(tree.id, UNKNOWN)
    if not isinstance(tree, ast.Attribute):
        return UNKNOWN
    if _is_self(tree.value) and place.owner:
        method = place.world.method(place.owner, tree.attr)
        return Kind("function", method) if method is not None else UNKNOWN
    base = _kind(tree.value, place)
    path = base.of.removeprefix("project:")
    if base.name == "module" and path != base.of:
        return place.world.export(path, tree.attr)
    return Kind("api", f"{base.of}.{tree.attr}") if base.name in ("api", "module") else UNKNOWN


def merged(starts: Sequence[Starts]) -> Starts:
    """Return how a layer begins that is one of several."""
    if not starts or all(one == starts[0] for one in starts):
        return starts[0] if starts else {}
    found: dict[str, Beginning] = {}
    for one in starts:
        for path, start in one.items():
            other = found.get(path)
            differ = other is not None and other.of != start.of and not path.endswith(FORWARD)
            found[path] = Beginning(
                f"{other.of}|{start.of}" if other is not None and differ else start.of, certain=False
            )
    for mark in (MAKES, KNOWN):
        if not all(mark in one for one in starts):
            found.pop(mark, None)
    return found


def _name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))
