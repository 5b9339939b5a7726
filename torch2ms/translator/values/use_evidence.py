"""What is a value of unknown kind, judged by all that its scope does with it? Names and attributes say nothing.

``uses(tree).of(node)`` gives the :class:`Uses` of a place (``x``, ``self.x``, ``x["a"]``): of a local name in its
outermost function, of a member of ``self`` in its class, of anything else in the file. ``is_scaler(...)`` is true of
``s`` in ``s.scale(loss).backward()``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from torch2ms.translator.syntax.ast_walk import children, walk

__all__ = [
    "FileUses", "Uses", "is_device", "is_environment", "is_loader", "is_mask", "is_network", "is_optimizer",
    "is_scaler", "is_schedule", "may_be_mask", "may_be_optimizer", "only_moves", "place_of", "uses",
]  # fmt: skip

_OF_NETWORKS = frozenset({"parameters", "named_parameters", "train", "eval", "modules", "state_dict", "zero_grad"})
_PLACES = frozenset({ast.Name, ast.Attribute, ast.Subscript})
_SEEN = _PLACES | {ast.UnaryOp}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Uses:
    """All uses of one place."""

    methods: dict[str, list[ast.Call]] = field(default_factory=dict)  # x.f(...)
    chains: set[tuple[str, str]] = field(default_factory=set)  # x.f(...).g(...)
    read: set[str] = field(default_factory=set)  # x.a
    given: list[tuple[ast.Call, str | int]] = field(default_factory=list)  # calls it is an argument of
    called: list[ast.Call] = field(default_factory=list)  # x(...)
    operators: set[type[ast.operator | ast.unaryop]] = field(default_factory=set)
    is_index: bool = False  # y[x]
    is_indexed: bool = False  # x[y]
    is_part: bool = False  # x, y = f()
    values: list[ast.expr] = field(default_factory=list)  # what it is assigned
    sources: list[ast.expr] = field(default_factory=list)  # what loops take it from


_NONE = Uses()


def place_of(node: ast.AST) -> str:
    """Return a text for a name, its attributes and items: ``self.x[]``; empty for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        start = place_of(node.value)
        return start and f"{start}.{node.attr}"
    if isinstance(node, ast.Subscript):
        start = place_of(node.value)
        return start and f"{start}[]"
    return ""


class FileUses:
    """The uses of every place of a file."""

    def __init__(self, tree: ast.AST) -> None:
        """Read the file once."""
        self._found: dict[tuple[int, str], Uses] = {}
        self._scopes: dict[int, tuple[int, int]] = {}  # outermost function and class around a node
        self._locals: dict[int, frozenset[str]] = {}
        self.taken_apart: set[int] = set()  # calls whose results go to several names
        self._locals[0] = _bound_outside(tree)
        self._enter(tree, 0, 0)

    def of(self, node: ast.AST) -> Uses:
        """Return the uses of the place that an expression of the file names."""
        place = place_of(node)
        return self._found.get(self._key(node, place), _NONE) if place else _NONE

    def binds(self, name: ast.Name) -> bool:
        """Whether the file itself binds a name: by a parameter, an assignment or a definition, not by an import."""
        scope, _ = self._scopes.get(id(name), (0, 0))
        return name.id in self._locals.get(scope, ()) or name.id in self._locals[0]

    def of_parameter(self, function: ast.AST, name: str) -> Uses:
        """Return the uses of a parameter of an outermost function."""
        return self._found.get((id(function), name), _NONE)

    def _key(self, node: ast.AST, place: str) -> tuple[int, str]:
        scope, owner = self._scopes.get(id(node), (0, 0))
        root = place.partition(".")[0].partition("[")[0]
        if root == "self":
            return owner, place
        return (scope if scope and root in self._locals[scope] else 0), place

    def _enter(self, node: ast.AST, scope: int, owner: int) -> None:
        if not scope and isinstance(node, _FUNCTIONS):
            scope = id(node)
            self._locals[scope] = _bound(node)
        elif not scope and isinstance(node, ast.ClassDef):
            owner = id(node)
        around = scope, owner
        for child in children(node):
            if child.__class__ in _PLACES:
                self._scopes[id(child)] = around
            self._enter(child, scope, owner)
            if child.__class__ in _SEEN:
                self._see(child, node)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            self._take_apart(node.targets, node.value)
        if isinstance(node, ast.Call):
            self._see_call(node)

    def _uses(self, node: ast.AST) -> Uses | None:
        place = place_of(node)
        return self._found.setdefault(self._key(node, place), Uses()) if place else None

    def _see(self, node: ast.AST, parent: ast.AST) -> None:
        found = self._uses(_uninverted(node))
        if found is None:
            return
        match parent:
            case ast.Attribute():
                found.read.add(parent.attr)
            case ast.UnaryOp() | ast.BinOp() | ast.AugAssign():
                found.operators.add(type(parent.op))
            case ast.Subscript():
                found.is_index |= node is parent.slice
                found.is_indexed |= node is parent.value
            case ast.Assign() if node in parent.targets:
                found.values.append(parent.value)
            case ast.AnnAssign() if node is parent.target and parent.value is not None:
                found.values.append(parent.value)
            case ast.For() | ast.AsyncFor() | ast.comprehension() if node is parent.target:
                found.sources.append(parent.iter)

    def _take_apart(self, targets: list[ast.expr], value: ast.Call) -> None:
        parts = [part for target in targets if isinstance(target, ast.Tuple) for part in target.elts]
        self.taken_apart |= {id(value)} if parts else set()
        for found in filter(None, map(self._uses, parts)):
            found.is_part = True

    def _see_call(self, call: ast.Call) -> None:
        for position, value in enumerate(call.args):
            if (found := self._uses(_uninverted(value))) is not None:
                found.given.append((call, position))
        for word in call.keywords:
            if word.arg is not None and (found := self._uses(_uninverted(word.value))) is not None:
                found.given.append((call, word.arg))
        if (found := self._uses(call.func)) is not None:
            found.called.append(call)
        if not isinstance(call.func, ast.Attribute):
            return
        receiver = call.func.value
        if (found := self._uses(receiver)) is not None:
            found.methods.setdefault(call.func.attr, []).append(call)
        inner = receiver.func if isinstance(receiver, ast.Call) else None
        if isinstance(inner, ast.Attribute) and (found := self._uses(inner.value)) is not None:
            found.chains.add((inner.attr, call.func.attr))


