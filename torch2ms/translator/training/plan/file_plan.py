"""What happens at which statement of a file with training steps: the plans of its scopes, entered by statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch2ms.translator.context import Context
from torch2ms.translator.effects.gradient_hooks import hooked
from torch2ms.translator.effects.gradient_uses import asked_apart, clips_apart
from torch2ms.translator.effects.names_used import own as own_nodes
from torch2ms.translator.effects.optimizer_wrappers import wrapping_methods
from torch2ms.translator.effects.recordability import (
    GRADIENT,
    GRAPHS,
    is_recordable,
    keeps_graph,
    leaves_in,
    written_to,
)
from torch2ms.translator.rules.calls.input_gradients import network_input
from torch2ms.translator.rules.calls.network_gradients import asks_for_networks, calls_of_networks
from torch2ms.translator.rules.recorded_leaves import TENSORS
from torch2ms.translator.rules.training_units import scope_around
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.callees import Callee
from torch2ms.translator.training.find.manual_updates import gradients_of
from torch2ms.translator.training.find.record_starts import record_starts, script_start
from torch2ms.translator.training.find.scope import is_formal
from torch2ms.translator.training.find.sections import sections
from torch2ms.translator.training.leaf_model import LeafPlan, LeafUnit
from torch2ms.translator.training.model import Clip, RecordedCall, ScalerCall, Step, TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.kept_gradients import is_weight
from torch2ms.translator.training.plan.leaf_scopes import plan_leaves
from torch2ms.translator.training.plan.open_records import record_open
from torch2ms.translator.training.plan.recorded import Planned
from torch2ms.translator.training.plan.steps import find_parts, results_of
from torch2ms.translator.values.families import FUNCTION
from torch2ms.translator.values.leaf_tensors import hand_trained

__all__ = ["TrainingPlan", "plan_training"]

_EXPERIMENTAL = (2, 1)  # the first MindSpore with optimizers that the runtime's can derive from
_RECORDING = (2, 7)  # the first MindSpore whose operations can be recorded outside of a gradient function
_REACHING = (2, 9)  # the first whose records tell what weights a loss was computed from
Statement = Any  # a libcst statement; blocks hold simple and compound ones alike


@dataclass(slots=True)
class TrainingPlan:
    """What happens at which statement of the file."""

    units: list[TrainingUnit] = field(default_factory=list)
    left: list[UnitLeft] = field(default_factory=list)
    gone: set[ast.stmt] = field(default_factory=set)
    taken: set[ast.stmt] = field(default_factory=set)  # of those, what forward_fn takes in with its comments
    calls: dict[ast.stmt, list[TrainingUnit]] = field(default_factory=dict)
    hoists: dict[ast.stmt, list[TrainingUnit]] = field(default_factory=dict)
    accumulators: dict[ast.stmt, list[TrainingUnit]] = field(default_factory=dict)
    steps: dict[ast.stmt, tuple[TrainingUnit, Step]] = field(default_factory=dict)
    clips: dict[ast.stmt, tuple[TrainingUnit, Clip]] = field(default_factory=dict)
    unscaling: dict[ast.stmt, tuple[TrainingUnit, ScalerCall]] = field(default_factory=dict)
    resets: dict[ast.stmt, TrainingUnit] = field(default_factory=dict)
    closure_calls: set[ast.Call] = field(default_factory=set)  # of closures with gradients, and of steps with them
    formal: set[ast.AST] = field(default_factory=set)  # tests that go with the one statement they guard
    handled: set[ast.AST] = field(default_factory=set)  # calls that the plan replaces: no pass needs to
    unset: dict[ast.stmt, list[str]] = field(default_factory=dict)  # names that are empty to begin with
    gradients: dict[ast.AST, str] = field(default_factory=dict)  # a weight's .grad -> the name that holds it
    reads: dict[ast.AST, TrainingUnit] = field(default_factory=dict)  # a weight's .grad -> the unit that answers it
    kept: set[ast.AST] = field(default_factory=set)  # every .grad that what is kept with the weights answers
    kept_clips: set[ast.Call] = field(default_factory=set)  # clip_grad_norm_(p, 1.0) where p.grad is read
    is_keeping: bool = False  # gradients are kept with the weights: a reset anywhere must forget them
    left_scopes: set[ast.AST] = field(default_factory=set)  # functions with a step that stays: all of it stays
    rewritten: dict[ast.stmt, list[Statement]] = field(default_factory=dict)
    leaves: LeafPlan = field(default_factory=LeafPlan)  # gradients that are asked for by hand
    derives_by_record: bool = False  # the record gives all gradients that are differentiated again
    asked: set[ast.Call] = field(default_factory=set)  # of those, what the record answers: autograd.grad
    recorded: dict[ast.stmt, list[RecordedCall]] = field(default_factory=dict)  # calls that keep their place
    late: dict[ast.stmt, TrainingUnit] = field(default_factory=dict)  # where gradients are added up, behind a reset
    starts: set[ast.stmt] = field(default_factory=set)  # statements that the record is started in front of

    @property
    def is_recording(self) -> bool:
        """Whether MindSpore records all operations as they run."""
        return bool(self.recorded or self.asked)

    @property
    def calls_hooks(self) -> bool:
        """Whether hooks on tensors are called: a loss is differentiated by what was recorded for it."""
        calls = (call for several in self.recorded.values() for call in several)
        return any(call.kind in ("backward", "hand") and call.unit is None for call in calls)

    @property
    def changes(self) -> bool:
        """Whether the plan rewrites any training step."""
        return bool(self.units or self.recorded)

    def concerns(self, tree: ast.stmt) -> bool:
        """Whether the plan does anything at a statement."""
        if self.leaves.concerns(tree) or tree in self.starts:
            return True
        if not self.changes:
            return False
        tables = (
            self.gone,
            self.calls,
            self.hoists,
            self.accumulators,
            self.steps,
            self.clips,
            self.unscaling,
            self.resets,
            self.recorded,
            self.late,
        )
        return any(tree in table for table in tables)


def plan_training(ctx: Context) -> TrainingPlan:
    """Return the plan for the file; units that stay as they are have been reported."""
    plan = _planned_steps(ctx)
    asked: list[tuple[ast.AST, ast.expr]] = [(call, call.args[0]) for call in plan.asked if call.args]
    asked += [(c.statement, c.target) for calls in plan.recorded.values() for c in calls if _asks_record(c)]
    symbols = ctx.world.symbols
    imported = symbols.is_imported(ctx.path)
    plan.starts.update(record_starts(asked, ctx.analysis.tree, ctx.parent, imported=imported))
    able = ctx.target.mindspore >= _RECORDING and ctx.options.mode == "pynative"
    if able and not plan.starts and not imported and symbols.has_losses_differentiated(ctx.path):
        plan.starts.update(script_start(ctx.analysis.tree))
    return plan


def _asks_record(call: RecordedCall) -> bool:
    """Whether a call asks for gradients of what was recorded, not for those that are kept with the weights."""
    return call.kind in ("backward", "hand") and call.unit is None and not call.is_kept


def _planned_steps(ctx: Context) -> TrainingPlan:
    plan = TrainingPlan()
    keeping = ctx.target.mindspore >= _EXPERIMENTAL and ctx.world.symbols.is_near("asks_for_gradients", ctx.path)
    plan.is_keeping = keeping
    attributes = {node.attr for node in ctx.analysis.all(ast.Attribute)}
    imported = {alias.name for node in ctx.analysis.all(ast.ImportFrom) for alias in node.names}
    handing = ctx.target.mindspore >= _EXPERIMENTAL and ctx.world.symbols.takes_losses
    wrappers = _wrappers(ctx) if ctx.target.mindspore >= _EXPERIMENTAL else {}
    own = {key.rpartition(":")[2]: names for key, names in wrappers.items() if key.startswith(f"{ctx.path}:")}
    wrapping = wrapping_methods(ctx.analysis.tree, own) if own or "step" in attributes else set()
    plan.kept_clips.update(clips_apart(ctx.analysis.tree) if keeping else ())
    if not handing and not wrapping and not (attributes | imported) & {"backward", "grad", "*"}:
        return plan
    recording = ctx.target.mindspore >= _RECORDING and ctx.options.mode == "pynative"
    graphs = recording and ctx.target.mindspore >= GRAPHS
    if ctx.target.mindspore >= _EXPERIMENTAL and "grad" in attributes:
        asked = asked_apart(ctx.analysis.tree)
        plan.kept.update(node for node, is_own in asked if (keeping or is_own) and is_weight(node, ctx.analysis))
    reaching = recording and _may_reach(keeping, ctx)
    parts = sections(ctx.analysis.tree)
    handed: dict[str, Any] = {"recording": recording, "keeping": keeping, "handing": handing, "wrappers": wrappers}
    handed |= {"wrapping": wrapping, "look_up": lambda key: _callee(key, ctx)}
    handed["late"] = ctx.world.symbols.kept
    handed["reaching"] = reaching
    handed["adding"] = ctx.target.mindspore >= _EXPERIMENTAL and ctx.world.symbols.adds_gradients
    planned = _planned_parts(plan, attributes, parts, handed, ctx, graphs=graphs)
    _enter_leaves(plan, ctx.analysis.remade)
    deriving = _derived_again(plan, parts, ctx)
    _enter_asked(plan, parts, deriving, ctx, graphs=graphs)
    by_hand = {unit.statement for unit in plan.leaves.units}
    _settle_records(planned, deriving, plan, ctx, reaching=reaching, graphs=graphs)
    units = [unit for part in planned for unit in results_of(part)]
    for found in units:
        if isinstance(found, UnitLeft):
            if found.node in by_hand:
                continue
            plan.left.append(found)
            plan.left_scopes.add(scope_around(found.node, ctx))
        elif isinstance(found, RecordedCall):
            plan.is_keeping |= found.kind == "take" or bool(own or found.reads) or _is_open(found)
            _enter_recorded(plan, found, ctx)
        else:
            _enter(plan, found, ctx)
            _name_gradients(plan, found, ctx)
    plan.kept_clips.update(_clips_of_kept(plan, ctx))
    for node in ctx.analysis.nodes if plan.gone else ():
        if isinstance(node, ast.If) and is_formal(node, node.body) and node.body[0] in plan.gone:
            plan.formal.add(node.test)
    return plan


def _planned_parts(
    plan: TrainingPlan,
    attributes: Collection[str],
    parts: Sequence[ast.Module],
    handed: Mapping[str, Any],
    ctx: Context,
    *,
    graphs: bool,
) -> list[list[Planned]]:
    """Return what is planned for the steps in each part of a file; the gradients asked for by hand are in the plan."""
    planned: list[list[Planned]] = []
    refused: set[ast.stmt] = set()  # backward calls whose gradients no function gives: they are the steps' concern
    while True:
        if not {"backward", "step"}.isdisjoint(attributes) or handed["handing"] or handed["wrapping"]:
            planned = [find_parts(part, ctx.analysis, together=refused, **handed) for part in parts]
            if "backward" not in attributes and not handed["handing"] and not handed["wrapping"]:
                for part in (scope for found in planned for scope in found):
                    part.results = [result for result in part.results if isinstance(result, RecordedCall)]
        of_leaves = {statement for part in planned for scope in part for statement in scope.leaves}
        units = [unit for part in planned for unit in results_of(part) if isinstance(unit, TrainingUnit)]
        _plan_leaves(plan, ctx, units, parts, of_leaves, graphs=graphs, recording=handed["recording"])
        left = of_leaves.difference(unit.statement for unit in plan.leaves.units)
        for scope in (scope for part in planned for scope in part):
            left |= set() if all(isinstance(one, TrainingUnit) for one in scope.results) else scope.leaves
        if not left:
            return planned
        refused |= left


def _callee(key: str, ctx: Context) -> Callee | None:
    """Return a function of the project with its file; None for what is none, and for a lambda."""
    info, path = ctx.world.function(key), key.rpartition(":")[0]
    analysis = ctx.world.file(path) if info is not None else None
    if info is None or analysis is None or isinstance(info.node, ast.Lambda):
        return None
    return Callee(info.node, path, analysis.tree, analysis)


def _plan_leaves(
    plan: TrainingPlan,
    ctx: Context,
    units: Sequence[TrainingUnit],
    parts: Sequence[ast.Module],
    apart: Collection[ast.stmt],
    *,
    graphs: bool,
    recording: bool,
) -> None:
    """Plan what is asked for by hand; the record answers what functions would lose a part of."""
    taken = {node.id for node in ctx.analysis.nodes if isinstance(node, ast.Name)}
    stepped = {unit.backward: (unit.forward_name, unit.grad_name, unit.grads_name) for unit in units}
    held = {statement for unit in units for statement in unit.removed}
    keeping = ctx.world.symbols.is_near("asks_for_gradients", ctx.path, besides=True) if recording else None
    asked = (ctx.analysis.tree, ctx.analysis)
    plan.leaves = plan_leaves(*asked, set(taken), stepped, parts, held, apart, keeping=keeping)
    plan.derives_by_record = graphs and _derives_by_record(plan.leaves, ctx)
    if plan.derives_by_record or (graphs and any(_is_lossy(unit, ctx) for unit in plan.leaves.units)):
        plan.leaves = plan_leaves(*asked, taken, stepped, parts, held, apart, again=False, keeping=keeping)


def _derives_by_record(leaves: LeafPlan, ctx: Context) -> bool:
    """Whether the record gives a gradient that is differentiated again, here or in a file near: it gives all then.

    It cannot look through a gradient that a function gave: ``u_xx`` of the record asks for ``u_x`` of the record.
    """
    if not asks_for_networks(ctx):
        return False
    symbols = ctx.world.symbols
    if symbols.files[ctx.path].asks_for_graphs and symbols.is_near("asks_for_graphs", ctx.path, besides=True):
        return True
    handled: set[ast.AST] = {unit.call for unit in leaves.units}
    handled |= calls_of_networks(ctx, handled)
    asked = (call for call in ctx.analysis.all(ast.Call) if call not in handled and ctx.kind(call.func).of == GRADIENT)
    return any(keeps_graph(call) and is_recordable(call, graphs=True) for call in asked)


def _enter_asked(
    plan: TrainingPlan, parts: Sequence[ast.Module], deriving: Collection[int], ctx: Context, *, graphs: bool
) -> None:
    """Let the record answer ``autograd.grad`` where no function does, and none gives what is differentiated again."""
    if ctx.target.mindspore < TENSORS or ctx.options.mode != "pynative":
        return
    by_networks = graphs and asks_for_networks(ctx) and not plan.derives_by_record
    of_networks = calls_of_networks(ctx, plan.handled) if by_networks else set()
    for call in ctx.analysis.all(ast.Call):
        is_gradient = ctx.kind(call.func).name == "api" and ctx.kind(call.func).of == GRADIENT
        if not is_gradient or call in plan.handled or call in of_networks or _is_in_backward(call, ctx):
            continue
        if not is_recordable(call, graphs=graphs) or (deriving and _part_of(call, parts, ctx) in deriving):
            continue
        nodes = list(own_nodes(scope_around(call, ctx)))
        written = leaves_in(nodes) & written_to(nodes)
        if all(_is_parameter(name, nodes, ctx) for name in written):
            plan.asked.add(call)


def _is_parameter(name: str, nodes: list[ast.AST], ctx: Context) -> bool:
    """Whether a name is that of a weight, which is changed in place in MindSpore as well."""
    return any(isinstance(n, ast.Name) and n.id == name and ctx.kind(n).name == "Parameter" for n in nodes)


def _is_in_backward(call: ast.AST, ctx: Context) -> bool:
    """Whether a call stands in the backward pass of an operation of the program's own, where nothing is recorded."""
    node: ast.AST | None = call
    while node is not None and not isinstance(node, ast.ClassDef):
        node = ctx.parent(node)
    info = ctx.analysis.class_of.get(node) if isinstance(node, ast.ClassDef) else None
    return info is not None and FUNCTION in ctx.world.torch_bases(info.key)


