"""Whether what a function of another file, or a method of an object, gives back may carry gradients to weights.

``batch = buffer.sample(n)`` is data where ``sample`` makes tensors of arrays, and part of the forward pass where it
calls a network or gives back tensors that others have stored. The function's text decides, with the kinds of its file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch2ms.translator.effects.dataflow import effects
from torch2ms.translator.effects.gradient_uses import calls_of
from torch2ms.translator.effects.names_used import own_names
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.differentiable import differentiable_nodes
from torch2ms.translator.training.find.scope import FunctionNode, ProjectFile
from torch2ms.translator.values.kinds import Kind, Oracle, candidates

if TYPE_CHECKING:
    from torch2ms.translator.training.find.gradient_flow import GradientFlow

__all__ = ["WITHOUT_GRADIENT", "Callee", "Callees", "LookUp"]

# Kinds of values that no gradient flows through.
WITHOUT_GRADIENT = frozenset(
    "ndarray int float str bool none dtype device Size module api class Generator image DataLoader Dataset".split()
)
_CONTAINERS = frozenset({"list", "tuple", "dict"})


@dataclass(frozen=True, slots=True)
class Callee:
    """A function of the project, and its file."""

    function: FunctionNode
    path: str
    tree: ast.Module
    oracle: Oracle


LookUp = Callable[[str], Callee | None]


class Callees:
    """Answers for functions by their keys, ``path:Qualname``; ``make`` gives the flow of their files."""

    def __init__(self, look_up: LookUp, make: Callable[[ProjectFile, Oracle, Callees], GradientFlow]) -> None:
        self._look_up = look_up
        self._make = make
        self._flows: dict[str, GradientFlow] = {}
        self._known: dict[str, bool] = {}
        self._stateful: dict[str, bool] = {}
        self._passing: set[str] = set()  # functions whose arguments may lead to what they give back
        self._resetting: dict[str, dict[str, bool]] = {}

    def may_carry(self, kind: Kind) -> bool:
        """Whether the result of a function may carry gradients of weights that the function itself gets at."""
        if kind.name != "function" or "|" in kind.of:
            return True
        if kind.of not in self._known:
            self._known[kind.of] = False  # for recursion
            callee = self._look_up(kind.of)
            self._known[kind.of] = callee is None or self._computes(callee) or self._gives_stored(callee, kind.of)
        return self._known[kind.of]

    def passes_on(self, kind: Kind) -> bool:
        """Whether a function that was asked about may give back what it computes from its arguments."""
        return kind.of in self._passing

    def calls_module(self, kind: Kind) -> bool:
        """Whether a function is seen to call a module."""
        callee = self._look_up(kind.of) if kind.name == "function" and "|" not in kind.of else None
        return callee is not None and self._flow(callee).has_sure_source(callee.function.body)

    def resets(self, call: ast.Call, oracle: Oracle) -> dict[str, bool]:
        """Return what a call resets the gradients of in the functions that it runs, and whether each is a network.

        Paths are those of the caller, behind a colon where they begin with a name of their module; "" stands for what
        has none there, or is reset on some paths only.
        """
        kind, receiver = oracle.kind(call.func), call.func
        if kind.name == "function" and isinstance(call.func, ast.Attribute):
            receiver = call.func.value
        keys = [f"{key}.forward" if kind.name == "Module" else key for key in candidates(kind) if ":" in key]
        found: dict[str, bool] = {}
        for key in keys if kind.name in ("Module", "function") else ():
            callee = self._look_up(key)
            inner = self._resets_of(key, callee) if callee is not None else {}
            given = _handed(call, receiver, callee.function) if callee is not None and inner else {}
            for path, on_network in inner.items():
                if path[:1] == ":":
                    found[path if callee is not None and callee.oracle is oracle else ""] = on_network
                    continue
                first, dot, rest = path.partition(".")
                value = given.get(first) if len(keys) == 1 else None
                above = dotted_path(value) if value is not None else None
                is_network = value is not None and not rest and oracle.kind(value).name == "Module"
                found[f"{above}{dot}{rest}" if above else ""] = on_network or is_network
        return found

    def _resets_of(self, key: str, callee: Callee) -> dict[str, bool]:
        """Return what a function resets the gradients of, by paths of its own."""
        if key not in self._resetting:
            found = self._resetting[key] = {}  # for recursion
            for call, is_sure in calls_of(callee.function):
                func = call.func
                if isinstance(func, ast.Attribute) and func.attr == "zero_grad":
                    path = dotted_path(func.value) or ""
                    is_global = bool(path) and root(path) not in own_names(callee.function)
                    here = {":" * is_global + path: callee.oracle.kind(func.value).name == "Module"}
                else:
                    here = self.resets(call, callee.oracle)
                found.update({path if is_sure else "": on_network for path, on_network in here.items()})
        return self._resetting[key]

    def goes_on(self, kind: Kind) -> bool:
        """Whether a network keeps a value with a gradient in an attribute that its next call reads, or a part does."""
        return kind.name == "Module" and any(map(self._class_goes_on, candidates(kind)))

    def _class_goes_on(self, key: str) -> bool:
        if key not in self._stateful:
            self._stateful[key] = False  # for recursion
            callee = self._look_up(f"{key}.forward") if ":" in key else None
            self._stateful[key] = callee is not None and self._reads_on(callee)
        return self._stateful[key]

    def _reads_on(self, callee: Callee) -> bool:
        """Whether a forward pass stores something computed in an attribute that it reads before, or a part does."""
        nodes = list(walk(callee.function))
        read = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
        read.sort(key=lambda node: -node.lineno)
        first = {path: node.lineno for node in read if (path := dotted_path(node))}
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AugAssign)) and any(True for _ in differentiable_nodes(node.value)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                parts = [part for target in targets for part in walk(target) if isinstance(part, ast.expr)]
                paths = {dotted_path(part) or "" for part in parts}
                added = isinstance(node, ast.AugAssign)
                before = {path for path in paths if added or first.get(path, node.lineno + 1) <= node.lineno}
                if any(path.startswith("self.") for path in before):
                    return True
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        return any(self.goes_on(callee.oracle.kind(func)) for func in called)

    def _flow(self, callee: Callee) -> GradientFlow:
        if callee.path not in self._flows:
            self._flows[callee.path] = self._make(ProjectFile.of(callee.tree), callee.oracle, self)
        return self._flows[callee.path]

    def _computes(self, callee: Callee) -> bool:
        return self._flow(callee).has_source(callee.function.body)

    def _gives_stored(self, callee: Callee, key: str) -> bool:
        """Whether a function may give back tensors that others have stored, in its object or in a global name."""
        arguments = callee.function.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        passed = {argument.arg for argument in given if argument is not None and argument.arg != "self"}
        bound: dict[str, list[ast.expr]] = {}
        for name, given_to_it in _bindings(callee.function):
            bound.setdefault(name, []).append(given_to_it)
        nodes = list(walk(callee.function))
        pending = [n.value for n in nodes if isinstance(n, (ast.Return, ast.Yield)) and n.value is not None]
        seen: set[int] = set()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            for node in differentiable_nodes(value):
                name = root(dotted_path(node) or "")
                if name in passed:
                    self._passing.add(key)
                if name in bound:
                    pending += bound[name]
                elif name not in passed and not self._is_plain(callee.oracle.kind(node)):
                    return True
        return False

    def _is_plain(self, kind: Kind) -> bool:
        if kind.name == "function":
            return not self.may_carry(kind)
        if kind.name in _CONTAINERS:
            return bool(kind.items) and all(map(self._is_plain, kind.items))
        return kind.name in WITHOUT_GRADIENT


def _handed(call: ast.Call, receiver: ast.expr, function: FunctionNode) -> dict[str, ast.expr]:
    """Return what a call hands to a function, by the names that the function has for it."""
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    given = [receiver] if names[:1] == ["self"] else []
    starred = next((place for place, arg in enumerate(call.args) if isinstance(arg, ast.Starred)), len(call.args))
    pairs = dict(zip(names, [*given, *call.args[:starred]], strict=False))
    return pairs | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _bindings(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a function binds or puts something into, each with what it gets."""
    for node in walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((part.id, node.value) for t in targets for part in walk(t) if isinstance(part, ast.Name))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from ((part.id, node.iter) for part in walk(node.target) if isinstance(part, ast.Name))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from ((p.id, node.context_expr) for p in walk(node.optional_vars) if isinstance(p, ast.Name))
        elif isinstance(node, ast.Expr):
            yield from ((root(path), node.value) for path in effects(node).mutates if root(path) != "self")
