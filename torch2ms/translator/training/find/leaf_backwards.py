"""Backward calls for the gradient of a tensor, in a scope that trains weights as well: adversarial examples, saliency.

They leave gradients in the weights too. Where these are reset before anything uses them, such a call has nothing to do
with the training steps beside it: ``x.requires_grad_(); loss.backward(); x += eps * x.grad.sign(); opt.zero_grad()``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from torch2ms.translator.effects.gradient_marks import marks
from torch2ms.translator.training.find.events import Event, own_expressions
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.values.kinds import Oracle

__all__ = ["leaf_gradients", "with_leaf_backwards"]


def leaf_gradients(scope: Scope, oracle: Oracle) -> list[tuple[ast.stmt, ast.Attribute]]:
    """Return every ``x.grad`` of a scope, with its statement, where ``x`` is always a tensor the scope itself marks."""
    nodes = [(statement, node) for statement in scope.statements for node in own_expressions(statement, scope)]
    found = [(s, n) for s, n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and _is_read(n, oracle)]
    marked = marks([*scope.statements, *(node for _, node in nodes)]) if found else {}
    own = all(isinstance(n.value, ast.Name) and n.value.id in marked and _is_leaf(n.value, oracle) for _, n in found)
    return found if own else []


def _is_read(node: ast.Attribute, oracle: Oracle) -> bool:
    return oracle.kind(node.value).name not in ("module", "api")


def _is_leaf(node: ast.Name, oracle: Oracle) -> bool:
    return oracle.kind(node).name in ("Tensor", "unknown")


def with_leaf_backwards(
    scope: Scope, events: list[Event], oracle: Oracle, together: Collection[ast.stmt] = ()
) -> list[Event]:
    """Return the events of a scope, where backward calls for the gradients of tensors alone are of the kind "leaf".

    None is where several optimizers step, as a reset of one leaves the gradients of the others, and where a call is one
    of those that are planned ``together`` with the steps.
    """
    gradients = leaf_gradients(scope, oracle)
    if not gradients or len({event.path for event in events if event.kind == "step"}) != 1:
        return events
    places = sorted(scope.location(statement).order for statement, _ in gradients)
    leaves = [
        event
        for event in events
        if event.kind == "backward" and not event.problem and _is_for_leaves(event, scope, events, places)
    ]
    if any(event.statement in together for event in leaves):
        return events
    return [replace(event, kind="leaf") if event in leaves else event for event in events]


def _is_for_leaves(event: Event, scope: Scope, events: Sequence[Event], places: Sequence[int]) -> bool:
    """Whether the gradients of tensors are read behind a backward call, and those of the weights never."""
    later = [other for other in events if other.order > event.order]
    used = [other.order for other in later if other.kind not in ("zero", "update", "leaf")]
    if not any(event.order < place and (not used or place < used[0]) for place in places):
        return False
    for loop in scope.loops(event.statement):
        again = [other for other in events if other.order <= event.order and loop in scope.ancestors(other.statement)]
        if not _is_reset(
            event, [*(other for other in later if loop in scope.ancestors(other.statement)), *again], scope
        ):
            return False
    return _is_reset(event, later, scope)


def _is_reset(event: Event, following: Sequence[Event], scope: Scope) -> bool:
    """Whether the first that touches the weights' gradients behind a backward call always sets them to nothing."""
    for other in following:
        if other is event:
            return True
        if other.kind == "zero":
            around = [None, *scope.ancestors(event.statement)]
            return scope.location(other.statement).parent in around
        if other.kind not in ("update", "leaf"):
            return False
    return True