def _is_lossy(unit: LeafUnit, ctx: Context) -> bool:
    """Whether a function gives a gradient that PyNative loses parts of when it is differentiated again."""
    return unit.loses_second_derivatives and network_input(unit, ctx) is None


def _derived_again(plan: TrainingPlan, parts: Sequence[ast.Module], ctx: Context) -> set[int]:
    """Return the places of the parts of a file in which a gradient is differentiated again."""
    again = (unit for unit in plan.leaves.units if unit.keeps_graph and network_input(unit, ctx) is None)
    return {_part_of(unit.statement, parts, ctx) for unit in again}


def _part_of(node: ast.AST, parts: Sequence[ast.Module], ctx: Context) -> int:
    """Return which part of a file a node stands in."""
    inner: ast.AST | None = node
    while inner is not None and not isinstance(inner, ast.Module):
        node, inner = inner, ctx.parent(inner)
    return next((place for place, part in enumerate(parts) if node in part.body), 0)


def _clips_of_kept(plan: TrainingPlan, ctx: Context) -> Iterator[ast.Call]:
    """Yield the calls that clip the gradient of a weight whose gradient the same function reads: ``BertAdam.step``."""
    owners = {
        (scope_around(node, ctx), ast.unparse(node.value)) for node in plan.kept if isinstance(node, ast.Attribute)
    }
    for call in ctx.analysis.all(ast.Call) if owners else ():
        is_clip = ctx.kind(call.func).of.rpartition(".")[2].startswith("clip_grad_") and len(call.args) > 1
        if is_clip and call not in plan.handled and (scope_around(call, ctx), ast.unparse(call.args[0])) in owners:
            yield call


