"""Plan the training units of one scope: one backward call, its forward pass and the update that follows."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch2ms.translator.effects.dataflow import effects, overlaps
from torch2ms.translator.effects.loss_arguments import given_loss
from torch2ms.translator.effects.missing_gradients import never_has_gradients
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.closures import Closures
from torch2ms.translator.training.find.events import Event, find_obstacle, placed_gradients
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.gradient_reads import find_reads, place_reads
from torch2ms.translator.training.find.leaf_backwards import leaf_gradients
from torch2ms.translator.training.find.scope import ProjectFile, Scope
from torch2ms.translator.training.find.shared_values import find_used_twice
from torch2ms.translator.training.model import Clip, Closure, Place, RecordedCall, Shape, TrainingUnit, UnitLeft
from torch2ms.translator.training.naming import Names, suffix_of
from torch2ms.translator.training.plan.branched_updates import condition_of, leave_rivals, merge_twins
from torch2ms.translator.training.plan.forward import Body, Forward, find_forward, plan_body
from torch2ms.translator.training.plan.kept_gradients import (
    asked_leaves,
    asked_weights,
    can_be_kept,
    keep_all,
    stay_left,
    take_over,
    written_steps,
)
from torch2ms.translator.training.plan.losses_elsewhere import kept_apart
from torch2ms.translator.training.plan.ownership import Ownership, Refused, clips_of, resolve, scaling_of, steps_of
from torch2ms.translator.training.plan.placement import (
    Interface,
    find_interface,
    find_unset,
    is_asked_for,
    may_be_missing,
)
from torch2ms.translator.training.plan.unread_gradients import unused_gradients
from torch2ms.translator.values.kinds import Oracle

__all__ = ["Result", "ScopePlanner"]

Result = TrainingUnit | UnitLeft | RecordedCall


def _left(refused: Refused, event: Event) -> UnitLeft:
    code = refused.code if refused.code in ("T2M403", "T2M404") else "T2M402"
    where = f"line {refused.statement.lineno}: " if refused.statement is not None else ""
    return UnitLeft(event.statement, where + refused.reason, code)  # type: ignore[arg-type]


def _by_hand(statement: ast.stmt, use: str) -> UnitLeft:
    return UnitLeft(statement, f"the gradients are used by hand: {use}", "T2M404")


def _are_by_hand(results: Mapping[int, TrainingUnit | UnitLeft]) -> bool:
    return any(isinstance(unit, UnitLeft) and unit.code == "T2M404" for unit in results.values())


def _return_of(closure: Closure, scope: Scope) -> Event:
    """Return the end of a closure as the step it leads to."""
    order = scope.location(closure.result).order
    return Event("step", closure.result, closure.calls[0], order, closure.path, closure.optimizer, returned=True)


def _machinery(unit: TrainingUnit) -> list[ast.stmt]:
    """The statements of the training machinery that a unit takes care of."""
    parts = [*unit.dropped, *unit.resets, *(step.statement for step in unit.steps)]
    return [*parts, *(call.statement for call in unit.scaling), *(clip.statement for clip in unit.clips)]


class ScopePlanner:
    """Plans all units of one scope; units that share a step stand or fall together."""

    def __init__(
        self,
        scope: Scope,
        file: ProjectFile,
        flow: GradientFlow,
        oracle: Oracle,
        names: Names,
        closures: Closures,
        events: list[Event],
        keeping: bool,
        handing: bool,
        adding: bool,
    ) -> None:
        self.scope = scope
        has_leaves = any(event.kind == "leaf" for event in events)
        self.of_leaves = leaf_gradients(scope, oracle) if has_leaves else []  # they are not the units' concern
        self.file = file
        self.flow = flow
        self.oracle = oracle
        self.names = names
        self.closures = closures
        self.keeping = keeping
        self.closure = closures.of.get(scope.node)
        self.is_taker = handing and bool(given_loss(scope.node))
        # Another object takes the step, or says when: it finds the gradients with the weights.
        self.is_shared = self.is_taker or any(
            event.is_handed or event.is_wrapped or (adding and event.engine is not None) for event in events
        )
        self.events = [event for event in events if event.kind != "closure" or not closures.is_planned(event.call)]
        self.has_closures = len(self.events) < len(events)
        if self.closure is not None:
            self.events.append(_return_of(self.closure, scope))
        flow.updated_by_hand = {event.path for event in self.events if event.by_hand}
        self.backwards = [event for event in self.events if event.kind == "backward"]
        self.grads_names: dict[frozenset[int], str] = {}
        self.reads: list[tuple[ast.stmt, ast.Attribute]] = []

    def plan(self) -> list[Result]:
        """Return what becomes of every backward call, and of steps that have none."""
        if self.is_taker:
            return [*take_over(self.events, self.scope)]
        if written := written_steps(self.scope, self.oracle, self.events):
            return [*written]
        self.flow.settled |= find_used_twice(self.scope, self.flow, self.backwards)
        forwards = {
            id(event): find_forward(self.scope, self.file, self.flow, self.events, event)
            for event in self.backwards
            if not event.problem
        }
        reads = {key: found.flow_nodes for key, found in forwards.items() if isinstance(found, Forward)}
        owned = resolve(self.scope, self.events, self.flow, reads)
        placed = placed_gradients(self.scope, self.oracle) | {id(node) for _, node in self.of_leaves}
        read_later = [read for read in find_reads(self.scope, self.oracle) if id(read[1]) not in placed]
        self.reads = read_later
        obstacle = find_obstacle(self.scope, self.oracle, [*read_later, *self.of_leaves])
        asked = None
        if self.closure is None and not self.has_closures and can_be_kept(self.events):
            asked = asked_weights(self.scope, self.oracle)
        lasting = obstacle if asked is None else find_obstacle(self.scope, self.oracle, [*asked, *self.of_leaves])
        results: dict[int, TrainingUnit | UnitLeft] = {}
        for event in self.backwards:
            owner, forward = owned[id(event)], forwards.get(id(event))
            results[id(event)] = self._one(event, owner, forward, lasting)
        merge_twins(self.scope, self.backwards, forwards, results)
        leave_rivals(self.scope, self.backwards, results)
        self._cover(results)
        self._fall_together(owned, results)
        placed_reads = dict(results)
        place_reads(read_later, self.scope, self.events, placed_reads)
        leaves = asked_leaves(self.scope, self.flow, self.events, asked or ())
        wanted = self.keeping or self.is_shared or obstacle is not None or _are_by_hand(placed_reads) or bool(leaves)
        if asked is not None and wanted:
            kept = keep_all(results, self.events, asked, leaves)
            if kept is not None:
                return kept
        if self.is_shared:
            return [*stay_left(self.backwards, results)]
        results = placed_reads
        if obstacle is not None:
            left = (event for event in self.backwards if not event.problem)
            results.update((id(event), _by_hand(event.statement, obstacle[1])) for event in left)
        planned = {
            id(step.statement) for unit in results.values() if isinstance(unit, TrainingUnit) for step in unit.steps
        }
        orphans = self._orphans(planned, results)
        return [*results.values(), *orphans]

    def _one(
        self,
        event: Event,
        owner: Ownership | Refused,
        forward: Forward | Refused | None,
        obstacle: tuple[ast.stmt, str] | None,
    ) -> TrainingUnit | UnitLeft:
        if event.problem:
            return UnitLeft(event.statement, event.problem)
        if obstacle is not None:
            return _by_hand(event.statement, obstacle[1])
        if isinstance(forward, Refused):
            return _left(forward, event)
        if isinstance(owner, Refused) and isinstance(forward, Forward) and not (self.keeping or event.problem):
            owner = unused_gradients(self.scope, self.file, self.events, self.flow, forward, self.oracle) or owner
        if isinstance(owner, Refused):
            return _left(owner, event)
        assert forward is not None
        if self.has_closures and owner.gradient == "accumulate":
            return UnitLeft(event.statement, "gradients build up beside a step with a closure")
        if self.closure is not None and self.scope.guards(event.statement):
            return UnitLeft(event.statement, "the closure computes gradients on some paths only")
        unit = self._unit(forward, owner)
        return _left(unit, event) if isinstance(unit, Refused) else unit

    def _is_networks_own(self, forward: Forward) -> bool:
        """Whether a closure is a method of the network, ``optimizer.step(net.closure)``: it asks ``self``."""
        nodes = (node for tree in forward.flow_nodes for node in walk(tree))
        selves = (node for node in nodes if isinstance(node, ast.Name) and node.id == "self")
        return self.closure is not None and any(self.oracle.kind(node).name == "Module" for node in selves)

    def _unit(self, forward: Forward, owner: Ownership) -> TrainingUnit | Refused:
        if not self._is_networks_own(forward) and not any(
            self.flow.reaches(forward.flow_nodes, self.flow.modules_of(path, self.scope)) for path in owner.optimizers
        ):
            return Refused("the weights of the optimizer are reached through values computed elsewhere")
        if not self.flow.has_sure_source(forward.flow_nodes):
            return Refused("no module is called in the forward pass: the predictions may come from elsewhere")
        kept = self.flow.kept_values(set(forward.needed), self.scope)
        kept = kept or kept_apart(forward, self.file, self.flow, self.scope)
        if kept is not None:
            return Refused(f"the loss uses {kept}, whose gradients come from a forward pass in another function")
        if self._carries_on(forward):
            return Refused("the loss carries gradients over from iterations that do not call backward")
        stepped = [self.flow.modules_of(event.path, self.scope) for event in self.events if event.kind == "step"]
        body = plan_body(self.scope, self.file, self.flow, self.events, forward, stepped)
        if isinstance(body, Refused):
            return body
        whole = self._whole(owner)
        if whole is None:
            return Refused("the clipped parameters are not those of the optimizer", "T2M403")
        clips = clips_of(owner, whole)
        if isinstance(clips, Refused):
            return clips
        members = tuple(forward.block[index] for index in body.members)
        dropped = self._dropped(owner)
        place = Place(forward.block, body.start)
        loss = forward.backward.target
        assert loss is not None
        settled = {*owner.optimizers, *_path_of(forward.backward.scaler)}
        if {root(path) for path in settled} & effects(forward.block[body.start : forward.end]).binds:
            return Refused("the optimizer is made between the forward pass and the backward call")
        interface = find_interface(
            self.scope, self.file, self.oracle, place, forward.end, members, loss, dropped, settled
        )
        if interface.spoiled:
            return Refused(f"the forward pass changes {interface.spoiled[0]} in place and binds it anew")
        if interface.uncertain:
            return Refused(f"{interface.uncertain[0]} is bound on some paths only")
        steps = [step.statement for step in owner.steps]
        missing = [path for path in owner.optimizers if may_be_missing(self.scope, self.file, path)]
        if any(is_asked_for(self.scope, forward.backward.statement, steps, path) for path in missing):
            return Refused("the optimizer may be missing where the gradient would be computed")
        return self._assemble(forward, owner, body, interface, clips, dropped)

    def _carries_on(self, forward: Forward) -> bool:
        """Whether a value with a gradient survives an iteration in which backward is not reached."""
        between = forward.block[forward.first : forward.end]
        skipped = any("continue" in effects(statement).jumps for statement in between)
        if not forward.guards and not skipped:
            return False
        stored = self.file.effects([forward.block[index] for index in forward.demanded])
        parent = self.scope.location(forward.block[0]).parent
        anew = effects(parent.target).binds if isinstance(parent, ast.For) and parent.body is forward.block else ()
        return overlaps(
            stored.binds | stored.mutates | stored.shared, {path for path in forward.needed if root(path) not in anew}
        )

    def _whole(self, owner: Ownership) -> bool | None:
        """Whether every clipped list is all the weights of the optimizers: True, False (unknown), None (no)."""
        modules = [self.flow.modules_of(path, self.scope) for path in owner.optimizers]
        known = frozenset().union(*(paths for paths in modules if paths is not None))
        verdict: bool | None = None not in modules
        for event in owner.clips:
            listed = self.flow.weights_of(event.target, self.scope) if event.target is not None else frozenset()
            if event.target is not None and any(
                self.flow.trains_a_part(path, event.target, self.scope) for path in owner.optimizers
            ):
                return None
            if None in modules or not listed:
                verdict = False
            elif not listed <= known or not all(
                self.flow.is_reset_by(path, listed, self.scope) for path in owner.optimizers
            ):
                return None
        return verdict

    def _dropped(self, owner: Ownership) -> tuple[ast.stmt, ...]:
        """Statements without a counterpart; in accumulation the resets keep one."""
        events = [] if owner.backward.is_handed else [owner.backward]
        if owner.gradient != "accumulate":
            events.extend(owner.zeros)
        events.sort(key=lambda event: event.order)
        return tuple(dict.fromkeys(event.statement for event in events))

    def _assemble(
        self,
        forward: Forward,
        owner: Ownership,
        body: Body,
        interface: Interface,
        clips: tuple[Clip, ...],
        dropped: tuple[ast.stmt, ...],
    ) -> TrainingUnit | Refused:
        event, place = forward.backward, Place(forward.block, body.start)
        loss = event.target
        assert loss is not None
        members = tuple(forward.block[index] for index in body.members)
        guard = self._guard(forward, members, body)
        missing = any(may_be_missing(self.scope, self.file, path) for path in owner.optimizers)
        conditional = bool(forward.guards) or bool(
            self.scope.guards(forward.block[0], self.scope.location(interface.hoist.statement).parent)
        )
        if forward.guards and guard is None and owner.gradient != "assign":
            return Refused("gradients build up under a condition that depends on the forward pass")
        if missing and forward.guards and guard is None:
            return Refused("the optimizer may be missing where the gradient would be computed")
        suffix = suffix_of(event.path) if len(self.backwards) > 1 else ""
        forward_name, grad_name = self._names(suffix)
        several = len(self._step_paths(owner)) > 1
        return TrainingUnit(
            shape=self._shape(owner, clips, several, bool(forward.guards)),
            scope=self.scope.node,
            backward=event.statement,
            call=event.call,
            block=forward.block,
            start=body.start,
            body=members,
            removed=tuple(forward.block[index] for index in body.members if index not in body.again),
            moved=tuple(forward.block[index] for index in body.moved),
            dropped=dropped,
            loss=loss,
            loss_name=loss.id if isinstance(loss, ast.Name) else self.names.fresh("loss", "loss_value"),
            aux=interface.aux,
            parameters=interface.parameters,
            captures=interface.captures,
            optimizers=self._optimizer_nodes(owner),
            steps=steps_of(owner),
            clips=clips,
            gradient=owner.gradient,
            resets=tuple(zero.statement for zero in owner.zeros) if owner.gradient == "accumulate" else (),
            accumulator=self._accumulator(owner),
            guard=guard,
            scaler=event.scaler,
            scaling=scaling_of(owner),
            forward_name=forward_name,
            grad_name=grad_name,
            grads_name=self._grads_name(owner, suffix),
            hoist=interface.hoist,
            inline_grad=(missing and conditional) or (event.scaler is not None and not _path_of(event.scaler)),
            closure=self.closure,
            is_late=self._is_late(forward, body, owner),
            unset=find_unset(self.scope, place, (*interface.parameters, *_names_in(event.scaler))),
            notes=(*body.notes, *owner.notes, *self._clip_notes(clips, (*members, ast.Expr(loss)))),
        )

    def _is_late(self, forward: Forward, body: Body, owner: Ownership) -> bool:
        """Whether a reset stands between the place of the gradient call and that of the backward call."""
        start = self.scope.location(forward.block[body.start]).order
        resets = owner.zeros if owner.gradient == "accumulate" else ()
        return any(start <= zero.order < owner.backward.order for zero in resets)

    def _clip_notes(self, clips: Sequence[Clip], members: Sequence[ast.stmt]) -> tuple[str, ...]:
        """Say so where the clipped list cannot be matched with what the step trains."""
        used = self.flow.source_paths(members)
        for clip in clips:
            listed = self.flow.weights_of(clip.weights, self.scope)
            if not clip.whole and not (used and all(overlaps([path], listed) for path in used)):
                return ("the clipped parameters are taken to be all those of the optimizer",)
        return ()

    def _names(self, suffix: str) -> tuple[str, str]:
        if suffix:
            return self.names.fresh(f"forward_fn_{suffix}"), self.names.fresh(f"grad_fn_{suffix}")
        return self.names.fresh("forward_fn"), self.names.fresh("grad_fn")

    def _grads_name(self, owner: Ownership, suffix: str) -> str:
        """One name for all units that share a step."""
        key = frozenset(id(sibling) for sibling in owner.siblings)
        if key not in self.grads_names:
            wanted = ["grads", f"grads_{suffix}"] if suffix else ["grads"]
            self.grads_names[key] = self.names.fresh(*wanted)
        return self.grads_names[key]

    def _step_paths(self, owner: Ownership) -> set[str]:
        """The optimizers that step in the same outermost loop."""
        outer = self.scope.loops(owner.backward.statement)[-1:]
        events = [event for event in self.events if event.kind == "step"]
        return {event.path for event in events if self.scope.loops(event.statement)[-1:] == outer}

    def _shape(self, owner: Ownership, clips: Sequence[Clip], several: bool, guarded: bool) -> Shape:
        if owner.gradient == "accumulate":
            return "D"
        if len(owner.siblings) > 1:
            return "E"
        if any(event.scaler is not None for event in (owner.backward, *owner.steps)):
            return "C1"
        if several:
            return "F"
        if clips:
            return "B1"
        block = self.scope.location(owner.backward.statement).block
        same = all(self.scope.location(event.statement).block is block for event in (*owner.steps, *owner.zeros))
        return "A" if same and not guarded else "B3"

    def _optimizer_nodes(self, owner: Ownership) -> tuple[ast.expr, ...]:
        found: list[ast.expr] = [owner.network] if owner.network is not None else []
        for path in owner.optimizers:
            targets = [step.target for step in owner.steps if step.path == path]
            found.extend(target for target in targets[:1] if target is not None)
        return tuple(found)

    def _accumulator(self, owner: Ownership) -> Place | None:
        """In front of the outermost loop around the backward calls; None where a reset or a sibling does it already."""
        first = owner.siblings[0]
        if owner.gradient != "accumulate" or owner.backward is not first:
            return None
        loops = self.scope.loops(first.statement)
        location = self.scope.location(loops[-1] if loops else first.statement)
        for zero in owner.zeros:
            place = self.scope.location(zero.statement)
            if place.block is location.block and place.index < location.index:
                return None
        return Place(location.block, location.index)

    def _guard(self, forward: Forward, members: Sequence[ast.stmt], body: Body) -> ast.expr | None:
        """The condition around the backward call, when all of it can be asked before the forward pass."""
        between = self.file.effects(forward.block[body.start : forward.end])
        changes = between.changes | effects(list(members)).changes
        return condition_of([*reversed(forward.guards)], changes)

    def _cover(self, results: dict[int, TrainingUnit | UnitLeft]) -> None:
        """Drop resets that no step needs; leave the units of a loop in which other machinery has no place in a plan."""
        units = {key: unit for key, unit in results.items() if isinstance(unit, TrainingUnit)}
        covered = {id(statement) for unit in units.values() for statement in _machinery(unit)}
        for event in self.events:
            if event.kind in ("backward", "leaf", "closure") or id(event.statement) in covered:
                continue
            outer = self.scope.loops(event.statement)[-1:]
            near = {key: unit for key, unit in units.items() if self.scope.loops(unit.backward)[-1:] == outer}
            if not near:
                continue
            spans = [
                (
                    self.scope.location(unit.backward).order,
                    max(self.scope.location(s.statement).order for s in unit.steps),
                )
                for unit in near.values()
            ]
            inside = any(first <= event.order <= last for first, last in spans)
            if event.kind == "zero" and not inside and all(unit.gradient != "accumulate" for unit in near.values()):
                key, unit = next(iter(near.items()))
                results[key] = units[key] = replace(unit, dropped=(*unit.dropped, event.statement))
                continue
            reason = f"line {event.statement.lineno} belongs to no step that can be rewritten"
            for key, unit in near.items():
                results[key] = UnitLeft(unit.backward, reason, "T2M403")
                units.pop(key)

    def _fall_together(
        self, owned: dict[int, Ownership | Refused], results: dict[int, TrainingUnit | UnitLeft]
    ) -> None:
        """A step that one backward call cannot feed any more is left, and with it all the others that feed it."""
        changed = True
        while changed:
            changed = False
            for event in self.backwards:
                owner = owned[id(event)]
                if id(event) not in results or isinstance(results[id(event)], UnitLeft) or isinstance(owner, Refused):
                    continue
                for other in self.backwards:
                    failed = results.get(id(other))
                    if isinstance(failed, UnitLeft) and self._share(owner, other):
                        line = other.statement.lineno
                        results[id(event)] = UnitLeft(
                            event.statement, f"it shares a step or a loop with line {line}: {failed.reason}"
                        )
                        changed = True
                        break

    def _share(self, owner: Ownership, other: Event) -> bool:
        """Whether ``other`` stands in the same outermost loop (or, without loops, in the same scope)."""
        mine, theirs = self.scope.loops(owner.backward.statement), self.scope.loops(other.statement)
        return mine[-1:] == theirs[-1:]

    def _orphans(self, planned: set[int], results: dict[int, TrainingUnit | UnitLeft]) -> list[UnitLeft]:
        """Steps of certain optimizers that no unit of the scope uses and no reason explains yet."""
        if results:
            return []
        found = []
        for event in self.events:
            if event.kind == "closure":
                reason = self.closures.problems.get(event.call, "optimizer.step(closure) evaluates the loss itself")
                found.append(UnitLeft(event.statement, reason, "T2M403"))
            elif event.kind == "step" and not (event.by_hand or event.returned) and id(event.statement) not in planned:
                if never_has_gradients(event.path, self.scope.node, self.oracle.kind):
                    continue
                reason = "no backward call in this function computes the gradients of this step"
                found.append(UnitLeft(event.statement, reason, "T2M403"))
        return found


def _path_of(scaler: ast.expr | None) -> tuple[str, ...]:
    """Return the path of a gradient scaler, if it has a plain one."""
    path = dotted_path(scaler) if scaler is not None else None
    return (path,) if path else ()


def _names_in(scaler: ast.expr | None) -> tuple[str, ...]:
    """Return the name of a gradient scaler that is a variable: without mixed precision it may be unbound."""
    return (scaler.id,) if isinstance(scaler, ast.Name) else ()
