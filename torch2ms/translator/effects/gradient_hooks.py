"""Hooks on gradients of single tensors, ``y.register_hook(f)``, and gradients kept of computed ones, ``retain_grad``.

MindSpore's tensors have ``register_hook`` as well, inside of the function that is differentiated; ``retain_grad`` is a
hook that keeps what it is given. Either must stand right behind the statement that makes the tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence

from torch2ms.translator.values.kinds import Oracle

__all__ = ["HOOKS", "hooked", "hooked_tensors", "is_retained", "names_weight", "with_hooks"]

HOOKS = frozenset({"retain_grad", "register_hook"})


def hooked_tensors(nodes: Sequence[ast.AST], oracle: Oracle) -> dict[ast.stmt, str] | None:
    """Return the statements of a scope that put hooks on tensors, with the tensors' names; None for other uses."""
    found: dict[ast.stmt, str] = {}
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in nodes:
        func = hooked(node)
        if func is None:
            continue
        unread = not isinstance(node, ast.Assign) or (len(node.targets) == 1 and _name(node.targets[0]) not in read)
        holder = func.value
        if isinstance(holder, ast.Name) and oracle.kind(holder).name == "Tensor" and unread:
            assert isinstance(node, ast.stmt)
            found[node] = holder.id
    uses = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr in HOOKS]
    return found if len(uses) == len(found) else None


def hooked(statement: ast.AST) -> ast.Attribute | None:
    """Return ``y.register_hook`` of the statement ``y.register_hook(f)``."""
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    is_hook = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in HOOKS
    return call.func if is_hook and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def names_weight(tree: ast.expr, oracle: Oracle) -> bool:
    """Whether a tensor is a weight, by its kind or as a layer calls its own: ``model.fc.weight``."""
    kind = oracle.kind(tree).name
    is_member = isinstance(tree, ast.Attribute) and tree.attr in ("weight", "bias") and kind in ("unknown", "Tensor")
    return kind == "Parameter" or is_member


def is_retained(statement: ast.stmt) -> bool:
    """Whether a statement keeps the gradient of a tensor instead of calling a function with it."""
    func = hooked(statement)
    return func is not None and func.attr == "retain_grad"


def with_hooks(
    body: Sequence[ast.stmt], hooks: dict[ast.stmt, str], leaves: Collection[str], bound: Callable[[ast.AST], set[str]]
) -> list[ast.stmt] | None:
    """Return a function's body with the hooks on what it computes; None where a tensor is not made in it."""
    made = list(body)
    for statement, name in hooks.items():
        places = [index for index, other in enumerate(made) if other not in hooks and name in bound(other)]
        if not places and name not in leaves:
            return None
        place = places[-1] + 1 if places else 0
        while place < len(made) and hooks.get(made[place]) == name:
            place += 1
        made.insert(place, statement)
    return made


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else "?"
