"""Which optimizer steps, resets and clips belong to a backward call, and how its gradients must be kept."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch2ms.translator.effects.dataflow import effects
from torch2ms.translator.effects.reads_and_writes import dotted_path, overlap, root
from torch2ms.translator.training.find.events import Event, own_expressions
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.gradient_reads import clamped_to
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.model import Clip, GradientMode, ScalerCall, Step

__all__ = ["Ownership", "Refused", "clip_of", "resolve"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing can be planned."""

    reason: str
    code: str = "T2M402"
    statement: ast.stmt | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """The machinery of one backward call."""

    backward: Event
    optimizers: tuple[str, ...]
    steps: tuple[Event, ...]
    zeros: tuple[Event, ...]
    clips: tuple[Event, ...]
    scaling: tuple[Event, ...]  # unscale_, update
    siblings: tuple[Event, ...]  # all backward calls whose gradients the same steps use, this one included
    gradient: GradientMode
    notes: tuple[str, ...] = ()
    network: ast.expr | None = None  # whose gradients nothing uses: no optimizer steps by them


class _Owners:
    """Answers for one scope; ``reads`` gives the nodes that the gradient of a backward call flows through."""

    def __init__(
        self, scope: Scope, events: Sequence[Event], flow: GradientFlow, reads: dict[int, list[ast.AST]]
    ) -> None:
        self.scope = scope
        self.flow = flow
        inner = _inner_resets(scope, events, flow)
        self.events = sorted([*events, *inner], key=lambda event: (event.order, not event.inside))
        self.reads = reads
        self.paths = list(dict.fromkeys(event.path for event in events if event.kind in ("step", "closure")))
        self.wrapped = {event.path for event in events if event.is_wrapped}
        self.modules = {path: flow.modules_of(path, scope) for path in self.paths}
        self.owners: dict[int, tuple[str, ...]] = {}
        for event in events:
            if event.kind == "backward":
                self.owners[id(event)] = tuple(path for path in self.paths if self._owns(path, event))

    @property
    def backwards(self) -> list[tuple[Event, tuple[str, ...]]]:
        """The backward calls, and the optimizers that use the gradients of each."""
        return [(event, self.owners[id(event)]) for event in self.events if event.kind == "backward"]

    def resets(self, path: str, zero: Event) -> bool:
        """Whether ``zero`` resets all gradients of the optimizer ``path``."""
        if zero.of_all:
            holder = path.rpartition(".")[0]
            return bool(holder) and zero.path in self.flow.origins(self.scope, holder)
        if zero.path == path or (path in self.wrapped and zero.path.startswith(f"{path}.")):
            return True
        if zero.on_module is False and zero.path in self.paths:
            return False
        modules = self.modules[path]
        if modules is not None:
            zeroed = {event.path for event in self.events if event.kind == "zero" and event.on_module}
            related = any(overlap(zero.path, module) for module in modules)
            return related and self.flow.is_reset_by(path, zeroed, self.scope)
        return len(self.paths) == 1 and zero.on_module

    def _owns(self, path: str, backward: Event) -> bool:
        is_closure = any(event.returned and event.path == path for event in self.events)  # who steps has said so
        if not is_closure and not self.flow.reaches(self.reads.get(id(backward), []), self.modules[path]):
            return False
        for event in self.events:
            if event.order < backward.order or event is backward or (event.inside and event.order == backward.order):
                continue
            if self._are_apart(path, backward, event):
                continue
            if (event.order, event.call.col_offset) < (backward.order, backward.call.col_offset):
                continue
            if event.kind == "zero" and self.resets(path, event):
                return False
            if event.kind in ("step", "closure") and event.path == path:
                return True
        return False

    def _are_apart(self, path: str, backward: Event, event: Event) -> bool:
        """Whether one of a backward call and another event runs: in different branches, or behind one that steps."""
        if self.scope.are_exclusive(event.statement, backward.statement):
            return True
        return self.scope.is_left_before(backward.statement, event.statement) and any(
            step.kind == "step"
            and step.path == path
            and step.order > backward.order
            and self.scope.location(step.statement).block is self.scope.location(backward.statement).block
            for step in self.events
        )

    def steps_of(self, backward: Event) -> tuple[Event, ...]:
        """The steps that use the gradients of ``backward``: up to the next reset or the next owner's backward."""
        found: list[Event] = []
        for path in self.owners[id(backward)]:
            may_be_reset = False
            for event in self.events:
                later = event.order > backward.order or (event.is_handed and event.call is backward.call)
                if not later or self._are_apart(path, backward, event):
                    continue
                if event.kind == "zero" and self.resets(path, event) and any(step.path == path for step in found):
                    if not self._leaves_gradients(event, backward):
                        break
                    may_be_reset = True
                elif may_be_reset and event.kind == "backward" and path in self.owners[id(event)]:
                    break
                if event.kind == "step" and event.path == path:
                    found.append(event)
        return tuple(sorted(found, key=lambda event: event.order))

    def _leaves_gradients(self, zero: Event, backward: Event) -> bool:
        """Whether a reset in the loop of ``backward`` runs in some iterations only, and the others' may build up.

        What the last of them has left is there behind the loop: ``if step % 4: optimizer.step()``.
        """
        loop = next(iter(self.scope.loops(backward.statement)), None)
        if loop is None or next(iter(self.scope.loops(zero.statement)), None) is not loop:
            return False
        around = self.scope.guards(backward.statement, loop)
        return any(guard not in around for guard in self.scope.guards(zero.statement, loop))

    def siblings_of(self, backward: Event) -> tuple[Event, ...]:
        """All backward calls that share steps with ``backward``, or with one that does."""
        shared = {id(step) for step in self.steps_of(backward)}
        found = [backward]
        others = [event for event in self.events if event.kind == "backward" and event is not backward]
        grown = True
        while grown:
            grown = False
            for event in list(others):
                steps = {id(step) for step in self.steps_of(event)}
                if steps & shared:
                    others.remove(event)
                    found.append(event)
                    shared |= steps
                    grown = True
        return tuple(sorted(found, key=lambda event: (event.order, event.call.col_offset)))

    def are_alternatives(self, paths: Sequence[str], steps: Sequence[Event]) -> bool:
        """Whether one of several updates of the same weights runs, the one by hand or an optimizer's."""
        modules = {self.modules[path] for path in paths}
        exclusive = all(
            a.path == b.path or self.scope.are_exclusive(a.statement, b.statement) for a in steps for b in steps
        )
        return len(modules) == 1 and None not in modules and exclusive and any(step.by_hand for step in steps)

    def starts_clean(self, path: str, siblings: Sequence[Event]) -> bool:
        """Whether nothing can have left gradients behind before the first of ``siblings``, though nothing resets them.

        So it is in a script, and in a function that makes the optimizer itself, where no other backward is called.
        """
        own = self.scope.is_module or root(path) in effects(self.scope.node.body).binds
        return own and self.flow.backward_calls == len(siblings)

    def is_foreign(self, event: Event, backward: Event) -> bool:
        """Whether ``event`` stands in an outermost loop that ``backward`` does not stand in."""
        outermost = self.scope.loops(event.statement)[-1:]
        return bool(outermost) and outermost != self.scope.loops(backward.statement)[-1:]

    def is_looped_over(self, path: str, backward: Event) -> bool:
        """Whether the optimizer is the variable of a loop that does not hold ``backward``."""
        around = self.scope.loops(backward.statement)
        return any(
            isinstance(statement, ast.For) and statement not in around and root(path) in effects(statement.target).binds
            for statement in self.scope.statements
        )


