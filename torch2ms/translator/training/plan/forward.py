"""The forward pass of a backward call: which statements become the body of ``forward_fn``, and whether they may."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch2ms.translator.effects.dataflow import Effects, backward_slice, effects, live_in, overlaps
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.events import Event
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.scope import ProjectFile, Scope, is_formal
from torch2ms.translator.training.plan.ownership import Refused

__all__ = ["Body", "Forward", "find_forward", "plan_body"]


@dataclass(frozen=True, slots=True)
class Forward:
    """Where the forward pass of ``backward`` stands: ``chosen`` of ``block[:end]``; gradients start at ``first``."""

    backward: Event
    block: list[ast.stmt]
    end: int  # index of the statement that is or holds the backward call
    # The conditionals that hold the backward call when the forward pass stands outside of them, innermost first, and
    # whether the call stands where the test holds (True) or in the else part.
    guards: tuple[tuple[ast.If, bool], ...]
    chosen: frozenset[int]
    demanded: frozenset[int]
    first: int  # index of the first statement that may use weights; ``end`` when only the loss expression does
    needed: frozenset[str]  # the paths from outside the list that the gradient flows to

    @property
    def flow_nodes(self) -> list[ast.AST]:
        """The nodes that the gradient flows through."""
        assert self.backward.target is not None
        return [*(self.block[index] for index in sorted(self.demanded)), self.backward.target]


@dataclass(frozen=True, slots=True)
class Body:
    """The body of forward_fn as indices of one block; see TrainingUnit for the fields' meaning."""

    start: int
    members: tuple[int, ...]
    again: tuple[int, ...]  # computed at their old place as well
    moved: tuple[int, ...]
    notes: tuple[str, ...] = ()


def find_forward(
    scope: Scope, file: ProjectFile, flow: GradientFlow, events: Sequence[Event], backward: Event
) -> Forward | Refused:
    """Find the one statement list that holds the forward pass of ``backward``."""
    assert backward.target is not None
    place = scope.location(backward.statement)
    block, end = place.block, place.index
    guards: tuple[tuple[ast.If, bool], ...] = ()
    while True:
        part = _slice(flow, events, scope, block, end, backward.target)
        if part.first < end or (not guards and flow.has_source(backward.target)):
            found = Forward(backward, block, end, guards, part.chosen, part.demanded, part.first, part.needed)
            spread = _has_outer_flow(scope, file, flow, found)
            return Refused("the forward pass is spread over several nested blocks") if spread else found
        parent = scope.location(block[0]).parent
        if parent is None or isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            return Refused("the loss is computed elsewhere: no module is called before it in this function")
        if not isinstance(parent, ast.If):
            return Refused("the forward pass does not stand in the statement list of the backward call")
        if part.chosen:
            return Refused("the loss is changed inside the conditional that holds the backward call")
        if not is_formal(parent, block):
            guards = (*guards, (parent, block is parent.body))
        block, end = scope.location(parent).block, scope.location(parent).index


@dataclass(frozen=True, slots=True)
class _Slice:
    chosen: frozenset[int]
    demanded: frozenset[int]
    first: int
    needed: frozenset[str]


