"""Find the training steps of a file: scope by scope, and what one scope does for another."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from torch2ms.translator.effects.dataflow import names_in
from torch2ms.translator.effects.loss_arguments import hands_over
from torch2ms.translator.effects.trained_tensors import WithTrained, trained_tensors
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.callees import LookUp
from torch2ms.translator.training.find.closures import find_closures
from torch2ms.translator.training.find.events import Wrappers, find_events
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.leaf_backwards import with_leaf_backwards
from torch2ms.translator.training.find.scope import ProjectFile
from torch2ms.translator.training.model import RecordedCall, TrainingUnit, UnitLeft
from torch2ms.translator.training.naming import Names
from torch2ms.translator.training.plan.kept_gradients import update_kept
from torch2ms.translator.training.plan.recorded import Planned, record_left
from torch2ms.translator.training.plan.units import Result, ScopePlanner
from torch2ms.translator.values.kinds import Oracle
from torch2ms.translator.values.use_evidence import uses

__all__ = ["find_parts", "find_units", "results_of"]


def find_parts(
    tree: ast.Module | Sequence[ast.stmt],
    oracle: Oracle,
    *,
    recording: bool = False,
    keeping: bool = False,
    handing: bool = False,
    wrappers: Wrappers | None = None,
    wrapping: Collection[ast.AST] = (),
    adding: bool = False,
    reaching: bool = False,
    late: Collection[str] = (),
    together: Collection[ast.stmt] = (),
    look_up: LookUp = lambda _: None,
) -> list[Planned]:
    """Return the scopes with steps: a plan for every backward call, and a reason for each that stays as it is.

    ``tree`` is a module, or the statements of one (a function body is taken as a module's). ``recording``: whether what
    cannot be a function may be recorded as it runs instead. ``keeping``: whether functions of the project ask for
    gradients that others compute, so that all are kept where they find them. ``handing``: whether objects of the
    project are handed losses and take the steps for them. ``wrappers``: its classes that hold an optimizer, and
    ``wrapping``: the methods of those of this file. ``adding``: whether an accelerator of the project says when the
    gradients of several passes are complete. ``reaching``: whether a record tells what weights a loss
    was computed from. ``late``: attributes and keys that the project's files store values under. ``together``:
    backward calls for the gradients of tensors that no function of their own can give. ``look_up``: gives the project's
    functions by their keys.
    """
    module = tree if isinstance(tree, ast.Module) else ast.Module(list(tree), [])
    starts = any(isinstance(node, ast.Attribute) and node.attr in ("backward", "step") for node in walk(module))
    found = uses(module)
    calls = (node for node in walk(module) if isinstance(node, ast.Call)) if handing else ()
    if not starts and not any(hands_over(call, oracle, found) for call in calls):
        return []
    file = ProjectFile.of(module, late, oracle)
    trained = trained_tensors(list(walk(module)), oracle)
    oracle = WithTrained(oracle, trained) if trained else oracle
    flow = GradientFlow(file, oracle, look_up)
    flow.backward_calls = sum(isinstance(node, ast.Attribute) and node.attr == "backward" for node in walk(module))
    taken = names_in(module)
    scopes = file.scopes()
    closures = find_closures(scopes, file, oracle)
    parts: list[Planned] = []
    for scope in sorted(scopes, key=lambda scope: scope.node not in closures.of):  # what is handed over comes first
        events = find_events(scope, file, oracle, handing=handing, wrappers=wrappers)
        file.machinery |= {id(event.call) for event in events if event.kind in ("backward", "zero", "step")}
        file.quiet |= {id(event.call) for event in events if event.kind in ("backward", "zero")}
        events = with_leaf_backwards(scope, events, oracle, together)
        if scope.node in wrapping:
            parts.append(Planned(scope, oracle, events, [*update_kept(events)], True, True))
            continue
        planner = ScopePlanner(scope, file, flow, oracle, Names(taken), closures, events, keeping, handing, adding)
        planned, closure = planner.plan(), closures.of.get(scope.node)
        if closure is not None and not any(isinstance(unit, TrainingUnit) for unit in planned):
            closures.leave(closure, f"{closure.function.name} has no backward call that can be rewritten")
        stays = bool(planner.reads) or closure is not None or planner.is_shared
        is_fixed = closure is not None or planner.has_closures or planner.is_taker
        parts.append(Planned(scope, oracle, planner.events, planned, stays, is_fixed))
    if recording:
        record_left(parts, reaching=reaching)
    return parts


def find_units(tree: ast.Module | Sequence[ast.stmt], oracle: Oracle, *, recording: bool = False) -> list[Result]:
    """Return the results of :func:`find_parts` in source order."""
    return results_of(find_parts(tree, oracle, recording=recording))


def results_of(parts: Sequence[Planned]) -> list[Result]:
    """Return what was planned for some scopes, in source order."""
    found = [result for part in parts for result in part.results]
    return sorted(found, key=lambda unit: (_line(unit), isinstance(unit, UnitLeft)))


def _line(unit: TrainingUnit | UnitLeft | RecordedCall) -> tuple[int, int]:
    if isinstance(unit, RecordedCall):
        return unit.call.lineno, unit.call.col_offset
    node = unit.backward if isinstance(unit, TrainingUnit) else unit.node
    return node.lineno, node.col_offset
