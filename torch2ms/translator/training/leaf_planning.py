"""Plans the gradients that a file asks for by hand, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Collection

from torch2ms.translator.training.leaf_plan import LeafPlan
from torch2ms.translator.training.leaves import LeafScope
from torch2ms.translator.training.naming import Names
from torch2ms.translator.training.network_gradients import NetworkScope
from torch2ms.translator.training.plan import Oracle
from torch2ms.translator.trees import walk

__all__ = ["plan_leaves"]


def plan_leaves(tree: ast.Module, oracle: Oracle, taken: set[str], planned: Collection[ast.stmt]) -> LeafPlan:
    """Return the plan for the gradients that a file asks for by hand; ``planned``: backward calls of training steps."""
    plan = LeafPlan()
    imports = [node for node in walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
    for scope in [tree, *(n for n in walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))]:
        for kind in (LeafScope, NetworkScope):
            found = kind(scope, oracle, Names(taken), plan, modules)
            count = len(plan.units)
            if not any(node in planned for node in found.nodes):
                found.plan_all()
            if len(plan.units) > count:
                break
    return plan
