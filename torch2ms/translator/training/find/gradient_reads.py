"""Reads of a weight's gradient behind the backward call: ``p.grad.norm()`` in a log, or in a loop over the weights.

MindSpore keeps no gradients in the weights; a read is answered from the gradients that the unit has just computed. And
loops that hold every gradient between two bounds in place, which are clipping written by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torch2ms.translator.effects.names_used import is_zeroing
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import changed_in_place, children, walk
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.model import TrainingUnit, UnitLeft
from torch2ms.translator.values.families import WEIGHTS
from torch2ms.translator.values.kinds import Oracle

if TYPE_CHECKING:
    from torch2ms.translator.training.find.events import Event

__all__ = [
    "asks_whether",
    "changed_parts",
    "clamped_to",
    "clamping_call",
    "clears",
    "find_reads",
    "place_reads",
    "zeroed",
]

Read = tuple[ast.stmt, ast.Attribute]


def find_reads(scope: Scope, oracle: Oracle) -> list[Read]:
    """Return every ``p.grad`` of the scope that is only read, and whose ``p`` is a weight by the look of it."""
    found: list[Read] = []
    for statement in scope.statements:
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.For)):
            continue
        nodes = list(_own_nodes(statement))
        changed = {id(node) for node in changed_parts(nodes)}
        for node in nodes:
            if not isinstance(node, ast.Attribute) or node.attr != "grad" or not isinstance(node.ctx, ast.Load):
                continue
            if id(node) not in changed and _is_weight(node.value, statement, scope, oracle):
                found.append((statement, node))
    return found


def asks_whether(nodes: Sequence[ast.AST]) -> bool:
    """Whether a text asks if there is a gradient: ``p.grad is None``, as of weights that are frozen or not reached."""
    compared = (
        node for node in nodes if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
    )
    return any(isinstance(node.left, ast.Attribute) and node.left.attr == "grad" for node in compared)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without those of its child statements."""
    for child in children(statement):
        if not isinstance(child, ast.stmt):
            yield from walk(child)