def _settle_records(
    planned: list[list[Planned]],
    deriving: Collection[int],
    plan: TrainingPlan,
    ctx: Context,
    *,
    reaching: bool,
    graphs: bool,
) -> None:
    """Record the steps that are left, or none where a gradient of the same part of the file is differentiated again.

    A record takes what ``ms.grad`` gives for constant; what ``derivatives.by_input`` gives it does not.
    """
    for place, part in enumerate(planned):
        if place in deriving:
            for scope in part:
                scope.forget()
        elif reaching:
            imported = ctx.world.symbols.is_imported(ctx.path)
            record_open(part, plan.leaves.statements, imported=imported, graphs=graphs, hooks=_calls_hooks(ctx))


def _may_reach(keeping: bool, ctx: Context) -> bool:
    """Whether gradients may be those of all weights that a loss reaches: whatever resets them must be seen to do so."""
    resets = keeping or not ctx.world.symbols.is_near("resets_apart", ctx.path, besides=True)
    return ctx.target.mindspore >= _REACHING and resets


def _calls_hooks(ctx: Context) -> bool:
    """Whether what has hooks would be computed from parameters: tensors with a gradient are none yet."""
    if not any(node.attr == "register_hook" for node in ctx.analysis.all(ast.Attribute)):
        return False
    return ctx.analysis.trains_all or not hand_trained(ctx.analysis.tree, is_whole=True)


