"""Steps whose forward pass no single function holds: each call becomes one of ``runtime.recording``, where it stands.

A unit (``units.py``) takes the forward pass into a function. Where that cannot be done, because the loss is built from
what other functions computed and stored, or several losses share values across updates, the operations are recorded as
they run instead, and the machinery keeps its shape: ``loss.backward()`` is ``recording.backward(loss, optimizer)``.

All calls that touch the gradients of an optimizer change together, or none does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from torch2ms.translator.dataflow import effects
from torch2ms.translator.effects import dotted_path, root
from torch2ms.translator.training.events import Event
from torch2ms.translator.training.ownership import clip_of
from torch2ms.translator.training.plan import RecordedCall, TrainingUnit, UnitLeft
from torch2ms.translator.training.scope import Scope

__all__ = ["Planned", "record_left"]

Result = TrainingUnit | UnitLeft | RecordedCall
_MACHINERY = ("backward", "zero", "step", "clip")


@dataclass(slots=True)
class Planned:
    """A scope with its machinery and what was planned for it."""

    scope: Scope
    events: Sequence[Event]
    results: Sequence[Result]
    stays: bool = False  # gradients are read, or it is the closure of a step

    @property
    def is_left(self) -> bool:
        """Whether a backward call of the scope has no plan, for another reason than that gradients are read."""
        left = [result for result in self.results if isinstance(result, UnitLeft)]
        backwards = {id(event.statement) for event in self.events if event.kind == "backward"}
        return any(id(unit.node) in backwards for unit in left) and all(unit.code != "T2M404" for unit in left)

    @property
    def has_units(self) -> bool:
        """Whether a step of the scope was planned as a function."""
        return any(isinstance(result, TrainingUnit) for result in self.results)


def record_left(found: Sequence[Planned]) -> None:
    """Replace the results of scopes whose steps stay as they are by recorded calls, where all of them can be."""
    owners: dict[tuple[ast.ClassDef | None, str], ast.expr] = {}
    for planned in found:
        for event in planned.events:
            if event.kind == "step" and event.target is not None and not planned.has_units:
                owners.setdefault(_key(planned.scope, event.path), event.target)
    recorded: set[tuple[ast.ClassDef | None, str]] = set()
    for planned in found:
        if not planned.is_left or planned.stays or not _can_be_recorded(planned):
            continue
        optimizers = _optimizers(planned, owners)
        if optimizers:
            planned.results = [_call(event, optimizers) for event in planned.events]
            recorded |= {_key(planned.scope, dotted_path(node) or "") for node in optimizers}
    for planned in found:
        if any(event.kind == "backward" for event in planned.events) or not _can_be_recorded(planned):
            continue
        owned = [event for event in planned.events if _key(planned.scope, event.path) in recorded]
        events = [event for event in planned.events if owned and (event.kind == "clip" or event in owned)]
        if events and len(events) == len(planned.events):
            planned.results = [_call(event, ()) for event in events]


def _key(scope: Scope, path: str) -> tuple[ast.ClassDef | None, str]:
    """Tell optimizers apart: attributes by the class, other names by the name alone."""
    return (scope.class_node if root(path) == "self" else None, path)


def _can_be_recorded(planned: Planned) -> bool:
    for event in planned.events:
        if event.kind not in _MACHINERY or event.problem or event.by_hand or event.scaler is not None:
            return False
        if event.target is None or (event.kind in ("zero", "step") and not event.path):
            return False
        if event.kind == "clip" and clip_of(event) is None:
            return False
    return True


def _optimizers(planned: Planned, owners: dict[tuple[ast.ClassDef | None, str], ast.expr]) -> tuple[ast.expr, ...]:
    """The optimizers that a backward call of the scope can feed: those that step in it, else in functions beside it."""
    scope = planned.scope
    found = {event.path: event.target for event in planned.events if event.kind == "step" and event.target is not None}
    if not found:
        for (class_node, path), target in owners.items():
            same = class_node is not None and class_node is scope.class_node
            if same or (class_node is None and root(path) not in scope.parameters):
                found[path] = target
    looped = [statement for statement in scope.statements if isinstance(statement, ast.For)]
    bound = frozenset[str]().union(*(effects(statement.target).binds for statement in looped))
    return () if any(root(path) in bound for path in found) else tuple(found.values())


def _call(event: Event, optimizers: tuple[ast.expr, ...]) -> RecordedCall:
    assert event.target is not None
    clip = clip_of(event) if event.kind == "clip" else None
    return RecordedCall(event.statement, event.call, event.kind, event.target, optimizers, clip)
