"""Tensors that calls pass on: ``same(x)``, ``Box(x).t`` and ``next(iter(x))`` may be ``x`` itself, or a part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torch2ms.mapping_tables.schema import RECEIVER
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates

__all__ = ["is_itself", "is_moved", "passed_on", "passes_on"]

_ITERATING = frozenset({"iter", "next", "reversed", "enumerate", "zip", "list", "tuple"})
Passed = Literal["", "object", "shared", "view"]


def passes_on(call: ast.expr, ctx: FileFacts) -> Passed:
    """Say what a call, or an attribute of the object it makes, gives of the tensors it is handed."""
    if is_itself(call, ctx):
        return "object"
    if isinstance(call, ast.Attribute):
        call = call.value
    if not isinstance(call, ast.Call):
        return ""
    found = {passed_on(call, arg, ctx) for arg in call.args if ctx.kind(arg).is_tensor or isinstance(arg, ast.Call)}
    return next((worst for worst in ("view", "shared", "object") if worst in found), "")


def is_itself(call: ast.expr, ctx: FileFacts) -> bool:
    """Whether ``y = +x`` or ``y = torch.as_tensor(x)`` gives another name to the tensor ``x``, in MindSpore as well."""
    shared = shared_memory(call, ctx)
    if shared is not None and shared.is_itself and _emits_itself(call, ctx):
        return True
    if not isinstance(call, ast.Call) or set(candidates(ctx.kind(call.func))) != {"torch.as_tensor"}:
        return False
    holder = ctx.parent(call)
    given = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if not isinstance(holder, ast.Assign) or not isinstance(given, ast.Name) or not ctx.kind(given).is_tensor:
        return False
    return isinstance(holder.targets[0], ast.Name) and holder.targets[0].id != given.id


def _emits_itself(value: ast.expr, ctx: FileFacts) -> bool:
    """Whether what is emitted for an expression is what it is made of."""
    if isinstance(value, ast.UnaryOp):
        return True
    function = value.func if isinstance(value, ast.Call) else value
    callee = ctx.kind(function)
    named = isinstance(function, ast.Attribute) and callee.name != "api"
    name = f"torch.Tensor.{function.attr}" if named and isinstance(function, ast.Attribute) else callee.of
    row = ctx.tables.row(name)
    return row is not None and bool(row.to) and any(option.target == RECEIVER for option in row.to)


def is_moved(name: str, value: ast.expr, ctx: FileFacts) -> bool:
    """Whether ``x = x.to(device)`` leaves a name what it holds: MindSpore moves nothing, and the call is dropped."""
    from torch2ms.translator.values.queries.device_arguments import describes_device

    function = value.func if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or not isinstance(function, ast.Attribute):
        return False
    if getattr(function.value, "id", "") != name or not ctx.kind(function.value).is_tensor:
        return False
    if function.attr in ("cuda", "cpu"):
        return True
    return function.attr == "to" and len(value.args) == 1 and describes_device(value.args[0], ctx)


def passed_on(call: ast.Call, given: ast.AST, ctx: FileFacts) -> Passed:
    """Say what a call gives of one of its arguments: the very object, a part that shares its memory, a view of it."""
    callee = ctx.kind(call.func)
    if isinstance(call.func, ast.Name) and call.func.id in _ITERATING and not callee.of:
        return "shared"
    if getattr(call.func, "attr", "") == "copy" and getattr(getattr(call.func, "value", None), "id", "") == "copy":
        return "object"
    position = next((place for place, arg in enumerate(call.args) if arg is given), -1)
    if callee.name == "class":
        keys = [key for key in candidates(callee) if ":" in key]
        return "object" if keys and all(ctx.world.family(key).name != "Module" for key in keys) else ""
    if callee.name != "function" or position < 0 or "|" in callee.of:
        return ""
    info = ctx.world.function(callee.of)
    if info is None or info.owner is not None or isinstance(info.node, ast.Lambda):
        return ""
    names = [arg.arg for arg in [*info.node.args.posonlyargs, *info.node.args.args]]
    if position >= len(names):
        return ""
    nodes = list(walk(info.node))
    if any(isinstance(n, ast.Name) and n.id == names[position] and isinstance(n.ctx, ast.Store) for n in nodes):
        return ""
    returned = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
    found = {part for value in returned for part in _parts(value, names[position])}
    return next((worst for worst in ("view", "shared", "object") if worst in found), "")


def _parts(value: ast.expr, name: str) -> Iterator[Passed]:
    """Yield what a returned value is of the parameter ``name``."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for part in value.elts:
            yield from _parts(part, name)
        return
    passed: Passed = "object"
    while not isinstance(value, ast.Name):
        if isinstance(value, ast.Subscript):
            if any(isinstance(part, (ast.Name, ast.List, ast.Compare)) for part in walk(value.slice)):
                return  # it may be a mask or a list, which makes a copy
            passed, value = "shared" if passed != "view" else passed, value.value
        elif isinstance(value, ast.Call) and (shared := shared_memory(value)) is not None:
            passed, value = "shared" if passed != "view" else passed, shared.sources[0]
        else:
            return
    if value.id == name:
        yield passed
