"""Steps whose forward pass no single function holds: each call becomes one of ``runtime.recording``, where it stands.

A unit (``units.py``) takes the forward pass into a function. Where that cannot be done, because the loss is built from
what other functions computed and stored, or several losses share values across updates, the operations are recorded as
they run instead, and the machinery keeps its shape: ``loss.backward()`` is ``recording.backward(loss, optimizer)``.

All calls that touch the gradients of an optimizer change together, or none does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from torch2ms.translator.effects.dataflow import effects
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.training.find.events import Event
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.model import RecordedCall, TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.ownership import clip_of
from torch2ms.translator.values.kinds import Oracle

__all__ = ["Planned", "record_left"]

Result = TrainingUnit | UnitLeft | RecordedCall
Key = tuple[ast.ClassDef | None, str]  # an optimizer: the class for attributes of self, and the path
_MACHINERY = ("backward", "zero", "step", "clip")


@dataclass(slots=True)
class Planned:
    """A scope with its machinery and what was planned for it."""

    scope: Scope
    oracle: Oracle
    events: Sequence[Event]
    results: Sequence[Result]
    stays: bool = False  # gradients are read, or it is the closure of a step
    is_fixed: bool = False  # the closure of a step, a function that steps with one, or one that is handed a loss
    before: Sequence[Result] | None = None  # what was planned for it before its calls were recorded

    @property
    def leaves(self) -> set[ast.stmt]:
        """The backward calls that are there for the gradients of tensors."""
        return {event.statement for event in self.events if event.kind == "leaf"}

    def forget(self) -> None:
        """Go back to what was planned before calls of the scope were recorded."""
        self.results = self.results if self.before is None else self.before

    def record(self, calls: Iterable[RecordedCall]) -> None:
        """Have the calls of the scope recorded, each with the reason for which its step is no function."""
        reasons = {id(left.node): left.reason for left in self.results if isinstance(left, UnitLeft)}
        self.results = [replace(call, reason=reasons.get(id(call.statement), "")) for call in calls]

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


def record_left(found: Sequence[Planned], *, reaching: bool = False) -> None:
    """Replace the results of scopes whose steps stay as they are by recorded calls, where all of them can be.

    An optimizer whose gradients nothing in the file resets stays: who made it may reset them elsewhere. ``reaching``:
    the record tells by itself what weights a loss was computed from.
    """
    free = [planned for planned in found if not planned.has_units and not planned.stays and _can_be_recorded(planned)]
    owners: dict[Key, ast.expr] = {}
    for planned in free:
        for event in planned.events:
            if event.kind == "step" and event.target is not None:
                owners.setdefault(_key(planned.scope, event.path), event.target)
    reset = {key for planned in free for event in planned.events for key in _reset_by(event, planned.scope, owners)}
    recorded: set[Key] = set()
    for planned in found:
        if not planned.is_left or planned.stays or not _can_be_recorded(planned):
            continue
        optimizers = _optimizers(planned, owners)
        keys = {_key(planned.scope, dotted_path(node) or "") for node in optimizers}
        own = {key for event in planned.events for key in _reset_by(event, planned.scope, keys)}
        if keys and keys <= reset | own:
            planned.before = planned.results
            planned.record(
                _call(event, () if reaching else _there(event, optimizers, planned.scope)) for event in planned.events
            )
            recorded |= keys
    for planned in free:
        if any(event.kind == "backward" for event in planned.events):
            continue
        known = [event for event in planned.events if _touches(event, planned.scope, recorded)]
        if known and all(event in known or event.kind == "clip" for event in planned.events):
            planned.before = planned.results
            planned.record(_call(event, ()) for event in planned.events)


def _reset_by(event: Event, scope: Scope, keys: Iterable[Key]) -> list[Key]:
    """Of some optimizers, those whose gradients a call resets: by name, or all of the place for a network's."""
    if event.kind != "zero":
        return []
    mine = _key(scope, event.path)
    return [key for key in keys if key == mine or (event.on_module and key[0] is mine[0])]


def _touches(event: Event, scope: Scope, keys: Iterable[Key]) -> bool:
    """Whether a call concerns one of some optimizers."""
    return _key(scope, event.path) in keys or bool(_reset_by(event, scope, keys))


def _key(scope: Scope, path: str) -> Key:
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


def _optimizers(planned: Planned, owners: dict[Key, ast.expr]) -> tuple[ast.expr, ...]:
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


def _there(event: Event, optimizers: tuple[ast.expr, ...], scope: Scope) -> tuple[ast.expr, ...]:
    """Of some optimizers, those that are there when a call runs: a script makes the next when the first is done."""
    around = [event.statement, *scope.ancestors(event.statement)][-1]
    front = scope.body[: scope.body.index(around) + 1]
    early, bound = effects(front).binds, effects(scope.body).binds
    late = {name for name in bound - early if name not in scope.parameters}
    return tuple(node for node in optimizers if root(dotted_path(node) or "") not in late)


def _call(event: Event, optimizers: tuple[ast.expr, ...]) -> RecordedCall:
    assert event.target is not None
    clip = clip_of(event) if event.kind == "clip" else None
    return RecordedCall(event.statement, event.call, event.kind, event.target, optimizers, clip, is_spread=event.of_all)