def _uninverted(node: ast.AST) -> ast.AST:
    """Return ``m`` of ``~m``: what is done with the one tells what the other is."""
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert) else node


def _bound(function: ast.AST) -> frozenset[str]:
    """Return the names that a function binds, its parameters included; not those that it declares global."""
    nodes = list(walk(function))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return frozenset(bound.difference(*(node.names for node in nodes if isinstance(node, ast.Global))))


def _bound_outside(tree: ast.AST) -> frozenset[str]:
    """Return the names that a module binds outside of its functions, its functions and classes among them."""
    found: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node is not tree:
            found.add(node.name)
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        pending += children(node)
    return frozenset(found)


_KNOWN: WeakKeyDictionary[ast.AST, FileUses] = WeakKeyDictionary()  # as long as somebody holds the tree


def uses(tree: ast.AST) -> FileUses:
    """Return the uses of every place of a file, read once a tree."""
    found = _KNOWN.get(tree)
    if found is None:
        found = _KNOWN[tree] = FileUses(tree)
    return found


def is_scaler(found: Uses) -> bool:
    """Whether losses are scaled with it: ``s.scale(loss).backward()``, ``s.unscale_(optimizer)``."""
    steps = any(len(call.args) == 1 for call in found.methods.get("step", ()))
    return ("scale", "backward") in found.chains or "unscale_" in found.methods or ("scale" in found.methods and steps)


def is_optimizer(found: Uses) -> bool:
    """Whether it takes steps and resets gradients, which networks and schedules do not do both."""
    steps = "step" in found.methods or any(name == "step" for name in _handed_to(found))
    return (steps and "zero_grad" in found.methods) or "param_groups" in found.read


def _handed_to(found: Uses) -> list[str]:
    """Return the methods that it is the only argument of: ``scaler.step(optimizer)``."""
    calls = [call for call, position in found.given if position == 0 and len(call.args) == 1]
    return [call.func.attr for call in calls if isinstance(call.func, ast.Attribute)]


def may_be_optimizer(found: Uses) -> bool:
    """Whether its gradients are reset and nothing is done that only networks can do."""
    runs = bool(found.called) or bool({"parameters", "train", "eval", "modules"} & found.read)
    return is_optimizer(found) or ("zero_grad" in found.methods and not runs)


def is_schedule(found: Uses) -> bool:
    """Whether it is asked for learning rates, or steps on a metric."""
    return bool({"get_last_lr", "get_lr", "last_epoch", "base_lrs"} & found.read)


def is_network(found: Uses) -> bool:
    """Whether it is asked for weights, parts or a mode: ``n.parameters()``, ``n.eval()``."""
    return not _OF_NETWORKS.isdisjoint(found.read)


def is_loader(found: Uses) -> bool:
    """Whether it is asked what only loaders have: ``len(l.dataset)``, ``l.batch_size``."""
    return not {"dataset", "batch_size", "sampler", "batch_sampler", "collate_fn"}.isdisjoint(found.read)


def is_device(found: Uses) -> bool:
    """Whether it says where tensors go: ``device=d``, ``torch.device(d)``, ``map_location=d``, ``x.cuda(d)``."""
    words = {word for _, word in found.given if isinstance(word, str)}
    calls = {getattr(call.func, "attr", "") for call, place in found.given if place == 0}
    return bool(words & {"device", "map_location", "device_ids", "device_type"}) or bool(
        calls & {"device", "set_device", "cuda"}
    )


def only_moves(found: Uses) -> bool:
    """Whether all that is done with it is to hand it to ``x.to(d)``: a device, a dtype or a tensor."""
    moves = [place == 0 and getattr(call.func, "attr", "") == "to" for call, place in found.given]
    return bool(moves) and all(moves) and not (found.read or found.operators or found.called or found.is_indexed)


def is_environment(found: Uses) -> bool:
    """Whether it is asked for a first observation and takes actions: ``env.reset()``, ``env.step(action)``."""
    steps = found.methods.get("step", [])
    return "reset" in found.methods and bool(steps) and all(call.args for call in steps)


def is_mask(found: Uses) -> bool:
    """Whether it is used as flags: ``y[~m]``, ``m & other``, ``m.any()``, ``x.masked_fill(m, 0)``."""
    flags = {ast.BitAnd, ast.BitOr} & found.operators or (found.is_index and ast.Invert in found.operators)
    if flags or {"any", "all", "bool"} & found.methods.keys():
        return True
    return any(position == "mask" for _, position in found.given) or bool(
        {"masked_fill", "masked_fill_", "masked_select", "where"} & {*_first_of(found)}
    )


def may_be_mask(found: Uses) -> bool:
    """Whether an index is used as flags, or nothing is done with it that numbers are for."""
    return is_mask(found) or not (found.sources or _ARITHMETIC & found.operators or found.values)


_ARITHMETIC = {ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod}


def _first_of(found: Uses) -> list[str]:
    calls = [call for call, position in found.given if position == 0]
    return [getattr(call.func, "attr", "") for call in calls]