def changed_parts(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the parts of what is written into: ``p.grad.zero_()``, ``p.grad[0] = 0``, ``p.grad += x``."""
    for node in nodes:
        target = changed_in_place(node)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            target = node.value
        if target is not None:
            yield from walk(target)


def _is_weight(value: ast.expr, statement: ast.stmt, scope: Scope, oracle: Oracle) -> bool:
    """Whether an expression is a variable that goes over weights, or a weight of a layer."""
    if oracle.kind(value).name == "Parameter":
        return True
    if isinstance(value, ast.Attribute):
        return value.attr in ("weight", "bias") and dotted_path(value) is not None
    if not isinstance(value, ast.Name):
        return False
    for loop in (*scope.ancestors(statement), statement):
        if isinstance(loop, ast.For) and value.id in _names(loop.target) and _goes_over_weights(loop.iter):
            return True
    for node in _own_nodes(statement):
        if isinstance(node, ast.comprehension) and value.id in _names(node.target) and _goes_over_weights(node.iter):
            return True
        arguments = node.args if isinstance(node, ast.Call) else []
        if any(_takes(a, value.id) for a in arguments) and any(_goes_over_weights(a) for a in arguments):
            return True  # filter(lambda p: p.grad is not None, net.parameters())
    return False


def _takes(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Lambda) and any(arg.arg == name for arg in node.args.args)


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _goes_over_weights(tree: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in WEIGHTS for node in walk(tree))


def place_reads(
    reads: Sequence[Read], scope: Scope, events: Sequence[Event], results: dict[int, TrainingUnit | UnitLeft]
) -> None:
    """Tie each read to the unit whose gradients it sees; without such a unit, all units of the scope are left."""
    if not reads or not results:
        return
    units = [(key, unit) for key, unit in results.items() if isinstance(unit, TrainingUnit)]
    if len(units) == 1 and len(results) == 1:
        key, unit = units[0]
        if all(_sees(statement, unit, scope, events) for statement, _ in reads):
            results[key] = replace(unit, reads=tuple(node for _, node in reads))
            return
    line = reads[0][0].lineno
    for key, unit in units:
        results[key] = UnitLeft(unit.backward, f"the gradients are used by hand: line {line} uses .grad", "T2M404")


def _sees(statement: ast.stmt, unit: TrainingUnit, scope: Scope, events: Sequence[Event]) -> bool:
    """Whether a statement always finds the gradients of the unit's last backward call."""
    place = scope.location(unit.backward)
    while not _is_behind(statement, place.block[place.index + 1 :]):
        if not isinstance(place.parent, ast.For) or not _runs(place.parent) or place.block is not place.parent.body:
            return False
        place = scope.location(place.parent)
    if unit.gradient == "accumulate":
        return True  # a reset becomes `grads = None`, and the gradient of a weight is None then
    if unit.gradient != "assign":
        return False
    start, stop = scope.location(unit.backward).order, scope.location(statement).order
    return not any(event.kind == "zero" and start < event.order <= stop for event in events)


def _is_behind(statement: ast.stmt, later: Sequence[ast.stmt]) -> bool:
    return any(node is statement for other in later for node in walk(other))


def _runs(loop: ast.For) -> bool:
    """Whether a loop is seen to run at least once, to the end of its body: ``for step in range(3)``."""
    if loop.orelse or any(isinstance(node, (ast.Break, ast.Continue)) for node in walk(loop)):
        return False
    call = loop.iter
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "range" or not call.args:
        return False
    count = call.args[0] if len(call.args) == 1 else None
    return isinstance(count, ast.Constant) and isinstance(count.value, int) and count.value > 0


def clamping_call(statement: ast.stmt) -> ast.Call | None:
    """Return the call ``p.grad.data.clamp_(-v, v)`` of a loop over weights that does nothing else."""
    if not isinstance(statement, ast.For) or statement.orelse or not isinstance(statement.target, ast.Name):
        return None
    if not isinstance(statement.iter, ast.Call) or not isinstance(statement.iter.func, ast.Attribute):
        return None
    if statement.iter.func.attr != "parameters" or len(statement.body) != 1:
        return None
    inner = statement.body[0]
    if isinstance(inner, ast.If) and not inner.orelse and len(inner.body) == 1:
        if ast.unparse(inner.test) != f"{statement.target.id}.grad is not None":
            return None
        inner = inner.body[0]
    call = inner.value if isinstance(inner, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "clamp_":
        return None
    if dotted_path(call.func.value) not in (f"{statement.target.id}.grad", f"{statement.target.id}.grad.data"):
        return None
    return call if clamped_to(call) is not None else None


def clamped_to(call: ast.Call) -> ast.expr | None:
    """Return ``v`` of ``clamp_(-v, v)``; None where the bounds are not each other's opposite."""
    bounds = dict(zip(("min", "max"), call.args, strict=False))
    bounds.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    low, high = bounds.get("min"), bounds.get("max")
    if not isinstance(low, ast.UnaryOp) or not isinstance(low.op, ast.USub) or high is None or len(bounds) != 2:
        return None
    return high if ast.dump(low.operand) == ast.dump(high) else None


def zeroed(node: ast.Expr, gradients: Container[ast.AST]) -> ast.Attribute | None:
    """Return the ``x.grad`` of ``x.grad.zero_()`` and ``x.grad.data.fill_(0)``, one of the ``gradients``."""
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not is_zeroing(call):
        return None
    inner = call.func.value
    if isinstance(inner, ast.Attribute) and inner.attr == "data":
        inner = inner.value
    return inner if isinstance(inner, ast.Attribute) and inner in gradients else None


def clears(statement: ast.stmt, path: str) -> bool:
    """Whether a statement empties the gradient of the tensor ``path``: ``x.grad = None``, ``x.grad.zero_()``.

    So does another tensor of that name: ``x = torch.ones(2, requires_grad=True)``.
    """
    if isinstance(statement, ast.With):
        return any(clears(inner, path) for inner in statement.body)
    if isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id == path for t in statement.targets):
        return True
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
        gradients = (t for t in statement.targets if isinstance(t, ast.Attribute) and t.attr == "grad")
        return any(dotted_path(gradient.value) == path for gradient in gradients)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and is_zeroing(call):
        return ast.unparse(call.func.value).removesuffix(".data") == f"{path}.grad"
    return False
