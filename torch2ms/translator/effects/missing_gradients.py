"""Steps of an optimizer whose weights get no gradients: ``rates(opt)`` that only shows a schedule.

The answer is a bool: whether nothing but the optimizer, and schedules on it, ever sees the weights. PyTorch's step then
changes nothing.

    opt = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    plan = StepLR(opt, 3)
    opt.step()
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Kind

__all__ = ["never_has_gradients"]

_OF_OPTIMIZERS = ("torch.optim.",)


def never_has_gradients(name: str, scope: ast.AST | None, kind_of: Callable[[ast.expr], Kind]) -> bool:
    """Whether a function makes the optimizer of this name, over weights that nothing else gets.

    The names of a module are seen by whatever imports it.
    """
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    nodes = [node for statement in scope.body for node in walk(statement)]
    calls = [value for value in _values(name, nodes) if kind_of(value).name == "Optimizer"]
    if len(calls) != 1 or len(_values(name, nodes)) != 1 or not isinstance(calls[0], ast.Call) or not calls[0].args:
        return False
    if not _is_seen_by_schedules_only(name, nodes, kind_of):
        return False
    seen: dict[str, ast.expr] = {}
    waiting: list[ast.expr] = [calls[0].args[0]]
    while waiting:  # what the weights are made of: layers, and lists and dictionaries of them
        for other in {
            n.id for n in walk(waiting.pop()) if isinstance(n, ast.Name) and _is_value(n, kind_of)
        } - seen.keys():
            values = _values(other, nodes)
            if len(values) != 1 or not _is_made(values[0], kind_of):
                return False
            seen[other] = values[0]
            waiting.append(values[0])
    inside = {id(node) for value in (calls[0], *seen.values()) for node in walk(value)}
    used = [node for node in nodes if isinstance(node, ast.Name) and node.id in seen and id(node) not in inside]
    return not any(isinstance(node.ctx, ast.Load) for node in used)


def _is_made(value: ast.expr, kind_of: Callable[[ast.expr], Kind]) -> bool:
    """Whether an expression makes a layer, or a container of some."""
    if isinstance(value, ast.Call):
        return kind_of(value.func).name in ("api", "class")
    return isinstance(value, (ast.List, ast.Tuple, ast.Dict))


def _is_value(node: ast.Name, kind_of: Callable[[ast.expr], Kind]) -> bool:
    return kind_of(node).name not in ("api", "module", "class", "function")


def _values(name: str, nodes: Sequence[ast.AST]) -> list[ast.expr]:
    """Return what a name is assigned; what binds it otherwise counts as well."""
    plain = [n.value for n in nodes if isinstance(n, ast.Assign) and any(_is(t, name) for t in n.targets)]
    stores = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)
    return plain if stores == len(plain) else []


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_seen_by_schedules_only(name: str, nodes: Sequence[ast.AST], kind_of: Callable[[ast.expr], Kind]) -> bool:
    """Whether an optimizer is only asked for its members, or handed to what PyTorch makes of optimizers."""
    fine: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            fine.add(id(node.value))
        elif isinstance(node, ast.Call) and kind_of(node.func).of.startswith(_OF_OPTIMIZERS):
            fine.update(id(value) for value in (*node.args, *(k.value for k in node.keywords)))
    loads = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return bool(loads) and all(id(load) in fine for load in loads)
