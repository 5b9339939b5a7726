"""Scopes: which names a function binds, what it reads of them, and where a block ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Kind, join

__all__ = ["Uses", "as_load", "heading", "join_environments", "leaves", "links", "root_of", "uses_of"]


def join_environments(a: dict[str, Kind], b: dict[str, Kind]) -> dict[str, Kind]:
    """Join two environments; a name only one path binds keeps what it has there."""
    joined = dict(a)
    for name, kind in b.items():
        joined[name] = join(a[name], kind) if name in a else kind
    return joined


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block always leaves by return, raise, continue or break."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def heading(body: Sequence[ast.stmt]) -> int:
    """Return how many statements of a module stand in front of its first function, class or lambda."""
    made = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    found = (i for i, statement in enumerate(body) if any(isinstance(node, made) for node in walk(statement)))
    return next(found, len(body))


def as_load(target: ast.expr) -> ast.expr:
    """Return the target of an augmented assignment as the value it reads first."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


@dataclass(slots=True)
class Uses:
    """What a stretch of code does with one name."""

    calls: list[ast.Call] = field(default_factory=list)  # of its methods: x.f()
    chains: list[ast.Call] = field(default_factory=list)  # of methods of its methods: x.f().g()
    read: list[ast.Attribute] = field(default_factory=list)
    called: bool = False  # x() itself
    bound: list[int] = field(default_factory=list)  # lines that bind it anew
    inner: int = 0  # how many of these bind it in a comprehension or in the body of a class

    def before(self, line: int) -> Uses:
        """Return the uses up to a line."""
        calls = [call for call in self.calls if call.lineno <= line]
        chains = [call for call in self.chains if call.lineno <= line]
        return Uses(calls, chains, [node for node in self.read if node.lineno <= line], self.called)

    def see(self, node: ast.Call | ast.Attribute) -> None:
        """Take in a call or an attribute that starts at the name."""
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name):
                self.read.append(node)
        elif isinstance(node.func, ast.Name):
            self.called = True
        elif isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name):
                self.calls.append(node)
            else:
                self.chains.append(node)


def uses_of(node: ast.AST) -> dict[str, Uses]:
    """Return what a small piece of code does with each plain name."""
    found: dict[str, Uses] = {}
    for child in walk(node):
        if isinstance(child, (ast.Call, ast.Attribute)) and (root := root_of(child)) is not None:
            found.setdefault(root, Uses()).see(child)
    return found


def links(node: ast.expr) -> tuple[str, ...]:
    """Return the members a chain goes through, from its start: ``x.data.max(1)[1].cpu`` is (data, max, cpu)."""
    found: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            found.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            break
    return tuple(reversed(found))


def root_of(node: ast.expr) -> str | None:
    """Return the plain name that a chain of calls, attributes and subscripts starts at."""
    while not isinstance(node, ast.Name):
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return node.id