def _inner_resets(scope: Scope, events: Sequence[Event], flow: GradientFlow) -> list[Event]:
    """Return the resets in functions that the loops around backward calls run: ``self.zero_grad()`` in a forward."""
    starts = [event.statement for event in events if event.kind == "backward"]
    loops = [loop for start in starts for loop in scope.loops(start)[-1:]]
    known = {id(event.call) for event in events}
    found = []
    for order, statement in enumerate(scope.statements):
        if not any(loop in loops for loop in scope.ancestors(statement)):
            continue
        for call in own_expressions(statement, scope):
            if isinstance(call, ast.Call) and id(call) not in known:
                for path, on_module in flow.resets(call).items():
                    if path[:1] == ":":  # a name of the module, which a function may use for something else
                        path = path[1:] if scope.is_module else ""
                    found.append(Event("zero", statement, call, order, path, None, on_module=on_module, inside=True))
    return found


def resolve(
    scope: Scope, events: Sequence[Event], flow: GradientFlow, reads: dict[int, list[ast.AST]]
) -> dict[int, Ownership | Refused]:
    """Return for every backward event (by id) its ownership, or why there is none."""
    owners = _Owners(scope, events, flow, reads)
    found: dict[int, Ownership | Refused] = {}
    for event in events:
        if event.kind == "backward":
            found[id(event)] = Refused(event.problem) if event.problem else _own(owners, event)
    return found


