"""Objects with several names: a loop variable, an element, a holder. What is stored under one is read under another.

``for env in envs: env["nll"] = ...`` stores into what ``envs[0]["nll"]`` reads. Everything here is what may be: names
are taken as they stand in the text of one function, in whatever order its statements run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator

from torch2ms.translator.effects.reads_and_writes import dotted_path, overlap, root
from torch2ms.translator.values.containers import PUTTING

__all__ = ["Sharing"]

# Methods and functions whose results are, or hold, what they are called on or given.
_METHODS = frozenset("get items values setdefault pop popitem copy __getitem__ popleft".split())
_FUNCTIONS = frozenset(
    "zip enumerate list tuple dict set reversed sorted iter next filter vars cycle islice chain".split()
)
Returned = Callable[[ast.Call], Iterable[ast.expr]]


class Sharing:
    """Which paths of one function may be the same object as others, or lie inside of them."""

    def __init__(self, nodes: Iterable[ast.AST], returned: Returned) -> None:
        self._returned = returned
        self._up: dict[str, set[str]] = {}  # path -> paths that may be it, or hold it
        self._down: dict[str, set[str]] = {}
        for node in nodes:
            self._see(node)

    def take_over(self, other: Sharing, hidden: Collection[str] = (), *, only: str = "") -> None:
        """Add what another function shows of names that this one does not hide, or only of those that begin so."""
        for part, wholes in other._up.items():
            for whole in wholes:
                roots = {root(part), root(whole)}
                if roots.isdisjoint(hidden) and (not only or roots == {only}):
                    self._join(part, whole)

    def reached(self, changed: Iterable[str], deep: Collection[str]) -> set[str]:
        """Return the other paths that change when objects do; ``deep``: those that may change inside of their parts."""
        if not self._up:
            return set()
        start = set(changed)
        start |= _closure(deep, lambda path: _inside(path, self._down))
        return _closure(start, lambda path: _around(path, self._up)) - set(changed)

    def origins(self, name: str) -> set[str]:
        """Return the paths that a name may be, or lie inside of."""
        return _closure([name], lambda path: _around(path, self._up))

    def _see(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            listed = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List, ast.Set)) else [node.iter]
            for value in listed:
                self._bind(node.target, value)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTTING:
            for value in (*node.args, *(word.value for word in node.keywords)):
                self._hold(node.func.value, value)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, (ast.Tuple, ast.List)):
            pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            values = value.elts if pairs and isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
            for part, item in zip(target.elts, values, strict=True):
                self._bind(part, item)
        elif isinstance(target, (ast.Name, ast.Attribute)) and (path := dotted_path(target)) is not None:
            for source, is_part in self._sources(value):
                self._join(path, source)
                if not is_part and source in _paths_of(value):
                    self._join(source, path)
            for source in self._held(value):
                self._join(source, path)
        else:
            self._hold(target, value)

    def _hold(self, holder: ast.expr, value: ast.expr) -> None:
        """Note that ``holder[key] = value``, or that it is appended to."""
        for whole, _ in self._sources(holder.value if isinstance(holder, (ast.Subscript, ast.Attribute)) else holder):
            for source in (*(name for name, _ in self._sources(value)), *self._held(value)):
                self._join(source, whole)

    def _join(self, part: str, whole: str) -> None:
        if part != whole:
            self._up.setdefault(part, set()).add(whole)
            self._down.setdefault(whole, set()).add(part)

    def _sources(self, value: ast.expr) -> Iterator[tuple[str, bool]]:
        """Yield the paths that the object an expression gives may be, or lie inside of, and whether it lies inside."""
        path = dotted_path(value)
        if path is not None:
            yield path, False
        elif isinstance(value, (ast.Subscript, ast.Starred, ast.Attribute)):
            yield from ((name, True) for name, _ in self._sources(value.value))
        elif isinstance(value, (ast.IfExp, ast.BoolOp)):
            for branch in [value.body, value.orelse] if isinstance(value, ast.IfExp) else value.values:
                yield from self._sources(branch)
        elif isinstance(value, ast.NamedExpr):
            yield from self._sources(value.value)
        elif isinstance(value, ast.Call):
            for item in self._passed(value):
                yield from ((name, True) for name, _ in self._sources(item))

    def _passed(self, call: ast.Call) -> Iterator[ast.expr]:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _METHODS:
            yield func.value
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if name in _FUNCTIONS:
            yield from call.args
        yield from self._returned(call)

    def _held(self, value: ast.expr) -> Iterator[str]:
        """Yield the paths of objects that the object an expression makes holds."""
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            parts: list[ast.expr] = value.elts
        elif isinstance(value, ast.Dict):
            parts = value.values
        elif isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            parts = [value.elt]
        elif isinstance(value, ast.DictComp):
            parts = [value.value]
        elif isinstance(value, ast.Call) and _makes_object(value):
            parts = [*value.args, *(word.value for word in value.keywords)]
        else:
            return
        for part in parts:
            yield from (name for name, _ in self._sources(part))
            yield from self._held(part)


def _makes_object(call: ast.Call) -> bool:
    """Whether a callee is named like a class, or makes a collection."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name in _FUNCTIONS or name.lstrip("_")[:1].isupper()


def _paths_of(value: ast.expr) -> set[str]:
    """Return the paths that an expression is as they stand, not parts of them."""
    if isinstance(value, ast.IfExp):
        return _paths_of(value.body) | _paths_of(value.orelse)
    if isinstance(value, ast.BoolOp):
        return set().union(*map(_paths_of, value.values))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "vars" and value.args:
        return _paths_of(value.args[0])
    path = dotted_path(value)
    return set() if path is None else {path}


def _around(path: str, up: dict[str, set[str]]) -> set[str]:
    """Return what may hold the object at a path, or one that it is an attribute of."""
    found = set(up.get(path, ()))
    while "." in path:
        path = path.rpartition(".")[0]
        found |= up.get(path, set())
    return found


def _inside(path: str, down: dict[str, set[str]]) -> set[str]:
    return set().union(*(parts for whole, parts in down.items() if overlap(whole, path)))


def _closure(start: Iterable[str], step: Callable[[str], set[str]]) -> set[str]:
    found, queue = set(start), list(start)
    while queue:
        new = step(queue.pop()) - found
        found |= new
        queue.extend(new)
    return found