def _has_outer_flow(scope: Scope, file: ProjectFile, flow: GradientFlow, forward: Forward) -> bool:
    """Whether enclosing lists, up to a loop whose rounds share no graph, give it values that carry gradients."""
    wanted = set(forward.needed)
    block = forward.block
    while True:
        parent = scope.location(block[0]).parent
        is_loop = isinstance(parent, (ast.For, ast.AsyncFor, ast.While))
        if parent is None or (is_loop and not _retains(forward.backward)):
            return False
        block, end = scope.location(parent).block, scope.location(parent).index
        chosen = [
            index
            for index in range(end)
            if not isinstance(block[index], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        ]
        asked = set(wanted)
        found = flow.demanded(block, chosen, wanted)
        if flow.carrying(block, found, asked):
            return True


def _retains(backward: Event) -> bool:
    """Whether a backward call keeps the graph, so that the next round of a loop can go through it again."""
    words = (word.value for word in backward.call.keywords if word.arg == "retain_graph")
    return any(isinstance(value, ast.Constant) and bool(value.value) for value in words)


def _slice(
    flow: GradientFlow,
    events: Sequence[Event],
    scope: Scope,
    block: list[ast.stmt],
    end: int,
    value: ast.expr,
) -> _Slice:
    """Return the backward slice of ``value`` in ``block[:end]``, its differentiable part, and where weights enter."""
    ignored = {
        scope.location(event.statement).index for event in events if scope.location(event.statement).block is block
    }
    chosen = backward_slice(block, end, flow.effects, ignored=ignored, value=value)
    needed = flow.values_read(value)
    asked = set(needed)
    demanded = flow.demanded(block, chosen, needed)
    carrying = flow.carrying(block, demanded, asked)
    return _Slice(frozenset(chosen), frozenset(carrying), min(carrying, default=end), frozenset(needed))


def plan_body(
    scope: Scope,
    file: ProjectFile,
    flow: GradientFlow,
    events: Sequence[Event],
    forward: Forward,
    modules_stepped: Sequence[frozenset[str] | None],
) -> Body | Refused:
    """Decide what becomes the body of forward_fn and check that taking it out keeps the order of effects.

    ``modules_stepped`` are, for every optimizer step of the scope in event order, the modules it updates.
    """
    boundary = _boundary(scope, events, forward)
    again = {index for index in forward.demanded if forward.first <= index <= boundary}
    entry = min(
        (index for index in forward.demanded if index > boundary and index >= forward.first), default=forward.end
    )
    members = again | {index for index in forward.chosen if index >= entry}
    notes: tuple[str, ...] = ()
    if again:
        verdict = _check_again(scope, file, flow, events, forward, sorted(again), entry, modules_stepped)
        if isinstance(verdict, Refused):
            return verdict
        notes = verdict
    machinery = {
        scope.location(event.statement).index
        for event in events
        if scope.location(event.statement).block is forward.block
    }
    placed = _settle(forward, file, events, scope, members, entry, machinery)
    if isinstance(placed, Refused):
        return placed
    last = max(placed, default=-1)
    placed |= set(_beginnings(forward, file, placed, entry))
    moved = tuple(index for index in range(entry, last) if index not in placed and index not in machinery)
    return Body(entry, tuple(sorted(placed)), tuple(sorted(again)), moved, notes)


def _beginnings(forward: Forward, file: ProjectFile, placed: set[int], entry: int) -> Iterator[int]:
    """Yield the statements above the body that make what the body adds to: ``loss = torch.zeros(1)``.

    A function that changes its own argument is none that MindSpore differentiates. Such a statement can wait until the
    body runs if nothing in between mentions the name, or changes what the value is made of.
    """
    added = {
        node.target.id
        for index in placed
        for node in walk(forward.block[index])
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    added &= live_in([forward.block[index] for index in sorted(placed)])
    for name in added:
        above = [index for index in range(entry) if name in effects(forward.block[index]).binds]
        index = above[-1] if above else entry
        made = forward.block[index]
        if index not in forward.chosen or not isinstance(made, ast.Assign):
            continue
        here, between = file.effects(made), effects(forward.block[index + 1 : entry])
        mentioned = name in between.names_read | between.binds or overlaps(between.changes, here.reads)
        if not mentioned and not here.acts and not here.mutates and here.binds <= added:
            yield index


def _boundary(scope: Scope, events: Sequence[Event], forward: Forward) -> int:
    """The last index before the backward call at which another unit computes gradients or updates; -1 when none."""
    found = -1
    for event in events:
        if event.kind not in ("backward", "leaf", "step") or event is forward.backward:
            continue
        if scope.is_left_before(event.statement, forward.backward.statement):
            continue
        index = scope.index_in(forward.block, event.statement)
        if index is not None and index < forward.end:
            found = max(found, index)
    return found


def _settle(
    forward: Forward,
    file: ProjectFile,
    events: Sequence[Event],
    scope: Scope,
    members: set[int],
    start: int,
    machinery: set[int],
) -> set[int] | Refused:
    """Check the statements that the body is taken out of; those that cannot stand behind it join it."""
    placed = set(members)
    found = {index: file.effects(forward.block[index]) for index in range(forward.end)}
    holders = {scope.index_in(forward.block, event.statement) for event in events}
    grown = True
    while grown:
        grown = False
        for index in range(start, forward.end):
            if index in placed or index in machinery:
                continue
            later = [found[other] for other in placed if other > index]
            if not later or not _must_stay_before(found[index], later):
                continue
            if found[index].jumps or index in holders:
                line = forward.block[index].lineno
                return Refused(f"line {line} stands inside the forward pass and cannot be moved behind it")
            placed.add(index)
            grown = True
    for index in placed:
        problem = _unfit(forward.block[index], found[index])
        if index in holders or problem:
            line = forward.block[index].lineno
            return Refused(f"line {line} cannot become part of a function: {problem or 'it holds a training step'}")
    return placed


def _must_stay_before(moved: Effects, later: Sequence[Effects]) -> bool:
    """Whether a statement must run before one of those that would overtake it."""
    if moved.jumps or (moved.acts and any(other.acts for other in later)):
        return True
    return any(
        overlaps(moved.reads, other.changes) or overlaps(moved.changes, other.reads | other.changes) for other in later
    )


def _unfit(statement: ast.stmt, found: Effects) -> str:
    """Why a statement cannot stand in the body of a nested function; "" when it can."""
    if found.jumps:
        return "it leaves the block (" + ", ".join(sorted(found.jumps)) + ")"
    for node in walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "super" and not node.args:
                return "it calls super()"
            if node.func.id in ("locals", "vars", "exec", "eval") and not node.args:
                return f"it calls {node.func.id}()"
        if isinstance(node, ast.Delete) and any(isinstance(target, ast.Name) for target in node.targets):
            return "it deletes a name"
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return "it declares a name global"
        if isinstance(node, ast.Call) and (dotted_path(node.func) or "").endswith("autograd.grad"):
            return "it takes a gradient itself"
    return ""


def _check_again(
    scope: Scope,
    file: ProjectFile,
    flow: GradientFlow,
    events: Sequence[Event],
    forward: Forward,
    again: Sequence[int],
    entry: int,
    modules_stepped: Sequence[frozenset[str] | None],
) -> tuple[str, ...] | Refused:
    """Check that the statements before another unit's step can be computed a second time with the same result."""
    line = forward.block[again[0]].lineno
    refusal = Refused(f"line {line} belongs to an earlier step of the loop and cannot be computed again")
    nodes = [forward.block[index] for index in again]
    steps = [event for event in events if event.kind == "step"]
    for event, modules in zip(steps, modules_stepped, strict=True):
        index = scope.index_in(forward.block, event.statement)
        if index is None or not again[0] < index < entry:
            continue
        if modules is None or flow.reaches(nodes, modules):
            return refusal
    for index in again:
        here = file.effects(forward.block[index])
        if not isinstance(forward.block[index], ast.Assign) or here.mutates or here.jumps:
            return refusal
        for other in range(index + 1, forward.end):
            if other in again:
                continue
            changed = file.effects(forward.block[other])
            inputs = here.reads - flow.called_modules(forward.block[index])
            if other < entry and overlaps(changed.binds | changed.mutates, inputs | here.binds):
                return refusal
        if _draws(forward.block[index]):
            return refusal
    what = ", ".join(f"line {forward.block[index].lineno}" for index in again)
    return (
        f"{what} runs a second time inside this step: random layers draw again, and BatchNorm statistics of networks "
        "that are not called by name move twice",
    )


def _draws(statement: ast.stmt) -> bool:
    """Whether the statement itself draws random numbers or reads data."""
    names = {
        (dotted_path(node.func) or "").rpartition(".")[2] for node in walk(statement) if isinstance(node, ast.Call)
    }
    return any(
        name.startswith("rand") or name in ("normal", "next", "bernoulli", "multinomial", "sample") for name in names
    )