def _own(owners: _Owners, backward: Event) -> Ownership | Refused:
    optimizers = owners.owners[id(backward)]
    closures = [event for event in owners.events if event.kind == "closure"]
    if closures:
        return Refused(f"line {closures[0].statement.lineno} steps with a closure that stays as it is")
    if not optimizers:
        if not owners.paths:
            return Refused("no optimizer step follows in this function")
        return Refused("no optimizer step in this function uses its gradients")
    if any(owners.is_looped_over(path, backward) for path in optimizers):
        return Refused("the optimizers are updated in a loop of their own", "T2M403")
    steps = owners.steps_of(backward)
    for step in steps:
        if step.problem:
            return Refused(step.problem, "T2M403")
    if {step.path for step in steps} != set(optimizers):
        return Refused("the step that uses the gradients could not be told", "T2M403")
    siblings = owners.siblings_of(backward)
    if any(set(owners.owners[id(event)]) != set(optimizers) for event in siblings):
        return Refused("several backward calls feed several optimizers in different ways")
    zeros = tuple(
        event
        for event in owners.events
        if event.kind == "zero"
        and any(owners.resets(path, event) for path in optimizers)
        and not owners.is_foreign(event, backward)
    )
    by_themselves = {step.path for step in steps if step.stays}  # first_step(zero_grad=True): what is kept shows it
    for path in set(optimizers) - by_themselves:
        if not any(owners.resets(path, zero) for zero in zeros) and not owners.starts_clean(path, siblings):
            return Refused(f"no zero_grad resets the gradients of {path} in this function")
    if owners.are_alternatives(optimizers, steps):
        optimizers = tuple(step.path for step in steps if step.by_hand)[:1]
    mode = _mode(owners, backward, siblings, steps, zeros)
    if isinstance(mode, Refused):
        return mode
    gradient, notes = mode
    inner = [event for event in owners.events if event.inside]
    if gradient == "accumulate" and inner:
        return Refused(f"line {inner[0].statement.lineno} runs a function that resets gradients")
    zeros = tuple(event for event in zeros if not event.inside)
    clips = _clips_of(owners, steps, siblings)
    scalers = {dotted_path(step.scaler) for step in steps if step.scaler is not None}
    scaling = tuple(
        event
        for event in owners.events
        if event.kind in ("unscale", "update") and event.path in scalers and not _belongs_elsewhere(event, optimizers)
    )
    return Ownership(backward, optimizers, steps, zeros, clips, scaling, siblings, gradient, notes)


def _belongs_elsewhere(event: Event, optimizers: tuple[str, ...]) -> bool:
    """Whether an unscale_(optimizer) names another optimizer."""
    if event.kind != "unscale" or not event.call.args:
        return False
    return dotted_path(event.call.args[0]) not in optimizers


def _clips_of(owners: _Owners, steps: Sequence[Event], siblings: Sequence[Event]) -> tuple[Event, ...]:
    """The clipping calls between the backward calls and their last step, as far as they concern these weights."""
    first, last = min(event.order for event in siblings), max(event.order for event in steps)
    modules = owners.modules[steps[0].path]
    found = []
    for event in owners.events:
        if event.kind != "clip" or not first <= event.order <= last:
            continue
        alone = len(owners.paths) == 1 or modules is None
        if alone or event.target is None or owners.flow.reaches([event.target], modules):
            found.append(event)
    return tuple(found)


def _mode(
    owners: _Owners, backward: Event, siblings: Sequence[Event], steps: Sequence[Event], zeros: Sequence[Event]
) -> tuple[GradientMode, tuple[str, ...]] | Refused:
    """Decide whether each iteration starts from no gradient (assign, add) or gradients build up (accumulate)."""
    scope = owners.scope
    paths = owners.owners[id(backward)]
    first = siblings[0]
    if not zeros:
        return _never_reset(owners, backward, siblings)
    either = owners.are_alternatives(paths, steps) and _reset_either_way(owners, first, zeros)
    if either or all(_fresh(owners, path, first, steps, zeros) for path in paths):
        if all(a is b or scope.are_exclusive(a.statement, b.statement) for a in siblings for b in siblings):
            return "assign", ()
        if all(_together(scope, first.statement, event.statement) for event in siblings):
            return ("assign" if backward is first else "add"), ()
    if len(paths) > 1:
        return Refused("gradients of several optimizers accumulate over iterations")
    others = {id(event) for path in paths for event, owns in owners.backwards if path in owns} - {*map(id, siblings)}
    if others:
        return Refused("gradients of steps in several branches build up together")
    loops = scope.loops(first.statement)
    if not loops and not scope.is_module:
        return Refused("gradients accumulate over calls of this function")
    starts_clean = scope.is_module or any(zero.order < first.order for zero in zeros)
    if starts_clean:
        return "accumulate", ()
    note = "gradients left over when the loop ends, or by another function, are not carried into this one's next call"
    return "accumulate", (note,)