def _is_open(call: RecordedCall) -> bool:
    """Whether a loss is differentiated by whatever weights it reaches: any reset must forget their gradients."""
    return call.kind in ("backward", "hand") and call.unit is None and not call.optimizers


def _wrappers(ctx: Context) -> dict[str, frozenset[str]]:
    """Return the classes near a file that hold an optimizer, by key, with their methods that take a step."""
    symbols = ctx.world.symbols
    files = symbols.files.items() if symbols.is_near("wrappers", ctx.path) else ()
    return {f"{path}:{name}": steps for path, file in files for name, steps in file.wrappers.items()}


def _enter_leaves(plan: TrainingPlan, remade: Mapping[ast.stmt, str]) -> None:
    """Let other passes leave alone what becomes a gradient of a function; ``remade`` statements make a parameter."""
    plan.leaves.gone.difference_update(remade)
    plan.gradients.update(plan.leaves.names)
    plan.kept -= plan.leaves.names.keys()
    for unit in plan.leaves.units:
        plan.handled.add(unit.call)
        if unit.loses_second_derivatives:
            plan.leaves.lossy[unit.call] = unit
        plan.handled.update(
            node.value for node in unit.body if hooked(node) and isinstance(node, (ast.Expr, ast.Assign))
        )
    for statement in (*plan.leaves.cleared, *plan.leaves.clips):
        plan.handled.update(node for node in walk(statement) if isinstance(node, ast.Call))
    for statement in (*plan.leaves.resets, *plan.leaves.gone):
        taken = any(statement in unit.body for unit in plan.leaves.units)
        if not taken:
            plan.handled.update(node for node in walk(statement) if isinstance(node, ast.Call))


