"""Gradients that a program asks for and that no function holds: ``torch.autograd.grad(loss, weights)``, by a record.

Where the statements in front of the call show all that leads from its inputs to its outputs, they become a function
(``leaves.py``). Else MindSpore records the operations as they run, and ``recording.grad`` asks it, as torch does;
``higher.grad`` where the gradient is recorded itself, to be differentiated again.
"""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["GRADIENT", "GRAPHS", "is_recordable", "keeps_graph", "leaves_in", "may_keep_graph", "written_to"]

GRADIENT = "torch.autograd.grad"
GRAPHS = (2, 9)  # the first MindSpore whose record can be looked through, for gradients that are differentiated again


def is_recordable(call: ast.Call, *, graphs: bool = False) -> bool:
    """Whether the record gives what a call asks for: a constant, or with ``graphs`` what is differentiated again."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in words or any(isinstance(arg, ast.Starred) for arg in call.args):
        return False
    refused = ["is_grads_batched"] if graphs else ["create_graph", "is_grads_batched"]
    return not any(_is_set(words.get(name)) for name in refused) and len(call.args) < 5


def keeps_graph(call: ast.Call) -> bool:
    """Whether a call may ask for a gradient that is differentiated once more."""
    return any(word.arg == "create_graph" and not _is_unset(word.value) for word in call.keywords)


def _is_unset(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def may_keep_graph(call: ast.Call) -> bool:
    """Whether it is decided when the program runs that a gradient is differentiated once more."""
    return any(word.arg == "create_graph" and not isinstance(word.value, ast.Constant) for word in call.keywords)


def _is_set(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and bool(value.value)


def leaves_in(nodes: list[ast.AST]) -> set[str]:
    """Return the names whose tensors a scope marks, or asks gradients by: what the record begins at."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            marks = any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets)
            made = "requires_grad" in ast.unparse(node.value)
            found.update(name for t in node.targets if (name := _owner(t)) and (made or marks))
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "requires_grad_" and isinstance(node.func, ast.Attribute):
                found.add(_owner(node.func.value))
            elif name == "grad" and len(node.args) > 1:
                found.update(part.id for part in walk(node.args[1]) if isinstance(part, ast.Name))
    return found - {""}


def written_to(nodes: list[ast.AST]) -> set[str]:
    """Return the names whose tensors a scope changes in place: ``x += y``, ``x[0] = y``, ``x.add_(y)``.

    What MindSpore has afterwards is another tensor, or one that no record begins at; ``x.data = y`` is its own.
    """
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            found.add(_owner(node.target))
        elif isinstance(node, ast.Assign):
            found.update(_owner(target) for target in node.targets if isinstance(target, ast.Subscript))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name.endswith("_") and not name.endswith("__") and name != "requires_grad_":
                found.add(_owner(node.func.value))
    return found - {""}


def _owner(tree: ast.expr) -> str:
    """Return the name whose tensor ``x``, ``x.data``, ``x[0]`` are, or are a part of."""
    while isinstance(tree, ast.Subscript) or (
        isinstance(tree, ast.Attribute) and tree.attr in ("data", "requires_grad")
    ):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""
