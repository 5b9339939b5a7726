"""Functions that are handed to ``optimizer.step``: zero_grad, forward pass, backward, and the loss returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch2ms.translator.effects.dataflow import effects
from torch2ms.translator.effects.reads_and_writes import root
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.training.find.events import Event, find_events
from torch2ms.translator.training.find.scope import FunctionNode, ProjectFile, Scope
from torch2ms.translator.training.model import Closure
from torch2ms.translator.values.kinds import Oracle

__all__ = ["Closures", "find_closures"]


@dataclass(slots=True)
class Closures:
    """The closures of a file, and why a call cannot have one."""

    of: dict[ast.AST, Closure]  # by the function
    problems: dict[ast.Call, str]

    def leave(self, closure: Closure, reason: str) -> None:
        """Let the calls of a closure stay as they are."""
        del self.of[closure.function]
        self.problems.update(dict.fromkeys(closure.calls, reason))

    def is_planned(self, call: ast.Call) -> bool:
        """Whether a call takes a closure that can be rewritten."""
        return call not in self.problems and any(call in closure.calls for closure in self.of.values())


def find_closures(scopes: Sequence[Scope], file: ProjectFile, oracle: Oracle) -> Closures:
    """Return the closures of a file whose shape allows a gradient function inside."""
    found = Closures({}, {})
    if not any(_has_argument(node) for node in walk(file.tree)):
        return found
    handed: dict[ast.FunctionDef, list[tuple[Event, Scope]]] = {}
    for scope in scopes:
        for event in find_events(scope, file, oracle):
            if event.kind != "closure":
                continue
            function = _function(event, scope, file)
            if function is None:
                found.problems[event.call] = "what optimizer.step is given is no function of this file that is known"
            else:
                handed.setdefault(function, []).append((event, scope))
    for function, uses in handed.items():
        events = [event for event, _ in uses]
        problem = _obstacle(function, uses, file)
        if problem:
            found.problems.update((event.call, problem) for event in events)
            continue
        result = function.body[-1]
        assert isinstance(result, ast.Return)
        assert events[0].target is not None
        calls = tuple(event.call for event in events)
        asked = tuple(node for node in _others(function, uses, file) if isinstance(node, ast.Call))
        found.of[function] = Closure(function, result, events[0].path, events[0].target, calls, asked)
    return found


def _has_argument(node: ast.AST) -> bool:
    """Whether a node is a call of ``.step`` with an argument."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
    return named and isinstance(node, ast.Call) and bool(node.args or node.keywords)


def _argument(call: ast.Call) -> ast.expr | None:
    values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "closure")]
    return values[0] if len(values) == len(call.args) + len(call.keywords) == 1 else None


def _function(event: Event, scope: Scope, file: ProjectFile) -> ast.FunctionDef | None:
    """Return the function that a call hands over: of the same block, of the scope, of the module, or a method."""
    given = _argument(event.call)
    if isinstance(given, ast.Attribute) and isinstance(given.value, ast.Name) and given.value.id == "self":
        members = scope.class_node.body if scope.class_node is not None else []
        found = [part for part in members if isinstance(part, ast.FunctionDef) and part.name == given.attr]
        return found[0] if len(found) == 1 and not found[0].decorator_list else None
    if isinstance(given, ast.Attribute) and isinstance(given.value, ast.Name):
        return _method(given.attr, file)
    if not isinstance(given, ast.Name):
        return None
    statements = scope.statements if given.id in effects(scope.body).binds else file.tree.body
    found = [part for part in statements if isinstance(part, ast.FunctionDef) and part.name == given.id]
    if len(found) > 1:
        place = scope.location(event.statement)
        found = [part for part in place.block[: place.index] if part in found][-1:]
    others = [item for item in file.assignments if item.path == given.id and item.owner in (scope.node, None)]
    return found[0] if len(found) == 1 and not others and not found[0].decorator_list else None


def _method(name: str, file: ProjectFile) -> ast.FunctionDef | None:
    """Return the method of a name that only one class of the file has: ``optimizer.step(model.closure)``."""
    classes = [node for node in file.tree.body if isinstance(node, ast.ClassDef)]
    found = [part for node in classes for part in node.body if getattr(part, "name", "") == name]
    method = found[0] if len(found) == 1 else None
    return method if isinstance(method, ast.FunctionDef) and not method.decorator_list else None


def _obstacle(function: ast.FunctionDef, uses: Sequence[tuple[Event, Scope]], file: ProjectFile) -> str:
    """Return why the function cannot return its gradients beside the loss; "" when it can."""
    name = function.name
    scope = Scope(function)
    returns = [statement for statement in scope.statements if isinstance(statement, ast.Return)]
    if len(returns) != 1 or returns[0] is not function.body[-1] or returns[0].value is None:
        return f"{name} does not end in its only return of a loss"
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in walk(function)):
        return f"{name} is no plain function"
    arguments = function.args
    is_method = any(isinstance(_argument(event.call), ast.Attribute) for event, _ in uses)
    given = len(arguments.args) - len(arguments.defaults) - is_method
    if given > 0 or arguments.posonlyargs or arguments.vararg or None in arguments.kw_defaults:
        return f"{name} takes arguments"
    if len({event.path for event, _ in uses}) > 1:
        return f"{name} is handed to several optimizers"
    holder = root(uses[0][0].path)
    if holder in effects(function.body).binds | (scope.parameters - {"self"}):
        return f"{name} binds {holder} itself"
    outside = (function in file.tree.body or (is_method and holder != "self")) and any(
        not user.is_module and holder in effects(user.body).binds | user.parameters for _, user in uses
    )
    if outside:
        return f"{name} and the caller may mean different optimizers by {holder}"
    other = next((node for node in _others(function, uses, file) if not isinstance(node, ast.Call)), None)
    return f"line {other.lineno} hands {name} on" if other is not None else ""


def _others(function: ast.FunctionDef, uses: Sequence[tuple[Event, Scope]], file: ProjectFile) -> list[ast.expr]:
    """Return the other uses of a function that is handed over: calls of it, and places that hand it on."""
    method = isinstance(_argument(uses[0][0].call), ast.Attribute)
    return _uses(function.name, method, file.tree if method or function in file.tree.body else uses[0][1].node)


def _uses(name: str, method: bool, tree: ast.AST) -> list[ast.expr]:
    """Return the uses of a function or method that do not hand it to ``.step``: plain calls of it, and names of it."""
    known: set[int] = set()
    found: list[ast.expr] = []
    for node in _walk(tree, name, method):
        if isinstance(node, ast.Call) and _has_argument(node):
            known.add(id(_argument(node)))
        elif isinstance(node, ast.Call) and _is_named(node.func, name, method):
            known.add(id(node.func))
            found.append(node)
        elif isinstance(node, ast.expr) and _is_named(node, name, method) and id(node) not in known:
            found.append(node)
    return found


def _is_named(node: ast.expr, name: str, method: bool) -> bool:
    """Whether an expression reads the function by its name, or a method of that name."""
    if method:
        return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _walk(tree: ast.AST, name: str, method: bool) -> Iterator[ast.AST]:
    """Like ast.walk, parents first, but not into functions that bind the name themselves."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        inner = children(node)
        waiting.extend(part for part in inner if method or not _binds(part, name))


def _binds(node: ast.AST, name: str) -> bool:
    return isinstance(node, FunctionNode) and name in effects(node.body).binds | Scope(node).parameters
