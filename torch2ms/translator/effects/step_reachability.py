"""Which functions of a project may be called behind a training step.

An optimizer of MindSpore trains no more what ``set_data`` replaces behind its first step, so what gives weights values
there has to keep their memory. Found by names and by the order of statements; in doubt a function is one of these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.syntax.ast_walk import children, walk

__all__ = ["runs_behind_step"]

_Parse = Callable[[str], "ast.Module | None"]
_Use = tuple[str, str]  # a name, and the file that uses it
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = frozenset({*_FUNCTIONS, ast.ClassDef})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_CALLS_FOLLOWED = 2  # up from the function that takes the step, and down from those that are called behind it
_STEP = "backward"
_MODES = frozenset({".train", ".eval"})


def runs_behind_step(name: str, path: str, symbols: SymbolTable, parse: _Parse) -> bool:
    """Whether a function of a file is called, or handed on, where the program may have taken a step."""
    users = symbols.likely_callers(name, path)
    if not users or name.startswith("__") or not _users({_STEP}, symbols):
        return False
    found = symbols.remembered("behind steps", lambda: frozenset(_uses_behind(symbols, parse)))
    return any((name, user) in found for user in users)


def _uses_behind(symbols: SymbolTable, parse: _Parse) -> set[_Use]:
    """Return the names of such functions, each with the files that use it there."""
    scopes = _Scopes(parse)
    steps = _stepping(symbols, scopes)
    new: set[_Use] = set()
    for path, tree in _trees(_users(steps, symbols), parse):
        for scope, body in _scopes(tree):
            new |= {(name, path) for name in _own_names(_behind(scope, body, steps), symbols)}
    found = set(new)
    for _ in range(_CALLS_FOLLOWED):
        names = {name for name, _ in new}
        files = [path for path, file in symbols.files.items() if not names.isdisjoint(file.parameters)]
        reached = [
            (path, scope.names)
            for path in files
            for scope in scopes.of(path)
            if scope.name in names
            and any((scope.name, user) in new for user in symbols.likely_callers(scope.name, path))
        ]
        new = {(name, path) for path, used in reached for name in _own_names(used, symbols)} - found
        found |= new
    return found


def _stepping(symbols: SymbolTable, scopes: _Scopes) -> set[str]:
    """Return ``backward`` and the names of the project's functions that come to call it."""
    found, new = {_STEP}, {_STEP}
    for _ in range(_CALLS_FOLLOWED):
        met = (scope for path in _users(new, symbols) for scope in scopes.of(path))
        new = _own_names({scope.name for scope in met if not new.isdisjoint(scope.called)}, symbols)
        new |= {mode for mode in _MODES if mode[1:] in new and symbols.definers(mode[1:])}
        new -= found
        found |= new
    return found


def _users(names: set[str], symbols: SymbolTable) -> list[str]:
    return [path for path, file in symbols.files.items() if not names.isdisjoint(file.calls)]


def _trees(paths: Iterable[str], parse: _Parse) -> Iterator[tuple[str, ast.Module]]:
    return ((path, tree) for path in paths if (tree := parse(path)) is not None)


class _Scope(NamedTuple):
    """The script or a function of a file, and the names in itself: all, and of what it calls."""

    name: str
    names: frozenset[str]
    called: frozenset[str]


class _Scopes:
    """The scopes of files, looked at once each; only their names are kept."""

    def __init__(self, parse: _Parse) -> None:
        self._parse = parse
        self._known: dict[str, list[_Scope]] = {}

    def of(self, path: str) -> list[_Scope]:
        """Return the scopes of a file; none when it does not parse."""
        if path not in self._known:
            tree = self._parse(path)
            self._known[path] = [
                _Scope(_name(scope), frozenset(map(_name, body)), frozenset(map(_called, body)))
                for scope, body in (_scopes(tree) if tree is not None else ())
            ]
        return self._known[path]


def _own_names(names: Iterable[str], symbols: SymbolTable) -> set[str]:
    """Keep what the project defines; what a constructor fills is new, and so is the optimizer that will train it.

    ``net.train()`` is a network's own, unless a class of the project has such a method.
    """
    own = (name for name in names if name not in _MODES or symbols.definers(name[1:]))
    return {name for found in own if (name := found.removeprefix(".")) in symbols.defined and not name.startswith("__")}


def _scopes(tree: ast.Module) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Yield the script and each function of a file, with what stands in itself, not in functions inside of it."""
    yield tree, list(_own(tree))
    yield from ((node, list(_own(node))) for node in walk(tree) if isinstance(node, _FUNCTIONS))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    nodes = children(scope)
    for node in nodes:  # grows on the way
        if node.__class__ not in _SCOPES:
            yield node
            nodes += children(node)


def _name(node: ast.AST) -> str:
    if isinstance(node, _FUNCTIONS):
        return node.name
    if isinstance(node, ast.Attribute):
        return f".{node.attr}" if f".{node.attr}" in _MODES else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _called(node: ast.AST) -> str:
    return _name(node.func) if isinstance(node, ast.Call) else ""


def _behind(scope: ast.AST, body: list[ast.AST], steps: set[str]) -> set[str]:
    """Return the names used in a function behind a call of one of ``steps``, or in a loop around one."""
    calls = [node for node in body if isinstance(node, ast.Call) and _called(node) in steps]
    if not calls:
        return set()
    first = min(call.lineno for call in calls)
    found = {_name(node) for node in body if getattr(node, "lineno", 0) > first}
    for loop in (node for node in body if isinstance(node, _LOOPS)):
        inside = [loop, *_own(loop)]
        if any(call in inside for call in calls):
            new = {part for statement in inside if _is_about_new(statement, inside) for part in walk(statement)}
            found |= {_name(node) for node in inside if node not in new}
    return found


def _is_about_new(statement: ast.AST, loop: list[ast.AST]) -> bool:
    """Whether ``net.apply(f)`` or ``f(net)`` is about a network that the same loop has made before, each time."""
    if not isinstance(statement, ast.Expr):
        return False
    made = (
        n for n in loop if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and n.lineno < statement.lineno
    )
    names = {_name(node) for assignment in made for target in assignment.targets for node in walk(target)}
    return any(isinstance(node, ast.Name) and node.id in names for node in walk(statement))
