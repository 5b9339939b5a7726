"""Plans the gradients that a file asks for by hand, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from torch2ms.translator.effects.gradient_uses import asked_apart
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.leaf_model import LeafPlan, LeafUnit
from torch2ms.translator.training.naming import Names
from torch2ms.translator.training.plan.leaf_loops import Updater, updaters
from torch2ms.translator.training.plan.leaves import LeafScope, is_gradient
from torch2ms.translator.training.plan.network_gradients import NetworkScope
from torch2ms.translator.training.plan.unread_gradients import is_unread
from torch2ms.translator.values.kinds import Oracle

__all__ = ["plan_leaves"]


def plan_leaves(
    tree: ast.Module,
    oracle: Oracle,
    taken: set[str],
    planned: Mapping[ast.stmt, Collection[str]],
    parts: Sequence[ast.Module] = (),
    held: Collection[ast.stmt] = (),
    apart: Collection[ast.stmt] = (),
    *,
    again: bool = True,
    keeping: bool | None = None,
) -> LeafPlan:
    """Return the plan for the gradients that a file asks for by hand.

    ``planned``: backward calls of training steps, with the names that stand for them in their scopes; ``parts``: of the
    module level, which stand for themselves; ``held``: statements that leave their places for the functions of training
    steps; ``apart``: backward calls beside such steps, for the gradients of tensors; ``again``: whether functions give
    the gradients that are differentiated again; ``keeping``: whether functions of other files look for them with the
    weights, None where nothing can be kept there.
    """
    if not any(isinstance(node, ast.Call) and is_gradient(node, oracle) for node in walk(tree)):
        return LeafPlan()  # most files ask for none; this is settled before their scopes are looked through
    imports = [node for node in walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
    functions = [n for n in walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    refused: set[str] = set()
    asked = [node for node, is_own in asked_apart(tree) if not is_own] if keeping is not None else []
    while True:
        plan = LeafPlan(not planned and is_unread(tree, oracle), again, frozenset(held), frozenset(apart))
        plan.updaters = updaters(tree, refused)
        handed = {id(part) for updater in plan.updaters.values() for part in walk(updater.node)}
        plan.may_record = keeping is not None
        plan.is_keeping = bool(keeping) or any(id(node) not in handed for node in asked)
        for scope in [*(parts or [tree]), *functions]:
            _plan_scope(scope, oracle, taken, plan, modules, planned)
        partly = {updater.node.name for updater in plan.taking if not _is_whole(updater, tree, plan)}
        if not partly:
            break
        refused |= partly  # what hands it no gradients would have none to hand over
    for unit in plan.units:
        _clips(unit, plan)
    return plan


def _plan_scope(
    scope: ast.AST,
    oracle: Oracle,
    taken: set[str],
    plan: LeafPlan,
    modules: set[str],
    planned: Mapping[ast.stmt, Collection[str]],
) -> None:
    here = {name for node in own(scope) if isinstance(node, ast.stmt) for name in planned.get(node, ())}
    for kind in (LeafScope, NetworkScope):
        found = kind(scope, oracle, Names(taken | here), plan, modules)
        count = len(plan.units)
        if kind is LeafScope or not any(node in planned for node in found.nodes):
            found.plan_all()
        if len(plan.units) > count:
            break


def _is_whole(updater: Updater, tree: ast.Module, plan: LeafPlan) -> bool:
    """Whether every mention of a function is a call that hands it gradients."""
    calls = [s.value for s, (one, _) in plan.handing.items() if one is updater and isinstance(s, ast.Expr)]
    known = {id(call.func) for call in calls if isinstance(call, ast.Call)}
    name = updater.node.name
    return all(id(n) in known for n in walk(tree) if isinstance(n, ast.Name) and n.id == name)


def _clips(unit: LeafUnit, plan: LeafPlan) -> None:
    """Plan the clipping of tensors' gradients behind a backward call: ``clip_grad_norm_([w, b], 1.0)``."""
    if unit.network or unit.statement not in unit.block:
        return
    scope = plan.scope_of[id(unit)]
    for statement in unit.block[unit.block.index(unit.statement) + 1 :]:
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or statement in plan.clips or not call.args:
            continue
        if (dotted_path(call.func) or "").rpartition(".")[2] not in ("clip_grad_norm_", "clip_grad_value_"):
            continue
        given = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else [call.args[0]]
        grads = [plan.grad_names.get((scope, ast.unparse(leaf)), "") for leaf in given]
        if grads and all(grads):
            plan.clips[statement] = f"({', '.join(grads)}{',' if len(grads) == 1 else ''})"
