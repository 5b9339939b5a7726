"""Steps that neither a function nor the names of optimizers describe: recorded, by whatever weights a loss reaches.

``training.recorded`` differentiates by the weights of optimizers that it can name. A step may have its optimizers in a
dictionary, in an object that it was handed, or nowhere near the backward call. ``recording.backward(loss)`` finds the
weights itself then, as PyTorch does, and every other call of the machinery in the file works on what it keeps.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from torch2ms.translator.effects.recordability import is_recordable
from torch2ms.translator.training.find.events import (
    HANDED_ON,
    MAY_CREATE,
    NO_NAME,
    Event,
    find_obstacle,
    own_expressions,
)
from torch2ms.translator.training.model import RecordedCall, UnitLeft
from torch2ms.translator.training.plan.kept_gradients import asked_weights
from torch2ms.translator.training.plan.ownership import clip_of
from torch2ms.translator.training.plan.recorded import Planned

__all__ = ["record_open"]

_CALLS = ("backward", "zero", "step", "clip")
_STAYING = ("unscale", "update")  # a gradient scaler looks at the gradients that are kept


def record_open(
    found: Sequence[Planned],
    taken: Collection[ast.AST],
    *,
    imported: bool = False,
    graphs: bool = False,
    hooks: bool = False,
) -> None:
    """Replace the results of scopes with a backward call that stays by recorded calls, where all of them can be.

    The calls of functions beside them, which reset gradients or take the step, are recorded with them. ``taken`` are
    statements that something else takes care of: a scope with one of them stays as it is. ``imported``: other files
    import this one, so that what it tries out when it is run itself must not have everything recorded. ``graphs``:
    gradients that are differentiated again are recorded, too. ``hooks``: hooks on tensors are called.
    """
    is_open = False
    for planned in found:
        if imported and _is_trial(planned):
            continue
        if _is_left(planned) and _is_possible(planned) and not any(s in taken for s in planned.scope.statements):
            reads = _reads(planned, graphs=graphs, hooks=hooks)
            if reads is not None:
                planned.record(_calls(planned.events, reads))
                is_open = True
    if not is_open:
        return
    for planned in found:
        alone = not any(event.kind == "backward" for event in planned.events)
        if alone and any(isinstance(result, UnitLeft) for result in planned.results) and _is_possible(planned):
            reads = _reads(planned, graphs=graphs, hooks=hooks)
            if reads is not None:
                planned.record(_calls(planned.events, reads))


def _is_left(planned: Planned) -> bool:
    left = {id(result.node) for result in planned.results if isinstance(result, UnitLeft)}
    return any(event.kind == "backward" and id(event.statement) in left for event in planned.events)


def _is_trial(planned: Planned) -> bool:
    """Whether all backward calls of a scope stand under ``if __name__ == "__main__":``."""
    calls = [event.statement for event in planned.events if event.kind == "backward"]
    return bool(calls) and all(
        any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in planned.scope.ancestors(call))
        for call in calls
    )


def _is_possible(planned: Planned) -> bool:
    return not planned.is_fixed and not _is_inner(planned) and all(map(_is_recordable, planned.events))


def _is_inner(planned: Planned) -> bool:
    """Whether a forward pass asks for gradients and takes no step: it runs inside of a step's gradient function.

    An adversarial loss does so. Nothing is recorded there, and the gradients would be those of the weights as well.
    """
    node, kinds = planned.scope.node, {event.kind for event in planned.events}
    is_forward = isinstance(node, ast.FunctionDef) and node.name == "forward" and planned.scope.class_node is not None
    return is_forward and "backward" in kinds and "step" not in kinds


def _is_recordable(event: Event) -> bool:
    if event.kind in _STAYING or event.by_hand or (event.is_wrapped and event.stays):
        return True
    if event.kind not in _CALLS or event.target is None or event.returned or event.engine is not None:
        return False
    if event.is_handed:
        return not event.problem
    if event.kind == "clip" and (clip_of(event) is None or isinstance(event.statement, ast.For)):
        return False
    return event.problem in ("", NO_NAME, HANDED_ON, MAY_CREATE)


def _reads(planned: Planned, *, graphs: bool, hooks: bool) -> tuple[ast.Attribute, ...] | None:
    """Return every ``p.grad`` of a scope; None where one may be of another tensor, or gradients have other uses."""
    asked = asked_weights(planned.scope, planned.oracle)
    if (
        asked is None
        or find_obstacle(planned.scope, planned.oracle, asked, hooks=hooks) is not None
        or _differentiates(planned, graphs=graphs)
    ):
        return None
    return tuple(node for _, node in asked)


def _differentiates(planned: Planned, *, graphs: bool) -> bool:
    """Whether the scope asks for gradients, ``autograd.grad``, that nobody records."""
    scope = planned.scope
    nodes = (node for statement in scope.statements for node in own_expressions(statement, scope))
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "grad"]
    return not all(is_recordable(call, graphs=graphs) for call in calls)


def _calls(events: Sequence[Event], reads: tuple[ast.Attribute, ...]) -> list[RecordedCall]:
    found: list[RecordedCall] = []
    for event in events:
        if event.by_hand or event.stays or event.target is None or event.kind in _STAYING:
            continue
        if event.kind == "zero" and getattr(event.call.func, "attr", "") != "zero_grad":
            continue  # the function that it calls does it
        if event.is_handed:
            if event.kind == "backward":  # the step is the object's
                found.append(RecordedCall(event.statement, event.call, "hand", event.target, (), reads=reads))
            continue
        clip = clip_of(event) if event.kind == "clip" else None
        scaler = event.scaler if event.kind == "backward" else None
        found.append(
            RecordedCall(event.statement, event.call, event.kind, event.target, (), clip, reads=reads, scaler=scaler)
        )
    return found
