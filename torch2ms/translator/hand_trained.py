"""Tensors that a program trains by hand: ``w = torch.zeros(2, requires_grad=True)``, ``[w, b]``, and a loop over those.

    for param in params:
        param -= lr * param.grad

What the loop goes over came out of a list, so that no name says whose gradient it is. MindSpore keeps gradients with
parameters, and such a tensor is made one where it is made. By the text alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from torch2ms.translator.kinds import Kind
from torch2ms.translator.trees import walk

__all__ = ["as_weight", "hand_trained"]

_WORD = "requires_grad"


class _File(Protocol):
    @property
    def trained(self) -> frozenset[ast.AST]: ...


def as_weight(made: Kind, value: ast.expr, file: _File) -> Kind:
    """Return the kind of what an expression makes: a parameter where the file trains the tensor by hand."""
    if made.name != "Tensor" or value not in file.trained:
        return made
    return Kind("Parameter", evidence="trained by hand")


def _is_marked(call: ast.Call) -> bool:
    """Whether a call makes a tensor whose gradient is wanted."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == f"{_WORD}_":
        return not call.args or getattr(call.args[0], "value", None) is True
    return any(k.arg == _WORD and getattr(k.value, "value", None) is True for k in call.keywords)


def hand_trained(tree: ast.Module) -> frozenset[ast.AST]:
    """Return the calls of a file that make such tensors."""
    nodes = list(walk(tree))
    enclosed = _enclosed(tree, nodes)
    if not enclosed and not any(_asks(node) for node in nodes):
        return frozenset()
    made: dict[str, set[ast.AST]] = {}
    others: set[str] = set()
    later = _marked_later(nodes)
    for name, value in _bound(nodes):
        is_marked = isinstance(value, ast.Call) and _is_marked(value)
        if value is not None and (is_marked or (name in later and isinstance(value, (ast.Call, ast.BinOp)))):
            made.setdefault(name, set()).add(value)
        else:
            others.add(name)
    listed = enclosed | {part.id for node in nodes for part in _members(node) if isinstance(part, ast.Name)}
    return frozenset[ast.AST]().union(*(calls for name, calls in made.items() if name in listed - others))


def _marked_later(nodes: list[ast.AST]) -> set[str]:
    """Return the variables of which a statement says that their gradients are wanted: ``w.requires_grad_()``."""
    calls = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    places = [call.func.value for call in calls if isinstance(call.func, ast.Attribute) and _is_marked(call)]
    return {place.id for place in places if isinstance(place, ast.Name)}


def _enclosed(tree: ast.Module, nodes: list[ast.AST]) -> set[str]:
    """Return the variables whose ``.grad`` a file reads by name, where functions compute with one of them by that name.

    The function that ``value_and_grad`` would differentiate hands a tensor to no other one. And those that are handed
    to a function which asks its parameter for the gradient: ``training_loop(100, 0.01, params)``.
    """
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    handed = {name for node in functions for name in _handed(node, nodes)}
    asked = _with_gradient(nodes)
    lambdas = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)]
    if asked and asked & {name for node in (*functions, *lambdas) for name in _free(node)}:
        return asked | handed  # one record answers for all of them
    return handed


def _with_gradient(nodes: list[ast.AST]) -> set[str]:
    """Return the variables of whose ``.grad`` nodes speak."""
    found = (node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr == "grad")
    return {value.id for value in found if isinstance(value, ast.Name)}


def _handed(function: ast.FunctionDef, nodes: list[ast.AST]) -> set[str]:
    """Return the variables that calls hand to a parameter whose gradient a function with a backward call asks for."""
    inner = list(walk(function))
    asked = _with_gradient(inner)
    names = [arg.arg for arg in function.args.args]
    if not asked & set(names) or not any(getattr(node, "attr", "") == "backward" for node in inner):
        return set()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
            given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
            found |= {value.id for name, value in given if name in asked and isinstance(value, ast.Name)}
    return found


def _free(node: ast.stmt) -> set[str]:
    """Return the names that a function reads and does not bind."""
    names = [part for part in walk(node) if isinstance(part, ast.Name)]
    own = {part.arg for part in walk(node) if isinstance(part, ast.arg)}
    own |= {part.id for part in names if not isinstance(part.ctx, ast.Load)}
    return {part.id for part in names} - own


def _asks(node: ast.AST) -> bool:
    """Whether a loop asks what it goes over for its gradient."""
    if not isinstance(node, ast.For):
        return False
    targets = {part.id for part in walk(node.target) if isinstance(part, ast.Name)}
    return any(
        isinstance(part, ast.Attribute) and part.attr == "grad" and getattr(part.value, "id", None) in targets
        for part in walk(node)
    )


def _members(node: ast.AST) -> list[ast.expr]:
    """Return the members of a list or tuple that is written out, of names and attributes alone."""
    if not isinstance(node, (ast.List, ast.Tuple)) or not isinstance(node.ctx, ast.Load):
        return []
    return node.elts if all(isinstance(part, (ast.Name, ast.Attribute)) for part in node.elts) else []


def _bound(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield every variable that is bound, with its value; None where that is not written out."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
                    continue
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
                values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else []
                for index, part in enumerate(parts):
                    if isinstance(part, ast.Name):
                        yield part.id, values[index] if len(values) == len(parts) else None
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
