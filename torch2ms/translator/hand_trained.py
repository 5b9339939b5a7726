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


def as_weight(made: Kind, call: ast.Call, file: _File) -> Kind:
    """Return the kind of what a call makes: a parameter where the file trains the tensor by hand."""
    if made.name != "Tensor" or not _is_marked(call) or call not in file.trained:
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
    for name, value in _bound(nodes):
        if isinstance(value, ast.Call) and _is_marked(value):
            made.setdefault(name, set()).add(value)
        else:
            others.add(name)
    listed = enclosed | {part.id for node in nodes for part in _members(node) if isinstance(part, ast.Name)}
    return frozenset[ast.AST]().union(*(calls for name, calls in made.items() if name in listed - others))


def _enclosed(tree: ast.Module, nodes: list[ast.AST]) -> set[str]:
    """Return the variables whose ``.grad`` a file reads by name, and that its functions compute with by that name.

    The function that ``value_and_grad`` would differentiate hands a tensor to no other one.
    """
    asked = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.value, ast.Name)
    }
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.Assign))]
    functions = [node for node in functions if isinstance(node, ast.FunctionDef) or isinstance(node.value, ast.Lambda)]
    return asked & set().union(*map(_free, functions)) if asked else set()


def _free(node: ast.FunctionDef | ast.Assign) -> set[str]:
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