def _enter_recorded(plan: TrainingPlan, found: RecordedCall, ctx: Context) -> None:
    plan.recorded.setdefault(found.statement, []).append(found)
    plan.kept.update(found.reads)
    if found.kind != "hand":  # what follows it stays, and is translated
        plan.handled.add(found.call)
    if found.clip is not None and found.clip.is_inside:
        plan.leaves.inner[found.call] = _norm_name(ctx)


def _norm_name(ctx: Context) -> str:
    """Return a name that the file does not use for the norm of the gradients, which a larger expression takes."""
    name, used = "grad_norm", {node.id for node in ctx.analysis.all(ast.Name)}
    while name in used or any(node.arg == name for node in ctx.analysis.all(ast.arg)):
        name += "_"
    return name


def _name_gradients(plan: TrainingPlan, unit: TrainingUnit, ctx: Context) -> None:
    """Name the gradients that a loop over weights reads."""
    for step in unit.steps:
        if step.by_hand and isinstance(step.statement, ast.For) and isinstance(step.statement.target, ast.Name):
            taken = {node.id for node in ctx.analysis.nodes if isinstance(node, ast.Name)}
            name = "grad" if "grad" not in taken else f"{step.statement.target.id}_grad"
            plan.gradients.update((node, name) for node in gradients_of(step.statement))