def _never_reset(
    owners: _Owners, backward: Event, siblings: Sequence[Event]
) -> tuple[GradientMode, tuple[str, ...]] | Refused:
    """Decide for gradients that nothing resets: they build up, but where each iteration makes the weights anew."""
    loops = owners.scope.loops(siblings[0].statement)
    made: set[str] = set()
    for path in owners.owners[id(backward)]:
        made |= {root(module) for module in owners.modules[path] or (path,)}
    remade = [made & effects(loop.body).binds for loop in loops if isinstance(loop, (ast.For, ast.While))]
    if len(siblings) == 1 and (not loops or (remade and remade[0] == made)):
        return "assign", ()
    if any(remade):
        return Refused("gradients build up, and the weights are made anew in a loop")
    return "accumulate", ()


def _together(scope: Scope, a: ast.stmt, b: ast.stmt) -> bool:
    """Whether the two stand in one statement list."""
    return scope.location(a).block is scope.location(b).block


def _fresh(owners: _Owners, path: str, first: Event, steps: Sequence[Event], zeros: Sequence[Event]) -> bool:
    """Whether the gradients of ``path`` are reset in every iteration before ``first``, whenever it is reached."""
    scope = owners.scope
    loop = next(iter(scope.loops(first.statement)), None)
    around = scope.guards(first.statement, loop)
    for step in steps:
        if next(iter(scope.loops(step.statement)), None) is not loop:
            return False
    for zero in zeros:
        if not owners.resets(path, zero) or next(iter(scope.loops(zero.statement)), None) is not loop:
            continue
        guards = scope.guards(zero.statement, loop)
        if all(guard in around for guard in guards):
            return True
        # Under the guard of the step only: fresh when the step itself always runs where the backward call does.
    return False


def _reset_either_way(owners: _Owners, first: Event, zeros: Sequence[Event]) -> bool:
    """Whether both branches of a conditional reset the gradients, in every iteration before ``first``."""
    scope = owners.scope
    loop = next(iter(scope.loops(first.statement)), None)
    around = scope.guards(first.statement, loop)
    branches: dict[ast.If, set[int]] = {}
    for zero in zeros:
        if next(iter(scope.loops(zero.statement)), None) is loop and zero.order < first.order:
            inner = [guard for guard in scope.guards(zero.statement, loop) if guard not in around]
            if len(inner) == 1 and isinstance(inner[0][0], ast.If):
                branches.setdefault(inner[0][0], set()).add(inner[0][1])
    return any({id(test.body), id(test.orelse)} <= found for test, found in branches.items())


def steps_of(ownership: Ownership) -> tuple[Step, ...]:
    """Return the plan of the steps."""
    found = []
    for event in ownership.steps:
        assert event.target is not None
        found.append(Step(event.statement, event.call, event.target, event.scaler, event.by_hand, event.returned))
    return tuple(found)


def scaling_of(ownership: Ownership) -> tuple[ScalerCall, ...]:
    """Return the plan of what a gradient scaler does besides its steps."""
    return tuple(
        ScalerCall(event.statement, event.call, event.call.args[0] if event.kind == "unscale" else None)
        for event in ownership.scaling
    )


def clips_of(ownership: Ownership, whole: bool) -> tuple[Clip, ...] | Refused:
    """Return the plan of the clipping calls; ``whole``: each list is known to be the optimizer's own."""
    found = []
    for event in ownership.clips:
        if event.problem or event.target is None:
            return Refused(event.problem, "T2M403", event.statement)
        clip = clip_of(event, whole)
        if clip is None:
            return Refused("the limit of the gradient clipping is not written out", "T2M403", event.statement)
        found.append(clip)
    return tuple(found)


def clip_of(event: Event, whole: bool = True) -> Clip | None:
    """Return the plan of one clipping call; None where its limit is not written out."""
    call = event.call
    name = (dotted_path(call.func) or "").rpartition(".")[2]
    kind = "norm" if "norm" in name else "value"
    if name == "clamp_" or isinstance(event.statement, ast.For):
        limit = clamped_to(call)
        if limit is None or event.target is None:
            return None
        return Clip(event.statement, call, "value", event.target, limit, (), None, whole)
    positional = call.args if not any(keyword.arg == "parameters" for keyword in call.keywords) else [None, *call.args]
    limit = positional[1] if len(positional) > 1 else None
    extra = []
    for keyword in call.keywords:
        if keyword.arg in ("max_norm", "clip_value"):
            limit = keyword.value
        elif keyword.arg != "parameters":
            extra.append(keyword)
    if len(positional) > 2 and positional[2] is not None:
        extra.append(ast.keyword("norm_type" if kind == "norm" else "foreach", positional[2]))
    if limit is None or event.target is None or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    statement = event.statement
    is_whole = isinstance(statement, (ast.Assign, ast.Expr)) and statement.value is call
    result = statement.targets[0] if is_whole and isinstance(statement, ast.Assign) else None
    shape: Literal["norm", "value"] = "norm" if kind == "norm" else "value"
    return Clip(statement, call, shape, event.target, limit, tuple(extra), result, whole, is_inside=not is_whole)
