"""The names that a piece of code reads and binds, with what methods and arguments change in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torch2ms.translator.effects.reads_and_writes import TAKERS
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.values.containers import CHANGING

__all__ = ["FUNCTIONS", "binds", "blocks", "is_enable_grad", "is_no_grad", "is_zeroing", "own", "own_names", "reads"]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without what stands in functions and classes inside it."""
    pending: list[ast.AST] = list(reversed(scope.body)) if hasattr(scope, "body") else []
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            pending += reversed(list(children(node)))


def blocks(nodes: Iterable[ast.AST]) -> dict[int, list[ast.stmt]]:
    """Return the block that each statement in one of the nodes stands in."""
    found: dict[int, list[ast.stmt]] = {}
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                found.update((id(statement), block) for statement in block)
    return found


def reads(node: ast.AST) -> set[str]:
    """Return the names that are read, also by changing them."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _read_by_function(node)
    if isinstance(node, ast.ClassDef):
        parts = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords), *node.body]
        return set().union(*map(reads, parts))
    found = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    if isinstance(node, ast.AugAssign):
        found |= {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    return found


def _read_by_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names that a function has from outside: its own parameters and variables are others."""
    inner = [n for n in walk(node) if isinstance(n, ast.Name)]
    own = own_names(node)
    given = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return {n.id for n in inner if isinstance(n.ctx, ast.Load)} - own | {
        n.id for part in given for n in walk(part) if isinstance(n, ast.Name)
    }


def own_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters and variables of a function."""
    outer = {name for n in walk(node) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    stored = {n.id for n in walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return {a.arg for a in walk(node.args) if isinstance(a, ast.arg)} | (stored - outer)


def binds(node: ast.AST) -> set[str]:
    """Return the names that are bound, or whose value is changed in place; not those that a function has for itself."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {node.name} | (set().union(*map(binds, node.body)) - own_names(node))
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return {node.name}.union(*(binds(method) - {method.name} for method in methods))
    inner = {id(n) for part in walk(node) if isinstance(part, ast.comprehension) for n in walk(part.target)}
    found = {
        n.id for n in walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and id(n) not in inner
    }
    takers = (part for part in walk(node) if isinstance(part, (*TAKERS, ast.Attribute)))
    taken = {id(child) for part in takers for child in children(part)}
    for part in walk(node):  # y[0] = ..., y.data = ...
        if isinstance(part, (ast.Subscript, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
            found |= {n.id for n in walk(part.value) if isinstance(n, ast.Name)}
        if isinstance(part, ast.Call):
            found |= _changed(part, is_taken=id(part) in taken)
    return found


def _changed(call: ast.Call, *, is_taken: bool) -> set[str]:
    """Return the names of what a call changes in place: ``y.add_(1)``, ``ys.append(y)``, ``f(x, out=y)``.

    Of ``z = y.add(1)``, whose result is taken, nothing: a set's ``add`` returns None.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "add" and is_taken:
        name = ""
    places: list[ast.AST] = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    is_inplace = any(k.arg == "inplace" and getattr(k.value, "value", True) for k in call.keywords)
    if (name.endswith("_") and name != "requires_grad_") or name in CHANGING or is_inplace:
        places.extend([call.func, *call.args[:1]] if isinstance(call.func, ast.Attribute) else call.args[:1])
        if name in CHANGING:
            places = [call.func]
    return set().union(*map(_held, places)) if places else set()


def _held(value: ast.AST) -> set[str]:
    """Return the names of what may hold a value's memory: ``x`` of ``x.view(-1)``, not of ``Tensor(x.size(0))``.

    Nor is it ``x`` of a sum with it, or of a clone.
    """
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return set()
    if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "clone":
        return set()
    if isinstance(value, ast.Call):
        made = [arg for arg in (*value.args, *(k.value for k in value.keywords)) if not _tells_size(arg)]
        return _held(value.func).union(*map(_held, made))
    if isinstance(value, (ast.Attribute, ast.Subscript, ast.Starred)):
        return _held(value.value)
    return {n.id for n in walk(value) if isinstance(n, ast.Name)}


def _tells_size(value: ast.AST) -> bool:
    """Whether an argument is a size: ``x.size(0)``, ``x.shape[0]``, ``len(x)``."""
    if isinstance(value, ast.Subscript):
        return _tells_size(value.value)
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return name in ("size", "len", "dim", "numel")
    return isinstance(value, ast.Attribute) and value.attr in ("shape", "ndim")


def is_no_grad(node: ast.AST) -> bool:
    """Whether a statement runs its block without gradients."""
    if not isinstance(node, ast.With):
        return False
    return any("no_grad" in ast.unparse(item) or "inference_mode" in ast.unparse(item) for item in node.items)


def is_enable_grad(node: ast.AST) -> bool:
    """Whether a statement only says that its block runs with gradients: ``with torch.enable_grad():``."""
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return bool(calls) and all(
        isinstance(call, ast.Call) and not call.args and ast.unparse(call.func).endswith("enable_grad")
        for call in calls
    )


def is_zeroing(call: ast.Call) -> bool:
    """Whether a call is ``x.zero_()`` or ``x.fill_(0)``."""
    name, given = getattr(call.func, "attr", ""), [*call.args, *(keyword.value for keyword in call.keywords)]
    return name == "zero_" or (name == "fill_" and [getattr(value, "value", None) for value in given] == [0])
