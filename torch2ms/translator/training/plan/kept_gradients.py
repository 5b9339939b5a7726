"""Steps whose gradients are kept with the weights, because something else than the update asks for them.

The forward pass becomes a function as in any unit; the calls behind it keep their places and become those of
``runtime.gradients``: ``loss.backward()`` adds to what is kept, ``optimizer.step()`` uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch2ms.translator.effects.dataflow import effects, overlaps
from torch2ms.translator.effects.gradient_marks import marks
from torch2ms.translator.effects.gradient_uses import looks_like_weight
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.training.find.events import HANDED_ON, Event, own_expressions
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.model import Clip, RecordedCall, TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.ownership import clip_of
from torch2ms.translator.values.kinds import Oracle

__all__ = [
    "asked_leaves",
    "asked_weights",
    "can_be_kept",
    "is_weight",
    "keep_all",
    "stay_left",
    "take_over",
    "update_kept",
    "written_steps",
]

Read = tuple[ast.stmt, ast.Attribute]
_RECORDED = ("zero", "step", "clip")


def asked_weights(scope: Scope, oracle: Oracle) -> list[Read] | None:
    """Return every ``p.grad`` of a scope; None where one may be of something else than a weight."""
    found: list[Read] = []
    for statement in scope.statements:
        for node in own_expressions(statement, scope):
            if not isinstance(node, ast.Attribute) or node.attr != "grad":
                continue
            if oracle.kind(node.value).name in ("api", "module"):
                continue  # torch.autograd.grad
            known = oracle.kind(node.value).name == "Parameter"
            if not is_weight(node, oracle) or not (known or looks_like_weight(node.value, scope.node)):
                return None
            found.append((statement, node))
    return found


def asked_leaves(
    scope: Scope, flow: GradientFlow, events: Sequence[Event], asked: Sequence[Read]
) -> dict[str, ast.expr]:
    """Return the tensors whose ``.grad`` a scope asks for, and that it marks itself: no optimizer trains them.

    Where the weights of an optimizer are not seen, that is sure of a tensor that a function makes.
    """
    marked = marks(own(scope.node)) if asked else {}
    trained = [flow.modules_of(event.path, scope) for event in events if event.kind == "step"]
    found: dict[str, ast.expr] = {}
    for _, node in asked:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        unseen = scope.is_module or any(root(event.path) == name for event in events)
        if name in marked and not any(unseen if paths is None else overlaps({name}, paths) for paths in trained):
            found[name] = node.value
    return found


def is_weight(node: ast.Attribute, oracle: Oracle) -> bool:
    """Whether the owner of a ``.grad`` may be a weight: nothing but what is done to it says that it is a tensor."""
    kind = oracle.kind(node.value)
    by_use = kind.name == "Tensor" and kind.evidence.startswith("only tensors")
    return not isinstance(node.ctx, ast.Del) and (by_use or kind.name in ("Parameter", "unknown"))


def can_be_kept(events: Sequence[Event]) -> bool:
    """Whether every call of the machinery of a scope has a counterpart that works on what is kept."""
    for event in events:
        if event.kind in ("backward", "unscale", "update"):
            continue
        if event.kind not in _RECORDED or event.problem or event.by_hand or event.returned or event.target is None:
            return False
        if event.kind in ("zero", "step") and not event.path:
            return False
        if event.kind == "clip" and (clip_of(event) is None or isinstance(event.statement, ast.For)):
            return False
    return True


def _kept_call(event: Event, clip: Clip | None) -> RecordedCall:
    """Return the call on what is kept that stands for a reset, a step or a clip."""
    assert event.target is not None
    return RecordedCall(
        event.statement, event.call, event.kind, event.target, (), clip, is_kept=True, is_spread=event.of_all
    )


def keep_all(
    results: dict[int, TrainingUnit | UnitLeft],
    events: Sequence[Event],
    asked: Sequence[Read],
    leaves: Mapping[str, ast.expr],
) -> list[TrainingUnit | UnitLeft | RecordedCall] | None:
    """Return the results of a scope whose gradients are kept; None where one of its steps cannot be rewritten."""
    units = [unit for unit in results.values() if isinstance(unit, TrainingUnit)]
    if not units or len(units) < len(results):
        return None
    calls: list[RecordedCall] = []
    stay: set[int] = set()
    for event in events:
        if event.kind == "backward":
            unit = results.get(id(event)) or next((u for u in units if event.statement in u.dropped), None)
            if not isinstance(unit, TrainingUnit):
                return None
            kind = "hand" if event.is_handed else "keep"
            calls.append(RecordedCall(event.statement, event.call, kind, unit.loss, unit.optimizers, unit=unit))
        elif event.stays:
            stay.add(id(event.statement))
        elif event.kind in _RECORDED and not event.is_handed:
            assert event.target is not None
            clip = clip_of(event) if event.kind == "clip" else None
            calls.append(_kept_call(event, clip))
    stay |= {id(call.statement) for call in calls}
    engine = next((event.engine for event in events if event.engine is not None), None)
    calls = [call if call.clip is not None else replace(call, engine=engine) for call in calls]
    wrapped = {event.path for event in events if event.is_wrapped}
    reads = tuple(node for _, node in asked)
    kept = [
        replace(
            unit,
            gradient="assign",
            dropped=tuple(statement for statement in unit.dropped if id(statement) not in stay),
            steps=(),
            clips=(),
            scaling=(),
            resets=(),
            accumulator=None,
            reads=reads,
            is_kept=True,
            leaves=tuple(leaf for name, leaf in leaves.items() if name in _read_by(unit)),
            is_wrapped=any(dotted_path(node) in wrapped for node in unit.optimizers),
        )
        for unit in units
    ]
    for call in calls:
        if call.unit is not None:
            calls[calls.index(call)] = replace(call, unit=kept[units.index(call.unit)])
    return [*kept, *calls]


def _read_by(unit: TrainingUnit) -> set[str]:
    """Return the names that the forward pass of a unit reads."""
    return set(effects([*unit.body, ast.Expr(unit.loss)]).names_read)


def update_kept(events: Sequence[Event]) -> list[UnitLeft | RecordedCall]:
    """Return the results of a method that takes the steps of an optimizer for whoever called backward."""
    calls: list[UnitLeft | RecordedCall] = []
    for event in events:
        if event.kind == "closure":
            reason = "optimizer.step(closure) evaluates the loss itself, and the caller has the gradients"
            calls.append(UnitLeft(event.statement, reason, "T2M403"))
        elif event.kind in _RECORDED and not event.stays and event.target is not None:
            clip = clip_of(event) if event.kind == "clip" else None
            if event.problem not in ("", HANDED_ON) or (event.kind == "clip" and clip is None):
                calls.append(UnitLeft(event.statement, event.problem or "what is clipped could not be told", "T2M403"))
            else:
                calls.append(_kept_call(event, clip))
    return calls


def written_steps(scope: Scope, oracle: Oracle, events: Sequence[Event]) -> list[UnitLeft | RecordedCall]:
    """Return the calls of a scope that computes no gradients and steps by those it gives to weights: ``p.grad = g``.

    A server that takes the mean of its clients' updates for one, an evolution strategy. Nothing for other scopes.
    """
    kinds = {event.kind for event in events}
    if "step" not in kinds or "backward" in kinds or not can_be_kept(events):
        return []
    asked = asked_weights(scope, oracle) or []
    values = [s.value for s, n in asked if isinstance(n.ctx, ast.Store) and isinstance(s, ast.Assign)]
    if not any(not isinstance(value, ast.Constant) for value in values):
        return []
    calls = update_kept(events)
    reads = tuple(node for _, node in asked)
    return [replace(call, reads=reads) if isinstance(call, RecordedCall) else call for call in calls]


def take_over(events: Sequence[Event], scope: Scope) -> list[UnitLeft | RecordedCall]:
    """Return the results of a function that is handed a loss: its gradients are those that were handed over with it."""
    problem = next((event.problem for event in events if event.problem), "")
    asked = [node for s in scope.statements for node in own_expressions(s, scope) if isinstance(node, ast.Attribute)]
    if not can_be_kept(events) or any(node.attr == "grad" for node in asked):
        problem = problem or "what it does with the gradients of the loss that is handed in has no counterpart"
    if problem:
        return [UnitLeft(event.statement, problem) for event in events if event.kind == "backward"]
    calls: list[UnitLeft | RecordedCall] = []
    for event in events:
        if event.target is None or event.kind not in ("backward", *_RECORDED):
            continue
        clip = clip_of(event) if event.kind == "clip" else None
        kind = "take" if event.kind == "backward" else event.kind
        calls.append(
            RecordedCall(
                event.statement, event.call, kind, event.target, (), clip, is_kept=True, is_spread=event.of_all
            )
        )
    return calls


def stay_left(backwards: Sequence[Event], results: Mapping[int, TrainingUnit | UnitLeft]) -> list[UnitLeft]:
    """Leave every step of a scope that hands one over: a gradient that nothing takes would be lost."""
    reason = "another object takes the step, and another step of this function stays as it is"
    found = [results.get(id(event)) for event in backwards]
    return [
        unit if isinstance(unit, UnitLeft) else UnitLeft(event.statement, reason)
        for event, unit in zip(backwards, found, strict=True)
    ]