def _enter(plan: TrainingPlan, unit: TrainingUnit, ctx: Context) -> None:
    plan.units.append(unit)
    plan.gone.update(unit.removed)
    plan.taken.update(unit.removed)
    plan.gone.update(statement for statement in unit.dropped if not (unit.is_late and statement is unit.backward))
    if unit.is_late:
        plan.late[unit.backward] = unit
    plan.calls.setdefault(unit.block[unit.start], []).append(unit)
    plan.hoists.setdefault(unit.hoist.statement, []).append(unit)
    plan.handled.add(unit.call)
    if unit.accumulator is not None and unit.gradient == "accumulate":
        plan.accumulators.setdefault(unit.accumulator.statement, []).append(unit)
    for name, first in unit.unset:
        if name not in plan.unset.setdefault(first, []):
            plan.unset[first].append(name)
    if unit.closure is not None:
        plan.closure_calls.update(unit.closure.calls, unit.closure.asked)
    for step in unit.steps:
        plan.steps[step.statement] = (unit, step)
        plan.handled.add(step.call)
    for call in unit.scaling:
        if call.optimizer is not None:
            plan.unscaling[call.statement] = (unit, call)
            plan.handled.add(call.call)
    if unit.is_kept:
        plan.is_keeping = True
        plan.kept.update(unit.reads)
    else:
        plan.reads.update((node, unit) for node in unit.reads)
    for clip in unit.clips:
        plan.clips[clip.statement] = (unit, clip)
        if isinstance(clip.statement, ast.For):  # goes, with the gradients it changes in place
            plan.gradients.update((node, unit.grads_name) for node in gradients_of(clip.statement))
        plan.handled.add(clip.call)
        if clip.is_inside:
            plan.leaves.inner[clip.call] = _norm_name(ctx)
    computed = set(walk(unit.loss))  # net(x).sum().backward(): what is differentiated is translated
    for statement in (*unit.resets, *unit.dropped):
        plan.handled.update(node for node in walk(statement) if isinstance(node, ast.Call) and node not in computed)
    for statement in unit.resets:
        plan.resets[statement] = unit
