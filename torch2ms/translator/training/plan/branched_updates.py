"""Two backward calls in the two branches of a conditional, for one forward pass: one unit with two updates."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from torch2ms.translator.effects.dataflow import effects, overlaps
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.events import Event
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.model import TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.forward import Forward
from torch2ms.translator.training.plan.ownership import Refused

__all__ = ["condition_of", "leave_rivals", "merge_twins"]


def condition_of(guards: Sequence[tuple[ast.If, bool]], changes: Collection[str]) -> ast.expr | None:
    """Return the conjunction of the guards (outermost first); None when it calls, binds or reads what ``changes``."""
    tests: list[ast.expr] = []
    for statement, holds in guards:
        found = effects(statement.test)
        calls = any(isinstance(node, ast.Call) for node in walk(statement.test))
        if calls or found.binds or overlaps(found.reads, changes):
            return None
        negated = ast.copy_location(ast.UnaryOp(ast.Not(), statement.test), statement.test)
        tests.append(statement.test if holds else negated)
    if len(tests) < 2:
        return tests[0] if tests else None
    return ast.copy_location(ast.BoolOp(ast.And(), tests), tests[0])


def merge_twins(
    scope: Scope,
    backwards: Sequence[Event],
    forwards: Mapping[int, Forward | Refused],
    results: dict[int, TrainingUnit | UnitLeft],
) -> None:
    """Make one unit of every two that have the same forward pass in front of the branches their calls stand in.

    ``results`` (by id of the event) loses the second; its backward statement is among the first one's ``dropped``.
    """
    for position, event in enumerate(backwards):
        for other in backwards[position + 1 :]:
            first, second = results.get(id(event)), results.get(id(other))
            if not isinstance(first, TrainingUnit) or not isinstance(second, TrainingUnit):
                continue
            if not _is_twin(first, second) or not scope.are_exclusive(event.statement, other.statement):
                continue
            one, two = forwards[id(event)], forwards[id(other)]
            assert isinstance(one, Forward)
            assert isinstance(two, Forward)
            results[id(event)] = _merged(first, second, one, two)
            del results[id(other)]


def leave_rivals(scope: Scope, backwards: Sequence[Event], results: dict[int, TrainingUnit | UnitLeft]) -> None:
    """Leave units of different branches that share a forward pass: each would run it, and networks would run twice."""
    for position, event in enumerate(backwards):
        for other in backwards[position + 1 :]:
            first, second = results.get(id(event)), results.get(id(other))
            if not isinstance(first, TrainingUnit) or not isinstance(second, TrainingUnit):
                continue
            shared = first.block is second.block and not set(map(id, first.body)).isdisjoint(map(id, second.body))
            if shared and scope.are_exclusive(event.statement, other.statement):
                for one in (event, other):
                    reason = "another branch differentiates something else of the same forward pass"
                    results[id(one)] = UnitLeft(one.statement, reason)


def _is_twin(first: TrainingUnit, second: TrainingUnit) -> bool:
    """Whether two units differentiate the same value of the same forward pass for the same optimizers."""
    return (
        first.block is second.block
        and first.body == second.body
        and ast.dump(first.loss) == ast.dump(second.loss)
        and first.gradient == second.gradient == "assign"
        and [ast.dump(node) for node in first.optimizers] == [ast.dump(node) for node in second.optimizers]
        and not first.inline_grad
    )


def _merged(first: TrainingUnit, second: TrainingUnit, one: Forward, two: Forward) -> TrainingUnit:
    """One unit with the updates of both, under the conditions that both share."""
    shared = [guard for guard in reversed(one.guards) if guard in two.guards]
    guard = None
    if first.guard is not None:
        guard = condition_of(shared, ())  # the parts of a condition that was found fit before
    return replace(
        first if second.scaler is None else second,  # the one that stands where its scaler is made
        shape="C1" if first.scaler is not None or second.scaler is not None else first.shape,
        dropped=tuple(dict.fromkeys((*first.dropped, *second.dropped))),
        steps=(*first.steps, *second.steps),
        clips=(*first.clips, *second.clips),
        scaling=tuple({call.statement: call for call in (*first.scaling, *second.scaling)}.values()),
        aux=tuple(dict.fromkeys((*first.aux, *second.aux))),
        guard=guard,
        scaler=second.scaler or first.scaler,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
